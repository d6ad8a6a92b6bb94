"""A Gram over another Gram."""

from types import ModuleType
from typing import ClassVar

from ..._array import Array
from ..answers import Cost
from ..base import Gram
from ..collection import Collection


class Transformed(Gram):
    """A Gram over another one, its base, with everything learned from the collection fixed.

    A subclass defines ``_block``, ``_diagonal`` and ``_own_extend``, and ``_take`` if it commutes with selecting
    documents. ``entrywise`` is True if, in addition, each entry depends on the same entry of the base and its two
    documents alone.

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

    entrywise: ClassVar[bool] = False

    def __init__(self, base: Gram) -> None:
        super().__init__(len(base), base.dtype)
        self.base = base

    def _extend(self, cross: Array, diagonal: Array | None) -> tuple[Array, Array | None]:
        return self._own_extend(*self.base._extend(cross, diagonal))

    def _own_extend(self, cross: Array, diagonal: Array | None) -> tuple[Array, Array | None]:
        """Apply this transform alone to new documents that the base has already transformed."""
        raise NotImplementedError

    def _moved(self, namespace: ModuleType) -> Gram | None:
        base, moved = self.base._moved(namespace), super()._moved(namespace)
        if base is None or moved is None:
            return None
        assert isinstance(moved, Transformed)
        moved.base = base
        return moved

    def _compared_with(self) -> int:
        return self.base._compared_with()

    def cost(self) -> Cost:
        """Return the cost of computing every entry: a product is a pass over all of them."""
        n, below = float(len(self)), self.base.cost()
        whole = below.whole + 20.0 * n * n
        return Cost(whole, below.row + 20.0 * n, whole)

    def documents(self) -> Collection:
        """Return the documents of the base."""
        return self.base.documents()

    @property
    def approximate(self) -> bool:
        """Whether the base is an approximation given by features."""
        return self.base.approximate and self.split_shift()[0].features() is not None

    @property
    def pairwise(self) -> bool:
        """Whether the similarity of a new and a fitted document depends on these two alone."""
        return self.entrywise and self.base.pairwise

    @property
    def source(self) -> Gram:
        """The Gram at the bottom of the chain."""
        return self.base.source
