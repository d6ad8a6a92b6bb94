"""Where DocumentClusterer's defaults come from, and whether they hold elsewhere.

The choice looks at bbc, classic3 and r52_raw_9052 and at 25 harder tasks drawn from them, at nothing else. The
confirmation runs the chosen defaults on five other sets, next to scikit-learn's own recipes for texts.
"""

from __future__ import annotations

import time
import warnings
from functools import cache, partial
from typing import Any

import numpy as np

from grampus.metrics import ari, nmi
from grampus.text import TermVectorizer, Weighting
from lab import Found, Table, Task, data, row
from lab.clusterer import document_clusterer
from lab.quality.sets import WEIGHTING, parts

CHOICE = {
    "bbc": ("bbc", None),
    "classic3": ("classic4", ("cisi", "cran", "med")),
    "r52_raw_9052": ("r52_raw_9052", None),
}
CONFIRMATION: dict[str, tuple[str, tuple[str, ...] | None]] = {
    "bbcsport": ("bbcsport", None),
    "ng3": ("20ng", data.NG3),
    "ng17-19": ("20ng", data.POLITICS),
    "reviews": ("reviews", None),
    "ohsumed_single23": ("ohsumed_single23", None),
}
DEFAULT = "cosine|principal(30)|normalise"
# One row for each decision; everything else is as in the first.
CANDIDATES: dict[str, dict[str, Any]] = {
    "defaults": {},
    "cosine|principal(100)|normalise": {"kernel": "cosine|principal(100)|normalise"},
    "cosine": {"kernel": "cosine"},
    "random starts": {"init": "random"},
    "spectral start": {"init": "spectral"},
    "PDDP start": {"init": "pddp"},
    "cosine|principal(20)|normalise": {"kernel": "cosine|principal(20)|normalise"},
    "cosine|principal(50)|normalise": {"kernel": "cosine|principal(50)|normalise"},
    "cosine|power(0.6)|map": {"kernel": "cosine|power(0.6)|map"},
    "weighting lfc": {"weighting": "lfc"},
    "weighting dominance": {"weighting": "dominance"},
    "weighting tfidf": {"weighting": "tfidf"},
    "no polish": {"polish": False},
}
RESTS_ON = ("documents", "cluster", "text")


def load(source: str, classes: tuple[str, ...] | None) -> tuple[Any, Any]:
    """Return texts, or counts where nothing else exists, and classes."""
    return data.counts(source) if source == "reviews" else data.texts(source, classes)


