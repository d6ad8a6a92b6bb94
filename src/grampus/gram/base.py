"""Gram: the matrix of similarities of one fitted collection, as an operator that is not necessarily stored."""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._array import Array, Index, dot, index_array, index_length, is_sparse, sum_groups, tiles
from .._backend import moved
from .._check import check_extension, check_index, check_operand
from .._config import require_memory, settings, tile_rows
from .._parallel import blas_threads
from ..errors import InputError
from .answers import ComparedDocuments, Cost, Features
from .collection import Collection

_NEW_TILE = 16  # tiles of similarities between new and fitted documents in memory at a time


class Gram(ABC):
    """A symmetric operator on n documents.

    A subclass defines two methods, ``_block`` and ``_diagonal``. Everything else is derived from them, tile by tile
    within the memory budget, and can be overridden where the structure allows better. What must be learned from the
    collection (a shift, widths, norms) is fixed when the Gram is constructed.

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

    __array_ufunc__ = None  # numbers of NumPy leave +, * and @ to the Gram
    _combine: ClassVar[Callable[[Gram, str, Any], Any]]  # set by algebra.py, whose classes derive from this one
    namespace: ModuleType = np  # the array library of the entries
    # Attributes that `_moved` copies to another library; None: it cannot.
    arrays: ClassVar[tuple[str, ...] | None] = None
    vocabulary: Any = None  # names of the feature columns, where the kernel knows them

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
        """Return K v for v (n, c), dense or CSR; columns of K that meet an empty row of v are never computed."""
        n = len(self)
        cols: Index = slice(0, n)
        if is_sparse(v):
            cols = np.flatnonzero(np.diff(v.indptr))
            v = v[cols]
        out = np.zeros((n, v.shape[1]), dtype=np.result_type(self.dtype, v.dtype))
        for rows in tiles(n, 8 * max(index_length(cols), 1)):
            out[rows] = dot(self._block(rows, cols), v)
        return out

    def _sum_by(self, labels: NDArray[np.intp], k: int, weights: Array) -> Array:
        """Return Σ_{j in group c} w_j K_ij in float64, (n, k); documents labelled −1 are in no group."""
        members = np.flatnonzero(labels >= 0)
        out = np.empty((len(self), k))
        for rows in tiles(len(self), 24 * max(len(members), 1)):
            block = self._block(rows, members).astype(np.float64, copy=False)
            out[rows] = sum_groups(block * weights[members], labels[members], k)
        return out

    def _take(self, index: NDArray[np.intp]) -> Gram:
        """Return the principal submatrix of some documents."""
        return Taken(self, index)

    def _extend(self, cross: Array, diagonal: Array | None) -> tuple[Array, Array | None]:
        """Transform the new-by-fitted block and the new self-similarities as this Gram transforms its own entries."""
        return cross, diagonal

    def _new_features(self, new: Any) -> Features | None:
        """Return collected new documents in the space of ``features()``; None where similarities are as short."""
        return None

    def _compared_with(self) -> int:
        """Return how many fitted documents a new one is compared with; 0 where its features are known directly."""
        return len(self)

    def _root(self) -> Gram:
        """Return the Gram at the bottom of all transforms, which compares new documents under its own kernel."""
        return self if self.source is self else self.source._root()

    def _collect_new(self, new: Any) -> Any:
        """Check new documents; asked of the head only, like ``_split_new`` and ``_plain``."""
        raise InputError("This Gram cannot compare new documents: make it with kernel.gram(X).")

    def _split_new(self, new: Any, rows: int) -> Iterator[Any]:
        """Split what ``_collect_new`` returned into pieces of `rows` documents."""
        raise NotImplementedError

    def _plain(self, new: Any) -> tuple[Array, Array | None]:
        """Return what ``extend`` takes for collected new documents: similarities under the plain kernel."""
        raise NotImplementedError

    def _compared(self, new: Any) -> tuple[Array, Array | None]:
        """Return the similarities of collected new documents through every transform, and to themselves."""
        return self.extend(*self._root()._plain(new))

    def _weighted_squares(self, weights: Array) -> Array:
        """Return Σ_j w_j K_ij² for every i in float64: the squared row norms of the empirical kernel map."""
        out = np.empty(len(self))
        for rows in tiles(len(self), 16 * len(self)):
            out[rows] = np.square(self._block(rows, slice(0, len(self))), dtype=np.float64) @ weights
        return out

    def _moved(self, namespace: ModuleType) -> Gram | None:
        """Return the same Gram with its arrays in another array library; None where that is not possible."""
        values = None if self.arrays is None else {name: getattr(self, name) for name in self.arrays}
        if values is None or any(not (isinstance(x, np.ndarray) or is_sparse(x)) for x in values.values()):
            return None
        gram = copy.copy(self)
        gram.namespace = namespace
        for name, array in values.items():
            setattr(gram, name, moved(namespace, array))
        return gram

    def features(self) -> Features | None:
        """Return explicit rows X with K = X Xᵀ, or None where there are none."""
        return None

    def split_shift(self) -> tuple[Gram, float]:
        """Return the Gram below its trailing shifts, and their sum σ."""
        return self, 0.0

    def _at_rank(self, rank: int) -> Gram | None:
        """Return the same Gram with another number of components; None where it was not reduced to components."""
        return None

    def _main_part(self) -> Gram | None:
        """Return the heaviest part of a sum of several Grams; None where there is none."""
        return None

    def cost(self) -> Cost:
        """Return the cost of a product, a row and the whole matrix, in multiplications."""
        n = float(len(self))
        return Cost(20.0 * n * n, 20.0 * n, 20.0 * n * n)

    def documents(self) -> Collection:
        """Return the names of the documents, by content where that is known."""
        return Collection.unknown(len(self))

    def non_negative(self) -> bool | None:
        """Return whether all similarities of different documents are at least 0; None where that is unknown."""
        return None

    @property
    def pairwise(self) -> bool:
        """Whether the similarity of a new and a fitted document depends on these two alone."""
        return False

    @property
    def approximate(self) -> bool:
        """Whether negative entries may be approximation errors of small ones."""
        return False

    @property
    def magnitude(self) -> float:
        """Magnitude of the numbers that the entries were computed from; rounding is relative to it."""
        return float(np.abs(self._diagonal()).max(initial=0.0))

    @property
    def source(self) -> Gram:
        """The Gram at the bottom of a chain of transforms."""
        return self

    # -- public: check, then call the private twin

    def block(self, rows: Any = None, cols: Any = None) -> Array:
        """Return the dense entries K[rows, cols]; either may be a slice, integers, a mask or None for all."""
        row_index, col_index = (check_index(index, len(self)) for index in (rows, cols))
        size = index_length(row_index) * index_length(col_index) * self.dtype.itemsize
        require_memory(size, f"A block of {index_length(row_index)} × {index_length(col_index)}", "Request fewer rows")
        with blas_threads():
            return self._block(row_index, col_index)

    def diagonal(self) -> Array:
        """Return the self-similarities K_ii, shape (n,)."""
        return self._diagonal()

    def trace(self) -> float:
        """Return the sum of the self-similarities, correctly rounded: it does not depend on their order."""
        return math.fsum(self._diagonal().tolist())

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

    def __add__(self, other: Any) -> Gram:
        """Return the Gram of sums K_ij + L_ij."""
        return self._combine("+", other)

    def __mul__(self, other: Any) -> Gram:
        """Return the Gram of products K_ij L_ij, or of multiples by a number greater than 0."""
        return self._combine("*", other)

    __rmul__ = __mul__

    def sum_by(self, labels: Any, k: int | None = None, weights: Any = None) -> Array:
        """Return the weighted similarity of every document to every group, (n, k), in float64.

        Parameters
        ----------
        labels : array of shape (n,)
            Groups 0 … k−1; −1 for a document in no group.
        k : int, optional
            Number of groups; one more than the largest label by default.
        weights : array of shape (n,), optional
            How much each document counts; 1 by default.
        """
        labels = np.asarray(labels, dtype=np.intp)
        k = int(labels.max(initial=-1)) + 1 if k is None else k
        weights = np.ones(len(self)) if weights is None else np.asarray(weights, dtype=np.float64)
        require_memory(8 * len(self) * k, "The sums by group", "Use fewer groups")
        with blas_threads(2.0 * len(self) ** 2):
            return self._sum_by(labels, k, weights)

    def take(self, index: Any) -> Gram:
        """Return the Gram of some of the documents, in the order of `index`; what was learned stays as it is."""
        rows = index_array(check_index(index, len(self)))
        if len(np.unique(rows)) != len(rows):
            raise InputError("take needs distinct documents; the index names one of them twice.")
        if len(rows) == 0:
            raise InputError("take needs at least one document; the index is empty.")
        return self._take(rows)

    def canonical(self) -> tuple[Gram, NDArray[np.intp]]:
        """Return the Gram with its documents in canonical order, and that order.

        Results computed on it depend on the documents alone, not on their order, to the last bit.
        """
        found = self.documents()
        if found.is_canonical:
            return self, np.arange(len(self))
        return self._take(found.order), found.order

    def extend(self, cross: Any, diagonal: Any = None) -> tuple[Array, Array | None]:
        """Carry new documents through every transform of this Gram.

        Parameters
        ----------
        cross : array of shape (m, n)
            Similarities of m new documents to the n fitted ones (or the landmarks of a low-rank Gram), plain kernel.
        diagonal : array of shape (m,), optional
            Self-similarities of the new documents under the plain kernel; needed by some transforms only.

        Returns both, transformed; the diagonal is None if it was not given and cannot be derived.
        """
        whole = len(self.source) == len(self)  # a part of a Gram raises its own error
        widths = getattr(self.source, "widths", (len(self),)) if whole else (len(self),)
        return self._extend(*check_extension(cross, diagonal, widths))

    def compare(self, new: Any) -> Iterator[ComparedDocuments]:
        """Compare new documents with the fitted ones, a batch at a time.

        Parameters
        ----------
        new : collection
            What the kernel takes: rows of the fitted columns, strings, similarities for ``precomputed``, or a dict of
            named inputs.
        """
        root = self._root()
        collected = root._collect_new(new)
        base, sigma = self.split_shift()
        row = 24 * max(base._compared_with(), 1)  # bytes: the block, and copies that transforms make
        rows = max(1, min(_NEW_TILE * tile_rows(row), settings().memory // 4 // row))

        def compared(part: Any) -> tuple[Array, Array | None]:
            cross, own = self._compared(part)
            return cross, None if own is None else own - sigma

        for part in root._split_new(collected, rows):
            yield ComparedDocuments(part, base._new_features(part), partial(compared, part))

    def to_linear_operator(self) -> Any:
        """Return the Gram as a SciPy ``LinearOperator``, for SciPy's solvers."""
        from scipy.sparse.linalg import LinearOperator

        product = self.__matmul__
        return LinearOperator(self.shape, product, product, product, dtype=self.dtype, rmatmat=product)


