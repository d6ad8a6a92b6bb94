"""The rules and settings of the papers that the public signatures do not offer, in one place.

A centroid's self-similarity is the sum of K over all ordered pairs of its cluster, over |C|² (`dominance`, Eqn 4). The
published numbers without the empirical map come out when every pair counts once.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import grampus
from grampus import cluster, select
from grampus.cluster.kmeans.state import RULES
from grampus.cluster.trees.pddp import VARIANTS
from grampus.select.schemes import SCHEMES

EQUATION, ONCE = 1.0, 0.5
PAPER: dict[str, Any] = {"null": False, "random_state": 0}  # of `validation`


def add_rows() -> None:
    """Add rows to the private tables: every pair of a cluster counts once in a centroid's norm."""
    for name in ("plain", "adjusted"):
        RULES[f"{name}, pairs once"] = replace(RULES[name], centroid=ONCE)
    for name in ("KKM-S", "RED-S"):
        SCHEMES[f"{name} pairs once"] = replace(
            SCHEMES[name], name=f"{name} pairs once", rule=RULES["plain, pairs once"]
        )


def kernel_kmeans(gram: Any, k: int, pairs: float = EQUATION, adjusted: bool = False, **how: Any) -> Any:
    """Return a clustering, with or without leave-one-out distances (AA)."""
    add_rows()
    rule = "adjusted" if adjusted else "plain"
    return cluster.kernel_kmeans(gram, k, rule=rule if pairs == EQUATION else f"{rule}, pairs once", **how)


def choose_k(x: Any, scheme: str, n_splits: int, pairs: float = EQUATION, **how: Any) -> Any:
    """Choose k as `validation` does: one random start for each half, no null test."""
    add_rows()
    if scheme in ("RED-S", "KKM-S") and pairs != EQUATION:  # the others compare cosines
        scheme = f"{scheme} pairs once"
    options = {name: how.pop(name) for name in ("reduction", "n_neighbors") if name in how}
    splits = select.Splits(n_splits, init=how.pop("init", "random"), n_init=how.pop("n_init", 1), **options)
    return grampus.choose_k(x, scheme=scheme, splits=splits, **{**PAPER, **how})


def reduced(gram: Any, seeds: str = "compactness", seed: int = 0) -> Any:
    """Return prototypes, seeded by compactness or at random."""
    return select.reduce_gram(gram, seeds=seeds, random_state=seed)


def tree(name: str, k: int, kernel: str = "linear") -> Any:
    """Return the estimator that `pddp` calls `name`, such as PDDP_OCPC(2) or KPDDP."""
    found = re.fullmatch(r"K?(\w+?)(?:\((\d+)\))?", name)
    assert found is not None, name
    return grampus.PDDP(k, kernel=kernel, n_components=int(found[2] or 1), **VARIANTS[found[1]])
