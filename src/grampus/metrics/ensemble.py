"""Agreement among many partitions of the same documents."""

from collections.abc import Sequence
from itertools import combinations_with_replacement
from math import isqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, special

from .._check import encode_partitions
from ..errors import InputError
from .information import entropy

Codes = NDArray[np.intp]
# Numbers in a tile of indicators, and in the product of two tiles.
_TILE = 1 << 23
# Up to this many clusters, a dense product of indicators is faster than a sparse one.
_DENSE_CLUSTERS = 12


def anmi(partitions: ArrayLike | Sequence[ArrayLike]) -> float:
    """Return the average normalised mutual information over all pairs of partitions.

    High when repeated runs find the same clusters. Costs a few matrix products, not a loop over pairs.

    Parameters
    ----------
    partitions : array-like of shape (n_partitions, n)
        One partition a row, at least two rows; or a sequence of label sequences of the same length.

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    pairwise_nmi : the NMI of each pair.

    Notes
    -----
    ANMI = 2 / (r(r−1)) Σ_{i<j} NMI(i, j) (Strehl & Ghosh 2002; as used by Greene & Cunningham 2006).

    Examples
    --------
    >>> from grampus.metrics import anmi
    >>> anmi([[0, 0, 1, 1], [1, 1, 0, 0]])
    1.0
    >>> round(anmi([[0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 1, 2]]), 4)
    0.8777
    """
    scores = pairwise_nmi(partitions)
    if len(scores) < 2:
        raise InputError("partitions must hold at least two partitions; got 1.")
    return float(scores[np.triu_indices(len(scores), 1)].mean())


def pairwise_nmi(partitions: ArrayLike | Sequence[ArrayLike]) -> NDArray[np.float64]:
    """Return the normalised mutual information (geometric mean) of every pair of partitions.

    Parameters
    ----------
    partitions : array-like of shape (n_partitions, n)
        One partition a row; or a sequence of label sequences of the same length.

    Returns
    -------
    ndarray of shape (n_partitions, n_partitions)
        Symmetric, ones on the diagonal.

    Notes
    -----
    With Z the stacked indicators of all partitions, ZᵀZ holds every contingency table; the joint entropies
    are computed from it in tiles, and I = H(A) + H(B) − H(A, B). Edge cases are those of `nmi`. The result
    does not depend on the tiles.

    Examples
    --------
    >>> from grampus.metrics import pairwise_nmi
    >>> pairwise_nmi([[0, 0, 1, 1], ["b", "b", "a", "a"], [0, 1, 0, 1]]).round(3)
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    codes, sizes = _encode_all(partitions)
    count, n = codes.shape
    entropies = np.array([entropy(np.bincount(row)) for row in codes])
    scores = np.eye(count)
    most = int(sizes.max())
    dense = most <= _DENSE_CLUSTERS
    step = max(1, min(_TILE // (n * most), isqrt(_TILE) // most) if dense else isqrt(_TILE // n))
    tiles = [slice(start, min(start + step, count)) for start in range(0, count, step)]
    for first, second in combinations_with_replacement(tiles, 2):
        cells = _cell_sums(codes[first], sizes[first], codes[second], sizes[second], dense)
        joint = np.log(n) - cells / n
        left, right = entropies[first, None], entropies[None, second]
        scale = np.sqrt(left * right)
        ratio = np.divide(left + right - joint, scale, out=np.zeros_like(joint), where=scale > 0)
        ratio[(left == 0) & (right == 0)] = 1.0
        scores[first, second] = ratio.clip(0.0, 1.0)
    upper = np.triu(scores, 1)
    return upper + upper.T + np.eye(count)


def _encode_all(partitions: ArrayLike | Sequence[ArrayLike]) -> tuple[Codes, Codes]:
    """Return integer codes, one partition a row, and each partition's number of clusters."""
    if isinstance(partitions, np.ndarray) and partitions.ndim != 2:
        raise InputError(
            "partitions must have two dimensions, one partition a row; "
            f"got {partitions.ndim} dimensions (shape {partitions.shape})."
        )
    encoded = encode_partitions(partitions)
    return np.stack([codes for _, codes in encoded]), np.array([len(values) for values, _ in encoded])


def _cell_sums(left: Codes, left_sizes: Codes, right: Codes, right_sizes: Codes, dense: bool) -> NDArray[np.float64]:
    """Return Σ c·log c over the cells of each contingency table, of shape (rows of left, rows of right)."""
    a, b = _indicators(left, left_sizes), _indicators(right, right_sizes)
    if dense:
        counts = a.toarray().T @ b.toarray()
        by_row = np.add.reduceat(special.xlogy(counts, counts, dtype=np.float64), _starts(left_sizes), axis=0)
        return np.asarray(np.add.reduceat(by_row, _starts(right_sizes), axis=1))
    product = sparse.coo_array(a.T.tocsr() @ b)
    rows = np.repeat(np.arange(len(left)), left_sizes)[product.row]
    columns = np.repeat(np.arange(len(right)), right_sizes)[product.col]
    weights = special.xlogy(product.data, product.data, dtype=np.float64)
    sums = np.zeros((len(left), len(right)))
    np.add.at(sums, (rows, columns), weights)
    return sums


def _indicators(codes: Codes, sizes: Codes) -> sparse.csr_array:
    """Return the stacked indicator columns of some partitions, of shape (n, all their clusters)."""
    count, n = codes.shape
    # Counts up to 2**24 are exact in single precision, whose products are twice as fast.
    dtype = np.float32 if n < 1 << 24 else np.float64
    columns = (codes + _starts(sizes)[:, None]).T.ravel()
    pointers = np.arange(0, n * count + 1, count)
    return sparse.csr_array((np.ones(n * count, dtype), columns, pointers), shape=(n, int(sizes.sum())))


def _starts(sizes: Codes) -> Codes:
    return np.concatenate([[0], np.cumsum(sizes)[:-1]])
