"""`dominance`, what stays open: which posts ng3 holds, and where kernel k-means goes when started from the classes."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np

from grampus import parse_kernel
from grampus.cluster import kernel_kmeans
from grampus.gram import dominance_ratio
from grampus.metrics import nmi
from reproductions import data
from reproductions.dominance import PUBLISHED
from reproductions.outcome import Cell, Outcome, Table
from reproductions.protocol import CHOSEN, HEADERS, WEIGHTS, beheaded, counted, vectors, weighted
from reproductions.registry import reproduction
from reproductions.steps import Steps

POSTS, TERMS, RATIO = PUBLISHED["ng3"][:3]


def triples() -> list[tuple[str, ...]]:
    """Return the three groups at a time that have as many posts as the published ng3."""
    names, sizes = np.unique(data.texts("20ng")[1], return_counts=True)
    return [
        tuple(names[list(some)].tolist())
        for some in itertools.combinations(range(len(names)), 3)
        if sizes[list(some)].sum() == POSTS
    ]


def described(groups: tuple[str, ...]) -> list[float]:
    """Return the number of terms without headers, and the dominance ratio."""
    words, _ = data.texts("20ng", groups)
    x = weighted(vectors([beheaded(text, ()) for text in words]))
    return [x.shape[1], dominance_ratio(parse_kernel("cosine").gram(x))]


def from_classes(headers: str, weights: str) -> list[float]:
    """Return the NMI of the classes with where kernel k-means, plain and shifted, ends when it starts from them."""
    counts, labels = counted("ng3", CHOSEN.terms, headers)
    start = np.unique(labels, return_inverse=True)[1].astype(np.intp)
    grams = [parse_kernel(kernel).gram(weighted(counts, weights)) for kernel in ("cosine", "cosine|shift")]
    return [float(nmi(labels, kernel_kmeans(gram, 3, init=start[None], n_init=1).labels)) for gram in grams]


@reproduction("dominance", "ng3", "Which posts ng3 holds, and where starts from its true classes end.")
def ng3(steps: Steps) -> Outcome:
    groups = [
        (", ".join(some), *steps.step("-".join(some), partial(described, some)))
        for some in triples()[: 1 if steps.quick else None]
    ]
    found = [(name, int(terms), Cell(ratio, digits=1)) for name, terms, ratio in groups]
    found.append(("published", TERMS, Cell(RATIO, digits=1)))
    rows = []
    for headers, weights in itertools.product(HEADERS, list(WEIGHTS)[:1] if steps.quick else WEIGHTS):
        ends = steps.step(f"{headers} {list(WEIGHTS).index(weights)}", partial(from_classes, headers, weights))
        rows.append((headers, weights, *(Cell(end) for end in ends)))
    return Outcome(
        [
            Table(f"Three groups of {POSTS} posts, headers cut", ("groups", "terms", "ratio"), found),
            Table("NMI after a start from the true classes", ("headers", "weights", "orig", "DS"), rows),
        ],
        notes=[f"Published means over random starts: orig {PUBLISHED['ng3'][3][0]}, DS {PUBLISHED['ng3'][3][1]}."],
    )
