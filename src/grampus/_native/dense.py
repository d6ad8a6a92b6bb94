"""Nearest neighbours of dense rows: rough products rule out, double precision decides.

Products are rough in single precision or, where the processor multiplies 8-bit numbers several times as fast, of rows
rounded to 8 bits.

Arrays are checked here, before C++ sees them.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _MOST, Array, _core, _numbers, _require
from .encoder import in_panels

_LEAST, _WIDEST = 64, 1280  # columns of rows that are rounded to 8 bits
_BLOCK = 1024  # rows rounded at a time
_TOO_MANY = 0.1  # of all rows: so many to compare exactly that rounding to 8 bits does not pay


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
        fast = _core.encoder_instructions() in ("dotprod", "vnni") and _LEAST <= rows.shape[1] <= _WIDEST
        self._exact, self._rounded = rows, RoundedRows(rows) if fast and self.n else None
        self._single: NDArray[np.float32] | None = None

    def nearest(
        self, first: int, last: int, p: int, tie: float, margin: float = 0.0
    ) -> tuple[NDArray[np.int64], Array]:
        """Return the p nearest other rows of the rows first … last, columns in rising order, and their nearness.

        Of those equal up to `tie` times the p-th, plus `margin`, the first are taken.
        """
        _require(0 <= first <= last <= self.n, f"the range must be inside 0 … {self.n}")
        _require(1 <= p < self.n, f"p must be from 1 to {self.n - 1}; got {p}")
        columns, values = np.empty((last - first, p), dtype=np.int64), np.empty((last - first, p))
        rounded = self._rounded
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # what is out of range is not screened
            rough, lost = self._in_single(first, last) if rounded is None else rounded.products(first, last)
        compared = self._rows.nearest(rough, lost, first, tie, margin, columns, values)
        if compared > _TOO_MANY * rough.size:
            self._rounded = None
        return columns, values

    def _in_single(self, first: int, last: int) -> tuple[NDArray[np.float32], Array]:
        rows = self._single = self._exact.astype(np.float32) if self._single is None else self._single
        return np.ascontiguousarray(rows[first:last] @ rows.T), np.zeros(last - first)


class RoundedRows:
    """Rows less their mean, rounded to 8 bits by row, and how far their products may lie from the exact ones.

    Parameters
    ----------
    rows : array of shape (n, m), finite
    """

    def __init__(self, rows: Array) -> None:
        n, m = rows.shape
        mean = rows.mean(axis=0)
        self._bytes = np.zeros((n + -n % 8, m + -m % 16), np.int8)
        self._scales = np.ones(len(self._bytes))
        self._others = np.empty(n)  # the part of a product that the mean has
        lengths, lost = np.empty(n), np.empty(n)
        for first in range(0, n, _BLOCK):
            at = slice(first, min(first + _BLOCK, n))
            self._others[at] = rows[at] @ mean
            block = rows[at] - mean
            most = np.abs(block).max(axis=1)
            self._scales[at] = np.where(most > 0, most, 1.0) / 127.0
            scale = self._scales[at, None]
            self._bytes[at, :m] = np.rint(block / scale)
            lengths[at] = np.linalg.norm(block, axis=1)
            block -= scale * self._bytes[at, :m]
            lost[at] = np.linalg.norm(block, axis=1)
        # |x·y − x̂·ŷ| ≤ |x| |y − ŷ| + |x − x̂| |ŷ|, by Cauchy and Schwarz
        self._lost = (lengths * lost.max() + lost * (lengths + lost).max()) * (1.0 + 1e-6)
        self._begins = self._others - mean @ mean
        self._columns = in_panels(self._bytes.T, self._scales)

    def products(self, first: int, last: int) -> tuple[NDArray[np.float32], Array]:
        """Return the products of the rows first … last with all rows, and at most how wrong each row of them is."""
        at = slice(first, last)
        found = np.empty((last - first, len(self._others)), np.float32)
        own = self._bytes[at], self._scales[at], self._begins[at]
        _core.rough_products(*own, self._columns, self._others, found)
        return found, self._lost[at]
