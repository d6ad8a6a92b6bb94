"""Silhouette and gap statistic in feature space, for comparison."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array, sum_groups, tiles
from .._check import check_integer, check_labels
from .._parallel import blas_threads
from .._random import seed_words
from ..cluster import kernel_kmeans
from ..errors import InputError
from ..gram import Gram, shift
from .null import Cloud
from .splits import check_ks, null_generator


@dataclass(frozen=True)
class Indices:
    """Silhouette and gap statistic at every k, for comparison.

    Attributes
    ----------
    silhouette : array of shape (ks,)
        Mean silhouette width (Rousseeuw 1987) with distances in feature space.
    silhouette_k : int
        Where it is largest.
    gap : array of shape (ks + 1,)
        Gap statistic (Tibshirani, Walther & Hastie 2001) at 1 and at every k.
    gap_error : array of shape (ks + 1,)
        s_k, the simulation's standard error times √(1 + 1/B).
    gap_k : int
        The smallest k with gap(k) ≥ gap(k′) − s_k′, k′ the next value; 1 is possible.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram
    >>> from grampus.select import other_indices
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat(np.eye(3) * 9, 20, axis=0) + rng.normal(size=(60, 3))
    >>> indices = other_indices(LinearGram(X), range(2, 6), random_state=0)
    >>> indices.silhouette_k, indices.gap_k
    (3, 3)
    """

    ks: tuple[int, ...]
    silhouette: Array
    silhouette_k: int
    gap: Array
    gap_error: Array
    gap_k: int


def silhouette(gram: Gram, labels: Any) -> Array:
    """Return the silhouette width of every document, with distances in feature space (Rousseeuw 1987).

    s = (b − a)/max(a, b), a the mean distance to the other documents of the cluster, b the smallest mean distance to
    another cluster; 0 for a document that is alone. Reads the Gram once, tile by tile.

    Parameters
    ----------
    gram : Gram
        A trailing shift is ignored: distances are those of the plain kernel.
    labels : array of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram
    >>> from grampus.select import silhouette
    >>> silhouette(LinearGram(np.array([[0.0], [1.0], [9.0], [10.0]])), [0, 0, 1, 1]).round(2)
    array([0.89, 0.88, 0.88, 0.89])
    """
    base, _ = gram.split_shift()
    return _widths(base, [check_labels(labels, len(base))])[0]


def _widths(gram: Gram, partitions: Sequence[NDArray[np.intp]]) -> list[Array]:
    """Return the silhouette widths for several partitions in one pass over the Gram."""
    if any(labels.max() == 0 for labels in partitions):
        raise InputError("A silhouette compares clusters: it needs at least 2; got 1.")
    n = len(gram)
    diagonal = gram.diagonal().astype(np.float64)
    sizes = [np.bincount(labels).astype(np.float64) for labels in partitions]
    widths = [np.empty(n) for _ in partitions]
    with blas_threads():
        for rows in tiles(n, 40 * n):
            block = gram._block(rows, slice(0, n)).astype(np.float64)
            distance = np.sqrt(np.maximum(diagonal[rows, None] + diagonal - 2.0 * block, 0.0))
            here = np.arange(len(distance))
            distance[here, here + rows.start] = 0.0
            for labels, size, width in zip(partitions, sizes, widths, strict=True):
                sums, cluster = sum_groups(distance, labels, len(size)), labels[rows]
                company = size[cluster] - 1.0
                a = np.divide(sums[here, cluster], company, out=np.zeros(len(cluster)), where=company > 0)
                means = sums / size
                means[here, cluster] = np.inf
                b = means.min(axis=1)
                larger = np.maximum(a, b)
                width[rows] = np.divide(b - a, larger, out=np.zeros(len(cluster)), where=(company > 0) & (larger > 0))
    return widths


def other_indices(
    gram: Gram, ks: Any = range(2, 11), *, n_init: int = 10, draws: int = 10, random_state: Any = None
) -> Indices:
    """Compute the mean silhouette and the gap statistic of the best kernel k-means clustering at every k.

    Parameters
    ----------
    gram : Gram
        Its trailing shift, if it has one, is used for clustering; distances and objectives are without it.
    ks : iterable of int
    n_init : int
        Starts of each clustering.
    draws : int
        B, the reference sets of the gap statistic: clouds with the documents' spectrum, uniform along the principal
        components. Needs an eigendecomposition of the Gram: for a few thousand documents or prototypes.
    random_state : int, RandomState or None

    Returns
    -------
    Indices

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram
    >>> from grampus.select import other_indices
    >>> X = np.repeat([[0.0], [9.0]], 30, axis=0) + np.random.default_rng(0).normal(size=(60, 1))
    >>> other_indices(LinearGram(X), range(2, 5), random_state=0).silhouette_k
    2
    """
    base, sigma = gram.split_shift()
    n = len(base)
    values = check_ks(ks, n // 2)
    draws = check_integer(draws, "draws", low=2)
    entropy = tuple(seed_words(random_state))

    def clustered(some: Gram) -> tuple[list[NDArray[np.intp]], Array]:
        shifted = shift(some, sigma) if sigma else some
        found = [kernel_kmeans(shifted, k, n_init=n_init, random_state=entropy[0]) for k in values]
        one = some.trace() - float((some @ np.ones(n)).sum()) / n  # the objective of a single cluster
        floor = np.finfo(np.float64).tiny
        return [f.labels for f in found], np.log(np.maximum([one, *(f.objective for f in found)], floor))

    labels, dispersion = clustered(base)
    means = np.array([width.mean() for width in _widths(base, labels)])
    cloud = Cloud.of(base)
    reference = np.array([clustered(cloud.draw(n, null_generator(entropy, draw)))[1] for draw in range(1, draws + 1)])
    gap = reference.mean(axis=0) - dispersion
    error = reference.std(axis=0) * np.sqrt(1.0 + 1.0 / draws)
    tried = (1, *values)
    reached = np.flatnonzero(gap[:-1] >= gap[1:] - error[1:])
    return Indices(
        ks=values,
        silhouette=means,
        silhouette_k=values[int(means.argmax())],
        gap=gap,
        gap_error=error,
        gap_k=tried[int(reached[0])] if len(reached) else tried[-1],
    )
