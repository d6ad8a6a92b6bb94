"""The map: do neighbours stay neighbours, does noise look like noise, and how long does it take."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.manifold import trustworthiness
from sklearn.metrics import silhouette_score

from grampus import TermVectorizer, parse_kernel
from grampus.cluster import kernel_kmeans
from grampus.documents.layout import coordinates
from grampus.gram import LinearGram
from lab import Found, Task, Unavailable, data, row

KERNEL = "cosine|principal(30)|normalise"
SAMPLE = 5000


def features(x: Any) -> Any:
    """Return the default features of documents, without empty ones."""
    found = parse_kernel(KERNEL).gram(x).features()
    assert found is not None
    rows = np.asarray(found.rows) * found.scale[:, None]
    return rows[np.abs(rows).sum(axis=1) > 0]


def sets(task: Task) -> dict[str, Any]:
    """Return the features of bbc, 20ng and digits; at most 5,000 documents drawn from each."""
    made = {"digits": features(load_digits().data)}
    for name in ("bbc", "20ng"):
        made[name] = features(TermVectorizer().fit_transform(list(data.texts(name)[0])))
    rng, most = np.random.default_rng(0), task.trials(SAMPLE, 500)
    return {name: x[np.sort(rng.choice(len(x), min(most, len(x)), replace=False))] for name, x in made.items()}


@row(
    "quality",
    "layout-trust",
    "Trustworthiness (scikit-learn, 5 neighbours, cosine distance of the default features) of the map and of UMAP with "
    "its defaults on the same features: bbc, 5,000 posts of 20ng, digits.",
    rests_on=("documents.layout", "gram.graph", "_native"),
    conditions=("layout-trust",),
    data=True,
)
def trust(task: Task) -> Found:
    try:
        from umap import UMAP
    except ImportError:
        raise Unavailable("pip install umap-learn") from None
    texts, gaps = [], []
    for name, x in sets(task).items():
        began = time.process_time()
        ours = coordinates(LinearGram(x))
        middle = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = UMAP(metric="cosine", random_state=0).fit_transform(x)
        ended = time.process_time()
        a, b = (float(trustworthiness(x, places, metric="cosine")) for places in (ours, theirs))
        gaps.append(a - b)
        texts.append(f"{name}: {a:.4f} in {middle - began:.1f} CPU s, UMAP {b:.4f} in {ended - middle:.1f}")
    return Found("; ".join(texts), {"gap": min(gaps)})


@row(
    "quality",
    "layout-noise",
    "Silhouette, on the map, of ten clusters of 2,000 texts of random words: noise must not look like groups.",
    rests_on=("documents.layout", "gram.graph", "_native"),
    conditions=("layout-noise",),
)
def noise(task: Task) -> Found:
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(2000)])
    texts = [" ".join(rng.choice(words, 12)) for _ in range(task.trials(2000, 400))]
    x = features(TermVectorizer().fit_transform(texts))
    labels = kernel_kmeans(LinearGram(x), 10, random_state=0).labels
    score = float(silhouette_score(coordinates(LinearGram(x)), labels))
    return Found(f"{score:.3f}", {"silhouette": score})


@row(
    "quality",
    "layout-seconds",
    "CPU seconds of the map of 20,000 and 100,000 documents, neighbours included: 200 groups of 30 features. A second "
    "map of the 20,000 is the same.",
    rests_on=("documents.layout", "gram.graph", "_native"),
    conditions=("layout-seconds-20k", "layout-seconds-100k", "nothing-differs"),
)
def seconds(task: Task) -> Found:
    measures = {}
    for name, count in (("20k", 20_000), ("100k", 100_000)):
        rng, n = np.random.default_rng(0), task.trials(count, count // 20)
        x = rng.normal(size=(200, 30))[rng.integers(0, 200, n)] + 0.7 * rng.normal(size=(n, 30))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        began = time.process_time()
        places = coordinates(LinearGram(x))
        measures[f"seconds_{name}"] = time.process_time() - began
        if name == "20k":
            measures["different"] = float((places != coordinates(LinearGram(x))).any(axis=1).sum())
    figure = f"20,000: {measures['seconds_20k']:.1f}, 100,000: {measures['seconds_100k']:.1f}"
    return Found(f"{figure}; {measures['different']:.0f} documents elsewhere the second time", measures)
