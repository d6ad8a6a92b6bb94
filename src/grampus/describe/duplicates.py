"""Near-duplicate documents."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._array import Array, inverse_root, is_sparse, row_squares, scale_rows, tiles
from .._check import check_matrix, check_number

_ROUNDING = 1e-6  # weights are often float32


def near_duplicates(x: Any, threshold: float = 0.9, top: int = 10_000) -> tuple[NDArray[np.intp], Array]:
    """Return the pairs of rows whose cosine is at least `threshold`, most similar first.

    Exact, without comparing all pairs where rows are sparse. Order the terms of a row from rare to frequent: by
    Cauchy–Schwarz, a tail whose length is below the threshold cannot make a pair by itself, so the rows of a pair share
    one of the rare terms before it (Bayardo, Ma & Srikant 2007). Rows of zeros are in no pair.

    Parameters
    ----------
    x : array or sparse array of shape (n, m)
    threshold : float
        Above 0, at most 1.
    top : int
        The largest number of pairs.

    Returns
    -------
    pairs : array of shape (p, 2)
        Positions i < j.
    similarity : array of shape (p,)

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.describe import near_duplicates
    >>> pairs, similarity = near_duplicates(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.1]]))
    >>> pairs.tolist(), similarity.round(3).tolist()
    ([[0, 2]], [0.995])
    """
    x = check_matrix(x)
    threshold = check_number(threshold, "threshold", low=1e-6, high=1.0)
    scale = inverse_root(row_squares(x))
    if is_sparse(x):
        return _most(*_sparse_pairs(scale_rows(scale, x.astype(np.float64)), threshold), top)
    return _most(*_dense_pairs(x * scale[:, None], threshold), top)


def _dense_pairs(unit: Array, threshold: float) -> tuple[Array, Array, Array]:
    found = []
    for rows in tiles(len(unit), 8 * len(unit)):
        block = unit[rows] @ unit[rows.start :].T
        i, j = np.nonzero(block >= threshold - _ROUNDING)
        ahead = j > i
        i, j = i[ahead], j[ahead]
        found.append((i + rows.start, j + rows.start, block[i, j]))
    return _joined(found)


def _sparse_pairs(unit: sp.csr_array, threshold: float) -> tuple[Array, Array, Array]:
    rare = np.argsort(np.argsort(np.bincount(unit.indices, minlength=unit.shape[1]), kind="stable"))
    head, every = _heads(unit, rare, threshold), unit.T.tocsr()
    found = []
    widest = int(np.diff(head.indptr).max(initial=1)) * 64 + 16 * unit.shape[0] // 8
    for rows in tiles(unit.shape[0], max(widest, 1)):
        shared = (head[rows] @ every).tocoo()  # only where a rare term is shared
        i, j = shared.row + rows.start, shared.col
        ahead = i != j
        i, j = np.minimum(i, j)[ahead], np.maximum(i, j)[ahead]
        i, j = np.unique(np.stack([i, j]), axis=1) if len(i) else (i, j)
        value = np.asarray(unit[i].multiply(unit[j]).sum(axis=1)).reshape(-1) if len(i) else np.empty(0)
        near = value >= threshold - _ROUNDING
        found.append((i[near], j[near], value[near]))
    i, j, value = _joined(found)
    _, first = np.unique(i * unit.shape[0] + j, return_index=True)  # a pair can be found from both ends
    return i[first], j[first], value[first]


def _heads(unit: sp.csr_array, rare: Array, threshold: float) -> sp.csr_array:
    """Keep the rarest terms of every row, as few as leave a tail shorter than the threshold."""
    row = np.repeat(np.arange(unit.shape[0]), np.diff(unit.indptr))
    order = np.lexsort((rare[unit.indices], row))
    squares = np.square(unit.data[order])
    before = np.concatenate([[0.0], np.cumsum(squares)])[:-1]
    ends = np.concatenate([[0.0], np.cumsum(squares)])[unit.indptr[1:]]
    left = np.repeat(ends, np.diff(unit.indptr)) - before  # squared length from this term on
    kept = left >= (threshold - 2 * _ROUNDING) ** 2 - 1e-12 * max(unit.shape[0], 1)
    head = sp.coo_array((unit.data[order][kept], (row[kept], unit.indices[order][kept])), shape=unit.shape)
    return sp.csr_array(head)


def _joined(found: list[tuple[Array, Array, Array]]) -> tuple[Array, Array, Array]:
    i, j, value = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return i.astype(np.intp), j.astype(np.intp), value


def _most(i: Array, j: Array, value: Array, top: int) -> tuple[NDArray[np.intp], Array]:
    order = np.lexsort((j, i, -value))[:top]
    return np.stack([i, j], axis=1)[order], np.minimum(value[order], 1.0)
