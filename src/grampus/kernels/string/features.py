"""Substring kernels as explicit features: one column for each node of the suffix tree that two documents share.

A substring kernel is K(x, y) = Σ_u w(|u|) c_x(u) c_y(u), c_x(u) the number of times that u occurs in x. All substrings
on one edge of the suffix tree occur at the same places, so an edge is one feature with the summed weight of its
lengths: at most 2N features, however long the substrings are. Substrings of a single document are its private mass, one
feature for each document.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._array import Array, row_squares
from ...errors import InputError
from .strings import Text
from .suffix import Suffixes, sort_suffixes
from .suffix_tree import NONE, SuffixTree, build_tree

_LARGEST = 1e150  # weighted counts up to this have finite sums of squares


@dataclass(frozen=True)
class Lengths:
    """The weight of a substring by its length: scale · exp(rate · length) from `first` to `last`, 0 elsewhere."""

    first: int = 1
    last: float = math.inf
    rate: float = 0.0
    scale: float = 1.0

    def within(self, longest: int) -> Lengths:
        """Return the same weights for strings of at most `longest` units; all greater lengths are equivalent."""
        last = self.last if self.last == math.inf else min(self.last, longest + 1)
        return replace(self, first=min(self.first, longest + 1), last=last)

    def between(self, above: Array, depth: Array) -> Array:
        """Return the summed weight of the lengths above + 1, …, depth; 0 if there are none."""
        low, high = (np.clip(ends, self.first - 1, self.last).astype(np.float64) for ends in (above, depth))
        count = np.maximum(high - low, 0.0)
        if self.rate == 0:
            return self.scale * count
        # Σ r^l = r^low (r^count − 1) / (1 − 1/r), r = exp(rate), without cancellation
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            total = np.exp(self.rate * low) * (np.expm1(self.rate * count) / -math.expm1(-self.rate))
        return np.where(count > 0, self.scale * total, 0.0)


@dataclass(frozen=True, eq=False)
class SubstringIndex:
    """A fitted collection of strings: its features, private mass, and suffixes to match new strings with.

    Attributes
    ----------
    document : array of shape (N,)
        The document of every sorted suffix.
    edge : array of shape (nodes,)
        Sum of the weights of a node's lengths.
    features : CSR array of shape (n, columns)
        Weighted counts, columns by falling number of documents; then one column with the root of the private mass for
        each document that has some.
    transposed : CSR array of shape (columns, n)
        The same, by column.
    node : array
        The tree's node of every column of shared substrings, which precede those of private mass.
    column : array of shape (nodes,)
        The column of every node; −1 for those in one document.
    """

    suffixes: Suffixes
    tree: SuffixTree
    weights: Lengths
    document: NDArray[np.int32]
    edge: NDArray[np.float64]
    features: sp.csr_array
    transposed: sp.csr_array
    node: NDArray[np.int32]
    column: NDArray[np.int32]

    @property
    def text(self) -> Text:
        """The strings."""
        return self.suffixes.text

    def diagonal(self) -> Array:
        """Return the self-similarity of every document."""
        return row_squares(self.features)

    def substring(self, column: int) -> str | bytes:
        """Return the longest substring of a column."""
        node = self.node[column]
        return self.text.read(int(self.suffixes.order[self.tree.low[node]]), int(self.tree.depth[node]))


def build_index(text: Text, weights: Lengths) -> SubstringIndex:
    """Return the features of a collection of strings."""
    weights = weights.within(text.longest)  # nothing longer than every document can match
    suffixes = sort_suffixes(text, weights.last)
    lcp = suffixes.lcp
    if weights.first > 1:
        lcp = np.where(lcp < weights.first, 0, lcp)
    tree = build_tree(lcp)
    document = text.documents[suffixes.order]
    shared = _shared(tree, document)
    edge = weights.between(tree.above, tree.depth)
    private = _private(suffixes, tree, weights, document, shared, edge)
    incidences = _incidences(tree, document, shared, len(text))
    holders = np.flatnonzero(private > 0).astype(np.int32)
    own = np.arange(len(edge), len(edge) + len(holders), dtype=np.int32)
    incidences.append((holders, own, np.ones(len(holders), dtype=np.int32)))
    features, transposed, node = _assemble(incidences, np.concatenate([edge, private[holders]]), len(text))
    node = node[node < len(edge)]
    if not features.data.max(initial=0.0) < _LARGEST:
        raise InputError(
            "decay makes long substrings weigh more than short ones, and the weights of these documents overflow; "
            "use a decay that lets them fall with length, or a bounded kernel."
        )
    column = np.full(len(edge), NONE, dtype=np.int32)
    column[node] = np.arange(len(node), dtype=np.int32)
    return SubstringIndex(suffixes, tree, weights, document, edge, features, transposed, node, column)


def _shared(tree: SuffixTree, document: Array) -> Array:
    """Return which nodes have suffixes of at least two documents."""
    changes = np.zeros(len(document), dtype=np.int32)
    np.cumsum(document[1:] != document[:-1], out=changes[1:])
    return np.asarray(changes[tree.high] > changes[tree.low])


def _private(
    suffixes: Suffixes, tree: SuffixTree, weights: Lengths, document: Array, shared: Array, edge: Array
) -> NDArray[np.float64]:
    """Sum w c² over the substrings of a single document: single suffixes, and nodes of one document."""
    n = len(suffixes.text)
    leaf = weights.between(tree.leaf_above, suffixes.left[suffixes.order])
    out: NDArray[np.float64] = np.bincount(document, weights=leaf, minlength=n).astype(np.float64)
    own = np.flatnonzero(~shared)
    size = (tree.high[own] - tree.low[own] + 1).astype(np.float64)
    with np.errstate(over="ignore"):  # the caller refuses overflow
        out += np.bincount(document[tree.low[own]], weights=edge[own] * size**2, minlength=n)
    return out


def _incidences(tree: SuffixTree, document: Array, shared: Array, n: int) -> list[tuple[Array, Array, Array]]:
    """Return (documents, nodes, counts) for every shared node and every document in it, in parts.

    A document enters a node with its first suffix there. So each suffix climbs from its leaf while the document's
    previous suffix is outside the node; the steps of all climbs are the entries returned.
    """
    size = len(document)
    dtype = np.uint16 if n <= 2**16 else np.int32
    by_document = np.argsort(document.astype(dtype), kind="stable").astype(np.int32)
    sorted_document = document[by_document]
    first = np.ones(size, dtype=bool)
    np.not_equal(sorted_document[1:], sorted_document[:-1], out=first[1:])
    previous = np.full(size, NONE, dtype=np.int32)  # in the order of by_document, like everything below
    previous[1:] = np.where(first[1:], NONE, by_document[:-1])
    following = np.full(size, size, dtype=np.int32)
    following[:-1] = np.where(first[1:], size, by_document[1:])
    place = sorted_document.astype(np.int64) * size + by_document

    node = _lowest_shared(tree, shared)[by_document]
    climber = np.flatnonzero(node != NONE).astype(np.int32)
    node = node[climber]
    incidences: list[tuple[Array, Array, Array]] = []
    while len(climber):
        inside = previous[climber] < tree.low[node]
        climber, node = climber[inside], node[inside]
        count = np.ones(len(climber), dtype=np.int32)
        last = tree.high[node]
        more = np.flatnonzero(following[climber] <= last)
        ends = sorted_document[climber[more]].astype(np.int64) * size + last[more]
        count[more] = np.searchsorted(place, ends, side="right") - climber[more]
        incidences.append((sorted_document[climber], node, count))
        node = tree.parent[node]
        up = node != NONE
        climber, node = climber[up], node[up]
    return incidences


def _lowest_shared(tree: SuffixTree, shared: Array) -> Array:
    """Return the lowest shared node above every sorted suffix (−1 for the root)."""
    up = np.where(shared, np.arange(len(shared), dtype=np.int32), tree.parent)
    active = np.flatnonzero(~shared & (up != NONE))
    while len(active):
        onward = up[up[active]]
        moved = onward != up[active]
        up[active] = onward
        active = active[moved & (onward != NONE)]
    leaf = tree.leaf_parent
    return np.where(leaf == NONE, NONE, up[leaf]) if len(up) else leaf


def _assemble(
    incidences: list[tuple[Array, Array, Array]], edge: Array, n: int
) -> tuple[sp.csr_array, sp.csr_array, NDArray[np.int32]]:
    """Return the weighted counts by row and by column, and the node of every column; empties `incidences`."""
    empty = np.zeros(0, dtype=np.int32)
    rows, nodes, counts = (np.concatenate([empty, *(part[i] for part in incidences)]) for i in range(3))
    incidences.clear()
    documents = np.bincount(nodes, minlength=len(edge))
    columns = np.argsort(-documents, kind="stable")[: np.count_nonzero(documents)].astype(np.int32)
    column = np.zeros(len(edge), dtype=np.int32)
    column[columns] = np.arange(len(columns), dtype=np.int32)
    width = max(len(columns), 1)  # at least one column, even if it is zero
    bounds = np.zeros(n + 1, dtype=np.int64 if len(rows) >= 2**31 else np.int32)
    np.cumsum(np.bincount(rows, minlength=n), out=bounds[1:])
    order = np.argsort(rows.astype(np.uint16 if n <= 2**16 else np.int32), kind="stable")
    del rows
    nodes = nodes[order]
    values = np.sqrt(edge)[nodes]
    values *= counts[order]
    del order, counts
    by_row = sp.csr_array((values, column[nodes], bounds), shape=(n, width))
    del values, nodes
    transposed = sp.csr_array(by_row.T.tocsr())
    del by_row
    features = sp.csr_array(transposed.T.tocsr())  # transposing twice sorts the columns of each row
    for matrix in (features, transposed):
        matrix.has_canonical_format = True
    return features, transposed, columns
