"""Self-tuning similarities: from squared distances, with a width for every document."""

import math

import numpy as np
from numpy.typing import NDArray

from ..._array import Array, Index, tiles
from ..._check import check_integer
from ...errors import InputError
from ..base import Gram
from .base import Transformed


def self_tune(gram: Gram, neighbours: int = 7) -> Gram:
    """Turn squared distances into similarities, with a separate width for every document (`normalised`, §4.2).

    Parameters
    ----------
    gram : Gram
        Squared distances of the collection.
    neighbours : int
        The width of a document is its distance to this neighbour.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import DenseGram, self_tune
    >>> self_tune(DenseGram(np.array([[0.0, 4.0], [4.0, 0.0]])), 1).dense().round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """
    neighbours = check_integer(neighbours, "neighbours", low=1)
    n = len(gram)
    if neighbours >= n:
        raise InputError(
            f"selftuning({neighbours}) needs more than {neighbours} documents to find that many neighbours; got {n}. "
            "Use fewer neighbours."
        )
    widths = np.empty(n)
    ordered, order = gram.canonical()  # products of a BLAS may round by position; a width depends on content alone
    for rows in tiles(n, 16 * n):
        block = ordered.block(rows)
        if block.min() < 0:
            raise InputError(f"self_tune needs squared distances of at least 0; an entry is {block.min():g}.")
        # The document itself is at distance 0, so the p-th neighbour is at position p.
        widths[order[rows]] = np.sqrt(np.partition(block, neighbours, axis=1)[:, neighbours])
    smallest = widths[widths > 0].min(initial=np.inf)
    widths[widths == 0] = smallest if math.isfinite(smallest) else 1.0
    return SelfTuned(gram, neighbours, widths)


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

    def non_negative(self) -> bool:
        """Return True: exponentials are positive."""
        return True
