"""Harder tasks made of the three sets that the choice of defaults may look at: small, unbalanced, of similar classes.

bbc and classic3 are almost solved as they stand, so they hardly tell candidates apart; their parts do.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

BBC = ("business", "entertainment", "politics", "sport", "tech")
CLASSIC3 = ("cisi", "cran", "med")
SIMILAR = (
    ("money-fx", "interest", "trade"),
    ("gnp", "cpi", "ipi", "jobs"),
    ("crude", "nat-gas", "ship"),
    ("sugar", "coffee", "cocoa", "grain", "rubber"),
    ("gold", "copper", "alum", "iron-steel"),
    ("earn", "acq"),
)
MOST = 200  # documents of a class of r52_raw_9052
FEWEST = 40


def sizes(name: str, labels: NDArray[np.str_], rng: np.random.Generator) -> Iterator[dict[str, int]]:
    """Yield the tasks of one set: how many documents of which classes."""
    if name == "r52_raw_9052":
        classes, counts = np.unique(labels, return_counts=True)
        enough = classes[counts >= FEWEST]
        chosen = [*SIMILAR, *(rng.permutation(enough)[:k] for k in (2, 2, 3, 3, 4, 5, 6, 8))]
        yield from ({str(one): MOST for one in some} for some in chosen)
        return
    known, shares = (BBC, (350, 200, 100, 50, 25)) if name == "bbc" else (CLASSIC3, (600, 150, 40))
    yield from (dict.fromkeys(known, each) for each in (60, 200))
    yield from (dict(zip(rng.permutation(known).tolist(), shares, strict=True)) for _ in range(3))
    if name == "bbc":
        yield dict.fromkeys(("business", "politics", "tech"), 150)


def parts(name: str, labels: NDArray[np.str_]) -> Iterator[NDArray[np.intp]]:
    """Yield the documents of every task made of one set; always the same."""
    rng = np.random.default_rng(0)
    for wanted in list(sizes(name, labels, rng)):
        drawn = [rng.permutation(np.flatnonzero(labels == one))[:most] for one, most in wanted.items()]
        yield np.sort(np.concatenate(drawn))
