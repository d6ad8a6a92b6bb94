"""Sources of similarities: a stored matrix, explicit features, or a kernel function evaluated on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._array import (
    Array,
    Index,
    as_numpy,
    dot,
    index_length,
    is_sparse,
    matches,
    mean_row_size,
    row_squares,
    sum_rows,
    take_rows,
    tiles,
)
from .._check import check_gram_matrix, check_matrix
from .._config import settings
from .._native.vectors import SparseProducts
from .._parallel import team
from ..errors import InputError
from .answers import Cost, Features
from .base import Gram
from .collection import Collection


class SourceGram(Gram):
    """A Gram at the bottom of a chain of transforms; it stores the collection it was fitted to.

    Attributes
    ----------
    collection : object
        The fitted documents in the form in which the kernel compares them; None for a given matrix.
    kernel : Kernel
        The plain kernel that made the Gram, for comparing new documents; None for a Gram made by hand.
    """

    collection: Any = None
    kernel: Any = None
    _documents: Collection | None = None

    def documents(self) -> Collection:
        """Return the documents, named by content; computed once and carried along by ``take``."""
        if self._documents is None:
            known = self._contents()
            found = Collection.of(known) if _nameable(known) else None
            self._documents = found if found is not None and found.n == len(self) else Collection.unknown(len(self))
        return self._documents

    def named(self, documents: Collection) -> SourceGram:
        """Set the names of the documents, where the Gram itself does not know their content."""
        self._documents = documents
        return self

    def _contents(self) -> Any:
        """Return the content of the documents, one entry each; None where it is unknown."""
        return self.collection

    def _part_of(self, whole: SourceGram, index: NDArray[np.intp]) -> SourceGram:
        """Copy the kernel and the names of the documents from the whole."""
        self.kernel = whole.kernel
        if whole._documents is not None:
            self._documents = whole._documents.take(index)
        return self

    def _collect_new(self, new: Any) -> Any:
        if self.kernel is None:
            return super()._collect_new(new)
        return self.kernel._collect_new(self.kernel._pick(new), self.collection)

    def _split_new(self, new: Any, rows: int) -> Iterator[Any]:
        return self.kernel._parts(new, rows)

    def _plain(self, new: Any) -> tuple[Array, Array | None]:
        return self.kernel._cross(new, self.collection), self.kernel._diagonal(new)

    @property
    def pairwise(self) -> bool:
        """Whether a similarity depends on its two documents alone."""
        return True

    @property
    def widths(self) -> tuple[int, ...]:
        """Accepted numbers of similarities of a new document: n, one for each fitted document."""
        return (len(self),)


class DenseGram(SourceGram):
    """A Gram matrix in memory.

    Parameters
    ----------
    matrix : array of shape (n, n)
        Symmetric and finite; float32 and float64 are kept, and the data is not copied.

    Examples
    --------
    >>> import numpy as np
    >>> DenseGram(np.eye(3)).trace()
    3.0
    """

    arrays: ClassVar[tuple[str, ...] | None] = ("matrix",)

    def __init__(self, matrix: Any) -> None:
        self.matrix = check_gram_matrix(matrix)
        super().__init__(len(self.matrix), self.matrix.dtype)

    @classmethod
    def trusted(cls, matrix: Array) -> DenseGram:
        """Wrap a matrix that is known to be symmetric and finite, without checking it."""
        gram = cls.__new__(cls)
        gram.matrix = matrix
        Gram.__init__(gram, len(matrix), matrix.dtype)
        return gram

    def _block(self, rows: Index, cols: Index) -> Array:
        if isinstance(rows, slice) or isinstance(cols, slice):
            return self.matrix[rows, cols].copy()
        return self.matrix[np.ix_(rows, cols)]

    def _diagonal(self) -> Array:
        return self.matrix.diagonal().copy()

    def _matmul(self, v: Any) -> Array:
        if not is_sparse(v) and v.dtype == self.dtype:
            return self.matrix @ v
        return super()._matmul(v)  # tiles bound the copy made by a type conversion

    def _take(self, index: NDArray[np.intp]) -> Gram:
        return DenseGram.trusted(self.matrix[np.ix_(index, index)])._part_of(self, index)

    def _contents(self) -> None:
        return None

    def cost(self) -> Cost:
        """Return the cost of reading a stored matrix."""
        n = float(len(self))
        return Cost(n * n, n, 0.0)

    def non_negative(self) -> bool:
        """Return whether all entries are at least 0."""
        return bool(self.matrix.min(initial=0.0) >= 0)


class LinearGram(SourceGram):
    """X Xᵀ for explicit features X, never formed: products cost O(stored entries of X).

    Sums over documents are computed in float64 for every type of X.

    Parameters
    ----------
    features : array or sparse array of shape (n, m)
        One row per document. Sparse input is stored as CSR; the data is not copied.
    collection : object, optional
        What the kernel compares new documents with; the features themselves by default.

    Examples
    --------
    >>> import numpy as np
    >>> gram = LinearGram(np.array([[1.0, 0.0], [1.0, 2.0]]))
    >>> gram @ np.array([1.0, 1.0])
    array([2., 6.])
    """

    arrays: ClassVar[tuple[str, ...] | None] = ("rows",)

    def __init__(self, features: Any, collection: Any = None) -> None:
        self._fill(check_matrix(features, "features"), collection)

    @classmethod
    def trusted(cls, rows: Any, collection: Any = None) -> LinearGram:
        """Wrap rows that have been checked already, without checking them again."""
        gram = LinearGram.__new__(LinearGram)
        gram._fill(rows, collection)
        return gram

    def _fill(self, rows: Any, collection: Any) -> None:
        self.rows = rows
        self.collection = rows if collection is None else collection
        self._transposed: Any = None
        Gram.__init__(self, rows.shape[0], rows.dtype)

    def _columns(self, cols: Index) -> Any:
        """Return the features of some documents as columns; the transpose of all is cached in row order."""
        if not is_sparse(self.rows):
            return self.rows[cols].T
        if isinstance(cols, slice) and cols == slice(0, len(self)):
            if self._transposed is None:
                self._transposed = self.rows.T.tocsr()
            return self._transposed
        return self.rows[cols].T.tocsr()

    def _block(self, rows: Index, cols: Index) -> Array:
        return dot(self.rows[rows], self._columns(cols))

    def _diagonal(self) -> Array:
        return row_squares(self.rows)  # float64: squares of small float32 numbers would underflow

    def _matmul(self, v: Any) -> Array:
        x, columns = self.rows, v.shape[1]
        out = np.empty((len(self), columns), dtype=np.result_type(self.dtype, v.dtype))
        # The sums need (features, columns) floats twice: few columns at a time keep them below the input's size.
        stored = mean_row_size(x) * len(self) * 8
        width = max(1, max(settings().tile // 2, stored // 8) // (8 * x.shape[1]))
        for start in range(0, columns, width):
            part = slice(start, min(start + width, columns))
            self._product(v[:, part], out[:, part])
        return out

    def _product(self, v: Any, out: Array) -> None:
        """Write X (Xᵀ v) into `out`, in tiles of rows to bound the copies made by a type conversion."""
        x = self.rows
        if x.dtype == v.dtype == np.float64 and not is_sparse(v):  # no conversion, no copies: no tiles
            out[:] = x @ (x.T @ v)
            return
        sums = np.zeros((x.shape[1], v.shape[1]))  # float64, because the sums over documents are long
        row_bytes = 16 * (mean_row_size(x) + v.shape[1])
        for rows in tiles(len(self), row_bytes):
            part = v[rows]
            if not is_sparse(part) or part.nnz:
                sums += dot(x[rows].T, part.astype(np.float64, copy=False))
        sums = sums.astype(out.dtype, copy=False)
        for rows in tiles(len(self), row_bytes):
            out[rows] = dot(x[rows], sums)

    def _sum_by(self, labels: NDArray[np.intp], k: int, weights: Array) -> Array:
        sums = sum_rows(self.rows, labels, k, weights)
        out = np.empty((len(self), k))
        for rows in tiles(len(self), 16 * (mean_row_size(self.rows) + k)):
            out[rows] = dot(self.rows[rows], sums.T)
        return out

    def _take(self, index: NDArray[np.intp]) -> Gram:
        same = self.collection is self.rows
        part = LinearGram.trusted(self.rows[index], None if same else take_rows(self.collection, index))
        return part._part_of(self, index)

    def features(self) -> Features:
        """Return X."""
        return Features(self.rows, np.ones(len(self)))

    def _new_features(self, new: Any) -> Features | None:
        return Features(new, np.ones(new.shape[0])) if self.collection is self.rows else None

    def _compared_with(self) -> int:
        return 0 if self.collection is self.rows else len(self)

    def cost(self) -> Cost:
        """Return the cost of passes over the stored entries."""
        entries = float(self.features().entries)
        return Cost(2.0 * entries, entries, 2.0 * entries * len(self))

    def non_negative(self) -> bool | None:
        """Return True where no feature is negative."""
        return self.features().non_negative() or None

    def _weighted_squares(self, weights: Array) -> Array:
        if not is_sparse(self.rows):
            return self._dense_squares(weights)
        out = np.empty(len(self))
        everything = self.rows.T.tocsr()  # not cached: it is as large as the input
        for rows in tiles(len(self), 24 * len(self)):
            product = self.rows[rows] @ everything
            product.data = np.square(product.data, dtype=np.float64)
            out[rows] = product @ weights
        return out

    def _dense_squares(self, weights: Array) -> Array:
        """Return x_iᵀ (Xᵀ diag(w) X) x_i, or read the Gram where that is cheaper."""
        x, m = self.rows, self.rows.shape[1]
        if m * 2 > len(self):
            return super()._weighted_squares(weights)
        square = np.zeros((m, m))
        for rows in tiles(len(self), 24 * m):
            part = x[rows].astype(np.float64, copy=False)
            square += part.T @ (part * weights[rows, None])
        out = np.empty(len(self))
        for rows in tiles(len(self), 24 * m):
            part = x[rows].astype(np.float64, copy=False)
            out[rows] = np.einsum("ij,ij->i", part @ square, part)
        return np.maximum(out, 0.0)


class SparseGram(SourceGram):
    """A symmetric sparse matrix of similarities; those not stored are 0.

    Parameters
    ----------
    matrix : sparse array of shape (n, n)
        Symmetric and finite.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from grampus.gram import SparseGram
    >>> SparseGram(sp.csr_array([[0.0, 2.0], [2.0, 0.0]])).dense()
    array([[0., 2.],
           [2., 0.]])
    """

    def __init__(self, matrix: Any) -> None:
        self.matrix = check_matrix(matrix, "the sparse Gram matrix")
        if not is_sparse(self.matrix):
            raise InputError("A SparseGram needs a sparse matrix; for a dense one use DenseGram.")
        n, m = self.matrix.shape
        if n != m:
            raise InputError(f"The sparse Gram matrix must be square; got shape {(n, m)}.")
        apart = self.matrix - self.matrix.T
        tolerance = 1e-8 if self.matrix.dtype == np.float64 else 1e-4  # as for a DenseGram
        if apart.nnz and np.abs(apart.data).max() > tolerance * np.abs(self.matrix.data).max():
            raise InputError("The sparse Gram matrix must be symmetric. Symmetrise it first, with (K + K.T) / 2.")
        super().__init__(n, self.matrix.dtype)

    def _block(self, rows: Index, cols: Index) -> Array:
        return self.matrix[rows][:, cols].toarray()

    def _diagonal(self) -> Array:
        return self.matrix.diagonal()

    def _matmul(self, v: Any) -> Array:
        if self.dtype == np.float64 and isinstance(v, np.ndarray) and v.ndim == 2 and v.dtype == np.float64:
            return self._products.times(v, team())
        product = self.matrix @ v
        product = product.toarray() if is_sparse(product) else product
        return product.astype(np.result_type(self.dtype, v.dtype), copy=False)

    @cached_property
    def _products(self) -> SparseProducts:
        return SparseProducts(self.matrix)

    def _take(self, index: NDArray[np.intp]) -> Gram:
        return SparseGram(self.matrix[index][:, index])._part_of(self, index)

    def cost(self) -> Cost:
        """Return the cost of passes over the stored entries."""
        entries = float(self.matrix.nnz + len(self))  # the pointers of the rows are read too
        return Cost(entries, entries / len(self), entries)

    def non_negative(self) -> bool:
        """Return whether all entries are at least 0."""
        return self.matrix.nnz == 0 or bool(self.matrix.data.min() >= 0)


class FunctionGram(SourceGram):
    """A kernel function, evaluated tile by tile on demand.

    Parameters
    ----------
    function : callable
        ``function(A, B)`` returns the dense similarities of two collections, shape (len(A), len(B)).
    collection : array, sparse array or list
        The fitted documents.
    self_similarity : callable
        ``self_similarity(A)`` returns K(a, a) for every a.

    Examples
    --------
    >>> import numpy as np
    >>> gram = FunctionGram(lambda a, b: np.minimum(a, b.T), np.array([[1.0], [3.0]]), lambda a: a[:, 0])
    >>> gram.dense()
    array([[1., 1.],
           [1., 3.]])
    """

    arrays: ClassVar[tuple[str, ...] | None] = ("collection", "_self")

    def __init__(
        self, function: Callable[[Any, Any], Any], collection: Any, self_similarity: Callable[[Any], Any]
    ) -> None:
        self.function, self.self_similarity, self.collection = function, self_similarity, collection
        n = collection.shape[0] if hasattr(collection, "shape") else len(collection)
        if n == 0:
            raise InputError("A Gram needs at least one document; the collection is empty.")
        self._self = np.asarray(self_similarity(collection))
        if self._self.shape != (n,):
            raise InputError(
                f"self_similarity must return one number a document, shape ({n},); got {self._self.shape}."
            )
        dtype = np.float32 if self._self.dtype == np.float32 else np.float64
        super().__init__(n, dtype)
        self._self = self._self.astype(self.dtype, copy=False)

    def _block(self, rows: Index, cols: Index) -> Array:
        values = self.function(take_rows(self.collection, rows), take_rows(self.collection, cols))
        if self.namespace is np:
            block = np.array(values, dtype=self.dtype, ndmin=2)
        else:
            block = values.astype(self.dtype, copy=False)
        if block.shape != (index_length(rows), index_length(cols)):
            raise InputError(
                f"function must return shape {(index_length(rows), index_length(cols))}, a row for each document of "
                f"its first argument and a column for each of its second; got {block.shape}."
            )
        # Entries on the diagonal: rounding inside the function must not make them differ from the self-similarities.
        i, j = matches(as_numpy(rows), as_numpy(cols))
        diagonal = self._self[rows]
        i, j = self.namespace.asarray(i), self.namespace.asarray(j)
        block[i, j] = diagonal[i]
        return block

    def _diagonal(self) -> Array:
        return self._self.copy()

    def _take(self, index: NDArray[np.intp]) -> Gram:
        part = FunctionGram(self.function, take_rows(self.collection, index), self.self_similarity)
        return part._part_of(self, index)

    def cost(self) -> Cost:
        """Return the cost of evaluating the function, estimated from the size of its arguments."""
        n, each = float(len(self)), 20.0
        if is_sparse(self.collection) or isinstance(self.collection, np.ndarray):
            each += mean_row_size(self.collection)
        return Cost(n * n * each, n * each, n * n * each)


def _nameable(documents: Any) -> bool:
    """Return whether the documents can be named by content: rows of numbers, or strings."""
    if is_sparse(documents) or isinstance(documents, np.ndarray):
        return True
    if isinstance(documents, (list, tuple)):
        return all(isinstance(item, (str, bytes)) for item in documents)
    return hasattr(documents, "__iter__") and hasattr(documents, "take")
