"""The inner nodes of a suffix tree, computed from common prefixes: each is an interval of sorted suffixes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._array import Array

NONE = -1


@dataclass(frozen=True, eq=False)
class SuffixTree:
    """Inner nodes (LCP intervals, Abouelhoda, Kurtz & Ohlebusch 2004); the root, of depth 0, is left out.

    A node stands for the substrings of lengths ``above + 1`` to ``depth`` that start at every suffix of its interval.

    Attributes
    ----------
    low, high : arrays of shape (nodes,)
        First and last sorted suffix.
    depth, above : arrays of shape (nodes,)
        String depth of the node and of its parent.
    parent : array of shape (nodes,)
        The parent node; −1 for the root.
    leaf_parent, leaf_above : arrays of shape (N,)
        Node above each single suffix (−1 for the root), and its depth.
    """

    low: NDArray[np.int32]
    high: NDArray[np.int32]
    depth: NDArray[np.int32]
    above: NDArray[np.int32]
    parent: NDArray[np.int32]
    leaf_parent: NDArray[np.int32]
    leaf_above: NDArray[np.int32]


def build_tree(lcp: NDArray[np.int32]) -> SuffixTree:
    """Return the tree of an array of common prefixes (0 at both ends)."""
    n = len(lcp) - 1
    bounds = np.flatnonzero(lcp).astype(np.int32)  # boundaries inside a node
    before = np.zeros(n + 1, dtype=np.int32)
    before[bounds] = nearest_smaller(lcp, bounds, strict=False)
    owner = np.arange(n + 1, dtype=np.int32)  # the first boundary of each boundary's node
    same = bounds[lcp[before[bounds]] == lcp[bounds]]
    owner[same] = before[same]
    owner = _settle(owner, same)
    nodes = bounds[owner[bounds] == bounds]
    number = np.full(n + 1, NONE, dtype=np.int32)
    number[nodes] = np.arange(len(nodes), dtype=np.int32)
    number[bounds] = number[owner[bounds]]
    low = before[nodes]
    after = n - nearest_smaller(lcp[::-1], n - nodes, strict=True)
    parent, above = _upper(lcp, number, low, after)
    slots = np.arange(n, dtype=np.int32)
    leaf_parent, leaf_above = _upper(lcp, number, slots, slots + 1)
    return SuffixTree(low, (after - 1).astype(np.int32), lcp[nodes], above, parent, leaf_parent, leaf_above)


def _upper(lcp: Array, number: Array, first: Array, after: Array) -> tuple[Array, Array]:
    """Return the parent node of intervals and its depth: that of the deeper of their two boundaries."""
    deeper = np.where(lcp[first] >= lcp[after], first, after)
    return number[deeper], lcp[deeper]


def _settle(owner: Array, active: Array) -> Array:
    """Follow pointers to their ends, doubling the stride each round."""
    while len(active):
        onward = owner[owner[active]]
        moved = onward != owner[active]
        owner[active] = onward
        active = active[moved]
    return owner


def nearest_smaller(values: Array, indices: Array, *, strict: bool) -> NDArray[np.int32]:
    """Return, for some indices, the nearest earlier index with a smaller value (or an equal one, if not strict).

    ``values[0]`` must be smaller than the values at those indices. All indices climb and descend a pyramid of minima at
    once: O(log N) rounds, whatever the values.
    """
    pyramid = [np.ascontiguousarray(values)]
    while len(pyramid[-1]) > 1:
        level = pyramid[-1]
        half = level[0::2].copy()
        np.minimum(half[: len(level) // 2], level[1::2], out=half[: len(level) // 2])
        pyramid.append(half)
    target = values[indices] - strict  # integers: smaller than v is at most v − 1
    place, smaller = np.array(indices, dtype=np.int32), np.empty(len(indices), dtype=np.int32)
    active = np.arange(len(indices), dtype=np.int32)
    for height, level in enumerate(pyramid):
        if not len(active):
            break
        here = place[active]
        hit = (here & 1).astype(bool)
        hit &= level[here - (here & 1)] <= target[active]
        smaller[active[hit]] = _descend(pyramid[: height + 1], here[hit] - 1, target[active[hit]])
        active = active[~hit]
        place[active] >>= 1
    return smaller


def _descend(pyramid: list[Array], place: Array, target: Array) -> Array:
    """Walk down to the last index under a place whose value is at most the target."""
    for level in reversed(pyramid[:-1]):
        right = 2 * place + 1
        right_fits = level[np.minimum(right, len(level) - 1)] <= target
        right_fits &= right < len(level)
        place = np.where(right_fits, right, 2 * place)
    return place
