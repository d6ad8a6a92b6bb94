"""The consensus of several views, alone and with embeddings, against kernel k-means and what a user would run instead.

Candidates and rule were written down before any was run, see docs/results/consensus.md: chosen on the sets of `CHOICE`,
confirmed on those of `CONFIRMATION`.
"""

import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from grampus import DocumentClusterer
from grampus.documents import Effort
from grampus.metrics import ari
from grampus.text import Corpus
from lab import Found, Table, Task, row
from lab.quality.draws import COUNTS, draw, given, pair, recipes, scores
from lab.quality.embeddings import embedded, projected

CHOICE = ("20ng", "arxiv", "bbc", "classic4", "fbis", "ohsumed", "re1", "snippets", "tr31", "webkb")
CONFIRMATION = ("agnews", "banking", "bbcsport", "cstr", "k1b", "r52", "reviews", "stackoverflow", "tr41")
TEXTS = tuple(name for name in (*CHOICE, *CONFIRMATION) if name not in COUNTS)
RECIPES = {"SVD(100) + KMeans": True, "TF-IDF + KMeans": False}
FORETOLD = ("bbc", "classic4", "agnews", "stackoverflow", "re1", "reviews")
WHICH: dict[str, dict[str, Any]] = {
    "words": {},
    "kernel-kmeans": {"method": "kernel-kmeans"},
    "sum": {"kernel": "0.5 * cosine|principal(30)|normalise + 0.5 * cosine"},
    "words and meaning": {"embed": "auto"},
}
Measured = dict[str, Any]  # scores and processor seconds by way; the first way is ours, the others are compared with it


def spent(work: Callable[[], Any]) -> tuple[Any, float]:
    """Do some work; return what came, and its processor seconds."""
    began = time.process_time()
    return work(), time.process_time() - began


def by_terms(name: str, seed: int) -> Measured:
    """Return the default, kernel k-means and the recipes on one set."""
    warnings.simplefilter("ignore")
    documents, labels, k = given(name)
    found: Measured = {}
    for way, method in (("ours", "consensus"), ("kernel-kmeans", "kernel-kmeans")):
        model = DocumentClusterer(k, method=method, embed=None, random_state=seed)
        _, seconds = spent(partial(model.fit, documents))
        found[way] = {"scores": scores(labels, model.labels_), "seconds": seconds}
        if way == "ours":
            found[way]["run"] = seconds + spent(partial(getattr, model, "run_"))[1]
    for way, reduce in RECIPES.items():
        answer, seconds = spent(partial(recipes, draw(name)[0], k, seed, reduce))
        found[way] = {"scores": scores(labels, answer), "seconds": seconds}
    return found


def by_embeddings(name: str, seed: int) -> Measured:
    """Return terms and sentence embeddings, and KMeans and UMAP + KMeans on the same embeddings."""
    warnings.simplefilter("ignore")
    documents, labels, k = given(name)
    rows = embedded(name)
    found = {"ours": DocumentClusterer(k, random_state=seed).fit(Corpus(documents, inputs={"embedding": rows})).labels_}
    for way, placed in (("KMeans", rows), ("UMAP + KMeans", projected(rows, seed))):
        found[way] = KMeans(k, n_init=10, random_state=seed).fit_predict(placed)
    return {way: {"scores": scores(labels, answer)} for way, answer in found.items()}


