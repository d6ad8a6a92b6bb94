"""The rules and settings of the papers that the public signatures do not offer, in one place.

A centroid's self-similarity is the sum of K over all ordered pairs of its cluster, over |C|² (`dominance`, Eqn 4). The
published numbers without the empirical map come out when every pair counts once.
"""

from __future__ import annotations

from typing import Any

import grampus
from grampus import cluster, select

EQUATION, ONCE = 1.0, 0.5
PAPER: dict[str, Any] = {"init": "random", "n_init": 1, "null": False, "random_state": 0}  # of `validation`


def kernel_kmeans(gram: Any, k: int, pairs: float = EQUATION, adjusted: bool = False, **how: Any) -> Any:
    """Return a clustering, with or without leave-one-out distances (AA)."""
    return cluster.kernel_kmeans(gram, k, adjusted=adjusted, centroid_weight=pairs, **how)


def choose_k(x: Any, scheme: str, n_splits: int, pairs: float = EQUATION, **how: Any) -> Any:
    """Choose k as `validation` does: one random start for each half, no null test."""
    if scheme in ("RED-S", "KKM-S"):  # the others compare cosines, without a centroid's self-similarity
        how["centroid_weight"] = pairs
    return grampus.choose_k(x, scheme=scheme, n_splits=n_splits, **{**PAPER, **how})


def reduced(gram: Any, seeds: str = "compactness", seed: int = 0) -> Any:
    """Return prototypes, seeded by compactness or at random."""
    return select.reduce_gram(gram, seeds=seeds, random_state=seed)


def tree(name: str, k: int, kernel: str = "linear") -> Any:
    """Return the estimator that `pddp` calls `name`, such as PDDP_OCPC(2)."""
    return grampus.PDDP.variant(name, n_clusters=k, kernel=kernel)
