"""The rules and settings of the papers that the public signatures do not offer, in one place.

A centroid's self-similarity is the sum of K over all ordered pairs of its cluster, over |C|² (`dominance`, Eqn 4). The
published numbers without the empirical map come out when every pair counts once.
"""

import re
from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import random_table

import grampus
from grampus import cluster, select
from grampus.cluster.kmeans.state import RULES
from grampus.cluster.trees.pddp import VARIANTS
from grampus.select.schemes import SCHEMES
from grampus.select.strength import Scored, chance_strength, corrected, partition_similarity, strength

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
    options = {name: how.pop(name) for name in ("reduction", "n_neighbors", "seeds") if name in how}
    splits = select.Splits(n_splits, init=how.pop("init", "random"), n_init=how.pop("n_init", 1), **options)
    return grampus.choose_k(x, scheme=scheme, splits=splits, **{**PAPER, **how})


def contingencies(x: Any, scheme: str, n_splits: int, pairs: float = EQUATION, **how: Any) -> dict[int, NDArray[Any]]:
    """Return for every k the tables of cluster and prediction, (2 · splits, k, k): what every score is made of."""
    found: dict[int, list[NDArray[Any]]] = defaultdict(list)

    def keep(counts: NDArray[np.int64]) -> Scored:
        found[counts.shape[-1]].append(counts)
        return strength(counts)

    add_rows()
    row = SCHEMES[scheme if pairs == EQUATION or SCHEMES[scheme].rule.spherical else f"{scheme} pairs once"]
    SCHEMES["kept"] = replace(row, name="kept", score=keep, corrected=False)
    try:
        choose_k(x, "kept", n_splits, **how)
    finally:
        del SCHEMES["kept"]
    return {k: np.concatenate(found[k]) for k in sorted(found)}


def strengths(tables: dict[int, NDArray[Any]]) -> dict[int, float]:
    """Return the mean strength for every k, corrected by that of random partitions (Eqn 2)."""
    means = {}
    for k, counts in tables.items():
        chance = np.array([chance_strength(int(n), k).mean for n in counts.sum(axis=(1, 2))])
        means[k] = float(corrected(strength(counts).values, chance).mean())
    return means


def strengths_of_sizes(tables: dict[int, NDArray[Any]], draws: int = 20) -> dict[int, float]:
    """Return the same with chance as Hubert & Arabie have it: random partitions with the sizes of these clusters."""
    means, rng = {}, np.random.default_rng(0)
    for k, counts in tables.items():
        chance = np.empty(len(counts))
        for i, table in enumerate(counts):
            drawn = random_table.rvs(table.sum(axis=1), table.sum(axis=0), size=draws, random_state=rng)
            chance[i] = strength(np.asarray(drawn, dtype=np.int64)).values.mean()
        means[k] = float(corrected(strength(counts).values, chance).mean())
    return means


def similarities(tables: dict[int, NDArray[Any]]) -> dict[int, float]:
    """Return the mean share of documents matched one to one for every k (KM-P)."""
    return {k: float(partition_similarity(counts).values.mean()) for k, counts in tables.items()}


def reduced(gram: Any, seeds: str = "compactness", seed: int = 0) -> Any:
    """Return prototypes, seeded by compactness or at random."""
    return select.reduce_gram(gram, seeds=seeds, random_state=seed)


def tree(name: str, k: int, kernel: str = "linear") -> Any:
    """Return the estimator that `pddp` calls `name`, such as PDDP_OCPC(2) or KPDDP."""
    found = re.fullmatch(r"K?(\w+?)(?:\((\d+)\))?", name)
    assert found is not None, name
    return grampus.PDDP(k, kernel=kernel, n_components=int(found[2] or 1), **VARIANTS[found[1]])
