"""Scores under the best one-to-one matching of clusters to classes."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from .table import ContingencyTable, as_table


def match_clusters(labels_true: ArrayLike | ContingencyTable, labels_pred: ArrayLike | None = None) -> NDArray[np.intp]:
    """Match clusters to classes one to one, maximising the documents in the cluster of their class.

    Parameters
    ----------
    labels_true : array-like of shape (n,) or ContingencyTable
        The classes, or the table of both partitions.
    labels_pred : array-like of shape (n,), optional
        The clusters; left out when a table is given.

    Returns
    -------
    ndarray of shape (n_classes,)
        For each class, in the order of the table's ``classes``, the index of its cluster in the table's
        ``clusters``, or −1. A class gets −1 when no cluster with a document of its own is left.

    Notes
    -----
    A maximum-weight assignment (Kuhn 1955), solved on the table's non-zero cells. Of several matchings with
    the same number of matched documents, one with the largest sum of precisions and recalls is taken.

    Examples
    --------
    >>> from grampus.metrics import match_clusters
    >>> match_clusters(["a", "a", "b", "b", "c"], [1, 1, 0, 0, 0])
    array([ 1,  0, -1])
    """
    table = as_table(labels_true, labels_pred)
    matched = np.full(table.shape[0], -1, dtype=np.intp)
    # A class and a cluster that only meet each other need no search.
    alone = (np.bincount(table.rows)[table.rows] == 1) & (np.bincount(table.columns)[table.columns] == 1)
    matched[table.rows[alone]] = table.columns[alone]
    if alone.all():
        return matched
    tie = table.counts / table.class_sizes[table.rows] + table.counts / table.cluster_sizes[table.columns]
    weights = table.counts + tie / (2 * min(table.shape) + 1)
    rows, columns = _assign(table.rows[~alone], table.columns[~alone], weights[~alone])
    matched[rows] = columns
    return matched


def _assign(
    rows: NDArray[np.intp], columns: NDArray[np.intp], weights: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the cells of a one-to-one assignment with the largest total weight, as rows and columns."""
    left, row_codes = np.unique(rows, return_inverse=True)
    right, column_codes = np.unique(columns, return_inverse=True)
    # Each row also has one private column of no value, so that a full matching always exists. Adding 1 to
    # every weight changes no comparison and keeps these edges from being zero, which would be no edges.
    private = np.arange(len(left))
    values = np.concatenate([weights + 1.0, np.ones(len(left))])
    # SciPy's matching needs 32-bit indices.
    cells = (
        np.concatenate([row_codes, private]).astype(np.int32),
        np.concatenate([column_codes, len(right) + private]).astype(np.int32),
    )
    graph = sparse.csr_array((values, cells), shape=(len(left), len(right) + len(left)))
    row_index, column_index = min_weight_full_bipartite_matching(graph, maximize=True)
    kept = column_index < len(right)
    return left[row_index[kept]], right[column_index[kept]]


def accuracy(labels_true: ArrayLike | ContingencyTable, labels_pred: ArrayLike | None = None) -> float:
    """Return the share of documents in the cluster matched to their class.

    Parameters
    ----------
    labels_true : array-like of shape (n,) or ContingencyTable
        The classes, or the table of both partitions.
    labels_pred : array-like of shape (n,), optional
        The clusters; left out when a table is given.

    Returns
    -------
    float
        Above 0, at most 1. Symmetric.

    See Also
    --------
    match_clusters : the matching.

    Notes
    -----
    (1/n) max_m Σ_i n_{i,m(i)} over one-to-one matchings m. The numbers of clusters and classes may differ:
    documents of a class without a cluster, or in a cluster without a class, count as wrong.

    Examples
    --------
    >>> from grampus.metrics import accuracy
    >>> accuracy(["a", "a", "b", "b"], [1, 1, 0, 2])
    0.75
    """
    table = as_table(labels_true, labels_pred)
    return int(_matched_counts(table)[0].sum()) / table.n


def error_rate(labels_true: ArrayLike | ContingencyTable, labels_pred: ArrayLike | None = None) -> float:
    """Return the share of documents outside the cluster matched to their class: 1 − `accuracy`.

    Parameters
    ----------
    labels_true : array-like of shape (n,) or ContingencyTable
        The classes, or the table of both partitions.
    labels_pred : array-like of shape (n,), optional
        The clusters; left out when a table is given.

    Returns
    -------
    float
        At least 0, below 1. Symmetric.

    Notes
    -----
    The misclassification error distance of Meilă & Heckerman 2001.

    Examples
    --------
    >>> from grampus.metrics import error_rate
    >>> error_rate(["a", "a", "b", "b"], [1, 1, 0, 2])
    0.25
    """
    table = as_table(labels_true, labels_pred)
    return (table.n - int(_matched_counts(table)[0].sum())) / table.n


def precision(labels_true: ArrayLike | ContingencyTable, labels_pred: ArrayLike | None = None) -> float:
    """Return the mean over classes of the precision of the matched cluster.

    Parameters
    ----------
    labels_true : array-like of shape (n,) or ContingencyTable
        The classes, or the table of both partitions.
    labels_pred : array-like of shape (n,), optional
        The clusters; left out when a table is given.

    Returns
    -------
    float
        Above 0, at most 1.

    Notes
    -----
    The precision of a class is the share of its cluster's documents that belong to it. Every class counts
    the same. A class without a cluster, or with a cluster that holds none of its documents, has precision
    0; a cluster without a class does not count.

    Examples
    --------
    Three classes, and one cluster with nearly all documents: the third class has no cluster of its own.

    >>> from grampus.metrics import ContingencyTable, precision
    >>> table = ContingencyTable.from_counts([[373, 0, 1], [262, 7, 2], [112, 0, 0]])
    >>> round(precision(table), 3)
    0.5
    """
    table = as_table(labels_true, labels_pred)
    counts, sizes = _matched_counts(table)
    return float(np.mean(counts / np.maximum(sizes, 1)))


def recall(labels_true: ArrayLike | ContingencyTable, labels_pred: ArrayLike | None = None) -> float:
    """Return the mean over classes of the share of a class in its matched cluster.

    Parameters
    ----------
    labels_true : array-like of shape (n,) or ContingencyTable
        The classes, or the table of both partitions.
    labels_pred : array-like of shape (n,), optional
        The clusters; left out when a table is given.

    Returns
    -------
    float
        Above 0, at most 1.

    Notes
    -----
    Also called sensitivity. Every class counts the same; a class without a cluster has recall 0.

    Examples
    --------
    >>> from grampus.metrics import ContingencyTable, recall
    >>> table = ContingencyTable.from_counts([[373, 0, 1], [262, 7, 2], [112, 0, 0]])
    >>> round(recall(table), 3)
    0.341
    """
    table = as_table(labels_true, labels_pred)
    return float(np.mean(_matched_counts(table)[0] / table.class_sizes))


def _matched_counts(table: ContingencyTable) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each class the documents it has in its cluster, and that cluster's size; 0 without one."""
    matched = match_clusters(table)
    counts = np.zeros(table.shape[0], dtype=np.int64)
    own = table.columns == matched[table.rows]
    counts[table.rows[own]] = table.counts[own]
    return counts, np.where(matched >= 0, table.cluster_sizes[matched], 0)
