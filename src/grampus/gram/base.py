"""Gram: the matrix of similarities of one fitted collection, as an operator that need not be stored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .._array import Array, Index, dot, index_array, index_length, is_sparse, tiles
from .._check import check_extension, check_index, check_operand
from .._config import require_memory
from .._parallel import blas_threads
from ..errors import InputError


class Gram(ABC):
    """A symmetric operator on n documents.

    A subclass gives two methods, ``_block`` and ``_diagonal``; everything else is derived from them, tile by tile
    within the memory budget, and may be overridden where the structure allows better. What had to be learned from the
    collection (a shift, widths, norms) is fixed when the Gram is made.

    Parameters
    ----------
    n : int
        Number of documents.
    dtype : dtype
        Type of the entries, float32 or float64.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import DenseGram, shift
    >>> gram = shift(DenseGram(np.array([[2.0, 1.0], [1.0, 2.0]])))
    >>> gram.dense()
    array([[0., 1.],
           [1., 0.]])
    >>> gram @ np.ones(2)
    array([1., 1.])
    """

    def __init__(self, n: int, dtype: Any) -> None:
        self.shape = (n, n)
        self.dtype = np.dtype(dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n={len(self)}, dtype={self.dtype})"

    # -- required

    @abstractmethod
    def _block(self, rows: Index, cols: Index) -> Array:
        """Return the dense entries K[rows, cols]; rows and cols are slices or integers, checked."""

    @abstractmethod
    def _diagonal(self) -> Array:
        """Return the n self-similarities."""

    # -- derived; override where the structure allows better

    def _matmul(self, v: Any) -> Array:
        """Return K v for v (n, c), dense or CSR; columns of K whose row of v is empty are never computed."""
        n = len(self)
        cols: Index = slice(0, n)
        if is_sparse(v):
            cols = np.flatnonzero(np.diff(v.indptr))
            v = v[cols]
        out = np.zeros((n, v.shape[1]), dtype=np.result_type(self.dtype, v.dtype))
        for rows in tiles(n, 8 * max(index_length(cols), 1)):
            out[rows] = dot(self._block(rows, cols), v)
        return out

    def _take(self, index: NDArray[np.intp]) -> Gram:
        """Return the principal submatrix of some documents."""
        return Taken(self, index)

    def _extend(self, cross: Array, diagonal: Array | None) -> tuple[Array, Array | None]:
        """Carry the new-by-fitted block and the new self-similarities through this Gram's own transform."""
        return cross, diagonal

    def _weighted_squares(self, weights: Array) -> Array:
        """Return Σ_j w_j K_ij² for every i in float64: the squared row norms of the empirical kernel map."""
        out = np.empty(len(self))
        for rows in tiles(len(self), 16 * len(self)):
            out[rows] = np.square(self._block(rows, slice(0, len(self))), dtype=np.float64) @ weights
        return out

    @property
    def source(self) -> Gram:
        """The Gram at the bottom of a chain of transforms."""
        return self

    # -- public: check, then call the private twin

    def block(self, rows: Any = None, cols: Any = None) -> Array:
        """Return the dense entries K[rows, cols]; either may be a slice, integers, a mask or None for all."""
        row_index, col_index = (check_index(index, len(self)) for index in (rows, cols))
        size = index_length(row_index) * index_length(col_index) * self.dtype.itemsize
        require_memory(size, f"A block of {index_length(row_index)} × {index_length(col_index)}", "Ask for fewer rows")
        with blas_threads():
            return self._block(row_index, col_index)

    def diagonal(self) -> Array:
        """Return the self-similarities K_ii, shape (n,)."""
        return self._diagonal()

    def trace(self) -> float:
        """Return the sum of the self-similarities."""
        return float(self._diagonal().sum(dtype=np.float64))

    def dense(self) -> Array:
        """Return the whole matrix, if it fits in the memory budget."""
        n = len(self)
        size = n * n * self.dtype.itemsize
        require_memory(size, f"The full {n} × {n} Gram matrix", "Use products (gram @ v) instead")
        with blas_threads(2.0 * n**3):
            return self._block(slice(0, n), slice(0, n))

    def __matmul__(self, v: Any) -> Array:
        """Return K v, dense, for a dense or sparse v with n rows."""
        v = check_operand(v, len(self))
        columns = v[:, None] if v.ndim == 1 else v
        dtype = np.result_type(self.dtype, v.dtype)
        require_memory(len(self) * columns.shape[1] * dtype.itemsize, "The product", "Multiply fewer columns at a time")
        with blas_threads(2.0 * len(self) ** 2 * columns.shape[1]):
            out = np.asarray(self._matmul(columns), dtype=dtype)
        return out[:, 0] if v.ndim == 1 else out

    def take(self, index: Any) -> Gram:
        """Return the Gram of some of the documents, in the order of `index`; what was learned stays as it is."""
        rows = index_array(check_index(index, len(self)))
        if len(np.unique(rows)) != len(rows):
            raise InputError("take needs distinct documents; the index names one of them twice.")
        if len(rows) == 0:
            raise InputError("take needs at least one document; the index is empty.")
        return self._take(rows)

    def extend(self, cross: Any, diagonal: Any = None) -> tuple[Array, Array | None]:
        """Carry new documents through every transform of this Gram.

        Parameters
        ----------
        cross : array of shape (m, n)
            Similarities of m new documents to the n fitted ones (or the landmarks of a low-rank Gram), plain kernel.
        diagonal : array of shape (m,), optional
            Self-similarities of the new documents under the plain kernel; only some transforms need them.

        Returns both, transformed; the diagonal is None if it was not given and did not become known.
        """
        whole = len(self.source) == len(self)  # a part of a Gram says in its own words that it cannot
        widths = getattr(self.source, "widths", (len(self),)) if whole else (len(self),)
        return self._extend(*check_extension(cross, diagonal, widths))

    def to_linear_operator(self) -> Any:
        """Return the Gram as a SciPy ``LinearOperator``, for SciPy's solvers."""
        from scipy.sparse.linalg import LinearOperator

        product = self.__matmul__
        return LinearOperator(self.shape, product, product, product, dtype=self.dtype, rmatmat=product)


class Taken(Gram):
    """Some documents of a Gram whose transform does not commute with taking them (``centre``, ``map``)."""

    def __init__(self, base: Gram, index: NDArray[np.intp]) -> None:
        super().__init__(len(index), base.dtype)
        self.base, self.index = base, index

    def _block(self, rows: Index, cols: Index) -> Array:
        return self.base._block(self.index[rows], self.index[cols])

    def _diagonal(self) -> Array:
        return self.base._diagonal()[self.index]

    def _matmul(self, v: Any) -> Array:
        spread = csr_array(
            (np.ones(len(self), dtype=v.dtype), (self.index, np.arange(len(self)))),
            (len(self.base), len(self)),
        )
        return self.base._matmul(csr_array(spread @ v) if is_sparse(v) else spread @ v)[self.index]

    def _take(self, index: NDArray[np.intp]) -> Gram:
        return Taken(self.base, self.index[index])

    def _extend(self, cross: Array, diagonal: Array | None) -> tuple[Array, Array | None]:
        raise InputError(
            "A part of a centred or mapped Gram cannot be extended: new documents must be compared with the whole "
            "collection. Extend the whole Gram and select the columns of the part."
        )

    @property
    def source(self) -> Gram:
        """The Gram at the bottom of the chain."""
        return self.base.source
