"""Centring in feature space: H K H."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._array import Array, Index, column_sums
from ..answers import Cost
from ..base import Gram
from .base import Transformed


def centre(gram: Gram) -> Gram:
    """Move the collection's mean to the origin of feature space; row sums become 0.

    Parameters
    ----------
    gram : Gram
        Similarities of the collection.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram, centre
    >>> centre(LinearGram(np.array([[1.0], [3.0]]))).dense()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    ordered, order = gram.canonical()
    means = np.empty(len(gram))
    means[order] = (ordered @ np.ones(len(gram))) / len(gram)
    return Centred(gram, means, float(means[order].mean()))


class Centred(Transformed):
    """H K H with H = I − 11ᵀ/n."""

    def __init__(self, base: Gram, means: Array, grand: float) -> None:
        super().__init__(base)
        self._means, self._grand = means, grand

    def _block(self, rows: Index, cols: Index) -> Array:
        block = self.base._block(rows, cols)
        block -= self._means[rows, None].astype(self.dtype)
        block -= (self._means[None, cols] - self._grand).astype(self.dtype)
        return block

    def _diagonal(self) -> Array:
        return (self.base._diagonal() - 2.0 * self._means + self._grand).astype(self.dtype)

    def _matmul(self, v: Any) -> Array:
        # HKHv = H(Kv − K1 · 1ᵀv/n); the correction has rank one, so a sparse v stays sparse.
        return self._corrected(self.base._matmul(v), column_sums(v))

    def _sum_by(self, labels: NDArray[np.intp], k: int, weights: Array) -> Array:
        inside = labels >= 0
        mass = np.bincount(labels[inside], weights=weights[inside], minlength=k)
        return self._corrected(self.base._sum_by(labels, k, weights), mass)

    def _corrected(self, product: Array, mass: Array) -> Array:
        product -= np.outer(self._means, mass).astype(product.dtype)
        product -= (column_sums(product) / len(self)).astype(product.dtype)
        return product

    def _take(self, index: NDArray[np.intp]) -> Gram:
        if len(index) < len(self):
            return super()._take(index)
        return Centred(self.base._take(index), self._means[index], self._grand)

    def _own_extend(self, cross: Array, diagonal: Array | None) -> tuple[Array, Array | None]:
        mean = cross.mean(axis=1, dtype=np.float64)
        centred = cross - mean[:, None] - (self._means - self._grand)
        new = None if diagonal is None else (diagonal - 2.0 * mean + self._grand).astype(self.dtype)
        return centred.astype(self.dtype), new

    def cost(self) -> Cost:
        """Return the cost of the base: the correction has rank one."""
        return self.base.cost().filling(len(self))

    @property
    def magnitude(self) -> float:
        """Magnitude of the similarities before centring: what remains of equal documents is rounding."""
        return self.base.magnitude
