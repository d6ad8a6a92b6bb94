"""Leading components of rows in pieces: block Lanczos on Xᵀ X, a few passes over the rows.

Each pass multiplies a block of vectors by Xᵀ X: x ↦ x Q for every row, put on a grid, then an exact sum of outer
products over the rows. The basis, as wide as a few blocks and as long as there are columns, stays with the client.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._array import Array
from .._parallel import blas_threads
from .._progress import Progress
from ..scale import Parts, Record, snap
from .lapack import symmetric_eigh

BLOCK = 16  # vectors of a pass
WIDE = 5  # the basis is so many times as wide as the components asked for
FEWEST = 8  # passes, at least
_DIGITS = 52  # of an exact sum, one spare
_NOTHING = 1e-10  # a shorter row, of rows of length 1, is rounding


def leading_directions(
    parts: Parts, width: int, rank: int, rng: np.random.Generator, progress: Progress
) -> tuple[Array, Array]:
    """Return the leading right singular vectors of the step "rows", (width, rank) in float32, and the eigenvalues.

    Their product with the rows are the features of ``principal(rank)``. They depend on the rows alone, not on their
    order or cut. Costs about 5 rank / 16 passes.

    Parameters
    ----------
    parts : Parts
        With sparse rows of length at most 1 as the step "rows".
    width : int
        Columns.
    rank : int
        Fewer are returned where there are fewer columns.
    rng : Generator
        Of the first block.
    progress : callable
    """
    rank = min(rank, width)
    wide = min(max(WIDE * rank, FEWEST * BLOCK), width)
    passes = math.ceil(wide / BLOCK)
    longest = float(parts.total(_column_sums, ["rows"], width, name="principal").max(initial=1.0))
    digits = _DIGITS - math.ceil(math.log2(longest))
    steps = 2.0 ** -(digits - digits // 2), 2.0 ** -(digits // 2)  # of the rows and of their products
    basis = np.empty((width, wide))
    projected = np.zeros((wide, wide))
    fresh = _orthonormal(rng.standard_normal((width, min(BLOCK, wide))))
    with blas_threads():
        for number in range(passes):
            progress("finding components", number, passes)
            here = slice(number * BLOCK, min((number + 1) * BLOCK, wide))
            basis[:, here] = fresh
            image = parts.total(_product, ["rows"], fresh, *steps, name="principal")
            known = basis[:, : here.stop]
            coefficients = known.T @ image
            projected[: here.stop, here] = coefficients
            projected[here, : here.stop] = coefficients.T
            rest = image - known @ coefficients
            rest -= known @ (known.T @ rest)  # twice is enough
            fresh = _orthonormal(rest)
            fresh = _orthonormal(fresh - known @ (known.T @ fresh))  # where little was left
            fresh = fresh[:, : wide - here.stop]  # the last block may be narrower
            projected[here.stop : here.stop + BLOCK, here] = fresh.T @ rest
        progress("finding components", passes, passes)
        projected = np.tril(projected) + np.tril(projected, -1).T
        values, vectors = symmetric_eigh(projected)
        order = np.argsort(-values, kind="stable")[:rank]
        directions = basis @ vectors[:, order]
    largest = directions[np.abs(directions).argmax(axis=0), np.arange(rank)]
    directions = directions * np.where(largest < 0, -1.0, 1.0)
    return directions.astype(np.float32), np.maximum(values[order], 0.0)


def unit_features(rows: Any, directions: Array, step: float) -> Array:
    """Return the components of rows, normalised, on the grid of exact sums; float64. Rounding becomes 0.

    Parameters
    ----------
    rows : sparse array of shape (m, width)
    directions : array of shape (width, rank)
    step : float
        Of the grid.
    """
    features = rows @ directions.astype(np.float64)
    lengths = np.sqrt((features * features).sum(axis=1))
    scale = np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > _NOTHING)
    return snap(features * scale[:, None], step)


def _orthonormal(block: Array) -> Array:
    return np.linalg.qr(block)[0]


def sparse_rows(rows: Record) -> sp.csr_array:
    """Return the sparse rows of a record, in float64."""
    parts = (rows["data"].astype(np.float64), np.asarray(rows["indices"]), np.asarray(rows["indptr"]))
    return sp.csr_array(parts, shape=tuple(rows["shape"].tolist()))


def _column_sums(rows: Record, width: int) -> Array:
    return np.bincount(rows["indices"], weights=np.abs(rows["data"]), minlength=width)


def _product(rows: Record, block: Array, row_step: float, step: float) -> Array:
    """Return Xᵀ (X Q) for the rows X of a piece, each factor on its grid, so that the sum is exact."""
    x = sparse_rows(rows)
    seen = snap(x @ block, step)
    x.data = snap(x.data, row_step)
    return np.asarray(x.T @ seen)
