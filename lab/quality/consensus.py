"""The consensus of several views against today's default and scikit-learn's recipes.

Candidates and rule were written down before any was run, see docs/results/consensus.md: chosen on the sets of `CHOICE`,
confirmed on those of `CONFIRMATION`.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import Any

import numpy as np

from grampus import DocumentClusterer
from grampus.documents import Effort
from lab import Found, Table, Task, data, row
from lab.quality.defaults import recipes, scores, weighted

MOST = 2_500  # documents of a set, drawn once
CHOICE = (
    "20ng", "dev/arxiv24", "bbc", "classic4", "dev/fbis", "ohsumed_single23", "dev/re1", "dev/searchsnippets",
    "dev/tr31", "dev/webkb_stemmed",
)  # fmt: skip
CONFIRMATION = (
    "dev/agnews8000", "dev/banking77", "bbcsport", "cstr", "dev/k1b", "r52_raw_9052", "reviews", "dev/stackoverflow",
    "dev/tr41",
)  # fmt: skip
COUNTS = {"dev/re1", "dev/tr31", "dev/tr41", "dev/k1b", "dev/fbis", "reviews", "cstr"}
WAYS = ("consensus", "kernel-kmeans")


def draw(name: str) -> tuple[Any, Any]:
    """Return at most 2,500 documents of a set and their classes."""
    documents, labels = data.counts(name) if name in COUNTS else data.texts(name)
    n = len(labels)
    index = np.arange(n) if n <= MOST else np.sort(np.random.default_rng(0).permutation(n)[:MOST])
    return documents[index] if name in COUNTS else [documents[int(i)] for i in index], np.asarray(labels)[index]


def measure(name: str, seeds: int) -> dict[str, Any]:
    """Return mean NMI and ARI of every way on one set, and the processor seconds of ours and of both recipes."""
    warnings.simplefilter("ignore")
    documents, labels = draw(name)
    k = len(np.unique(labels))
    found: dict[str, Any] = {}
    seconds = dict.fromkeys((*WAYS, "recipes"), 0.0)
    given = weighted(documents) if name in COUNTS else documents
    for seed in range(seeds):
        for way in WAYS:
            began = time.process_time()
            model = DocumentClusterer(k, method=way, effort=Effort(stability=False), random_state=seed).fit(given)
            seconds[way] += (time.process_time() - began) / seeds
            found.setdefault(way, []).append(scores(labels, model.labels_))
        began = time.process_time()
        clusters = recipes(documents, k, seed)
        seconds["recipes"] += (time.process_time() - began) / seeds
        for way, clusters_of_it in clusters.items():
            found.setdefault(way, []).append(scores(labels, clusters_of_it))
    return {"k": k, "means": {way: np.mean(s, axis=0).tolist() for way, s in found.items()}, "seconds": seconds}


@row(
    "quality",
    "consensus",
    "The consensus of views against the default without it and scikit-learn's better recipe, 19 sets, true k, five "
    "seeds.",
    rests_on=("documents", "cluster", "text"),
    conditions=("consensus-nmi-gain", "consensus-ari-gain", "consensus-worst-nmi"),
    data=True,
    timeout=4 * 3600,
)
def table(task: Task) -> Found:
    rows, gains, over = [], [], []
    for name in ("bbcsport", "cstr") if task.quick else (*CHOICE, *CONFIRMATION):
        found = task.step(name, partial(measure, name, task.trials(5, 1)))
        means = {way: np.array(value) for way, value in found["means"].items()}
        ours, today, *others = means.values()
        better = np.max(others, axis=0)
        gains.append(ours - better)
        over.append(ours - today)
        part = "choice" if name in CHOICE else "confirmation"
        cells = [f"{a:.3f} / {b:.3f}" for a, b in (ours, today, better)]
        changes = [f"{a:+.3f} / {b:+.3f}" for a, b in (gains[-1], over[-1])]
        rows.append((name.removeprefix("dev/"), part, found["k"], *cells, *changes))
    mean, worst, more = np.mean(gains, axis=0), np.min(gains, axis=0), np.mean(over, axis=0)
    heads = (
        "set",
        "half",
        "k",
        "consensus NMI / ARI",
        "kernel-kmeans",
        "better recipe",
        "gain over it",
        "over kernel-kmeans",
    )
    text = f"mean NMI {mean[0]:+.3f} ARI {mean[1]:+.3f}, worst NMI {worst[0]:+.3f}"
    text += f"; over kernel-kmeans {more[0]:+.3f} / {more[1]:+.3f}"
    measures = {"mean_nmi": mean[0], "mean_ari": mean[1], "worst_nmi": worst[0]}
    return Found(text, measures, [Table("Means over the seeds", heads, rows)])
