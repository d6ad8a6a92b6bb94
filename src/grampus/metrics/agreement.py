"""Purity, cluster entropy and the adjusted Rand index."""

import math

import numpy as np
from numpy.typing import ArrayLike

from .table import ContingencyTable, as_table


def purity(labels_true: ArrayLike | ContingencyTable, labels_pred: ArrayLike | None = None) -> float:
    """Return the share of documents that belong to the largest class of their cluster.

    Parameters
    ----------
    labels_true : array-like of shape (n,) or ContingencyTable
        The classes, or the table of both partitions.
    labels_pred : array-like of shape (n,), optional
        The clusters; left out when a table is given.

    Returns
    -------
    float
        Above 0, at most 1. Not symmetric; it never falls when a cluster is split.

    Notes
    -----
    purity = (1/n) Σ_j max_i n_ij, n_ij documents of class i in cluster j (Zhao & Karypis 2004).

    Examples
    --------
    >>> from grampus.metrics import purity
    >>> purity(["a", "a", "b", "b"], [0, 0, 0, 1])
    0.75
    """
    table = as_table(labels_true, labels_pred)
    largest = np.zeros(table.shape[1], dtype=np.int64)
    np.maximum.at(largest, table.columns, table.counts)
    return int(largest.sum()) / table.n


def cluster_entropy(
    labels_true: ArrayLike | ContingencyTable, labels_pred: ArrayLike | None = None, *, normalised: bool = False
) -> float:
    """Return the mean entropy of the classes within a cluster, weighted by cluster size; in bits.

    Parameters
    ----------
    labels_true : array-like of shape (n,) or ContingencyTable
        The classes, or the table of both partitions.
    labels_pred : array-like of shape (n,), optional
        The clusters; left out when a table is given.
    normalised : bool, default=False
        Divide by log₂ of the number of classes, so that 1 is the worst. With one class the score is 0.

    Returns
    -------
    float
        0 when each cluster holds one class; at most log₂ of the number of classes, or 1 if normalised.

    Notes
    -----
    entropy = −Σ_j (n_j/n) Σ_i (n_ij/n_j) log₂(n_ij/n_j), n_ij documents of class i in the n_j documents of
    cluster j: the conditional entropy of the classes given the clusters. Zhao & Karypis 2004 use
    the normalised form.

    Examples
    --------
    >>> from grampus.metrics import cluster_entropy
    >>> cluster_entropy(["a", "b", "c", "d"], [0, 0, 1, 1])
    1.0
    >>> cluster_entropy(["a", "b", "c", "d"], [0, 0, 1, 1], normalised=True)
    0.5
    """
    table = as_table(labels_true, labels_pred)
    bits = math.fsum(table.counts / table.n * np.log2(table.cluster_sizes[table.columns] / table.counts))
    if not normalised or table.shape[0] == 1:
        return bits
    return min(bits / math.log2(table.shape[0]), 1.0)


def ari(labels_true: ArrayLike | ContingencyTable, labels_pred: ArrayLike | None = None) -> float:
    """Return the adjusted Rand index: agreement over pairs of documents, corrected for chance.

    Parameters
    ----------
    labels_true : array-like of shape (n,) or ContingencyTable
        The classes, or the table of both partitions.
    labels_pred : array-like of shape (n,), optional
        The clusters; left out when a table is given.

    Returns
    -------
    float
        1 for the same partition, 0 on average for random ones, at least −0.5. Symmetric.

    Notes
    -----
    Hubert & Arabie 1985, equation 5, over pairs of documents: with a pairs together in both partitions, b only in the
    classes, c only in the clusters and d in neither, 2 (ad − bc) / ((a + b)(b + d) + (a + c)(c + d)).

    Examples
    --------
    >>> from grampus.metrics import ari
    >>> ari(["a", "a", "b", "b"], [1, 1, 0, 0])
    1.0
    >>> round(ari([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.5714
    """
    table = as_table(labels_true, labels_pred)
    every, both = _pairs([table.n]), _pairs(table.counts)
    classes, clusters = _pairs(table.class_sizes), _pairs(table.cluster_sizes)
    apart, joined = classes - both, clusters - both
    neither = every - both - apart - joined
    if apart == joined == 0:
        return 1.0
    return 2.0 * (both * neither - apart * joined) / (classes * (apart + neither) + clusters * (joined + neither))


def _pairs(sizes: ArrayLike) -> int:
    """Return how many pairs of documents groups of these sizes hold, whatever their number."""
    return sum(size * (size - 1) // 2 for size in np.asarray(sizes).tolist())