class Taken(Gram):
    """Some documents of a Gram whose transform does not commute with selecting documents (``centre``, ``map``)."""

    def __init__(self, base: Gram, index: NDArray[np.intp]) -> None:
        super().__init__(len(index), base.dtype)
        self.base, self.index = base, index

    def _spread(self, values: Array, fill: float = 0.0) -> Array:
        """Scatter values of the documents of this part to all documents of the base."""
        out = np.full((len(self.base), *values.shape[1:]), fill, dtype=values.dtype)
        out[self.index] = values
        return out

    def _block(self, rows: Index, cols: Index) -> Array:
        return self.base._block(self.index[rows], self.index[cols])

    def _diagonal(self) -> Array:
        return self.base._diagonal()[self.index]

    def _matmul(self, v: Any) -> Array:
        return self.base._matmul(self._spread(v.toarray() if is_sparse(v) else v))[self.index]

    def _sum_by(self, labels: NDArray[np.intp], k: int, weights: Array) -> Array:
        return self.base._sum_by(self._spread(labels, -1), k, self._spread(weights))[self.index]

    def _take(self, index: NDArray[np.intp]) -> Gram:
        return Taken(self.base, self.index[index])

    def _extend(self, cross: Array, diagonal: Array | None) -> tuple[Array, Array | None]:
        raise InputError(
            "A part of a centred or mapped Gram cannot be extended: new documents must be compared with the whole "
            "collection. Extend the whole Gram and select the columns of the part."
        )

    def cost(self) -> Cost:
        """Return the cost of the whole for products, and of the part for entries."""
        below, share = self.base.cost(), len(self) / len(self.base)
        return Cost(below.product, below.row * share, below.whole * share**2)

    def documents(self) -> Collection:
        """Return the names of the selected documents."""
        return self.base.documents().take(self.index)

    def non_negative(self) -> bool | None:
        """Return True where it is known of the base; a negative similarity there need not be one of these."""
        return self.base.non_negative() or None

    @property
    def source(self) -> Gram:
        """The Gram at the bottom of the chain."""
        return self.base.source


def require_gram(gram: Any, name: str = "gram") -> Gram:
    """Return a Gram, or raise an error that says how to make one.

    Parameters
    ----------
    gram : object
        Anything but a Gram is refused.
    name : str
        Its name in the error.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import require_gram
    >>> require_gram(np.eye(3))
    Traceback (most recent call last):
        ...
    grampus.errors.InputError: gram must be a Gram; got ndarray. Make one with kernel.gram(X), ...
    """
    if not isinstance(gram, Gram):
        raise InputError(
            f"{name} must be a Gram; got {type(gram).__name__}. Make one with kernel.gram(X), or from a matrix with "
            "DenseGram(K)."
        )
    return gram
