"""What a guide is worth: a few known labels, some of them wrong; five words a class; and what constraints cost."""

import time
import tracemalloc
import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans

from grampus import DocumentClusterer, TermVectorizer
from grampus.documents import Effort, Guide
from grampus.metrics import nmi
from lab import Found, Table, Task, row
from lab.quality.draws import components, draw, weighted
from lab.quality.embeddings import projected

SETS = ("bbc", "20ng", "r52", "stackoverflow")
KNOWN, WRONG, WORDS = 0.01, 0.1, 5


def known_labels(classes: Any, seed: int, wrong: float) -> dict[int, str]:
    """Return the classes of one document in a hundred, a part of them wrong."""
    rng = np.random.default_rng(seed)
    at = rng.permutation(len(classes))[: max(round(KNOWN * len(classes)), 1)]
    names = np.unique(classes)
    found = {int(i): str(classes[i]) for i in at}
    for i in at[: round(wrong * len(at))].tolist():
        found[i] = str(rng.choice(names[names != classes[i]]))
    return found


def class_words(texts: Any, classes: Any) -> dict[str, list[str]]:
    """Return the five words of each class that most of its documents and fewest of the others have."""
    counts = TermVectorizer("txx", min_df=3, stemmer=None).fit(texts)
    held, names, found = (counts.transform(texts) > 0).astype(np.float64), counts.get_feature_names_out(), {}
    for one in np.unique(classes):
        inside, outside = (np.asarray(held[np.flatnonzero(some)].mean(axis=0)).ravel()
                           for some in (classes == one, classes != one))  # fmt: skip
        found[str(one)] = [str(names[i]) for i in np.argsort(outside - inside, kind="stable")[:WORDS]]
    return found


def guided(name: str, seed: int, kind: str) -> dict[str, float]:
    """Return the NMI without a guide, and with words, or with labels and next to a supervised projection by UMAP."""
    warnings.simplefilter("ignore")
    texts, classes = draw(name)
    k, right = len(np.unique(classes)), known_labels(classes, seed, 0.0)
    model = DocumentClusterer(k, embed=None, effort=Effort(stability=False), random_state=seed)
    guides: dict[str, Any] = {"unguided": None}
    if kind == "words":
        guides |= {"guided": Guide(seeds=class_words(texts, classes))}
    else:
        guides |= {"wrong": Guide(labels=known_labels(classes, seed, WRONG)), "guided": Guide(labels=right)}
    found = {way: float(nmi(classes, model.fit(texts, guide=guide).labels_)) for way, guide in guides.items()}
    if kind == "words":
        return found
    names, target = sorted(set(right.values())), np.full(len(classes), -1)
    target[list(right)] = [names.index(one) for one in right.values()]
    low = projected(components(weighted(texts)), seed, target)
    peers = {"UMAP, k-means": KMeans(k, n_init=10, random_state=seed), "UMAP, HDBSCAN": HDBSCAN(10, copy=True)}
    return found | {way: float(nmi(classes, peer.fit_predict(low))) for way, peer in peers.items()}


def compared(task: Task, kind: str, seeds: int) -> Found:
    """Return the gain of a guide over none, set by set."""
    means = {}
    for name in SETS[: task.trials(4, 2)]:
        trials = [task.step(f"{kind} {name} {s}", partial(guided, name, s, kind)) for s in range(task.trials(seeds, 1))]
        means[name] = {way: float(np.mean([one[way] for one in trials])) for way in trials[0]}
    heads = tuple(means[SETS[0]])
    gains = {way: [one["guided"] - one[way] for one in means.values()] for way in heads}
    measures = {"gain": float(np.mean(gains["unguided"]))}
    text = f"mean gain {measures['gain']:+.3f}"
    if kind == "labels":
        worst = min(one["wrong"] - one["unguided"] for one in means.values())
        over = np.mean(np.min([gains[way] for way in heads if way.startswith("UMAP")], axis=0))
        measures |= {"worst wrong": worst, "over umap": float(over)}
        text += f", with wrong labels at worst {worst:+.3f}; over UMAP {over:+.3f}"
    rows = [(name, *(f"{value:.3f}" for value in one.values())) for name, one in means.items()]
    return Found(text, measures, [Table("NMI", ("set", *heads), rows)])


row("quality", "guide-labels")(partial(compared, kind="labels", seeds=5))
row("quality", "guide-words")(partial(compared, kind="words", seeds=3))


def evidence(kind: str, n: int, pieces: int) -> Guide:
    """Return so many pieces of evidence on n documents, all of them right: the class of a document is i mod 8."""
    first = np.random.default_rng(1).integers(0, n, pieces)
    if kind == "labels":
        return Guide(labels={i: f"{i % 8}" for i in range(pieces)})
    step = 8 if kind == "must_link" else 1
    pairs = np.column_stack([first, (first + step) % n])
    return Guide(must_link=pairs) if kind == "must_link" else Guide(cannot_link=pairs)


def evidence_cost(kind: str, n: int, pieces: int, memory: bool) -> float:
    """Return the processor seconds of a fit with so many pieces of evidence, or its peak memory in bytes."""
    x = np.random.default_rng(0).normal(size=(n, 8)) + 6.0 * np.eye(8)[np.arange(n) % 8]
    model = DocumentClusterer(8, kernel="linear", effort=Effort(stability=False, n_init=1))
    guide = evidence(kind, n, pieces) if pieces else None
    if not memory:
        began = time.process_time()
        model.fit(x, guide=guide)
        return time.process_time() - began
    tracemalloc.start()
    model.fit(x, guide=guide)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(found)


@row("quality", "guide-memory")
def guide_memory(task: Task) -> Found:
    size = task.trials(1_000_000, 100_000)
    rows, growth, slower = [], 0.0, 0.0
    for kind, n in (("must_link", size // 10), ("cannot_link", size // 10), ("labels", size)):
        cost = partial(evidence_cost, kind, n)
        half, whole = (task.step(f"{kind} {some}", partial(cost, some, True)) for some in (size // 2, size))
        without, with_all = (task.step(f"{kind} {some} time", partial(cost, some, False)) for some in (0, size))
        growth, slower = max(growth, whole / half), max(slower, with_all / without)
        figures = (f"{half / 1e6:.0f}", f"{whole / 1e6:.0f}", f"{without:.1f}", f"{with_all:.1f}")
        rows.append((kind, f"{n:,}", f"{size:,}", *figures))
    heads = ("kind", "documents", "pieces", "MB with half", "MB with all", "CPU s without", "CPU s with all")
    text = f"memory of {size:,} pieces at most {growth:.2f} times that of half, time at most {slower:.2f} times"
    return Found(text, {"growth": growth, "slower": slower}, [Table("Evidence", heads, rows)])
