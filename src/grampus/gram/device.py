"""The matrix of a Gram on a device: computed there, tile by tile, where the Gram's arrays can be moved."""

from __future__ import annotations

from typing import Any

from .._array import Index
from .base import Gram

_TILE = 2**30  # bytes of a tile in double precision


class DeviceBlocks:
    """Rows of a Gram as arrays of a device.

    Parameters
    ----------
    gram : Gram
    xp : module
        The array library of the device.
    """

    def __init__(self, gram: Gram, xp: Any) -> None:
        self.gram, self.xp = gram, xp
        self.there = gram._on(xp)

    def rows(self, index: Index) -> Any:
        """Return the entries K[index, :] on the device."""
        everything = slice(0, len(self.gram))
        if self.there is not None:
            return self.there._block(index, everything)
        return self.xp.asarray(self.gram._block(index, everything))

    def matrix(self) -> Any:
        """Return the whole matrix on the device."""
        n = len(self.gram)
        out = self.xp.empty((n, n), dtype=self.gram.dtype)
        step = max(1, _TILE // (8 * n))
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            out[part] = self.rows(part)
        return out
