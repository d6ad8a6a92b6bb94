"""A Gram on a device: its matrix, computed there by tiles where its arrays can be moved, and products of features."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .._array import Index
from .._device import call, free_memory, function, on_device, on_host
from .answers import Features
from .base import Gram

_TILE = 2**30  # bytes of a tile in double precision
_SOURCE = Path(__file__).with_name("products.cu")
_ROW, _COLUMN = 32, 1024  # threads for a document and for a feature


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
        return self.xp.asarray(self.gram._block(index if isinstance(index, slice) else on_host(index), everything))

    def matrix(self) -> Any:
        """Return the whole matrix on the device."""
        n = len(self.gram)
        out = self.xp.empty((n, n), dtype=self.gram.dtype)
        step = max(1, _TILE // (8 * n))
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            out[part] = self.rows(part)
        return out


def device_products(xp: Any, features: Features) -> Callable[[Any], Any] | None:
    """Return v ↦ X Xᵀ v for arrays v (n, c) of the device, in double precision; None where X does not fit there.

    Every sum has one fixed order, so a product is the same each time.
    """
    rows, sparse = features.rows, hasattr(features.rows, "indptr")
    if (40 if sparse else 16) * features.entries > free_memory(xp) // 2:
        return None
    scale = xp.asarray(features.scale)
    if not sparse:
        dense = xp.asarray(rows, dtype=np.float64) * scale[:, None]
        return lambda v: dense @ (dense.T @ v)
    there = on_device(xp, rows.astype(np.float64, copy=False))
    across = there.T
    forth, back = (_Sparse(xp, part) for part in (there, across.tocsr() if hasattr(across, "tocsr") else across))

    def multiply(v: Any) -> Any:
        out = xp.empty(v.shape, dtype=np.float64)
        for c in range(v.shape[1]):
            out[:, c] = scale * forth(back(scale * v[:, c], _COLUMN), _ROW)
        return out

    return multiply


class _Sparse:
    """A CSR array of the device, for products with one vector."""

    def __init__(self, xp: Any, matrix: Any) -> None:
        self.xp, self.rows = xp, matrix.shape[0]
        self.indptr, self.indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
        self.data = matrix.data.astype(np.float64)

    def __call__(self, v: Any, lanes: int) -> Any:
        out = self.xp.empty(self.rows, dtype=np.float64)
        each = 256 if lanes == _ROW else lanes
        blocks = -(-self.rows * lanes // each)
        fields = self.indptr, self.indices, self.data, self.rows, np.int32(lanes), v, out
        call(function(self.xp, _SOURCE, "times"), (blocks,), each, *fields)
        return out
