"""Transforms of a Gram: each is a Gram over another Gram, with what it learned from the collection fixed inside.

``shift``, ``normalise(0)``, ``centre`` and ``map`` need only products of the Gram below, so they never form n × n.
``power`` and ``normalise(t > 0)`` act entry by entry, on tiles.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._array import Array, Index, column_sums, dot, index_length, matches, scale_rows, tiles
from ..errors import InputError
from .base import Gram


class Transformed(Gram):
    """A Gram over another one, its base.

    A subclass gives ``_block``, ``_diagonal`` and ``_own_extend``, and ``_take`` if taking documents first changes
    nothing; ``pairwise`` is True if, besides, a new document's similarity to one fitted document needs no other.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram, Transformed
    >>> class Doubled(Transformed):
    ...     def _block(self, rows, cols):
    ...         return 2 * self.base._block(rows, cols)
    ...     def _diagonal(self):
    ...         return 2 * self.base._diagonal()
    ...     def _own_extend(self, cross, diagonal):
    ...         return 2 * cross, None if diagonal is None else 2 * diagonal
    >>> Doubled(LinearGram(np.array([[1.0], [2.0]]))) @ np.ones(2)
    array([ 6., 12.])
    """

    pairwise: ClassVar[bool] = False

    def __init__(self, base: Gram) -> None:
        super().__init__(len(base), base.dtype)
        self.base = base

    def _extend(self, cross: Array, diagonal: Array | None) -> tuple[Array, Array | None]:
        return self._own_extend(*self.base._extend(cross, diagonal))

    def _own_extend(self, cross: Array, diagonal: Array | None) -> tuple[Array, Array | None]:
        """Carry new documents, already through the base, through this transform alone."""
        raise NotImplementedError

    @property
    def source(self) -> Gram:
        """The Gram at the bottom of the chain."""
        return self.base.source


class Shifted(Transformed):
    """K + σI (`dominance`, DS). New documents: the cross block stays, the self-similarity gets σ.

    Commutes with ``take`` because σ was fixed on the whole collection.
    """

    pairwise: ClassVar[bool] = True

    def __init__(self, base: Gram, sigma: float) -> None:
        super().__init__(base)
        self.sigma = float(sigma)

    def _block(self, rows: Index, cols: Index) -> Array:
        block = self.base._block(rows, cols)
        block[matches(rows, cols)] += self.sigma
        return block

    def _diagonal(self) -> Array:
        return self.base._diagonal() + self.dtype.type(self.sigma)

    def _matmul(self, v: Any) -> Array:
        product = self.base._matmul(v)
        if isinstance(v, np.ndarray):
            for part in tiles(len(self), 8 * v.shape[1]):
                product[part] += v.dtype.type(self.sigma) * v[part]
            return product
        rows = np.repeat(np.arange(len(self)), np.diff(v.indptr))
        product[rows, v.indices] += v.dtype.type(self.sigma) * v.data
        return product

    def _take(self, index: NDArray[np.intp]) -> Gram:
        return Shifted(self.base._take(index), self.sigma)

    def _own_extend(self, cross: Array, diagonal: Array | None) -> tuple[Array, Array | None]:
        return cross, None if diagonal is None else diagonal + self.sigma

    def _weighted_squares(self, weights: Array) -> Array:
        # (K_ii + σ)² = K_ii² + σ(2 K_ii + σ)
        extra = self.sigma * (2.0 * self.base._diagonal().astype(np.float64) + self.sigma)
        return np.maximum(self.base._weighted_squares(weights) + weights * extra, 0.0)


class Normalised(Transformed):
    """K_ij / M^t(K_ii, K_jj), the normalised kernel of order t (`normalised`, Eqn 6).

    A document without self-similarity (an empty one) has similarity 0 to everything, itself included.
    """

    pairwise: ClassVar[bool] = True

    def __init__(self, base: Gram, order: float, self_similarity: Array) -> None:
        super().__init__(base)
        self.order, self.self_similarity = order, self_similarity
        self.scale = _inverse_root(self_similarity)

    def _block(self, rows: Index, cols: Index) -> Array:
        block = self.base._block(rows, cols)
        if self.order == 0:
            block *= self.scale[rows, None].astype(self.dtype)
            block *= self.scale[None, cols].astype(self.dtype)
            return block
        left, right = self.self_similarity[rows], self.self_similarity[cols]
        for part in tiles(len(block), 48 * len(right)):
            _divide_by_mean(block[part], left[part], right, self.order)
        return block

    def _diagonal(self) -> Array:
        return (self.self_similarity > 0).astype(self.dtype)

    def _matmul(self, v: Any) -> Array:
        if self.order != 0:
            return super()._matmul(v)
        product = self.base._matmul(scale_rows(self.scale, v))
        product *= self.scale[:, None].astype(product.dtype)
        return product

    def _take(self, index: NDArray[np.intp]) -> Gram:
        return Normalised(self.base._take(index), self.order, self.self_similarity[index])

    def _own_extend(self, cross: Array, diagonal: Array | None) -> tuple[Array, Array | None]:
        if diagonal is None:
            raise InputError(
                "normalise needs the self-similarities K(x, x) of the new documents; got only their similarities to "
                "the fitted ones. With a precomputed kernel, give the pair (cross, diagonal)."
            )
        if diagonal.size and not diagonal.min() >= 0:
            raise InputError(f"normalise needs self-similarities of at least 0; a new document has {diagonal.min():g}.")
        new = diagonal.astype(np.float64)
        cross = _divide_by_mean(np.array(cross, dtype=self.dtype), new, self.self_similarity, self.order)
        return cross, (new > 0).astype(self.dtype)

    def _weighted_squares(self, weights: Array) -> Array:
        if self.order != 0:
            return super()._weighted_squares(weights)
        squared = self.scale**2
        return squared * self.base._weighted_squares(weights * squared)


class Powered(Transformed):
    """K_ij^p, entry by entry, for K ≥ 0 (`dominance`, SP)."""

    pairwise: ClassVar[bool] = True

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


class Centred(Transformed):
    """H K H with H = I − 11ᵀ/n: the mean of the collection moved to the origin of feature space."""

    def __init__(self, base: Gram, means: Array) -> None:
        super().__init__(base)
        self._means, self._grand = means, float(means.mean())

    def _block(self, rows: Index, cols: Index) -> Array:
        block = self.base._block(rows, cols)
        block -= self._means[rows, None].astype(self.dtype)
        block -= (self._means[None, cols] - self._grand).astype(self.dtype)
        return block

    def _diagonal(self) -> Array:
        return (self.base._diagonal() - 2.0 * self._means + self._grand).astype(self.dtype)

    def _matmul(self, v: Any) -> Array:
        # HKHv = H(Kv − K1 · 1ᵀv/n); the correction is of rank one, so a sparse v stays sparse.
        product = self.base._matmul(v)
        product -= np.outer(self._means, column_sums(v)).astype(product.dtype)
        product -= (column_sums(product) / len(self)).astype(product.dtype)
        return product

    def _own_extend(self, cross: Array, diagonal: Array | None) -> tuple[Array, Array | None]:
        mean = cross.mean(axis=1, dtype=np.float64)
        centred = cross - mean[:, None] - (self._means - self._grand)
        new = None if diagonal is None else (diagonal - 2.0 * mean + self._grand).astype(self.dtype)
        return centred.astype(self.dtype), new


class Mapped(Transformed):
    """R Rᵀ, R the rows of K scaled to unit length: the empirical kernel map (`dominance`, SPM and DSM).

    Products are R(Rᵀv), two passes over the base; the norms take one blocked pass when the Gram is made. A row of zeros
    stays zero. New documents are their normalised similarities to the fitted ones; their own self-similarity has no
    place in that row, so a fitted document shown again as new differs from itself where the base has been shifted.
    """

    def __init__(self, base: Gram, squared_norms: Array) -> None:
        super().__init__(base)
        self.scale = _inverse_root(squared_norms)

    def _block(self, rows: Index, cols: Index) -> Array:
        out = np.zeros((index_length(rows), index_length(cols)))
        inner = 8 * (index_length(rows) + index_length(cols))
        for part in tiles(len(self), inner):
            left = self.base._block(rows, part).astype(np.float64, copy=False)
            right = left if rows is cols else self.base._block(cols, part).astype(np.float64, copy=False)
            out += dot(left, right.T)
        out *= self.scale[rows, None] * self.scale[None, cols]
        return out.astype(self.dtype, copy=False)

    def _diagonal(self) -> Array:
        return (self.scale > 0).astype(self.dtype)

    def _matmul(self, v: Any) -> Array:
        product = self.base._matmul(self.base._matmul(scale_rows(self.scale, v)))
        product *= self.scale[:, None].astype(product.dtype)
        return product

    def _own_extend(self, cross: Array, diagonal: Array | None) -> tuple[Array, Array | None]:
        new = scale_rows(_inverse_root(np.square(cross, dtype=np.float64).sum(axis=1)), cross)
        mapped = self.base._matmul(new.T.astype(self.dtype, copy=False)).T * self.scale
        return mapped.astype(self.dtype), (np.abs(new).max(axis=1, initial=0.0) > 0).astype(self.dtype)


class SelfTuned(Transformed):
    """exp(−d²_ij / (σ_i σ_j)) over a Gram of squared distances; σ_i is the distance to the p-th nearest document.

    A width of 0 (more than p copies of one document) is replaced by the smallest positive width, or by 1 if there is
    none. New documents get their width from the fitted ones; the fitted widths stay.
    """

    def __init__(self, base: Gram, neighbours: int, widths: Array) -> None:
        super().__init__(base)
        self.neighbours, self.widths = neighbours, widths

    def _block(self, rows: Index, cols: Index) -> Array:
        return self._similarity(self.base._block(rows, cols), self.widths[rows], self.widths[cols])

    def _similarity(self, distances: Array, left: Array, right: Array) -> Array:
        similar = np.empty(distances.shape, dtype=self.dtype)
        for part in tiles(len(distances), 24 * len(right)):
            similar[part] = np.exp(-distances[part] / (left[part, None] * right))
        return similar

    def _diagonal(self) -> Array:
        return np.ones(len(self), dtype=self.dtype)

    def _take(self, index: NDArray[np.intp]) -> Gram:
        return SelfTuned(self.base._take(index), self.neighbours, self.widths[index])

    def _own_extend(self, cross: Array, diagonal: Array | None) -> tuple[Array, Array | None]:
        nearest = min(self.neighbours, len(self)) - 1
        widths = np.sqrt(np.partition(cross, nearest, axis=1)[:, nearest])
        widths = np.where(widths > 0, widths, self.widths.min())
        return self._similarity(cross, widths, self.widths), np.ones(len(cross), dtype=self.dtype)


def _inverse_root(values: Array) -> Array:
    """Return 1/√x, and 0 where x is 0."""
    return np.divide(1.0, np.sqrt(values), out=np.zeros(len(values)), where=values > 0)


def _divide_by_mean(block: Array, left: Array, right: Array, order: float) -> Array:
    """Divide K_ij in place by the power mean of order t of left_i and right_j; 0 where either of them is 0.

    Written as max · exp(log1p(expm1(t ln r)/2)/t), r = min/max: exact for small t, and never overflows for large t. An
    order so small that t ln r would lose its digits is 0.
    """
    high, low = np.maximum(left[:, None], right), np.minimum(left[:, None], right)
    mean = high
    if order < 1e-100:
        mean = np.sqrt(left)[:, None] * np.sqrt(right)
    elif order == 1:
        mean = (left[:, None] + right) / 2.0
    elif not math.isinf(order):
        ratio = np.divide(low, high, out=np.ones_like(high), where=high > 0)
        with np.errstate(divide="ignore"):
            mean = high * np.exp(np.log1p(np.expm1(order * np.log(ratio)) / 2.0) / order)
    inverse = np.divide(1.0, mean, out=np.zeros_like(mean), where=(low > 0) & (mean > 0))
    block *= inverse.astype(block.dtype, copy=False)
    return block
