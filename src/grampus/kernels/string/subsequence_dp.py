"""The dynamic programme of the subsequence kernel, for several pairs of strings at once.

With D_l[i, j] the weight of all common subsequences of length l that end at or before (i, j), discounted to it
(Shawe-Taylor & Cristianini 2004, §11.5)::

    S_l[i, j] = decay² D_{l−1}[i − 1, j − 1]  if x_i = y_j, else 0;   D_0 = 1
    R_l[i, j] = decay R_l[i, j − 1] + S_l[i, j]
    D_l[i, j] = decay D_l[i − 1, j] + R_l[i, j]
    K(x, y)   = Σ_ij S_length[i, j]

R depends on its own last value, so one pair cannot use the processor's vectors; eight pairs of similar length,
interleaved in lanes, can: `_native.subsequence`.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ..._array import Array
from ..._config import require_memory
from ..._native import LANES, subsequence
from ..._parallel import results_in_threads, thread_count

Strings: TypeAlias = tuple[Array, Array, Array]  # units, starts and ends of the documents

_NO_X, _NO_Y = -1, -2  # fill the lanes of shorter strings; never equal


def pairwise(one: Strings, other: Strings, length: int, decay: float, *, symmetric: bool = False) -> Array:
    """Return the similarities of all pairs; if `symmetric`, both sides are the same and each pair is computed once."""
    left, right = _long_enough(one, length), _long_enough(other, length)
    if len(left) < len(one[1]) or len(right) < len(other[1]):
        whole = np.zeros((len(one[1]), len(other[1])))
        if len(left) and len(right):
            few = pairwise(_some(one, left), _some(other, right), length, decay, symmetric=symmetric)
            whole[np.ix_(left, right)] = few
        return whole
    _check_room(one, other, length)
    rows, columns = _by_size(one), _by_size(other)
    spare = -len(columns) % LANES  # the shortest strings form the group that is not full
    groups = [columns[max(end - LANES, 0) : end] for end in range(LANES - spare, len(columns) + 1, LANES)]
    lanes = [_interleave(other, group, _NO_Y) for group in groups]
    out = np.zeros((len(rows), len(columns)))

    def work(place: int) -> None:
        i = rows[place]
        x = _interleave(one, np.repeat(i, LANES), _NO_X)
        for g in range((place + spare) // LANES if symmetric else 0, len(groups)):
            out[i, groups[g]] = subsequence(x, lanes[g], length, decay)[: len(groups[g])]

    _run(work, len(rows))
    if symmetric:  # ordered by size, the part right of the diagonal was computed
        upper = np.triu_indices(len(rows), 1)
        out[rows[upper[1]], rows[upper[0]]] = out[rows[upper[0]], rows[upper[1]]]
    return out


def selfwise(strings: Strings, length: int, decay: float) -> Array:
    """Return the similarity of every string to itself."""
    out = np.zeros(len(strings[1]))
    long = _long_enough(strings, length)
    if not len(long):
        return out
    _check_room(strings, strings, length)
    order = long[_by_size(_some(strings, long))]

    def work(g: int) -> None:
        group = order[g * LANES : (g + 1) * LANES]
        x, y = (_interleave(strings, group, fill) for fill in (_NO_X, _NO_Y))
        out[group] = subsequence(x, y, length, decay)[: len(group)]

    _run(work, -(-len(order) // LANES))
    return out


def _long_enough(strings: Strings, length: int) -> Array:
    """Return the strings that are long enough to have a subsequence of this length."""
    return np.flatnonzero(strings[2] - strings[1] >= length)


def _some(strings: Strings, index: Array) -> Strings:
    units, starts, ends = strings
    return units, starts[index], ends[index]


def _check_room(one: Strings, other: Strings, length: int) -> None:
    """Raise MemoryBudgetError if the tables, one row for each length, do not fit in the budget."""
    if len(one[1]) and len(other[1]):
        longest = int((other[2] - other[1]).max())
        threads = min(thread_count(), max(len(one[1]), len(other[1])))
        require_memory(
            8 * LANES * (length + 4) * (longest + 1) * threads,
            f"subsequence({length}) of strings of up to {longest} characters",
            "Use a smaller length or shorter strings",
        )


def _by_size(strings: Strings) -> Array:
    return np.argsort(strings[2] - strings[1], kind="stable")


def _interleave(strings: Strings, group: Array, fill: int) -> Array:
    """Return some strings as LANES columns, padded to the longest one."""
    units, starts, ends = strings
    longest = int((ends[group] - starts[group]).max(initial=0))
    out = np.full((longest, LANES), fill, dtype=np.int32)
    for lane, i in enumerate(group):
        out[: ends[i] - starts[i], lane] = units[starts[i] : ends[i]]
    return out


def _run(work: Callable[[int], None], count: int) -> None:
    for _ in results_in_threads(work, count):
        pass