def compared(task: Task, measure: Callable[[str, int], Measured], sets: Sequence[str]) -> tuple[Found, Any]:
    """Return the gains of ours over the better of the others on all sets, and the means of every way, set by set."""
    rows, means = [], []
    for name in ("bbcsport",) if task.quick else sets:
        label = f"{measure.__name__} {name}"  # rows of this file share their folder
        found = [task.step(f"{label} {s}", partial(measure, name, s)) for s in range(task.trials(5, 1))]
        means.append({way: np.mean([one[way]["scores"] for one in found], axis=0) for way in found[0]})
        means[-1]["seconds"] = {way: [one[way].get("seconds", 0.0) for one in found] for way in found[0]}
        means[-1]["run"] = [one["ours"].get("run", 0.0) for one in found]
        ways = [way for way in found[0] if way not in ("ours", "kernel-kmeans")]
        better = np.max([means[-1][way] for way in ways], axis=0)
        means[-1]["gain"] = means[-1]["ours"] - better
        cells = (pair(means[-1]["ours"]), pair(better), pair(means[-1]["gain"], "+"))
        rows.append((name, "choice" if name in CHOICE else "confirmation", *cells))
    gains = np.array([one["gain"] for one in means])
    each = {way: np.mean([one["ours"] - one[way] for one in means], axis=0) for way in ways}
    least = np.min(list(each.values()), axis=0)
    (nmi, index), worst = gains.mean(axis=0), float(gains[:, 0].min())
    measures = {"mean_nmi": nmi, "mean_ari": index, "worst_nmi": worst, "least_nmi": least[0], "least_ari": least[1]}
    told = "".join(f"; over {way} {pair(gain, '+')}" for way, gain in each.items())
    text = f"mean {pair(gains.mean(axis=0), '+')}, worst NMI {worst:+.3f}{told}"
    heads = ("set", "half", "NMI / ARI", f"better of {' and '.join(ways)}", "gain")
    return Found(text, measures, [Table("Means over the seeds", heads, rows)]), means


@row("quality", "consensus")
def table(task: Task) -> Found:
    found, means = compared(task, by_terms, (*CHOICE, *CONFIRMATION))
    recipe = sum(float(np.mean(one["seconds"]["SVD(100) + KMeans"])) for one in means)
    fit, run = (sum(float(np.mean(some)) for some in times) / recipe for times in (
        (one["seconds"]["ours"] for one in means), (one["run"] for one in means)))  # fmt: skip
    more = np.mean([one["ours"] - one["kernel-kmeans"] for one in means], axis=0)
    text = f"{found.figure}; over kernel-kmeans {pair(more, '+')}"
    text += f"; {fit:.2f} times the recipe's processor time, {run:.2f} with the run"
    measures = {**found.measures, "time": fit, "time_run": run}
    if not task.quick:
        dominant = means[(*CHOICE, *CONFIRMATION).index("k1b")]["ours"]
        measures |= {"k1b_nmi": dominant[0], "k1b_ari": dominant[1]}
    return Found(text, measures, found.tables)


@row("quality", "embeddings-minilm")
def minilm(task: Task) -> Found:
    return compared(task, by_embeddings, TEXTS)[0]


def foretold(name: str, seed: int, options: dict[str, Any]) -> float:
    """Return the ARI of predicted and refitted labels of a tenth that is left out."""
    warnings.simplefilter("ignore")
    documents, labels, k = given(name)
    order = np.random.default_rng(seed).permutation(len(labels))
    out, rest = np.sort(order[: len(order) // 10]), np.sort(order[len(order) // 10 :])
    some = (lambda index: documents[index]) if name in COUNTS else (lambda index: [documents[int(i)] for i in index])
    given_to: dict[str, Any] = {"embed": None, "effort": Effort(stability=False), "random_state": seed, **options}
    model = DocumentClusterer(k, **given_to)
    predicted = model.fit(some(rest)).predict(some(out))
    return float(ari(predicted, model.fit(documents).labels_[out]))


@row("quality", "foretold")
def prediction(task: Task) -> Found:
    names, seeds = FORETOLD[: 1 if task.quick else None], range(task.trials(3, 1))
    found: dict[str, list[float]] = {}
    for way, how in WHICH.items():
        sets = [name for name in names if "embed" not in how or name not in COUNTS]
        every = [[task.step(f"{way} {name} {s}", partial(foretold, name, s, how)) for s in seeds] for name in sets]
        found[way] = np.mean(every, axis=1).tolist()
    means = {way: float(np.mean(values)) for way, values in found.items()}
    rows = [(way, *(f"{v:.3f}" for v in values), *[""] * (len(names) - len(values))) for way, values in found.items()]
    both = found["words and meaning"]
    means["gain"] = float(np.mean(both) - np.mean(found["words"][: len(both)]))
    text = ", ".join(f"{way} {mean:.3f}" for way, mean in means.items())
    return Found(text, means, [Table("ARI", ("way", *names), rows)])
