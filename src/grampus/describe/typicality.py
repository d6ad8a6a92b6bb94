"""How well documents fit their clusters: central, borderline and odd ones, cohesion and separation."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array, sum_rows
from .._check import check_partition
from ..cluster.kmeans.centroids import margins
from ..gram import Gram
from ..select.leftover import between_clusters, cohesion_beyond, heaps

ODD = 0.5  # from here on a document counts as odd


@dataclass(frozen=True)
class Typicality:
    """How well n documents fit their k clusters, from their similarities.

    Attributes
    ----------
    labels : array of shape (n,)
    squared : array of shape (n,)
        Squared distance of each document to its centroid in feature space, without the shift.
    second : array of shape (n,)
        The nearest other cluster, the nearest of all for a document in none; −1 if there is no other.
    margin : array of shape (n,)
        1 − d²(own) / d²(second), within 0 and 1: 0 on the border, 1 on the centroid.
    typical : array of shape (n,)
        Mean similarity to the other documents of the cluster.
    oddness : array of shape (n,)
        1 − typical / (its median over the cluster), within 0 and 1: 0 is typical, 1 resembles no other document there.
    between : array of shape (k, k)
        Mean similarity of the documents of two clusters; on the diagonal, of two different documents of one.
    similarities : array of shape (n, k)
        Mean similarity of every document to every cluster, its own similarity to itself included.
    chance : float
        Mean similarity of two documents of different clusters; 0 if there is one.
    alike : array of shape (k,)
        Cohesion beyond chance as a share of what is possible; NaN for a single document or cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.describe import typicality
    >>> from grampus.gram import LinearGram, normalise
    >>> gram = normalise(LinearGram(np.array([[1.0, 0.0], [1.0, 0.1], [0.8, 0.6], [0.0, 1.0], [0.1, 1.0]])))
    >>> found = typicality(gram, [0, 0, 0, 1, 1])
    >>> int(found.margin.argmin()), int(found.typical[:3].argmin()), found.second.tolist()
    (2, 2, [1, 1, 1, 0, 0])
    """

    labels: NDArray[np.intp]
    squared: Array
    second: NDArray[np.intp]
    margin: Array
    typical: Array
    oddness: Array
    between: Array
    similarities: Array
    chance: float
    alike: Array

    def central(self, cluster: int, top: int = 3) -> list[int]:
        """Return the documents nearest to a centroid, nearest first."""
        members = np.flatnonzero(self.labels == cluster)
        return members[np.argsort(self.squared[members], kind="stable")[:top]].tolist()

    def borderline(self, cluster: int, top: int = 3) -> list[int]:
        """Return the documents of a cluster with the smallest margin, smallest first; none if it is the only one."""
        members = np.flatnonzero((self.labels == cluster) & (self.second >= 0))
        return members[np.argsort(self.margin[members], kind="stable")[:top]].tolist()

    def outliers(self, cluster: int, top: int = 3) -> list[int]:
        """Return the documents of a cluster whose oddness is at least 0.5, oddest first."""
        members = np.flatnonzero((self.labels == cluster) & (self.oddness >= ODD))
        return members[np.argsort(-self.oddness[members], kind="stable")[:top]].tolist()

    def nearest(self, cluster: int) -> int:
        """Return the cluster that is most similar on average; −1 if there is no other."""
        others = self.between[cluster].copy()
        others[cluster] = -np.inf
        return int(others.argmax()) if len(others) > 1 else -1

    def cohesion(self, cluster: int) -> float:
        """Return the mean similarity of two different documents of a cluster."""
        return float(self.between[cluster, cluster])

    @cached_property
    def mixed(self) -> NDArray[np.bool_]:
        """Which clusters are heaps of what is left over: hardly alike, and far less than the others."""
        return heaps(self.alike)

    def separation(self, cluster: int) -> float:
        """Return the cohesion minus the mean similarity to the nearest cluster; the cohesion if there is no other."""
        other = self.nearest(cluster)
        return self.cohesion(cluster) - (float(self.between[cluster, other]) if other >= 0 else 0.0)


def typicality(gram: Gram, labels: Any, counts: Any = None, similarities: Array | None = None) -> Typicality:
    """Return how well documents fit their clusters; a trailing shift is ignored. Costs one product.

    Parameters
    ----------
    gram : Gram
    labels : array of shape (n,)
        Cluster numbers 0 … k−1, none of them empty; −1 for a document in no cluster.
    counts : array of shape (n,), optional
        The number of equal documents that each row represents.
    similarities : array of shape (n, k), optional
        Mean similarity of every document to every cluster, where it is known already; saves the product.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.describe import typicality
    >>> from grampus.gram import LinearGram
    >>> typicality(LinearGram(np.array([[1.0, 0.0], [0.8, 0.0], [0.0, 1.0]])), [0, 0, 1]).cohesion(0)
    0.8
    """
    base, _ = gram.split_shift()
    clusters = check_partition(labels, len(base))
    n, inside = len(base), np.flatnonzero(clusters >= 0)
    own_cluster = clusters[inside]
    counts = np.ones(n) if counts is None else np.asarray(counts, dtype=np.float64)
    diagonal = base.diagonal().astype(np.float64)
    sizes = np.bincount(own_cluster, weights=counts[inside])
    k = len(sizes)
    sums = base.sum_by(clusters, k, counts) if similarities is None else similarities * sizes
    total = sum_rows(sums, clusters, k, counts)
    squared = np.maximum(diagonal[:, None] + np.diag(total) / sizes**2 - 2.0 * sums / sizes, 0.0)
    nearest = np.where(clusters >= 0, clusters, squared.argmin(axis=1))
    _, second, margin = margins(squared, nearest)
    second, margin = np.where(clusters >= 0, second, nearest), np.where(clusters >= 0, margin, 0.0)

    pairs = np.outer(sizes, sizes)
    np.fill_diagonal(pairs, np.maximum(sizes * (sizes - 1.0), 1.0))
    self_similar = np.bincount(own_cluster, weights=(counts * diagonal)[inside], minlength=k)
    np.fill_diagonal(total, np.diag(total) - self_similar)
    typical = np.zeros(n)
    typical[inside] = (sums[inside, own_cluster] - diagonal[inside]) / np.maximum(sizes[own_cluster] - 1.0, 1.0)
    odd = np.where(clusters >= 0, _oddness(typical, clusters, sizes, counts), 1.0)
    between, chance = total / pairs, between_clusters(total, sizes)
    alike = cohesion_beyond(np.diag(between), chance, self_similar / sizes, np.bincount(own_cluster))
    return Typicality(
        clusters, squared[np.arange(n), nearest], second, margin, typical, odd, between, sums / sizes, chance, alike
    )  # fmt: skip


def _oddness(typical: Array, clusters: NDArray[np.intp], sizes: Array, counts: Array) -> Array:
    """Compare each document's similarity to its cluster with the cluster's median; a single document is not odd."""
    odd = np.zeros(len(typical))
    for cluster in np.flatnonzero(sizes > 1):
        members = clusters == cluster
        usual = _median(typical[members], counts[members])
        if usual > 0:
            odd[members] = np.clip(1.0 - typical[members] / usual, 0.0, 1.0)
    return odd


def _median(values: Array, counts: Array) -> float:
    """Return the lower weighted median."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(counts[order])
    return float(values[order][np.searchsorted(reached, reached[-1] / 2.0)])
