"""Partitions around a partition: its clusters merged into fewer, or divided into more."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array, members_of_clusters
from .._check import check_partition
from .._names import LEVELS
from ..cluster import kernel_kmeans
from ..cluster.trees.nested import Sums, merges
from ..gram import Gram
from ..run import results_in_copies

SMALLEST = 5  # documents a part should have on average
STARTS = 5
LARGE = 5e6  # operations of a product from which on dividing a cluster is worth half a copy


def nested(
    gram: Gram, labels: NDArray[np.intp], ks: Mapping[str, int], seed: int, at: str = "middle", smallest: int = SMALLEST
) -> dict[str, NDArray[np.intp]]:
    """Return the partitions of the levels around one of them, which is `labels`, from coarse to fine.

    Parameters
    ----------
    gram : Gram
        Without a trailing shift.
    labels : array of shape (n,)
        −1 for a document in no cluster.
    ks : mapping of str to int
        Level and number of clusters; a number that does not fit among the others is left out.
    seed : int
    at : str
        The level of `labels`.
    smallest : int
        Documents that a part should have on average.
    """
    found, filled = {at: labels}, check_partition(labels, len(labels))  # a cluster may have stayed empty
    names = [name for name in LEVELS if name in ks or name == at]
    above, below = names[: names.index(at)], names[names.index(at) + 1 :]
    inner = filled
    for name in reversed(above):
        if 1 < ks[name] <= inner.max():
            found[name] = inner = coarser(gram, inner, ks[name])
    inner = filled
    for name in below:
        parts = finer(gram, inner, ks[name], seed, smallest)
        if parts.max() > inner.max():
            found[name] = inner = parts
    return {name: found[name] for name in LEVELS if name in found}


def coarser(gram: Gram, labels: NDArray[np.intp], k: int) -> NDArray[np.intp]:
    """Merge clusters by Ward's rule in feature space until k are left; −1 stays −1."""
    clusters = int(labels.max()) + 1
    _, joins = merges(Sums.of(gram, labels, clusters))
    group = np.arange(clusters)
    members = {c: [c] for c in range(clusters)}
    for step, (one, other) in enumerate(joins[: clusters - k]):
        members[clusters + step] = members.pop(one) + members.pop(other)
    for number, some in enumerate(members.values()):
        group[some] = number
    return by_size(np.where(labels >= 0, group[labels], -1))


def finer(gram: Gram, labels: NDArray[np.intp], k: int, seed: int, smallest: int = SMALLEST) -> NDArray[np.intp]:
    """Divide clusters until there are about k, each by kernel k-means among its own documents.

    The parts are given out one by one to the cluster with the largest scatter per part (d'Hondt's rule).
    """
    clusters = int(labels.max()) + 1
    sums = Sums.of(gram, labels, clusters)
    scatter = np.maximum(sums.traces - np.diag(sums.between) / np.maximum(sums.sizes, 1), 0.0)
    parts = _shares(scatter, sums.sizes // smallest, k)
    members = members_of_clusters(labels, clusters)

    def inside(cluster: int) -> NDArray[np.intp]:
        some, count = members[cluster], int(parts[cluster])
        if count == 1:
            return np.zeros(len(some), dtype=np.intp)
        run = kernel_kmeans(gram.take(some), count, init="k-means++", n_init=STARTS, random_state=seed)
        return check_partition(run.labels, len(some))

    large = gram.cost().product >= LARGE
    divided, total = np.full(len(labels), -1, dtype=np.intp), 0
    for some, inner in zip(members, results_in_copies(inside, clusters, 2 if large else clusters), strict=True):
        divided[some] = inner + total
        total += int(inner.max()) + 1
    return by_size(divided)


def _shares(scatter: Array, most: NDArray[Any], k: int) -> NDArray[np.intp]:
    parts = np.ones(len(scatter), dtype=np.intp)
    while parts.sum() < k and (parts < most).any():
        parts[np.where(parts < most, scatter / parts, -1.0).argmax()] += 1
    return parts


def by_size(labels: NDArray[np.intp], weights: Array | None = None) -> NDArray[np.intp]:
    """Renumber clusters: the largest is 0; of equal ones, the one with the earlier document comes first. −1 stays."""
    inside = labels >= 0
    there, k = labels[inside], int(labels.max(initial=-1)) + 1
    sizes = np.bincount(there, weights=None if weights is None else weights[inside], minlength=k)
    found, first = np.flatnonzero(np.bincount(there, minlength=k)), np.empty(k, dtype=np.intp)
    first[there[::-1]] = np.arange(len(there))[::-1]  # of several places, the last that is written: the first
    number = np.full(k + 1, -1, dtype=np.intp)  # that of −1 comes last
    number[found[np.lexsort((first[found], -sizes[found]))]] = np.arange(len(found))
    return number[labels]
