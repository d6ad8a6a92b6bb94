"""What a guide is worth: a few known labels, some of them wrong; five words a class; and what constraints cost."""

from __future__ import annotations

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
from lab.quality.draws import draw

SETS = ("bbc", "20ng", "r52", "stackoverflow")
KNOWN = 0.01
WRONG = 0.1
WORDS = 5
RESTS_ON = ("documents", "cluster", "gram", "text")


def known_labels(classes: Any, seed: int, wrong: float) -> dict[int, str]:
    """Return the classes of one document in a hundred, a part of them wrong."""
    rng = np.random.default_rng(seed)
    at = rng.permutation(len(classes))[: max(round(KNOWN * len(classes)), 1)]
    names = np.unique(classes)
    found = {int(i): str(classes[i]) for i in at}
    for i in at[: round(wrong * len(at))].tolist():
        found[i] = str(rng.choice(names[names != classes[i]]))
    return found


def projected(components: Any, classes: Any, labels: dict[int, str], k: int, seed: int) -> dict[str, float]:
    """Return the NMI of a supervised projection by UMAP, clustered by k-means and HDBSCAN; nothing without UMAP."""
    try:
        from umap import UMAP
    except ImportError:
        return {}
    names = sorted(set(labels.values()))
    target = np.full(len(classes), -1)
    target[list(labels)] = [names.index(name) for name in labels.values()]
    low = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=seed).fit_transform(
        components, y=target
    )
    return {
        "UMAP, k-means": float(nmi(classes, KMeans(k, n_init=10, random_state=seed).fit_predict(low))),
        "UMAP, HDBSCAN": float(nmi(classes, HDBSCAN(min_cluster_size=10, copy=True).fit_predict(low))),
    }


def labelled(name: str, seed: int) -> dict[str, float]:
    """Return the NMI without a guide, with labels, with partly wrong ones, and of a supervised projection."""
    warnings.simplefilter("ignore")
    texts, classes = draw(name)
    k = len(np.unique(classes))
    model = DocumentClusterer(k, effort=Effort(stability=False), random_state=seed)
    found = {"unguided": float(nmi(classes, model.fit(list(texts)).labels_))}
    right = known_labels(classes, seed, 0.0)
    for way, given in (("labels", right), ("wrong", known_labels(classes, seed, WRONG))):
        found[way] = float(nmi(classes, model.fit(list(texts), guide=Guide(labels=given)).labels_))
    assert model.predictor_ is not None
    explicit = model.predictor_.gram.features()
    assert explicit is not None
    rows = np.asarray(explicit.rows) * explicit.scale[:, None]
    return found | projected(rows[_places(texts, model)], classes, right, k, seed)


def _places(texts: Any, model: DocumentClusterer) -> Any:
    """Return the row of every text among the distinct ones of a model."""
    from grampus.documents.inputs import collect

    assert model.predictor_ is not None
    return collect(list(texts), model.predictor_.kernel, None).group


@row(
    "quality",
    "guide-labels",
    "1 % of the labels known, and the same with a tenth of them wrong, at the true k, at most 2,500 documents of a "
    "set: NMI next to none known, and to a supervised projection by UMAP of the same components.",
    rests_on=RESTS_ON,
    conditions=("guide-labels-gain", "guide-labels-over-umap", "guide-wrong-labels"),
    data=True,
    timeout=2 * 3600,
)
def guide_labels(task: Task) -> Found:
    rows, gains, wrong, over = [], [], [], []
    for name in SETS:
        trials = [task.step(f"{name} {s}", partial(labelled, name, s)) for s in range(task.trials(5, 1))]
        mean = {way: float(np.mean([one[way] for one in trials])) for way in trials[0]}
        gains.append(mean["labels"] - mean["unguided"])
        wrong.append(mean["wrong"] - mean["unguided"])
        peers = [value for way, value in mean.items() if way.startswith("UMAP")]
        over += [mean["labels"] - max(peers)] if peers else []
        cells = [f"{mean[way]:.3f}" if way in mean else "–" for way in HEADS]
        rows.append((name, *cells))
    measures = {"gain": float(np.mean(gains)), "worst wrong": min(wrong)}
    measures |= {"over umap": float(np.mean(over))} if over else {}
    text = f"mean gain {np.mean(gains):+.3f}, with wrong labels at worst {min(wrong):+.3f}"
    text += f"; over UMAP {np.mean(over):+.3f}" if over else "; UMAP is not installed"
    return Found(text, measures, [Table("NMI", ("set", *HEADS), rows)])


