"""Match new strings with a fitted index: the position of each new suffix, its longest match, and the summed weight."""

import numpy as np
import scipy.sparse as sp

from ..._array import Array, dot
from .features import SubstringIndex, build_index
from .strings import Text
from .suffix import Suffixes, common_prefixes
from .suffix_tree import NONE

_MOST_STEPS = 64  # packed steps of a match beyond which sorting old and new together is cheaper


def cross(new: Text, index: SubstringIndex) -> Array:
    """Return the similarities of new strings to the fitted ones over all substrings, private ones included.

    Costs O(M log N) for M new and N fitted characters, plus the matches. If they share passages of hundreds of
    characters, both are sorted together, O((M + N) log (M + N)).
    """
    if not len(new.units) or not len(index.text.units):
        return np.zeros((len(new), len(index.text)))
    place = match(new, index.suffixes)
    if place is None:
        return cross_by_sorting(new, index)
    slot, length = place
    return _worth(new, index, slot, length)


def cross_by_sorting(new: Text, index: SubstringIndex) -> Array:
    """Return the same from a joint index of old and new strings, where all that a pair has in common is shared."""
    joint = build_index(index.text.join(new), index.weights)
    n = len(index.text)
    return dot(joint.features[n:], joint.transposed[:, :n])


def match(new: Text, fitted: Suffixes) -> tuple[Array, Array] | None:
    """Return, for every new position, a sorted suffix with the longest match, and the length of that match.

    These are the matching statistics of the new text (Chang & Lawler 1994), found by bisection on packed characters.
    None if a match is too long for bisection.
    """
    packing, size = fitted.packing, len(fitted.order)
    left = new.left
    key = packing.pack(new.units, left)
    sorted_key = fitted.key[fitted.order]
    low = np.searchsorted(sorted_key, key, side="left")
    high = np.searchsorted(sorted_key, key, side="right")
    del sorted_key
    offset = packing.width
    active = np.flatnonzero((high > low) & (left > offset))
    while len(active) and offset < fitted.depth:
        if offset > _MOST_STEPS * packing.width:
            return None
        wanted = key[active + offset]
        start, end = low[active], high[active]
        low[active] = _bisect(fitted, offset, wanted, start, end, right=False)
        high[active] = _bisect(fitted, offset, wanted, start, end, right=True)
        offset += packing.width
        active = active[(high[active] > low[active]) & (left[active] > offset)]
    here = (key, left, np.arange(len(key)))
    lengths = []
    for slot in (low - 1, low):
        near = fitted.order[np.clip(slot, 0, size - 1)]
        length = common_prefixes(packing, here, (fitted.key, fitted.left, near), fitted.depth)
        length[(slot < 0) | (slot >= size)] = 0
        lengths.append(length)
    after = lengths[1] >= lengths[0]
    return np.where(after, low, low - 1), np.where(after, lengths[1], lengths[0])


def _bisect(fitted: Suffixes, offset: int, wanted: Array, start: Array, end: Array, *, right: bool) -> Array:
    """Return the insertion points of packed characters at an offset among sorted suffixes ``start:end``, vectorised."""
    low, high = start.copy(), end.copy()
    while (active := np.flatnonzero(low < high)).size:
        middle = (low[active] + high[active]) // 2
        position = fitted.order[middle]
        goes_on = fitted.left[position] > offset
        value = np.zeros(len(position), dtype=np.int64)
        value[goes_on] = fitted.key[position[goes_on] + offset]
        before = value <= wanted[active] if right else value < wanted[active]
        low[active] = np.where(before, middle + 1, low[active])
        high[active] = np.where(before, high[active], middle)
    return low


def _worth(new: Text, index: SubstringIndex, slot: Array, length: Array) -> Array:
    """Sum the weights of all matching prefixes, climbing from each leaf through the nodes that the match reaches."""
    tree, weights, n = index.tree, index.weights, len(index.text)
    document = new.documents
    keep = length >= weights.first
    slot, length, document = slot[keep], length[keep], document[keep]

    out = np.zeros(len(new) * n)
    above = tree.leaf_above[slot]
    value = weights.between(above, length)
    out += np.bincount(document.astype(np.int64) * n + index.document[slot], weights=value, minlength=len(out))

    rows, columns, values = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.int32)], [np.zeros(0)]
    node = tree.leaf_parent[slot]
    climber = np.flatnonzero(node != NONE)
    node = node[climber]
    while len(climber):
        above = tree.above[node]
        value = weights.between(above, np.minimum(length[climber], tree.depth[node]))
        shared = index.column[node] != NONE
        rows.append(document[climber[shared]])
        columns.append(index.column[node[shared]])
        edge = np.sqrt(index.edge[node[shared]])
        values.append(np.divide(value[shared], edge, out=np.zeros(len(edge)), where=edge > 0))
        low, high = tree.low[node[~shared]], tree.high[node[~shared]]
        where = document[climber[~shared]].astype(np.int64) * n + index.document[low]
        np.add.at(out, where, value[~shared] * (high - low + 1.0))
        node = tree.parent[node]
        up = node != NONE
        climber, node = climber[up], node[up]
    place = np.concatenate(rows), np.concatenate(columns)
    features = sp.csr_array((np.concatenate(values), place), shape=(len(new), index.features.shape[1]))
    return out.reshape(len(new), n) + dot(features, index.transposed)
