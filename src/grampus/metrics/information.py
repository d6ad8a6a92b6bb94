"""Scores from information theory: mutual information and variation of information."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._check import check_number
from ..errors import InputError
from .table import ContingencyTable, as_table


def nmi(labels_true: ArrayLike | ContingencyTable, labels_pred: ArrayLike | None = None) -> float:
    """Return the normalised mutual information, with the geometric mean of the entropies.

    Parameters
    ----------
    labels_true : array-like of shape (n,) or ContingencyTable
        The classes, or the table of both partitions.
    labels_pred : array-like of shape (n,), optional
        The clusters; left out when a table is given.

    Returns
    -------
    float
        Between 0 (independent) and 1 (the same partition). Symmetric.

    Notes
    -----
    NMI(A, B) = I(A, B) / √(H(A) H(B)) (Strehl & Ghosh 2002). It equals scikit-learn's
    ``normalized_mutual_info_score(average_method="geometric")``, also at the edges: two partitions of one
    part each are the same, so 1; one part against several carries no information, so 0.

    Examples
    --------
    >>> from grampus.metrics import nmi
    >>> round(nmi(["a", "a", "b", "b"], [0, 0, 1, 2]), 4)
    0.8165
    >>> nmi([0, 0, 0], [0, 1, 2])
    0.0
    """
    table = as_table(labels_true, labels_pred)
    if table.identical:
        return 1.0
    if 1 in table.shape:
        return 0.0
    # Products of sizes could pass 2**63: take logarithms first.
    share = table.counts / table.n
    gain = (
        np.log(table.counts)
        + math.log(table.n)
        - np.log(table.class_sizes[table.rows])
        - np.log(table.cluster_sizes[table.columns])
    )
    information = math.fsum(share * gain)
    scale = math.sqrt(entropy(table.class_sizes) * entropy(table.cluster_sizes))
    return min(max(information / scale, 0.0), 1.0)


def variation_of_information(
    labels_true: ArrayLike | ContingencyTable, labels_pred: ArrayLike | None = None, *, base: float = 2.0
) -> float:
    """Return the variation of information, a distance between partitions; in bits by default.

    Parameters
    ----------
    labels_true : array-like of shape (n,) or ContingencyTable
        The classes, or the table of both partitions.
    labels_pred : array-like of shape (n,), optional
        The clusters; left out when a table is given.
    base : float, default=2
        The base of the logarithms: 2 gives bits, ``math.e`` nats. Must be above 1.

    Returns
    -------
    float
        Between 0 (the same partition) and log(n). Symmetric, and obeys the triangle inequality.

    Notes
    -----
    VI(A, B) = H(A|B) + H(B|A) = H(A) + H(B) − 2 I(A, B) (Meilă 2007). Papers differ in the base.

    Examples
    --------
    >>> from grampus.metrics import variation_of_information
    >>> variation_of_information([0, 0, 1, 1], [0, 1, 0, 1])
    2.0
    >>> variation_of_information([0, 0, 1, 1], ["b", "b", "a", "a"])
    0.0
    """
    if check_number(base, "base") <= 1.0:
        raise InputError(f"base must be a finite number above 1; got {base!r}.")
    table = as_table(labels_true, labels_pred)
    # Each term is a non-negative loss, exactly 0 where a part is whole, so equal partitions give exactly 0.
    loss = np.log(table.class_sizes[table.rows] / table.counts)
    loss += np.log(table.cluster_sizes[table.columns] / table.counts)
    return math.fsum(table.counts / table.n * loss) / math.log(base)


def entropy(sizes: NDArray[np.int64]) -> float:
    """Return the entropy, in nats, of a partition with these (positive) sizes."""
    share = sizes / sizes.sum()
    return -math.fsum(share * np.log(share)) if len(sizes) > 1 else 0.0
