"""Nearest neighbours: a device computes rows and finds candidates; which of them are nearest is decided here."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array, as_numpy, is_sparse
from .._check import check_finite
from ..gram import Gram
from ..gram.graph import TIES, nearest

_TILE = 2**28  # bytes of similarities on a device at a time
_GROUP = 32  # similarities of which only the largest is looked at first


def nearest_on(
    xp: Any, read: Callable[[Any], Any], gram: Gram, count: int, by_distance: bool
) -> tuple[NDArray[np.intp], Array]:
    """Return the nearest documents as `gram.graph.nearest_neighbors` does; `read` computes rows of similarities."""
    n, explicit = len(gram), gram.features()
    index, values = np.empty((n, count), dtype=np.intp), np.empty((n, count))
    diagonal = gram.diagonal().astype(np.float64)
    far = xp.asarray(np.where(diagonal > 0, diagonal, np.inf))
    tie = TIES["float64"] * float(np.abs(diagonal).max(initial=0.0)) if by_distance else None
    links = not by_distance and explicit is not None and is_sparse(explicit.rows)  # only what is above 0 counts
    step = max(1, _TILE // (8 * n))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        block = check_finite(read(rows))
        if by_distance:
            block = 2.0 * block - far
        block[xp.arange(len(block)), xp.arange(rows.start, rows.stop)] = -np.inf
        found, near = _candidates(block, count, links, tie)
        columns, values[rows] = nearest(near, count, tie)
        index[rows] = np.take_along_axis(found, columns, axis=1)
    if links:
        missing = ~(values > 0)
        index[missing], values[missing] = -1, 0.0
        order = np.argsort(missing, axis=1, kind="stable")
        return np.take_along_axis(index, order, axis=1), np.take_along_axis(values, order, axis=1)
    return index, values


def _candidates(block: Any, count: int, links: bool, tie: float | None) -> tuple[NDArray[np.intp], Array]:
    """Return columns and values of all that may be among the largest of a row, filled up with −1 and −∞.

    The p-th largest of the largest of each group is a lower bound of the p-th largest of all.
    """
    n, tops = block.shape[1], block
    if n >= 2 * _GROUP * count:
        tops = block[:, : n // _GROUP * _GROUP].reshape(len(block), -1, _GROUP).max(axis=2)
    limit = np.sort(tops, axis=1)[:, -count]
    room = 2.0 * (TIES["float64"] * abs(limit) if tie is None else tie)
    low = np.where(np.isfinite(limit), limit - room, limit)
    kept = block >= low[:, None]
    rows, columns = np.nonzero(kept & (block > 0) if links else kept)
    near, rows, columns = (as_numpy(part) for part in (block[rows, columns], rows, columns))
    sizes = np.bincount(rows, minlength=len(block))
    wide, place = max(count, int(sizes.max())), np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    found, values = np.full((len(block), wide), -1, dtype=np.intp), np.full((len(block), wide), -np.inf)
    found[rows, place], values[rows, place] = columns, near
    return found, values