def weighted(documents: Any, weighting: str = WEIGHTING) -> Any:
    """Return weighted terms as DocumentClusterer makes them.

    Matrices come without a stop list: their terms in more than half of the documents are left out, as the recipes do.
    """
    if hasattr(documents, "indices"):
        frequency = np.bincount(documents.indices, minlength=documents.shape[1])
        kept = np.flatnonzero((frequency >= 3) & (frequency <= 0.5 * documents.shape[0]))
        return Weighting(weighting, dtype=np.float64).fit_transform(documents[:, kept])
    fewest = min(3, 1 + len(documents) // 100)
    return TermVectorizer(weighting, min_df=fewest, dtype=np.float64).fit_transform(list(documents))


def scores(labels: Any, found: Any) -> list[float]:
    """Return NMI and ARI."""
    return [float(nmi(labels, found)), float(ari(labels, found))]


@row(
    "quality",
    "defaults-choice",
    "Candidates for the defaults of DocumentClusterer on 25 tasks drawn from three sets: mean NMI, ARI and seconds.",
    rests_on=RESTS_ON,
    data=True,
    timeout=4 * 3600,
)
def choice(task: Task) -> Found:
    warnings.simplefilter("ignore")
    tasks: dict[str, list[tuple[Any, Any]]] = {}
    for name, source in CHOICE.items():
        documents, labels = load(*source)
        drawn = list(parts(name, labels))[: 1 if task.quick else None]
        tasks[name] = [(tuple(documents[int(i)] for i in index), labels[index]) for index in drawn]
    terms = cache(lambda name, number, weighting: weighted(tasks[name][number][0], weighting))

    def run(name: str, options: dict[str, Any]) -> list[float]:
        values = []
        for number, (_, labels) in enumerate(tasks[name]):
            how = {"kernel": DEFAULT, **options}
            x = terms(name, number, how.pop("weighting", WEIGHTING))
            began = time.process_time()
            found = document_clusterer(len(np.unique(labels)), **how).fit(x).labels_
            values.append([*scores(labels, found), time.process_time() - began])
        return [float(value) for value in np.mean(values, axis=0)]

    rows = []
    for candidate, options in CANDIDATES.items():
        found = [task.step(f"{candidate} {name}", partial(run, name, options)) for name in tasks]
        weights = [len(tasks[name]) for name in tasks]
        mean = np.average(np.array(found)[:, :2], axis=0, weights=weights)
        cells = [f"{a:.3f} / {b:.3f} / {s:.1f} s" for a, b, s in found]
        rows.append((candidate, *cells, f"{mean[0]:.3f}", f"{mean[1]:.3f}"))
    heads = ("candidate", *(f"{len(tasks[name])} parts of {name}" for name in tasks), "mean NMI", "mean ARI")
    title = f"NMI / ARI / seconds; defaults: {WEIGHTING}, {DEFAULT}"
    return Found(f"{len(CANDIDATES)} candidates", tables=[Table(title, heads, rows)])


def recipes(documents: Any, k: int, seed: int, only: str | None = None) -> dict[str, Any]:
    """Return the labels of scikit-learn's two recipes for texts, or of one, as its own example has them."""
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
    from sklearn.preprocessing import normalize

    if hasattr(documents, "indices"):
        frequency = np.bincount(documents.indices, minlength=documents.shape[1])
        kept = np.flatnonzero((frequency >= 5) & (frequency <= 0.5 * documents.shape[0]))
        x = TfidfTransformer().fit_transform(documents[:, kept])
    else:
        x = TfidfVectorizer(max_df=0.5, min_df=5, stop_words="english").fit_transform(documents)
    model = KMeans(k, n_init=10, random_state=seed)
    found = {}
    if only != "SVD(100) + KMeans":
        found["TF-IDF + KMeans"] = model.fit_predict(x)
    if only != "TF-IDF + KMeans":
        reduced = normalize(TruncatedSVD(min(100, x.shape[1] - 1), random_state=seed).fit_transform(x))
        found["SVD(100) + KMeans"] = model.fit_predict(reduced)
    return found


@row(
    "quality",
    "defaults-confirmed",
    "DocumentClusterer's defaults against scikit-learn's recipes on five other sets, true k, ten seeds; and the k "
    "that it chooses.",
    rests_on=RESTS_ON,
    conditions=("worst-nmi-gain", "worst-ari-gain", "mean-nmi-gain", "mean-ari-gain"),
    data=True,
    timeout=4 * 3600,
)
def confirmation(task: Task) -> Found:
    warnings.simplefilter("ignore")
    rows, gains = [], []
    for name in ("bbcsport", "ng3") if task.quick else CONFIRMATION:

        def run(name: str = name) -> dict[str, Any]:
            documents, labels = load(*CONFIRMATION[name])
            given = weighted(documents) if hasattr(documents, "indices") else list(documents)
            k = len(np.unique(labels))
            found: dict[str, Any] = {}
            for seed in range(task.trials(10, 1)):
                ours = document_clusterer(k, seed).fit(given).labels_
                for way, clusters in {"ours": ours, **recipes(documents, k, seed)}.items():
                    found.setdefault(way, []).append(scores(labels, clusters))
            model = document_clusterer().fit(given)
            chosen = [model.n_clusters_, float(nmi(labels, model.labels_))]
            return {"k": k, "chosen": chosen, "means": {way: np.mean(s, axis=0).tolist() for way, s in found.items()}}

        found = task.step(name, run)
        ours, *others = (np.array(values) for values in found["means"].values())
        gains.append(ours - np.max(others, axis=0))
        cells = [f"{a:.3f} / {b:.3f}" for a, b in (ours, *others)]
        gain = f"{gains[-1][0]:+.3f} / {gains[-1][1]:+.3f}"
        rows.append((name, found["k"], *cells, gain, found["chosen"][0], f"{found['chosen'][1]:.3f}"))
    heads = ("set", "k", "ours NMI / ARI", "TF-IDF + KMeans", "SVD(100) + KMeans", "gain over the better one")
    worst, mean = np.min(gains, axis=0), np.mean(gains, axis=0)
    text = f"worst NMI {worst[0]:+.3f} ARI {worst[1]:+.3f}, mean NMI {mean[0]:+.3f} ARI {mean[1]:+.3f}"
    measures = {"worst_nmi": worst[0], "worst_ari": worst[1], "mean_nmi": mean[0], "mean_ari": mean[1]}
    return Found(text, measures, [Table("Means over the seeds", (*heads, "k chosen", "its NMI"), rows)])
