"""Subpolynomial kernels: every similarity to a power."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._array import Array, Index
from ..._check import check_number
from ...errors import InputError
from ..base import Gram
from .base import Transformed


def power(gram: Gram, exponent: float) -> Gram:
    """Raise every similarity to the power p > 0 (`dominance`, subpolynomial kernel, for 0 < p < 1).

    Similarities must not be negative. The self-similarities are checked at once, the others when they are computed.

    Parameters
    ----------
    gram : Gram
        Similarities of the collection.
    exponent : float
        p; between 0 and 1 it lifts small similarities against the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import DenseGram, power
    >>> power(DenseGram(np.array([[1.0, 0.25], [0.25, 1.0]])), 0.5).dense()
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    powered = Powered(gram, check_number(exponent, "exponent", above=0))
    powered.diagonal()
    return powered


class Powered(Transformed):
    """K_ij^p, entry by entry, for K ≥ 0 (`dominance`, SP)."""

    entrywise: ClassVar[bool] = True

    def __init__(self, base: Gram, exponent: float) -> None:
        super().__init__(base)
        self.exponent = exponent

    def _power(self, values: Array) -> Array:
        if values.size and not values.min() >= 0:
            raise InputError(
                f"power({self.exponent:g}) needs similarities of at least 0; an entry is {values.min():g}. "
                "Use a kernel without negative values, and put shift and centre after power."
            )
        return np.asarray(values**self.exponent, dtype=self.dtype)

    def _block(self, rows: Index, cols: Index) -> Array:
        return self._power(self.base._block(rows, cols))

    def _diagonal(self) -> Array:
        return self._power(self.base._diagonal())

    def _take(self, index: NDArray[np.intp]) -> Gram:
        return Powered(self.base._take(index), self.exponent)

    def _own_extend(self, cross: Array, diagonal: Array | None) -> tuple[Array, Array | None]:
        return self._power(cross), None if diagonal is None else self._power(diagonal)

    def non_negative(self) -> bool:
        """Return True: negative similarities are refused."""
        return True
