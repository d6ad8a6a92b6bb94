"""Dense rows as two numbers of half precision each, for products that matrix units screen with."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._array import Array
from .card import half_product

_ALIGNED = 16  # sides of matrices for the matrix units
_ROWS = 2**16  # made at a time


class Halves:
    """Rows x as h + l, h and l in half precision: x · t is about h_x · h_t + h_x · l_t + l_x · h_t, one product.

    Rows and columns are first divided by powers of two, so that their length is at most 1. With m features, three
    products are summed in single precision and l_x · l_t is left out: the error is at most `error` times the lengths,
    whatever the order of the additions, and if each is truncated instead of rounded.

    Parameters
    ----------
    xp : module
    rows : array of shape (n, m)
        In double precision, on the device.
    lengths : array of shape (n,)
    """

    def __init__(self, xp: Any, rows: Any, lengths: Array) -> None:
        self.xp, (n, m) = xp, rows.shape
        self.wide = -(-m // _ALIGNED) * _ALIGNED
        error = 1.01 * (3 * m + 16) * 2.0**-23 + 3 * 2.0**-22 + 8 * 2.0**-25 * m**0.5
        self.entries = error * 2.0**23 - 4.0  # as the screen counts them
        scale = _powers(lengths)
        self.scale = xp.asarray(scale)
        self.rows = xp.zeros((n, 3 * self.wide), dtype=np.float16)
        for first in range(0, n, _ROWS):
            part = slice(first, first + _ROWS)
            high, low = _split(rows[part] / self.scale[part][:, None])
            for place, half in enumerate((high, high, low)):
                self.rows[part, place * self.wide : place * self.wide + m] = half

    def table(self, sums: Any, squares: Array) -> tuple[Any, Any]:
        """Return the powers of two of the clusters' sums (m, k) with these squared lengths, and their halves."""
        m, k = sums.shape
        right = self.xp.asarray(_powers(np.sqrt(np.maximum(squares, 0.0))))
        table = self.xp.zeros((-(-k // 32) * 32, 3 * self.wide), dtype=np.float16)
        high, low = _split((sums / right).T)
        for place, half in enumerate((high, low, high)):
            table[:k, place * self.wide : place * self.wide + m] = half
        return right, table

    def products(self, table: Any, size: int) -> Iterator[tuple[int, Any]]:
        """Yield the products of rows with the table in single precision, `size` bytes at a time, from which row on."""
        step = max(1, size // (4 * len(table)))
        for first in range(0, len(self.rows), step):
            part = self.rows[first : first + step]
            out = self.xp.empty((len(part), len(table)), dtype=np.float32)
            half_product(self.xp, table, part, out)
            yield first, out


def _powers(lengths: Array) -> Array:
    """Return powers of two that are not below the lengths; 1 for 0."""
    return np.asarray(2.0 ** np.ceil(np.log2(np.where(lengths > 0, lengths * (1 + 1e-12), 1.0))))


def _split(values: Any) -> tuple[Any, Any]:
    high = values.astype(np.float16)
    return high, (values - high.astype(np.float64)).astype(np.float16)
