"""A Gram with its matrix in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._array import Array, Index
from ..._config import may_keep
from ..answers import Cost
from ..base import Gram
from ..sources import DenseGram
from .base import Transformed


def fits(gram: Gram) -> bool:
    """Return whether the whole matrix may be stored: within a quarter of the memory budget."""
    return may_keep(len(gram) ** 2 * gram.dtype.itemsize)


def store(gram: Gram) -> Stored | DenseGram:
    """Return a Gram with its ``matrix`` in memory; a stored one is returned as it is.

    Parameters
    ----------
    gram : Gram

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram, store
    >>> store(LinearGram(np.array([[1.0], [2.0]]))).matrix
    array([[1., 2.],
           [2., 4.]])
    """
    return gram if isinstance(gram, Stored | DenseGram) else Stored(gram, gram.dense())


class Stored(Transformed):
    """A Gram whose matrix was computed once and is read from memory; the base answers everything else."""

    entrywise = True

    def __init__(self, base: Gram, matrix: Array) -> None:
        super().__init__(base)
        self.inner = DenseGram.trusted(matrix)

    @property
    def matrix(self) -> Array:
        """The matrix."""
        return self.inner.matrix

    def _block(self, rows: Index, cols: Index) -> Array:
        return self.inner._block(rows, cols)

    def _diagonal(self) -> Array:
        return self.base._diagonal()

    def _matmul(self, v: Any) -> Array:
        return self.inner._matmul(v)

    def _take(self, index: NDArray[np.intp]) -> Gram:
        return Stored(self.base._take(index), self.matrix[np.ix_(index, index)])

    def _own_extend(self, cross: Array, diagonal: Array | None) -> tuple[Array, Array | None]:
        return cross, diagonal

    def cost(self) -> Cost:
        """Return the cost of reading a stored matrix."""
        return self.inner.cost()

    def non_negative(self) -> bool | None:
        """Return what is known of the base."""
        return self.base.non_negative()

    @property
    def magnitude(self) -> float:
        """Magnitude of the numbers that the entries were computed from."""
        return self.base.magnitude
