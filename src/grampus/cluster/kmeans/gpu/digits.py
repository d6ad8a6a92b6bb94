"""A stored matrix as whole numbers in digits of 8 bits, for which matrix units add up clusters exactly.

K · 2^b is rounded to whole numbers and written in signed digits, a matrix of bytes each. The sums of all clusters of all
runs are then one product of bytes for each digit, exact in 32 bits: as accurate as sums in double precision, and bound
by matrix units instead of additions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...._array import Array
from ...._device import narrow_product, free_memory, on_host
from .course import OnDevice

_DIGITS = {"float32": 5, "float64": 6}
_RANGE = 4.0  # how many times an entry may exceed a self-similarity
_ALIGNED = 16  # matrix units want sides of so many bytes
_ROWS = 16896  # of a panel of digits that are not kept: two rounds of 128 rows for each of 132 processors
_ADDITIONS = 1 / 884  # of an addition of a row: the time of one digit and cluster of a product (measured on an H200)


class Digits:
    """The digits of a stored matrix, kept where there is room, else made again for every product.

    Parameters
    ----------
    on : OnDevice
    matrix : array of shape (n, n)
        On the device.
    largest : float
        The largest modulus of an entry.
    """

    def __init__(self, on: OnDevice, matrix: Any, largest: float) -> None:
        self.on, self.xp, self.n, self.matrix = on, on.xp, len(matrix), matrix
        self.count = _DIGITS[matrix.dtype.name]
        self.wide = -(-self.n // _ALIGNED) * _ALIGNED
        self.scale = 2.0 ** (8 * self.count - 2 - int(np.ceil(np.log2(largest))))
        free = free_memory(self.xp)
        size = self.count * self.wide
        self.kept = self._made(0, self.wide) if 2 * size * self.wide <= free else None
        self.step = min(self.wide, max(128, min(_ROWS, int(free // 8) // size) // 128 * 128))

    def _made(self, first: int, rows: int) -> Any:
        """Return the digits of some rows, (digits, rows, wide); beyond the matrix they are 0."""
        out = self.xp.empty((self.count, rows, self.wide), dtype=np.int8)
        bits, grid = 8 * self.matrix.dtype.itemsize, (-(-self.wide // 1024), min(rows, 65535))
        sizes = self.n, first, rows, self.wide, self.scale, np.int32(self.count)
        self.on.call(f"split{bits}", grid, 256, self.matrix, *sizes, out)
        return out

    def _panels(self, columns: int) -> Iterator[tuple[int, Any]]:
        """Yield digits of all rows, some at a time, with the number of the first."""
        if self.kept is not None:
            room = int(free_memory(self.xp) // 4) // (4 * columns * self.count)
            step = min(self.wide, max(_ALIGNED, room // _ALIGNED * _ALIGNED))
            for first in range(0, self.wide, step):
                yield first, self.kept[:, first : first + step]
            return
        for first in range(0, self.wide, self.step):
            yield first, self._made(first, min(self.step, self.wide - first))

    def pays(self, additions: int, columns: int) -> bool:
        """Return whether a product costs less than so many additions of a row of the matrix."""
        return additions > _ADDITIONS * self.n * columns * self.count

    def follow(self, old: Any, now: Any, runs: Any, anew: Any, k: int, sums: Any) -> None:
        """Bring the sums of some runs up to date; those of runs that start anew are replaced."""
        slots = len(runs)
        columns = -(-slots * k // _ALIGNED) * _ALIGNED
        members = self.xp.zeros((columns, self.wide), dtype=np.int8)
        each = old, now, self.n, self.wide, np.int32(k), runs, anew
        self.on.call("memberships", (-(-self.n // 256), slots), 256, *each, members)
        for first, digits in self._panels(columns):
            rows = digits.shape[1]
            products = self.xp.empty((self.count, columns, rows), dtype=np.int32)
            for digit in range(self.count):
                narrow_product(self.xp, digits[digit], members, products[digit])
            sizes = self.n, first, rows, np.int32(columns), np.int32(k), np.int32(self.count), 1.0 / self.scale
            self.on.call("compose", (-(-rows // 256), slots * k), 256, products, *sizes, runs, anew, sums)


def digits_of(on: OnDevice, matrix: Any, diagonal: Array) -> Digits | None:
    """Return the digits of a matrix; None where its entries exceed its self-similarities by far, or weights differ."""
    least = float(diagonal.min(initial=np.inf))
    if on.weights is not None or not least > 0:
        return None
    largest = max(float(on_host(matrix.max())), -float(on_host(matrix.min())))
    return Digits(on, matrix, largest) if largest <= _RANGE * least else None


def additions(members: NDArray[np.intp], moved: NDArray[np.intp], anew: NDArray[np.bool_]) -> int:
    """Return how many rows of the matrix are added or taken, all runs together."""
    return int(np.where(anew, members, 2 * moved).sum())
