"""Grams add, multiply and scale: several Grams of the same documents, combined entry by entry.

A combined Gram is a source: transforms stand above it as above any other, and its own parts carry new documents
through what they learned. So ``extend`` takes similarities under the sum or product itself, and ``compare`` takes the
documents, of which every part reads what it is made for.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from numbers import Real
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._array import Array, Index, is_sparse, scale_rows
from ..errors import InputError
from .answers import Cost, Features
from .base import Gram, require_gram
from .collection import Collection
from .sources import SourceGram

WEIGHT_RULE = (
    "A weight must be a number greater than 0: a negative one makes a Gram that is no inner product, and a part of "
    "weight 0 is left out"
)


def check_weight(weight: Any) -> float:
    """Return the weight of a part of a sum as a float, or raise."""
    try:
        if isinstance(weight, (bool, np.bool_)) or not isinstance(weight, (Real, np.number)):
            raise TypeError
        number = float(weight)
    except (TypeError, OverflowError):
        number = math.nan
    if not 0 < number < math.inf:
        raise InputError(f"{WEIGHT_RULE}; got {weight!r}.")
    return number


def weighted_sum(grams: Sequence[Gram], weights: Sequence[float] | None = None) -> Gram:
    """Add Grams of the same documents: Σ_p w_p K_p.

    Costs what the parts cost; nothing is stored. A sum of positive semi-definite Grams is one, and has features where
    all parts have them: side by side, each multiplied by the root of its weight. ``a + 0.5 * b`` is short for it.

    Parameters
    ----------
    grams : sequence of Gram
        All with the same documents in the same order.
    weights : sequence of float, optional
        Greater than 0; 1 each by default.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram, weighted_sum
    >>> a, b = LinearGram(np.array([[1.0], [2.0]])), LinearGram(np.array([[0.0], [4.0]]))
    >>> weighted_sum([a, b], [1, 0.25]).dense()
    array([[1., 2.],
           [2., 8.]])
    >>> (a + 0.25 * b).features().rows
    array([[1., 0.],
           [2., 2.]])
    """
    weights = [1.0] * len(grams) if weights is None else [check_weight(weight) for weight in weights]
    if len(weights) != len(grams):
        raise InputError(f"weights must have one number for each of the {len(grams)} Grams; got {len(weights)}.")
    return SumGram(grams, weights)


def product(grams: Sequence[Gram]) -> Gram:
    """Multiply Grams of the same documents entry by entry (Hadamard): positive semi-definite if all of them are.

    Costs every entry of every part: it has no explicit features, and a product is a pass over all entries.

    Parameters
    ----------
    grams : sequence of Gram
        All with the same documents in the same order.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import DenseGram, product
    >>> product([DenseGram(np.array([[1.0, 0.5], [0.5, 1.0]]))] * 2).dense()
    array([[1.  , 0.25],
           [0.25, 1.  ]])
    """
    return ProductGram(grams)


class Combined(SourceGram):
    """Several Grams of the same documents, combined entry by entry.

    Its type is that of the least exact part, because a number is no more exact than what it was computed from.

    Attributes
    ----------
    parts : tuple of Gram
    """

    def __init__(self, parts: Sequence[Gram]) -> None:
        self.parts = tuple(require_gram(part) for part in parts)
        if not self.parts:
            raise InputError("There must be at least one Gram to combine; got none.")
        sizes = {len(part) for part in self.parts}
        if len(sizes) > 1:
            raise InputError(
                "Grams that are combined must have the same documents, in the same order; these have "
                f"{' and '.join(str(len(part)) for part in self.parts)}."
            )
        libraries = sorted({part.namespace.__name__ for part in self.parts})
        if len(libraries) > 1:
            raise InputError(f"Grams that are combined must be of one array library; got {' and '.join(libraries)}.")
        super().__init__(sizes.pop(), min((part.dtype for part in self.parts), key=lambda dtype: dtype.itemsize))

    @property
    def namespace(self) -> ModuleType:  # type: ignore[override]  # a module is not pickled with the parts
        """The array library of the parts."""
        return self.parts[0].namespace

    @abstractmethod
    def _join(self, values: Sequence[Array]) -> Array:
        """Combine the same entries of all parts; the first array may be changed."""

    @abstractmethod
    def _with(self, parts: Sequence[Gram]) -> Combined:
        """Return the same combination of other parts."""

    def _own(self, values: Array) -> Array:
        return values.astype(self.dtype, copy=False)

    def _block(self, rows: Index, cols: Index) -> Array:
        return self._own(self._join([part._block(rows, cols) for part in self.parts]))

    def _diagonal(self) -> Array:
        return self._join([part._diagonal() for part in self.parts])

    def _moved(self, namespace: ModuleType) -> Gram | None:
        parts = [part._moved(namespace) for part in self.parts]
        return self._with([part for part in parts if part is not None]) if None not in parts else None

    def _take(self, index: NDArray[np.intp]) -> Gram:
        return self._with([part._take(index) for part in self.parts])._part_of(self, index)

    def documents(self) -> Collection:
        """Return the documents: copies are equal in every part."""
        if self._documents is None:
            self._documents = Collection.join([part.documents() for part in self.parts])
        return self._documents

    def non_negative(self) -> bool | None:
        """Return True where it is known of all parts."""
        return all(part.non_negative() is True for part in self.parts) or None

    @property
    def pairwise(self) -> bool:
        """Whether that is so for every part."""
        return all(part.pairwise for part in self.parts)

    @property
    def approximate(self) -> bool:
        """Whether any part is an approximation."""
        return any(part.approximate for part in self.parts)

    # -- new documents: every part reads what it is made for

    def _root(self) -> Gram:
        return self

    def _collect_new(self, new: Any) -> Any:
        return tuple(part._root()._collect_new(new) for part in self.parts)

    def _split_new(self, new: Any, rows: int) -> Iterator[Any]:
        pieces = (part._root()._split_new(own, rows) for part, own in zip(self.parts, new, strict=True))
        return zip(*pieces, strict=True)

    def _plain(self, new: Any) -> tuple[Array, Array | None]:
        found = [part._compared(own) for part, own in zip(self.parts, new, strict=True)]
        own = [diagonal for _, diagonal in found if diagonal is not None]
        cross = self._own(self._join([cross for cross, _ in found]))
        return cross, self._join(own) if len(own) == len(found) else None

    def _compared_with(self) -> int:
        return sum(part._compared_with() for part in self.parts)


class SumGram(Combined):
    """Σ_p w_p K_p; made by ``weighted_sum``, ``+`` and ``*`` with a number."""

    def __init__(self, parts: Sequence[Gram], weights: Sequence[float]) -> None:
        super().__init__(parts)
        self.weights = tuple(weights)

    def _join(self, values: Sequence[Array]) -> Array:
        total: Any = None
        for weight, value in zip(self.weights, values, strict=True):
            scaled = value if weight == 1 else value * value.dtype.type(weight)
            total = scaled if total is None else total + scaled
        return total

    def _with(self, parts: Sequence[Gram]) -> Combined:
        return SumGram(parts, self.weights)

    def _matmul(self, v: Any) -> Array:
        product = self._join([part._matmul(v) for part in self.parts])
        return product.astype(np.result_type(self.dtype, v.dtype), copy=False)

    def _sum_by(self, labels: NDArray[np.intp], k: int, weights: Array) -> Array:
        return self._join([part._sum_by(labels, k, weights) for part in self.parts])

    def features(self) -> Features | None:
        """Return the features of the parts side by side, where all parts have them; assembled once."""
        return self._features

    @cached_property
    def _features(self) -> Features | None:
        return self._side_by_side([part.features() for part in self.parts])

    def _side_by_side(self, found: Sequence[Features | None]) -> Features | None:
        """Return the features of some documents from those of the parts; None if any is missing."""
        known = [features for features in found if features is not None]
        if len(known) < len(found):
            return None
        roots = [math.sqrt(weight) for weight in self.weights]
        if len(known) == 1:
            return Features(known[0].rows, known[0].scale * roots[0])
        blocks = [scale_rows(root * part.scale, part.rows) for root, part in zip(roots, known, strict=True)]
        return Features(_columns(blocks), np.ones(len(known[0].scale)))

    def _new_features(self, new: Any) -> Features | None:
        if self.features() is None:
            return None
        return self._side_by_side([part._new_features(own) for part, own in zip(self.parts, new, strict=True)])

    def _main_part(self) -> Gram | None:
        heaviest = max(self.weights)
        return self.parts[self.weights.index(heaviest)] if self.weights.count(heaviest) < len(self.parts) else None

    def split_shift(self) -> tuple[Gram, float]:
        """Return the sum of the Grams below the parts' shifts, and the weighted sum of these."""
        return self._split

    @cached_property
    def _split(self) -> tuple[Gram, float]:
        found = [part.split_shift() for part in self.parts]
        if all(below is part for (below, _), part in zip(found, self.parts, strict=True)):
            return self, 0.0
        below = self._with([below for below, _ in found])
        below.kernel, below._documents = self.kernel, self._documents
        return below, math.fsum(weight * sigma for weight, (_, sigma) in zip(self.weights, found, strict=True))

    def cost(self) -> Cost:
        """Return the cost of all parts, and of adding them up."""
        n, found = float(len(self)), [part.cost() for part in self.parts]
        return Cost(
            sum(cost.product + n for cost in found),
            sum(cost.row + n for cost in found),
            sum(cost.whole + n * n for cost in found),
        )

    @property
    def magnitude(self) -> float:
        """Weighted sum of the parts' magnitudes: similarities may cancel."""
        return math.fsum(weight * part.magnitude for weight, part in zip(self.weights, self.parts, strict=True))


