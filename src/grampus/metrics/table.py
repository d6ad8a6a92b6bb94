"""The contingency table of two partitions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .._check import encode_labels
from .._draw import Shown
from ..errors import InputError


@dataclass(frozen=True, eq=False)
class ContingencyTable(Shown):
    """Counts of documents by class (rows) and cluster (columns).

    Only cells with documents are stored, so memory is at most proportional to the number of documents,
    whatever the number of clusters. Rows and columns without documents are not part of the table.
    Make one with `contingency_table` or `ContingencyTable.from_counts`.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The labels of the rows, sorted.
    clusters : ndarray of shape (n_clusters,)
        The labels of the columns, sorted.
    rows, columns : ndarray of shape (n_cells,)
        Positions of the non-zero cells, in row order.
    counts : ndarray of shape (n_cells,)
        The number of documents in each of those cells.

    Examples
    --------
    >>> from grampus.metrics import contingency_table
    >>> table = contingency_table(["a", "a", "b", "b", "b"], [0, 0, 0, 1, 2])
    >>> table.dense()
    array([[2, 0, 0],
           [1, 1, 1]])
    >>> table.n, table.shape, table.class_sizes, table.cluster_sizes
    (5, (2, 3), array([2, 3]), array([3, 1, 1]))
    """

    classes: NDArray[Any]
    clusters: NDArray[Any]
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    counts: NDArray[np.int64]

    @classmethod
    def from_counts(cls, counts: ArrayLike) -> ContingencyTable:
        """Make a table from counts: classes are rows, clusters are columns; labels are 0, 1, 2 and so on.

        Parameters
        ----------
        counts : array-like of shape (n_classes, n_clusters)
            Whole numbers, none negative, at least one positive. Empty rows and columns are left out;
            the others keep their numbers as labels.

        Returns
        -------
        ContingencyTable

        Examples
        --------
        >>> from grampus.metrics import ContingencyTable
        >>> ContingencyTable.from_counts([[3, 0, 1], [0, 0, 2]]).clusters
        array([0, 2])
        """
        array = np.asarray(counts)
        if array.ndim != 2:
            raise InputError(f"counts must have two dimensions, classes by clusters; got {array.ndim}.")
        if array.dtype.kind not in "biuf" or not np.isfinite(array).all() or (array != np.floor(array)).any():
            raise InputError("counts must be whole numbers; got other values.")
        if (array < 0).any() or not array.any():
            raise InputError("counts must not be negative, and one must be positive.")
        rows, columns = np.nonzero(array)
        classes, row_codes = np.unique(rows, return_inverse=True)
        clusters, column_codes = np.unique(columns, return_inverse=True)
        return cls(classes, clusters, row_codes, column_codes, array[rows, columns].astype(np.int64))

    @property
    def shape(self) -> tuple[int, int]:
        """The number of classes and the number of clusters."""
        return len(self.classes), len(self.clusters)

    @cached_property
    def n(self) -> int:
        """The number of documents."""
        return int(self.counts.sum())

    @cached_property
    def class_sizes(self) -> NDArray[np.int64]:
        """The number of documents of each class."""
        return _sums(self.rows, self.counts, self.shape[0])

    @cached_property
    def cluster_sizes(self) -> NDArray[np.int64]:
        """The number of documents in each cluster."""
        return _sums(self.columns, self.counts, self.shape[1])

    @property
    def identical(self) -> bool:
        """Whether the two partitions are the same up to the names of their parts."""
        return len(self.counts) == self.shape[0] == self.shape[1]

    def dense(self) -> NDArray[np.int64]:
        """Return the whole table as an array of shape (n_classes, n_clusters)."""
        array = np.zeros(self.shape, dtype=np.int64)
        array[self.rows, self.columns] = self.counts
        return array

    def sparse(self) -> sparse.csr_array:
        """Return the table as a SciPy sparse array of shape (n_classes, n_clusters)."""
        return sparse.csr_array((self.counts, (self.rows, self.columns)), shape=self.shape)


def contingency_table(labels_true: ArrayLike, labels_pred: ArrayLike) -> ContingencyTable:
    """Count the documents of each class in each cluster. Costs O(n log n) time and O(n) memory.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        A label for each document: strings or finite numbers.

    Returns
    -------
    ContingencyTable
        Accepted by every score of this module in place of the two sequences.

    Examples
    --------
    >>> from grampus.metrics import contingency_table
    >>> contingency_table(["x", "y", "y"], [7, 7, 5]).dense()
    array([[0, 1],
           [1, 1]])
    """
    classes, row_codes = encode_labels(labels_true, "labels_true")
    clusters, column_codes = encode_labels(labels_pred, "labels_pred")
    if len(row_codes) != len(column_codes):
        raise InputError(
            f"labels_true and labels_pred must have the same length; got {len(row_codes)} and {len(column_codes)}."
        )
    cells, counts = np.unique(row_codes * len(clusters) + column_codes, return_counts=True)
    rows, columns = np.divmod(cells, len(clusters))
    return ContingencyTable(classes, clusters, rows, columns, counts.astype(np.int64, copy=False))


def as_table(labels_true: ArrayLike | ContingencyTable, labels_pred: ArrayLike | None) -> ContingencyTable:
    """Return the table that was given, or that of the two sequences."""
    if isinstance(labels_true, ContingencyTable):
        if labels_pred is not None:
            raise InputError("labels_pred must be left out when a ContingencyTable is given; got both.")
        return labels_true
    if labels_pred is None:
        raise InputError("labels_pred is needed with labels_true; or pass one ContingencyTable.")
    return contingency_table(labels_true, labels_pred)


def _sums(codes: NDArray[np.intp], counts: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    # np.bincount would sum weights as floats.
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, codes, counts)
    return sums
