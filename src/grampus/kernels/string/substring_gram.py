"""The Gram of a substring kernel: explicit features, frequent ones multiplied as dense tiles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._array import Array, dot, index_length, tiles
from ..._array import Index as Rows
from ...gram import Gram, LinearGram
from .features import SubstringIndex

_MANY = 32  # rows and columns from which dense products pay off
_COMMON = 11  # a column in more than one document of this many is cheaper dense than sparse


class Substrings:
    """A fitted collection of strings, or some documents of one.

    Parameters
    ----------
    index : SubstringIndex
        The features of all documents.
    rows : array of int, optional
        The documents of this collection; all of them by default.
    """

    def __init__(self, index: SubstringIndex, rows: NDArray[np.intp] | None = None) -> None:
        self.index, self.rows = index, rows

    def __len__(self) -> int:
        return len(self.index.text) if self.rows is None else len(self.rows)

    def __iter__(self) -> Iterator[str | bytes]:
        return self.index.text.each(np.arange(len(self)) if self.rows is None else self.rows)

    def take(self, index: NDArray[np.intp]) -> Substrings:
        """Return some of the documents; new strings are still matched with the whole index."""
        return Substrings(self.index, index if self.rows is None else self.rows[index])


class SubstringGram(LinearGram):
    """F Fᵀ, F the weighted counts of shared substrings and the private mass of each document.

    Blocks of many rows multiply frequent substrings as dense tiles and the others as sparse ones.

    Examples
    --------
    >>> from grampus.kernels import Spectrum
    >>> gram = Spectrum(1).gram(["ab", "b"])
    >>> gram.features().rows.toarray()  # b in both, and one substring of the first document's own
    array([[1., 1.],
           [1., 0.]])
    """

    arrays: ClassVar[tuple[str, ...] | None] = None  # large blocks are computed by the processor

    def __init__(self, collection: Substrings) -> None:
        index, rows = collection.index, collection.rows
        super().__init__(index.features if rows is None else index.features[rows], collection)
        self.vocabulary = index
        if rows is None:
            self._transposed = index.transposed
        documents = np.diff(index.transposed.indptr)
        self._head = int(np.count_nonzero(documents * _COMMON > len(index.text)))  # columns are sorted by falling count

    def _block(self, rows: Rows, cols: Rows) -> Array:
        if min(index_length(rows), index_length(cols)) < _MANY:
            return super()._block(rows, cols)
        return self._large_block(rows, cols)

    def _large_block(self, rows: Rows, cols: Rows) -> Array:
        columns = self._columns(slice(0, len(self)))
        same = rows is cols or (isinstance(rows, slice) and isinstance(cols, slice) and rows == cols)
        block = np.zeros((index_length(rows), index_length(cols)))
        for part in tiles(self._head, 8 * len(self)):
            dense = columns[part].toarray()
            left = dense[:, rows]
            block += left.T @ (left if same else dense[:, cols])
        tail = columns[self._head :]
        left, right = tail[:, rows].T.tocsr(), tail[:, cols]
        for some in tiles(len(block), 24 * max(block.shape[1], 1)):
            block[some] += dot(left[some], right)
        return block

    def _take(self, index: NDArray[np.intp]) -> Gram:
        return SubstringGram(self.collection.take(index))._part_of(self, index)

    def _weighted_squares(self, weights: Array) -> Array:
        return Gram._weighted_squares(self, weights)