HEADS = ("unguided", "labels", "wrong", "UMAP, k-means", "UMAP, HDBSCAN")


def class_words(texts: Any, classes: Any) -> dict[str, list[str]]:
    """Return the five words of each class that most of its documents and fewest of the others have."""
    counts = TermVectorizer("txx", min_df=3).fit(list(texts))
    held = (counts.transform(list(texts)) > 0).astype(np.float64)
    names = counts.get_feature_names_out()
    total, found = np.asarray(held.sum(axis=0)).reshape(-1), {}
    for one in np.unique(classes):
        own = np.flatnonzero(classes == one)
        inside = np.asarray(held[own].sum(axis=0)).reshape(-1)
        contrast = inside / len(own) - (total - inside) / max(len(classes) - len(own), 1)
        found[str(one)] = [str(names[i]) for i in np.argsort(-contrast, kind="stable")[:WORDS]]
    return found


def worded(name: str, seed: int) -> dict[str, float]:
    """Return the NMI without a guide, and with five words a class."""
    warnings.simplefilter("ignore")
    texts, classes = draw(name)
    model = DocumentClusterer(len(np.unique(classes)), effort=Effort(stability=False), random_state=seed)
    guide = Guide(seeds=class_words(texts, classes))
    return {
        "unguided": float(nmi(classes, model.fit(list(texts)).labels_)),
        "words": float(nmi(classes, model.fit(list(texts), guide=guide).labels_)),
    }


@row(
    "quality",
    "guide-words",
    "Five words a class as seeds, at the true k, at most 2,500 documents of a set: NMI next to none.",
    rests_on=RESTS_ON,
    conditions=("guide-words-gain",),
    data=True,
    timeout=2 * 3600,
)
def guide_words(task: Task) -> Found:
    rows, gains = [], []
    for name in SETS:
        trials = [task.step(f"words {name} {s}", partial(worded, name, s)) for s in range(task.trials(3, 1))]
        mean = {way: float(np.mean([one[way] for one in trials])) for way in trials[0]}
        gains.append(mean["words"] - mean["unguided"])
        rows.append((name, *(f"{value:.3f}" for value in mean.values()), f"{gains[-1]:+.3f}"))
    text = f"mean gain {np.mean(gains):+.3f}"
    heads = ("set", "unguided", "words", "gain")
    return Found(text, {"gain": float(np.mean(gains))}, [Table("NMI", heads, rows)])


def peak(pairs: int) -> float:
    """Return the peak memory, in bytes a pair, of a fit with so many links beyond that of a fit without."""
    rng = np.random.default_rng(0)
    n = 4000
    x = rng.normal(size=(n, 8)) + 6.0 * np.eye(8)[np.arange(n) % 8]
    same = np.arange(n).reshape(-1, 8)
    columns = rng.integers(0, 8, pairs)
    links = np.column_stack([same[rng.integers(0, len(same), pairs), columns] for _ in range(2)])
    apart = np.column_stack([links[:, 0], (links[:, 0] + 1) % n])
    model = DocumentClusterer(8, kernel="linear", effort=Effort(stability=False, n_init=1))
    peaks = []
    for guide in (Guide(cannot_link=np.array([[0, 1]])), Guide(cannot_link=apart)):
        tracemalloc.start()
        model.fit(x, guide=guide)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return float(peaks[1])


@row(
    "quality",
    "guide-memory",
    "Peak memory with a million pairs next to half a million.",
    rests_on=RESTS_ON,
    conditions=("guide-memory",),
)
def guide_memory(task: Task) -> Found:
    size = 100_000 if task.quick else 1_000_000
    half, whole = (task.step(f"{pairs}", partial(peak, pairs)) for pairs in (size // 2, size))
    text = f"{whole / 1e6:.0f} MB for {size:,} pairs, {half / 1e6:.0f} MB for half"
    return Found(text, {"growth": whole / half}, [])
