"""The empirical kernel map: R Rᵀ, with R the rows of K scaled to unit length."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._array import Array, Index, index_array, index_length, inverse_root, scale_rows
from ..._config import settings
from ..._parallel import blas_threads
from ..answers import Cost
from ..base import Gram
from .base import Transformed
from .stored import fits, store


def empirical_map(gram: Gram) -> Gram:
    """Describe each document by its similarities to all others, scaled to unit length (`dominance`, §4.2).

    Costs one blocked pass for the norms; each product then costs two products of `gram`. Where these cost more than
    reading its matrix and the matrix fits, it is stored, so that the cost of maps of maps is linear in their depth.

    Parameters
    ----------
    gram : Gram
        Similarities of the collection.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import DenseGram, empirical_map
    >>> empirical_map(DenseGram(np.array([[0.0, 2.0], [2.0, 0.0]]))).dense()
    array([[1., 0.],
           [0., 1.]])
    """
    if gram.cost().product > float(len(gram)) ** 2 and fits(gram):
        gram = store(gram)
    ordered, order = gram.canonical()
    squares = np.empty(len(gram))
    with blas_threads():
        squares[order] = ordered._weighted_squares(np.ones(len(gram)))
    return Mapped(gram, squares)


class Mapped(Transformed):
    """R Rᵀ, R the rows of K scaled to unit length: the empirical kernel map (`dominance`, SPM and DSM).

    Products are R(Rᵀv), two passes over the base; the norms take one blocked pass at construction. A row of zeros stays
    zero. A new document is the row of its normalised similarities to the fitted ones. Its self-similarity is not in
    that row, so a fitted document given again as new differs from itself where the base is shifted.
    """

    def __init__(self, base: Gram, squared_norms: Array) -> None:
        super().__init__(base)
        self.squared_norms = squared_norms
        self.scale = inverse_root(squared_norms)

    def _block(self, rows: Index, cols: Index) -> Array:
        if index_length(rows) < index_length(cols):
            return self._block(cols, rows).T
        out = np.empty((index_length(rows), index_length(cols)), dtype=self.dtype)
        column, everyone = index_array(cols), slice(0, len(self))
        width = max(1, max(settings().tile, settings().memory // 32) // (24 * len(self)))
        for start in range(0, len(column), width):
            part = column[start : start + width]
            values = self.base._block(everyone, part).astype(np.float64, copy=False)
            product = self.base._matmul(values)[rows]
            out[:, start : start + width] = product * (self.scale[rows, None] * self.scale[None, part])
        return out

    def _diagonal(self) -> Array:
        return (self.scale > 0).astype(self.dtype)

    def _matmul(self, v: Any) -> Array:
        product = self.base._matmul(self.base._matmul(scale_rows(self.scale, v)))
        product *= self.scale[:, None].astype(product.dtype)
        return product

    def _sum_by(self, labels: NDArray[np.intp], k: int, weights: Array) -> Array:
        inner = self.base._sum_by(labels, k, weights * self.scale)
        return self.base._matmul(inner).astype(np.float64, copy=False) * self.scale[:, None]

    def _take(self, index: NDArray[np.intp]) -> Gram:
        if len(index) < len(self):
            return super()._take(index)
        return Mapped(self.base._take(index), self.squared_norms[index])

    def _own_extend(self, cross: Array, diagonal: Array | None) -> tuple[Array, Array | None]:
        new = scale_rows(inverse_root(np.square(cross, dtype=np.float64).sum(axis=1)), cross)
        mapped = self.base._matmul(new.T.astype(self.dtype, copy=False)).T * self.scale
        return mapped.astype(self.dtype), (np.abs(new).max(axis=1, initial=0.0) > 0).astype(self.dtype)

    def cost(self) -> Cost:
        """Return the cost: two passes over the base for each column or row."""
        below = self.base.cost()
        return Cost(2.0 * below.product, below.row + below.product, below.whole + len(self) * below.product)
