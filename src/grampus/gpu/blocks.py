"""A Gram on a device: its matrix, computed there by tiles where its arrays can be moved, its rows, and products."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .._array import Index, as_double, as_numpy
from ..gram import Features, Gram
from .card import call, free_memory, function, on_device

_TILE = 2**30  # bytes of a tile in double precision
_TABLE = 2**29  # bytes of rows of terms laid out at a time
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
        self.there = gram._moved(xp)

    def rows(self, index: Index) -> Any:
        """Return the entries K[index, :] on the device."""
        everything = slice(0, len(self.gram))
        if self.there is not None:
            return self.there._block(index, everything)
        return self.xp.asarray(self.gram._block(index if isinstance(index, slice) else as_numpy(index), everything))

    def matrix(self) -> Any:
        """Return the whole matrix on the device."""
        n = len(self.gram)
        out = self.xp.empty((n, n), dtype=self.gram.dtype)
        step = max(1, _TILE // (8 * n))
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            out[part] = self.rows(part)
        return out


def device_block(xp: Any, gram: Gram) -> Callable[[Index, Any], Any]:
    """Return what computes blocks K[rows, cols] as arrays of the device, or copies them there."""
    there = _moved(xp, gram)
    if there is None:
        return lambda rows, cols: xp.asarray(gram._block(rows, cols))
    return lambda rows, cols: there._block(rows, xp.asarray(cols))


def device_rows(xp: Any, gram: Gram) -> Callable[[Any], Any] | None:
    """Return what computes similarities of some documents to all, in double precision, as arrays of the device.

    None where the processor reads them sooner, from a matrix in its memory, and where a Gram cannot be moved.
    """
    features = gram.features()
    if features is None or features.rows.shape[1] == 0:
        there = _moved(xp, gram)
        return None if there is None else lambda index: as_double(there._block(index, slice(0, len(gram))))
    if not _fits(xp, features):
        return None
    scale = xp.asarray(features.scale)
    if hasattr(features.rows, "indptr"):
        sparse = _Sparse(xp, on_device(xp, features.rows), scale)
        return sparse.compared
    dense = xp.asarray(features.rows, dtype=np.float64) * scale[:, None]
    return lambda index: dense[index] @ dense.T


def _fits(xp: Any, features: Features) -> bool:
    """Return whether features, and what is made of them, take at most half of the free memory of the device."""
    return (40 if hasattr(features.rows, "indptr") else 16) * features.entries <= free_memory(xp) // 2


def _moved(xp: Any, gram: Gram) -> Gram | None:
    """Return the Gram on the device; None where it does not fit, cannot be moved, or is a matrix stored here."""
    if gram.source.cost().whole == 0:
        return None
    try:
        return gram._moved(xp)
    except Exception as error:
        if type(error).__name__ != "OutOfMemoryError":
            raise
        return None


def device_products(xp: Any, features: Features) -> Callable[[Any], Any] | None:
    """Return v ↦ X Xᵀ v for arrays v (n, c) of the device, in double precision; None where X does not fit there.

    Every sum has one fixed order, so a product is the same each time.
    """
    rows, sparse = features.rows, hasattr(features.rows, "indptr")
    if not _fits(xp, features):
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
    """A CSR array of the device, for products with one vector and with its own rows.

    Parameters
    ----------
    matrix : array
    scale : array of shape (n,), optional
        A factor of each row.
    """

    def __init__(self, xp: Any, matrix: Any, scale: Any = None) -> None:
        self.xp, (self.rows, self.columns) = xp, matrix.shape
        self.indptr, self.indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
        self.data = matrix.data.astype(np.float64)
        if scale is not None:
            self.data *= np.repeat(scale, np.diff(self.indptr))

    def __call__(self, v: Any, lanes: int) -> Any:
        out = self.xp.empty(self.rows, dtype=np.float64)
        each = 256 if lanes == _ROW else lanes
        blocks = -(-self.rows * lanes // each)
        fields = self.indptr, self.indices, self.data, self.rows, np.int32(lanes), v, out
        call(function(self.xp, _SOURCE, "times"), (blocks,), each, *fields)
        return out

    def compared(self, index: Any) -> Any:
        """Return the products of some rows with all, dense (some, rows)."""
        everything = self.xp.arange(index.start, index.stop) if isinstance(index, slice) else index
        rows, step = (self.indptr, self.indices, self.data), max(1, _TABLE // (8 * self.columns))
        out = self.xp.empty((len(everything), self.rows), dtype=np.float64)
        for first in range(0, len(everything), step):
            some = everything[first : first + step].astype(np.int64)
            wide = len(some)
            table = self.xp.zeros((self.columns, wide), dtype=np.float64)
            call(function(self.xp, _SOURCE, "lay_out"), (-(-wide // 32),), 32, *rows, some, wide, table)
            grid, part = (-(-self.rows // 32), -(-wide // 32)), out[first : first + wide]
            call(function(self.xp, _SOURCE, "compare"), grid, 256, *rows, self.rows, table, wide, part)
        return out
