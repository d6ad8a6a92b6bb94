"""Normalised kernels of order t; order 0 is the cosine."""

import math
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._array import Array, Index, inverse_root, scale_rows, tiles
from ...errors import InputError
from ..answers import Cost, Features
from ..base import Gram
from .base import Transformed

ORDER_RULE = "order must be 0, a positive number or inf"


def check_order(order: Any) -> float:
    """Return the order t of a normalisation as a float, or raise."""
    if not isinstance(order, (bool, str)) and isinstance(order, (int, float, np.number)) and order >= 0:
        try:
            return float(order)
        except OverflowError:
            raise InputError(f"{ORDER_RULE}; got a number with too many digits.") from None
    raise InputError(f"{ORDER_RULE}; got {order!r}.")


def normalise(gram: Gram, order: float = 0) -> Gram:
    """Divide each similarity by the power mean of order t of the two self-similarities (`normalised`, Eqn 6).

    Order 0 is the cosine, order ∞ divides by the larger one. Positive semi-definite Grams stay so for every order.
    A document whose self-similarity is 0 gets similarity 0 to everything.

    Parameters
    ----------
    gram : Gram
        Similarities of the collection.
    order : float
        t of the power mean: 0 is the cosine, infinity divides by the larger self-similarity.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram, normalise
    >>> normalise(LinearGram(np.array([[1.0], [2.0]])), 1).dense()
    array([[1. , 0.8],
           [0.8, 1. ]])
    """
    order = check_order(order)
    self_similarity = gram.diagonal().astype(np.float64)
    _require_self_similarity(gram, self_similarity)
    return Normalised(gram, order, self_similarity)


class Normalised(Transformed):
    """K_ij / M^t(K_ii, K_jj), the normalised kernel of order t (`normalised`, Eqn 6).

    A document without self-similarity (an empty one) has similarity 0 to everything, including itself.
    """

    entrywise: ClassVar[bool] = True
    arrays: ClassVar[tuple[str, ...] | None] = ("self_similarity", "scale")

    def __init__(self, base: Gram, order: float, self_similarity: Array) -> None:
        super().__init__(base)
        self.order, self.self_similarity = order, self_similarity
        self.scale = inverse_root(self_similarity)

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

    def _moved(self, namespace: ModuleType) -> Gram | None:
        return super()._moved(namespace) if self.order == 0 else None

    def _diagonal(self) -> Array:
        return (self.self_similarity > 0).astype(self.dtype)

    def _matmul(self, v: Any) -> Array:
        if self.order != 0:
            return super()._matmul(v)
        product = self.base._matmul(scale_rows(self.scale, v))
        product *= self.scale[:, None].astype(product.dtype)
        return product

    def _sum_by(self, labels: NDArray[np.intp], k: int, weights: Array) -> Array:
        if self.order != 0:
            return super()._sum_by(labels, k, weights)
        return self.base._sum_by(labels, k, weights * self.scale) * self.scale[:, None]

    def _take(self, index: NDArray[np.intp]) -> Gram:
        return Normalised(self.base._take(index), self.order, self.self_similarity[index])

    def _at_rank(self, rank: int) -> Gram | None:
        below = self.base._at_rank(rank)
        return None if below is None else normalise(below, self.order)

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

    def features(self) -> Features | None:
        """Return the base's features with their lengths divided out, for order 0."""
        below = self.base.features() if self.order == 0 else None
        return None if below is None else Features(below.rows, below.scale * self.scale)

    def _new_features(self, new: Any) -> Features | None:
        below = self.base._new_features(new) if self.order == 0 else None
        return None if below is None else Features(below.rows, below.scale * inverse_root(below.squares()))

    def cost(self) -> Cost:
        """Return the cost of the base for order 0, and of each entry for the others."""
        if self.order != 0:
            return super().cost()
        return self.base.cost().filling(len(self))

    def non_negative(self) -> bool | None:
        """Return what is known of the base: signs do not change."""
        return self.base.non_negative()


def _require_self_similarity(gram: Gram, diagonal: Array) -> None:
    """Raise if the diagonal has negative values, or 0 for a document that is similar to another."""
    low = int(diagonal.argmin())
    if diagonal[low] < 0:
        raise InputError(
            f"normalise needs self-similarities of at least 0; document {low} has {diagonal[low]:g}. "
            "Put normalise before shift."
        )
    limit = 1e-30 if gram.dtype == np.float32 else 1e-290
    positive = diagonal[diagonal > 0]
    if positive.size and not (positive.min() >= limit and positive.max() <= 1 / limit):
        odd = positive.min() if positive.min() < limit else positive.max()
        raise InputError(
            f"normalise needs self-similarities between {limit:g} and {1 / limit:g} in {gram.dtype}; got {odd:g}. "
            "Scale the data, or use float64."
        )
    empty = np.flatnonzero(diagonal == 0)
    explicit = gram.features()
    if explicit is not None and not (explicit.rows[empty] != 0).sum():
        return  # rows without features have no similarities: nothing to read
    for part in tiles(len(empty), 16 * len(gram)):
        block = gram.block(empty[part])
        if block.any():
            first = int(empty[part][np.flatnonzero(block.any(axis=1))[0]])
            raise InputError(
                f"normalise needs a positive self-similarity for every document that resembles another; document "
                f"{first} has 0. Put normalise before shift."
            )


def _divide_by_mean(block: Array, left: Array, right: Array, order: float) -> Array:
    """Divide K_ij in place by the power mean of order t of left_i and right_j; 0 where either of them is 0.

    Written as max · exp(log1p(expm1(t ln r)/2)/t), r = min/max: exact for small t, and never overflows for large t. An
    order so small that t ln r would lose all digits is treated as 0.
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
