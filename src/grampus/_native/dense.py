"""Nearest neighbours of dense rows: products in single precision rule out, double precision decides.

Arrays are checked here, before C++ sees them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _MOST, Array, _core, _numbers, _require


class DenseNeighbours:
    """Nearest rows by product, or by 2 x·y − far(y).

    Parameters
    ----------
    rows : array of shape (n, m), finite
    far : array of shape (n,), optional
        May be infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus._native.dense import DenseNeighbours
    >>> DenseNeighbours(np.array([[1.0], [9.0], [2.0]])).nearest(0, 3, 1, 0.0)[0].T
    array([[1, 2, 1]])
    """

    def __init__(self, rows: Any, far: Any = None) -> None:
        rows = np.require(rows, np.float64, ["C_CONTIGUOUS", "ALIGNED"])
        _require(rows.ndim == 2 and rows.shape[1] > 0 and len(rows) <= _MOST, f"rows must be (n, m); got {rows.shape}")
        _require(bool(np.isfinite(rows).all()), "rows must be finite")
        self.n = len(rows)
        self._rows = _core.DenseRows(rows, np.empty(0) if far is None else _numbers(far, (self.n,), "far"))
        with np.errstate(over="ignore", under="ignore"):
            self._rough = rows.astype(np.float32)

    def nearest(
        self, first: int, last: int, p: int, tie: float, margin: float = 0.0
    ) -> tuple[NDArray[np.int64], Array]:
        """Return the p nearest other rows of the rows first … last, columns in rising order, and their nearness.

        Of those equal up to `tie` times the p-th, plus `margin`, the first are taken.
        """
        _require(0 <= first <= last <= self.n, f"the range must be inside 0 … {self.n}")
        _require(1 <= p < self.n, f"p must be from 1 to {self.n - 1}; got {p}")
        columns, values = np.empty((last - first, p), dtype=np.int64), np.empty((last - first, p))
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # what is out of range is not screened
            rough = np.ascontiguousarray(self._rough[first:last] @ self._rough.T)
        self._rows.nearest(rough, first, tie, margin, columns, values)
        return columns, values
