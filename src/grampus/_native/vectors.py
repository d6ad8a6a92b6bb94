"""Products of a few vectors with sparse rows and with a basis, shared by the threads of a team.

Sums have one order for any number of threads; those of sparse rows are SciPy's. Arrays are checked here, before C++
sees them.
"""

from typing import Any

import numpy as np

from . import Array, Team, _core, _numbers, _require

LEAST, MOST = 4096, 48  # rows of a part of a square product, and parts: not the threads', so that no sum is


class SparseProducts:
    """Products with a sparse array A in rows, (n, m), in double precision.

    Parameters
    ----------
    rows : sparse array in CSR format

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from grampus._native import Team
    >>> from grampus._native.vectors import SparseProducts
    >>> SparseProducts(sp.csr_array([[1.0, 0.0], [2.0, 3.0]])).times(np.ones((2, 1)), Team()).tolist()
    [[1.0], [5.0]]
    """

    def __init__(self, rows: Any) -> None:
        n, m = self.shape = rows.shape
        dtype = np.int32 if rows.indices.dtype == rows.indptr.dtype == np.int32 else np.int64
        ends = _numbers(rows.indptr, (n + 1,), "indptr", dtype)
        columns = np.require(rows.indices, dtype, ["C_CONTIGUOUS", "ALIGNED"])
        values = np.require(rows.data, np.float64, ["C_CONTIGUOUS", "ALIGNED"])
        _require(bool(ends[0] == 0 and (np.diff(ends) >= 0).all()), "indptr must begin with 0 and not fall")
        _require(
            values.ndim == 1 and len(values) == len(columns) >= ends[-1], "data and indices must be as indptr says"
        )
        used = columns[: ends[-1]]
        _require(len(used) == 0 or bool(used.min() >= 0 and used.max() < m), f"indices must be from 0 to {m - 1}")
        self._arrays = values, columns, ends

    def times(self, vectors: Any, team: Team) -> Array:
        """Return A V for vectors in columns, (m, c), as (n, c)."""
        vectors = _numbers(vectors, (self.shape[1], *np.shape(vectors)[1:2]), "vectors")
        found = np.empty((self.shape[0], vectors.shape[1]))
        _core.times(*self._arrays, vectors, found, team)
        return found

    def times_square(self, scale: Any, vectors: Any, team: Team) -> Array:
        """Return Aᵀ diag(s)² A V for vectors in columns, (m, c)."""
        vectors = _numbers(vectors, (self.shape[1], *np.shape(vectors)[1:2]), "vectors")
        found, piece = np.empty(vectors.shape), max(LEAST, -(-self.shape[0] // MOST))
        _core.times_square(*self._arrays, _numbers(scale, (self.shape[0],), "scale"), vectors, piece, found, team)
        return found


def along(basis: Array, count: int, vectors: Array, team: Team) -> Array:
    """Return the inner products of vectors (c, n) with the first `count` rows of a basis (…, n), as (c, count)."""
    basis, vectors = _as_rows(basis, count, vectors)
    found = np.empty((len(vectors), count))
    _core.along(basis, vectors, found, team)
    return found


def take_away(basis: Array, factors: Array, vectors: Array, team: Team) -> None:
    """Subtract from vectors (c, n), in place, factors (c, r) times the first r rows of a basis (…, n)."""
    given = vectors
    basis, vectors = _as_rows(basis, factors.shape[1], vectors)
    _require(vectors is given, "vectors must be contiguous rows in double precision")
    _core.take_away(basis, _numbers(factors, (len(vectors), factors.shape[1]), "factors"), vectors, team)


def _as_rows(basis: Array, count: int, vectors: Array) -> tuple[Array, Array]:
    vectors = _numbers(vectors, (len(vectors), basis.shape[1]), "vectors")
    _require(0 <= count <= len(basis), f"the basis must have {count} rows; it has {len(basis)}")
    return _numbers(basis[:count], (count, basis.shape[1]), "basis"), vectors
