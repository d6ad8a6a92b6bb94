"""Choices of the default kernel beside what they replaced: components that follow k, terms beside embeddings."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from grampus import DocumentClusterer
from grampus.documents.extra_inputs import TERMS
from grampus.text import Corpus
from lab import Found, Table, Task, data, row
from lab.quality.consensus import draw
from lab.quality.defaults import scores
from lab.quality.vectors import TEXTS, embedded

MIXED = ("dev/banking77", "dev/stackoverflow", "dev/arxiv24", "20ng", "ohsumed_single23")
OF_A_CLASS, FEWEST = 40, 15  # documents drawn, and documents that a class must have
THIRTY = TERMS.replace("auto", "30")
WEIGHTS = (0.3, 0.15, 0.0)  # of the terms
RESTS_ON = ("documents", "cluster", "text", "gram")


def many_classes() -> tuple[list[str], Any]:
    """Return documents of all classes of five collections, at most 40 of each."""
    rng = np.random.default_rng(0)
    texts: list[str] = []
    classes: list[str] = []
    for name in MIXED:
        documents, labels = data.texts(name)
        for one in np.unique(labels):
            places = rng.permutation(np.flatnonzero(np.asarray(labels) == one))[:OF_A_CLASS]
            if len(places) >= FEWEST:
                texts += [documents[int(place)] for place in places]
                classes += [f"{name} {one}"] * len(places)
    return texts, np.array(classes)


def with_kernel(kernel: str, seed: int) -> list[float]:
    """Return NMI and ARI of many classes, their number given."""
    warnings.simplefilter("ignore")
    texts, classes = many_classes()
    found = DocumentClusterer(len(np.unique(classes)), kernel=kernel, random_state=seed).fit(texts)
    return list(map(float, scores(classes, found.labels_)))


@row(
    "quality",
    "components-follow-k",
    "All classes of five collections, at most 40 documents of each, their number given: NMI and ARI with as many "
    "components as clusters, and with 30; three seeds.",
    rests_on=RESTS_ON,
    data=True,
)
def components(task: Task) -> Found:
    texts, classes = many_classes()
    ways = {"as many as clusters": TERMS, "30": THIRTY}
    means = {
        way: np.mean(
            [task.step(f"{way} {s}", partial(with_kernel, kernel, s)) for s in range(task.trials(3, 1))], axis=0
        )
        for way, kernel in ways.items()
    }
    rows = [(way, f"{mean[0]:.3f}", f"{mean[1]:.3f}") for way, mean in means.items()]
    text = f"{len(np.unique(classes))} classes, {len(texts)} documents: "
    text += ", ".join(f"{way} {nmi} / {ari}" for way, nmi, ari in rows)
    return Found(text, {}, [Table("Means", ("components", "NMI", "ARI"), rows)])


def weighed(name: str, weight: float, seed: int) -> list[float]:
    """Return NMI and ARI with a weight of the terms next to embeddings."""
    warnings.simplefilter("ignore")
    documents, labels = draw(name)
    corpus = Corpus(list(documents), inputs={"embedding": embedded(name)})
    terms = f"{weight} * {TERMS} + {1 - weight:g} * " if weight else ""
    model = DocumentClusterer(len(np.unique(labels)), kernel=f"{terms}cosine@embedding", random_state=seed)
    return list(map(float, scores(labels, model.fit(corpus).labels_)))


@row(
    "quality",
    "embeddings-weight",
    "Terms next to all-MiniLM-L6-v2 with several weights: NMI on 12 text sets, true k, two seeds.",
    rests_on=RESTS_ON,
    data=True,
    timeout=2 * 3600,
)
def weights(task: Task) -> Found:
    names, seeds = ("bbcsport",) if task.quick else TEXTS, range(task.trials(2, 1))
    table = [
        [
            float(np.mean([task.step(f"{name} {w} {s}", partial(weighed, name, w, s))[0] for s in seeds]))
            for w in WEIGHTS
        ]
        for name in names
    ]
    rows = [
        (name.removeprefix("dev/"), *(f"{value:.3f}" for value in line))
        for name, line in zip(names, table, strict=True)
    ]
    means = np.mean(table, axis=0)
    rows.append(("mean", *(f"{value:.3f}" for value in means)))
    text = ", ".join(f"{weight:g}: {mean:.3f}" for weight, mean in zip(WEIGHTS, means, strict=True))
    return Found(text, {}, [Table("NMI", ("set", *(f"{weight:g}" for weight in WEIGHTS)), rows)])
