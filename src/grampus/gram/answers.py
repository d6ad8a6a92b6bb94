"""The types that a Gram answers with: explicit features, costs, and comparisons with new documents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array, dot, is_sparse, row_squares, scale_rows, sum_groups, sum_rows
from .._config import may_keep
from .._native.vectors import SparseProducts
from .._parallel import SEVERAL, helpers, thread_count

if TYPE_CHECKING:
    from collections.abc import Callable

_LARGE = 200_000  # entries of rows whose products are worth several threads
_SHARED = 2048  # rows of a product for another thread
_WIDE = 8  # vectors from which on columns are turned to rows, for threads to share them


@dataclass(frozen=True)
class Features:
    """Explicit rows of documents in feature space: document i is ``scale[i] * rows[i]``.

    For the documents of a Gram, K = diag(scale) X Xᵀ diag(scale). The rows are not copied.

    Attributes
    ----------
    rows : array or sparse array of shape (n, m)
        X.
    scale : array of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram, normalise
    >>> normalise(LinearGram(np.array([[2.0], [4.0]]))).features().scale
    array([0.5 , 0.25])
    """

    rows: Any
    scale: Array

    @property
    def entries(self) -> int:
        """Number of stored entries."""
        return int(self.rows.nnz if is_sparse(self.rows) else self.rows.size)

    def take(self, index: Any) -> Features:
        """Return the features of some of the documents."""
        return Features(self.rows[index], self.scale[index])

    def squares(self) -> Array:
        """Return the squared length of every document."""
        return row_squares(self.rows) * self.scale**2

    def project(self, coefficients: Any) -> Array:
        """Return Σ_i c_i φ(x_i) for every column of coefficients: (m, columns)."""
        scaled = scale_rows(self.scale, coefficients)
        if self._shared(scaled) and self._turns(scaled.shape[1]):
            with helpers(self.rows.shape[1], least=_SHARED) as threads:
                return SparseProducts(self.rows.T.tocsr()).times(scaled, threads)
        return dot(self.rows.T, scaled)

    def sum_by(self, labels: NDArray[np.intp], k: int, weights: Array) -> Array:
        """Return the weighted sum of every group's documents in feature space: (m, k)."""
        return sum_rows(self.rows, labels, k, weights * self.scale).T

    def onto(self, directions: Array) -> Array:
        """Return the inner products with the columns of `directions` (m, columns): (n, columns)."""
        if not self._shared(directions):
            return dot(self.rows, directions) * self.scale[:, None]
        with helpers(len(self.scale), least=_SHARED) as threads:
            return SparseProducts(self.rows).times(directions, threads) * self.scale[:, None]

    def _shared(self, other: Any) -> bool:
        """Return whether threads share a product with these vectors; its bits are the same."""
        doubles = isinstance(other, np.ndarray) and other.ndim == 2 and self.rows.dtype == other.dtype == np.float64
        return doubles and is_sparse(self.rows) and self.rows.format == "csr" and self.rows.nnz >= _LARGE

    def _turns(self, columns: int) -> bool:
        return columns >= _WIDE and thread_count() >= SEVERAL and may_keep(12 * self.entries)

    def non_negative(self) -> bool:
        """Return whether all features are at least 0."""
        values = self.rows.data if is_sparse(self.rows) else self.rows
        return values.size == 0 or bool(values.min() >= 0)


@dataclass(frozen=True)
class Cost:
    """The cost of reading a Gram, in multiplications.

    Attributes
    ----------
    product : float
        One column of K v.
    row : float
        One row of K.
    whole : float
        The whole matrix; 0 where it is stored.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import DenseGram, LinearGram
    >>> DenseGram(np.eye(100)).cost()
    Cost(product=10000.0, row=100.0, whole=0.0)
    >>> LinearGram(np.ones((100, 2))).cost()
    Cost(product=400.0, row=200.0, whole=40000.0)
    """

    product: float
    row: float
    whole: float

    def filling(self, n: int) -> Cost:
        """Return the cost for a Gram over this one that costs little more, but must fill its own n × n matrix."""
        return Cost(self.product, self.row, max(self.whole, float(n) ** 2))


class ComparedDocuments:
    """New documents, compared with those of a Gram through every transform.

    Attributes
    ----------
    documents : object
        The new documents, as the kernel's ``_collect_new`` returned them.
    features : Features or None
        Their rows in the space of the Gram's ``features()``; None where similarities to all documents are needed.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus import parse_kernel
    >>> gram = parse_kernel("cosine|shift").gram(np.array([[1.0, 0.0], [3.0, 4.0]]))
    >>> [part.cross.round(2).tolist() for part in gram.compare(np.array([[0.0, 2.0]]))]
    [[[0.0, 0.8]]]
    """

    def __init__(
        self, documents: Any, features: Features | None, extend: Callable[[], tuple[Array, Array | None]]
    ) -> None:
        self.documents, self.features, self._extend = documents, features, extend

    def __len__(self) -> int:
        return len(self.cross) if self.features is None else len(self.features.scale)

    @cached_property
    def _compared(self) -> tuple[Array, Array | None]:
        return self._extend()

    @property
    def cross(self) -> Array:
        """Similarities to the fitted documents, (m, n); computed on first access."""
        return self._compared[0]

    @property
    def diagonal(self) -> Array | None:
        """Self-similarities of the new documents without a trailing shift, (m,); None where they are unknown."""
        return self._compared[1] if self.features is None else self.features.squares()

    def sums(self, coefficients: Any, directions: Array | None) -> Array:
        """Return C M for the similarities C to the fitted documents, (m, columns).

        Parameters
        ----------
        coefficients : array of shape (n, columns)
            M.
        directions : array of shape (m, columns) or None
            M in the feature space of the Gram, ``gram.features().project(M)``; None where the Gram has no features.
        """
        if self.features is not None and directions is not None:
            return self.features.onto(directions)
        return np.asarray(dot(self.cross, coefficients))

    def sum_by(self, labels: NDArray[np.intp], k: int, weights: Array, directions: Array | None) -> Array:
        """Return the weighted similarity of every new document to every group, (m, k).

        Parameters
        ----------
        labels, weights : array of shape (n,)
            Groups of the fitted documents, and how much each of these counts.
        directions : array of shape (m, k) or None
            ``gram.features().sum_by(labels, k, weights)``; None where the Gram has no features.
        """
        if self.features is not None and directions is not None:
            return self.features.onto(directions)
        return sum_groups(self.cross.astype(np.float64, copy=False) * weights, labels, k)