class ProductGram(Combined):
    """K_1 ∘ K_2 ∘ …, the product of every entry (Hadamard); made by ``product`` and ``*``."""

    def _join(self, values: Sequence[Array]) -> Array:
        total = values[0]
        for value in values[1:]:
            total = total * value
        return total

    def _with(self, parts: Sequence[Gram]) -> Combined:
        return ProductGram(parts)

    def cost(self) -> Cost:
        """Return the cost of every entry of every part: a product of the matrix is a pass over all of them."""
        n, found = float(len(self)), [part.cost() for part in self.parts]
        whole = sum(cost.whole + n * n for cost in found)
        return Cost(whole + n * n, sum(cost.row + n for cost in found), whole)

    @property
    def magnitude(self) -> float:
        """Product of the parts' magnitudes."""
        return math.prod(part.magnitude for part in self.parts)


def _columns(blocks: Sequence[Any]) -> Any:
    """Return matrices side by side: dense if they all are, or if that takes less memory than CSR."""
    if any(is_sparse(block) for block in blocks):
        entries = sum(block.nnz if is_sparse(block) else block.size for block in blocks)
        if 12 * entries < 8 * blocks[0].shape[0] * sum(block.shape[1] for block in blocks):
            return sp.hstack([sp.csr_array(block) for block in blocks], format="csr")
    return np.hstack([block.toarray() if is_sparse(block) else block for block in blocks])


def _combine(gram: Gram, mark: str, other: Any) -> Any:
    """Return ``gram + other`` or ``gram * other``."""
    if isinstance(other, Gram):
        return weighted_sum([gram, other]) if mark == "+" else product([gram, other])
    if mark == "*" and isinstance(other, (Real, np.number)):
        return weighted_sum([gram], [other])  # type: ignore[list-item]
    return NotImplemented


Gram._combine = _combine
