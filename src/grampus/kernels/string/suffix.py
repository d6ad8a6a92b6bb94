"""Suffix arrays of many documents with NumPy alone: sort by packed characters, then by prefix doubling.

Several characters are packed into one integer, so that one sort orders suffixes by their first 3 to 31 characters;
each round of prefix doubling (Manber & Myers 1993) then doubles the depth, for the suffixes that are still tied. A
document's end sorts before every character, and no match crosses it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._array import Array
from .strings import Text

_PACKED_BITS = 62
_MAX_WIDTH = 31
# Up to this many packed steps, pairs are compared directly; deeper ones go through the lemma of `_all_prefixes`.
_DIRECT_STEPS = 16
_FEW_PAIRS = 64


@dataclass(frozen=True, eq=False)
class Packing:
    """The packing of a collection's characters into integers.

    Attributes
    ----------
    table : array
        The code of every unit up to the largest one, from 1; 0 for units that do not occur and for the document's end.
    bits : int
        Bits of a code.
    width : int
        Characters in one packed integer.
    """

    table: NDArray[np.int32]
    bits: int
    width: int

    @classmethod
    def of(cls, units: Array) -> Packing:
        """Learn the alphabet of a collection."""
        seen = np.zeros(int(units.max(initial=0)) + 1, dtype=bool)
        seen[units] = True
        table = np.where(seen, np.cumsum(seen), 0).astype(np.int32)
        bits = int(seen.sum() + 1).bit_length()  # one more code, for unknown characters
        return cls(table, bits, min(_PACKED_BITS // bits, _MAX_WIDTH))

    def pack(self, units: Array, left: Array) -> NDArray[np.int64]:
        """Return, for every position, its next `width` characters as one integer, zeros after the document's end."""
        inside = units < len(self.table)
        codes = np.where(inside, self.table[np.where(inside, units, 0)], 0)
        unknown = (1 << self.bits) - 1
        key = np.where(codes == 0, unknown, codes).astype(np.int64)
        have = 1
        while have < self.width:
            step = min(have, self.width - have)
            longer = key << (self.bits * step)
            tail = key[have:] >> (self.bits * (have - step))
            tail[left[: len(tail)] <= have] = 0
            longer[: len(tail)] |= tail
            key, have = longer, have + step
        return key

    @property
    def steps(self) -> NDArray[np.int64]:
        """The smallest integers whose first difference is in the last character, the second to last, and so on."""
        return np.int64(1) << (self.bits * np.arange(self.width, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Suffixes:
    """The sorted suffixes of a text, to a depth.

    Attributes
    ----------
    text : Text
    packing : Packing
    key : array of shape (N,)
        Packed characters from every position on.
    left : array of shape (N,)
        Units left in the document of every position.
    order : array of shape (N,)
        Positions in the order of their suffixes.
    lcp : array of shape (N + 1,)
        Common prefix of suffixes ``order[i - 1]`` and ``order[i]``, at most `depth`; 0 at both ends.
    depth : float
        Order and common prefixes are exact up to this many characters.
    """

    text: Text
    packing: Packing
    key: NDArray[np.int64]
    left: NDArray[np.int32]
    order: NDArray[np.int32]
    lcp: NDArray[np.int32]
    depth: float


def sort_suffixes(text: Text, depth: float = np.inf) -> Suffixes:
    """Sort all suffixes of a text by their first `depth` characters and compute their common prefixes."""
    packing = Packing.of(text.units)
    left = text.left
    key = packing.pack(text.units, left)
    n = len(key)
    sort_depth = np.inf if depth > _DIRECT_STEPS * packing.width else depth  # the lemma needs the full order
    order = _order(key, left, packing.width, sort_depth)
    lcp = np.zeros(n + 1, dtype=np.int32)
    if n > 1 and sort_depth == depth and np.isfinite(depth):
        pairs = order[1:], order[:-1]
        lcp[1:n] = common_prefixes(packing, (key, left, pairs[0]), (key, left, pairs[1]), depth)
    elif n > 1:
        lcp[1:n] = _all_prefixes(text, packing, key, left, order)
    if np.isfinite(depth):
        np.minimum(lcp, int(min(depth, 2**31 - 1)), out=lcp)
    return Suffixes(text, packing, key, left, order, lcp, depth)


def _order(key: Array, left: Array, width: int, depth: float) -> NDArray[np.int32]:
    """Return the positions sorted by their first `depth` characters, equal suffixes by position."""
    n = len(key)
    order = np.argsort(key).astype(np.int32)
    first = np.ones(n, dtype=bool)  # starts of groups of equal prefixes
    np.not_equal(key[order[1:]], key[order[:-1]], out=first[1:])
    rank = np.empty(n, dtype=np.int32)
    rank[order] = _group_starts(first, np.arange(n, dtype=np.int32))
    slots, reach = _tied(first, np.arange(n, dtype=np.int32)), width
    while reach < depth:
        going_on = slots[left[order[slots]] >= reach]  # groups that have ended are equal suffixes
        if not len(going_on):
            break
        here = order[going_on]
        more = left[here] > reach
        following = np.zeros(len(here), dtype=np.int64)
        following[more] = rank[here[more] + reach] + 1
        pair = rank[here].astype(np.int64) * (n + 1) + following
        by = np.argsort(pair)
        pair, here = pair[by], here[by]
        order[going_on] = here
        split = np.ones(len(pair), dtype=bool)
        np.not_equal(pair[1:], pair[:-1], out=split[1:])
        rank[here] = _group_starts(split, going_on)
        first[going_on] = split
        slots, reach = _tied(split, going_on), 2 * reach
    if np.isinf(depth):
        slots = _tied(first, np.arange(n, dtype=np.int32))
        here = order[slots]
        order[slots] = here[np.lexsort((here, rank[here]))]
    return order


def _group_starts(first: Array, slots: Array) -> Array:
    """Return, for every slot, the slot at which its group starts."""
    return np.maximum.accumulate(np.where(first, slots, 0))


def _tied(first: Array, slots: Array) -> Array:
    """Return the slots whose group has more than one member."""
    last = np.ones(len(first), dtype=bool)
    last[:-1] = first[1:]
    return slots[~(first & last)]


Side = tuple[Array, Array, Array]  # packed characters, units left, and the positions to compare


def common_prefixes(packing: Packing, one: Side, other: Side, limit: float = np.inf) -> NDArray[np.int32]:
    """Return the common prefix lengths of pairs of suffixes, up to a limit, compared `width` characters at a time."""
    (key_a, left_a, a), (key_b, left_b, b) = one, other
    shorter = np.minimum(left_a[a], left_b[b])
    out = np.zeros(len(a), dtype=np.int32)
    active = np.arange(len(a))
    offset, steps = 0, packing.steps
    while len(active):
        if offset and len(active) <= _FEW_PAIRS and np.isinf(limit):
            for pair in active:
                out[pair] = _long_prefix(packing, key_a, a[pair], key_b, b[pair], offset, shorter[pair])
            break
        difference = key_a[a[active] + offset] ^ key_b[b[active] + offset]
        out[active] = offset + packing.width - np.searchsorted(steps, difference, side="right")
        offset += packing.width
        if offset >= limit:
            break
        active = active[(difference == 0) & (shorter[active] > offset)]
    return np.minimum(out, shorter)


def _long_prefix(packing: Packing, key_a: Array, a: int, key_b: Array, b: int, done: int, most: int) -> int:
    """Extend one common prefix in steps of increasing size."""
    width, stretch = packing.width, 64
    while done < most:
        count = min(stretch, -(-(most - done) // width))
        x = key_a[a + done : a + done + count * width : width]
        y = key_b[b + done : b + done + count * width : width]
        unequal = np.flatnonzero(x != y)
        if len(unequal):
            first = int(unequal[0])
            difference = x[first] ^ y[first]
            return done + (first + 1) * width - int(np.searchsorted(packing.steps, difference, side="right"))
        done, stretch = done + count * width, min(2 * stretch, 2**16)
    return int(most)


def _all_prefixes(text: Text, packing: Packing, key: Array, left: Array, order: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the common prefixes of neighbours in the full order.

    If the characters before two neighbouring suffixes are equal, the suffixes one earlier are neighbours too and have
    one character more in common; only the other pairs are compared, and their common prefixes sum to at most 2 N log N
    (Kärkkäinen, Manzini & Puglisi 2009, permuted LCP array).
    """
    n = len(order)
    start = np.zeros(n, dtype=bool)
    start[text.bounds[:-1][np.diff(text.bounds) > 0]] = True
    here, before = order[1:], order[:-1]
    follows = ~(start[here] | start[before])
    follows &= text.units[here - 1] == text.units[before - 1]  # index −1 occurs only at a start, and is not used
    compared = here[~follows]
    by_position = np.zeros(n, dtype=np.int32)
    values = common_prefixes(packing, (key, left, compared), (key, left, before[~follows]))
    counted = np.zeros(n, dtype=bool)
    counted[compared] = True
    counted[order[0]] = True
    by_position[compared] = values
    source: NDArray[np.int32] = np.maximum.accumulate(np.where(counted, np.arange(n, dtype=np.int32), 0))
    inherited = by_position[source] + source - np.arange(n, dtype=np.int32)
    return np.asarray(inherited[here], dtype=np.int32)
