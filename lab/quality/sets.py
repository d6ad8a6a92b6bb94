"""Harder tasks drawn from known corpora: some classes, similar classes, unequal sizes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

WEIGHTING = "lec"  # as DocumentClusterer

KNOWN = {
    "bbc": (("business", "entertainment", "politics", "sport", "tech"), (350, 200, 100, 50, 25)),
    "classic3": (("cisi", "cran", "med"), (600, 150, 40)),
}
SIMILAR = (
    ("money-fx", "interest", "trade"),
    ("gnp", "cpi", "ipi", "jobs"),
    ("crude", "nat-gas", "ship"),
    ("sugar", "coffee", "cocoa", "grain", "rubber"),
    ("gold", "copper", "alum", "iron-steel"),
    ("earn", "acq"),
)


def _sizes(name: str, labels: NDArray[np.str_], rng: np.random.Generator) -> Iterator[dict[str, int]]:
    """Yield how many documents of which classes make a task."""
    if name not in KNOWN:
        classes, counts = np.unique(labels, return_counts=True)
        enough = classes[counts >= 40]
        chosen = [*SIMILAR, *(rng.permutation(enough)[:k] for k in (2, 2, 3, 3, 4, 5, 6, 8))]
        yield from ({str(one): 200 for one in some} for some in chosen)
        return
    known, shares = KNOWN[name]
    yield from (dict.fromkeys(known, each) for each in (60, 200))
    yield from (dict(zip(rng.permutation(known).tolist(), shares, strict=True)) for _ in range(3))
    if name == "bbc":
        yield dict.fromkeys(("business", "politics", "tech"), 150)


def parts(name: str, labels: NDArray[np.str_]) -> Iterator[NDArray[np.intp]]:
    """Yield the documents of every task drawn from one set; always the same."""
    rng = np.random.default_rng(0)
    for wanted in list(_sizes(name, labels, rng)):
        drawn = [rng.permutation(np.flatnonzero(labels == one))[:most] for one, most in wanted.items()]
        yield np.sort(np.concatenate(drawn))
