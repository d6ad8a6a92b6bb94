"""Operations that work on dense and sparse arrays alike: products, slices, scalings, sums by group."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._config import tile_rows

Array: TypeAlias = NDArray[Any]
Index: TypeAlias = "slice | NDArray[np.intp]"  # a slice has concrete ends and step 1


def is_sparse(x: object) -> bool:
    """Return whether `x` is a SciPy sparse array or matrix."""
    return bool(sp.issparse(x))


def index_length(index: Index) -> int:
    """Return how many rows an index selects."""
    return index.stop - index.start if isinstance(index, slice) else len(index)


def index_array(index: Index) -> NDArray[np.intp]:
    """Return an index as integers."""
    return np.arange(index.start, index.stop) if isinstance(index, slice) else index


def tiles(n: int, row_bytes: int) -> Iterator[slice]:
    """Cut ``range(n)`` into slices of whole rows, each about one tile of memory."""
    step = tile_rows(row_bytes)
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def take_rows(x: Any, index: Index) -> Any:
    """Select rows of a dense or sparse matrix, a list, a dict of these, or anything with its own ``take`` method."""
    if isinstance(x, dict) and not is_sparse(x):
        return {name: take_rows(rows, index) for name, rows in x.items()}
    if isinstance(x, (list, tuple)):
        return x[index] if isinstance(index, slice) else [x[i] for i in index]
    if is_sparse(x) or isinstance(x, np.ndarray) or hasattr(x, "get"):  # the last of another library
        return x[index]
    return x.take(index_array(index))


def dot(a: Any, b: Any) -> Array:
    """Multiply two matrices, each dense or sparse; the answer is dense."""
    product = a @ b
    if hasattr(product, "toarray"):
        return product.toarray()
    return np.asarray(product) if isinstance(product, np.ndarray) else product


def scale_rows(scale: Array, v: Any) -> Any:
    """Multiply row i of `v` by ``scale[i]``; sparse stays sparse, the type of `v` is kept."""
    if is_sparse(v):
        v = v.tocsr(copy=True)
        v.data *= np.repeat(scale, np.diff(v.indptr)).astype(v.dtype, copy=False)
        return v
    scale = scale.astype(v.dtype, copy=False)
    return v * (scale if v.ndim == 1 else scale[:, None])


def inverse_root(values: Array) -> Array:
    """Return 1/√x in float64, and 0 where x is not above 0."""
    return np.divide(1.0, np.sqrt(np.maximum(values, 0.0)), out=np.zeros(len(values)), where=values > 0)


def members_of_clusters(labels: NDArray[Any], k: int) -> list[NDArray[np.intp]]:
    """Return the documents of every cluster, in their order: one sort for all of them."""
    order = np.argsort(labels.astype(np.min_scalar_type(-k - 1)), kind="stable")  # short numbers sort in linear time
    ends = np.searchsorted(labels[order], np.arange(k + 1))
    return [order[start:end] for start, end in pairwise(ends.tolist())]


def sum_groups(values: Array, labels: NDArray[np.intp], k: int) -> Array:
    """Sum the columns of each group, (rows, k); columns labelled −1 are in no group."""
    order = np.argsort(labels, kind="stable")
    ends = np.searchsorted(labels[order], np.arange(k + 1))
    filled = np.flatnonzero(np.diff(ends))
    out = np.zeros((len(values), k), dtype=values.dtype)
    if len(filled):
        out[:, filled] = np.add.reduceat(values[:, order[: ends[-1]]], ends[filled], axis=1)
    return out


def sum_rows(x: Any, labels: NDArray[np.intp], k: int, weights: Array) -> Array:
    """Sum the weighted rows of each group in float64, (k, columns), dense; rows labelled −1 are in no group."""
    members = np.flatnonzero(labels >= 0)
    groups = sp.csr_array((weights[members], (labels[members], members)), shape=(k, x.shape[0]))
    return dot(groups, x)


def column_sums(v: Any) -> Array:
    """Sum each column in float64."""
    return np.asarray(v.sum(axis=0, dtype=np.float64)).reshape(-1)


def matches(rows: Index, cols: Index) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the positions (i, j) at which ``rows[i] == cols[j]``: where a block meets the diagonal."""
    if isinstance(rows, slice) and isinstance(cols, slice):
        shared = np.arange(max(rows.start, cols.start), min(rows.stop, cols.stop))
        return shared - rows.start, shared - cols.start
    rows, cols = index_array(rows), index_array(cols)
    order = np.argsort(cols, kind="stable")
    first, last = (np.searchsorted(cols[order], rows, side) for side in ("left", "right"))
    counts = last - first
    i = np.repeat(np.arange(len(rows)), counts)
    offset = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return i, order[np.repeat(first, counts) + offset]


def as_numpy(x: Any) -> Any:
    """Return an array of any library, dense or sparse, as one of NumPy or SciPy."""
    return x.get() if hasattr(x, "get") and not isinstance(x, dict) else x


def as_double(x: Any) -> Any:
    """Return an array in double precision; the sparse arrays of some libraries know no ``astype`` without a copy."""
    return x if x.dtype == np.float64 else x.astype(np.float64)


def row_squares(x: Any) -> Array:
    """Return the squared Euclidean length of every row in float64, tile by tile."""
    if not is_sparse(x) and not isinstance(x, np.ndarray):  # of another array library
        double = as_double(x)
        squares = double.multiply(double) if hasattr(double, "indptr") else double * double
        return squares.sum(axis=1).reshape(-1)
    out = np.empty(x.shape[0])
    for rows in tiles(x.shape[0], 16 * mean_row_size(x)):
        if is_sparse(x):
            start, stop = x.indptr[rows.start], x.indptr[rows.stop]
            squares = x.data[start:stop].astype(np.float64) ** 2
            bounds = x.indptr[rows.start : rows.stop + 1] - start
            filled = np.diff(bounds) > 0  # reduceat has no notion of an empty row
            out[rows] = 0.0
            if filled.any():
                out[rows][filled] = np.add.reduceat(squares, bounds[:-1][filled])
        else:
            part = x[rows].astype(np.float64, copy=False)
            out[rows] = np.einsum("ij,ij->i", part, part)
    return out


def mean_row_size(x: Any) -> int:
    """Return how many stored entries a row has on average (sparse) or how many columns there are (dense)."""
    return -(-x.nnz // max(x.shape[0], 1)) + 1 if is_sparse(x) else x.shape[1]


def unit_rows(rows: Array, least: float = 0.0) -> Array:
    """Return rows of unit length; those of at most `least` become zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus._array import unit_rows
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return np.divide(rows, length[:, None], out=np.zeros_like(rows), where=length[:, None] > least)
