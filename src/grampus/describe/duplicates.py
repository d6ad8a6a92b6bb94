"""Near-duplicate documents."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array, inverse_root, is_sparse, row_squares, tiles
from .._check import check_matrix, check_number
from .._native import near_pairs, sparse_documents
from .._parallel import results_in_threads

MOST_PAIRS = 10_000
_ROUNDING = 1e-6  # weights are often float32


def near_duplicates(x: Any, threshold: float = 0.9, top: int = MOST_PAIRS) -> tuple[NDArray[np.intp], Array]:
    """Return the pairs of rows whose cosine is at least `threshold`, most similar first.

    Exact, without comparing all pairs where rows are sparse. Order the terms of a row from rare to frequent: by
    Cauchy–Schwarz, a tail whose length is below the threshold cannot make a pair by itself, so the rows of a pair share
    one of the rare terms before both tails (Bayardo, Ma & Srikant 2007). Rows of zeros are in no pair.

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
        return _most(*_sparse_pairs(x, scale, threshold), top)
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


def _sparse_pairs(x: Any, scale: Array, threshold: float) -> tuple[Array, Array, Array]:
    ones = np.ones(len(scale))
    finder = near_pairs(sparse_documents(x, scale, ones, ones), max(threshold - _ROUNDING, _ROUNDING))
    step = -(-len(scale) // 64) or 1
    bounds = range(0, len(scale), step)
    return _joined(list(results_in_threads(lambda p: finder.pairs(bounds[p], bounds[p] + step), len(bounds))))


def _joined(found: list[tuple[Array, Array, Array]]) -> tuple[Array, Array, Array]:
    i, j, value = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return i.astype(np.intp), j.astype(np.intp), value


def _most(i: Array, j: Array, value: Array, top: int) -> tuple[NDArray[np.intp], Array]:
    order = np.lexsort((j, i, -value))[:top]
    return np.stack([i, j], axis=1)[order], np.minimum(value[order], 1.0)
