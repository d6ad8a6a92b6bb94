"""The dynamic programme of the subsequence kernel, for several pairs of strings at once.

With D_l[i, j] the weight of all common subsequences of length l that end at or before (i, j), discounted to it
(Shawe-Taylor & Cristianini 2004, §11.5)::

    S_l[i, j] = decay² D_{l−1}[i − 1, j − 1]  if x_i = y_j, else 0;   D_0 = 1
    R_l[i, j] = decay R_l[i, j − 1] + S_l[i, j]
    D_l[i, j] = decay D_l[i − 1, j] + R_l[i, j]
    K(x, y)   = Σ_ij S_length[i, j]

R depends on its own last value, so one pair cannot use the processor's vectors; eight pairs of similar length,
interleaved in lanes, can. Compiled where numba is installed, NumPy and SciPy otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from ..._array import Array
from ..._config import has_numba, require_memory
from ..._parallel import results_in_threads, thread_count

Strings: TypeAlias = tuple[Array, Array, Array]  # units, starts and ends of the documents
Programme: TypeAlias = Callable[[Array, Array, int, float], Array]

LANES = 8
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
    programme = _programme()
    rows, columns = _by_size(one), _by_size(other)
    spare = -len(columns) % LANES  # the shortest strings form the group that is not full
    groups = [columns[max(end - LANES, 0) : end] for end in range(LANES - spare, len(columns) + 1, LANES)]
    lanes = [_interleave(other, group, _NO_Y) for group in groups]
    out = np.zeros((len(rows), len(columns)))

    def work(place: int) -> None:
        i = rows[place]
        x = _interleave(one, np.repeat(i, LANES), _NO_X)
        for g in range((place + spare) // LANES if symmetric else 0, len(groups)):
            out[i, groups[g]] = programme(x, lanes[g], length, decay)[: len(groups[g])]

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
    programme = _programme()
    order = long[_by_size(_some(strings, long))]

    def work(g: int) -> None:
        group = order[g * LANES : (g + 1) * LANES]
        x, y = (_interleave(strings, group, fill) for fill in (_NO_X, _NO_Y))
        out[group] = programme(x, y, length, decay)[: len(group)]

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


def _programme() -> Programme:
    return _compiled() if has_numba() else with_numpy


def with_numpy(xs: Array, ys: Array, length: int, decay: float) -> Array:
    """Return the similarities of pairs of columns with NumPy, one character of x at a time."""
    from scipy.signal import lfilter

    square = decay * decay
    total = np.zeros(ys.shape[1])
    if not len(ys):
        return total
    levels = [np.zeros(ys.shape) for _ in range(length - 1)]
    for units in xs:
        weight = np.where(ys == units, square, 0.0)
        ended = weight  # S_1
        for level, before in enumerate(levels):
            levels[level] = decay * before + lfilter([1.0], [1.0, -decay], ended, axis=0)
            ended = np.zeros_like(weight)  # S_{l + 1}
            np.multiply(weight[1:], before[:-1], out=ended[1:])
        total += ended.sum(axis=0)
    return total


@lru_cache(maxsize=1)
def _compiled() -> Programme:
    """Return ``programme(xs, ys, length, decay)`` for LANES pairs of columns, compiled; it releases the GIL.

    Strings lie interleaved, lane by lane, after one row of zeros that stands for "before the first character": the last
    character of a lane is LANES numbers back, and LANES neighbouring steps do not depend on each other.
    """
    import numba

    compiled = numba.njit(nogil=True)
    compare, first, step, add = (compiled(part) for part in (_compare, _first, _step, _add))

    @compiled  # type: ignore[untyped-decorator, unused-ignore]
    def programme(xs: Any, ys: Any, length: int, decay: float) -> Any:
        size = ys.shape[0]
        end = (size + 1) * LANES
        flat = ys.ravel()
        weight, ended, running, total = np.zeros(end), np.zeros(end), np.zeros(end), np.zeros(end)
        before = np.zeros((length, end))
        for i in range(xs.shape[0]):
            compare(xs[i], flat, decay * decay, weight)
            if length == 1:
                add(weight, total)
                continue
            first(weight, decay, ended, running, before[0])
            for level in range(1, length - 1):
                step(weight, decay, ended, running, before[level])
            add(ended, total)
        return total.reshape((size + 1, LANES)).sum(axis=0)

    nothing = np.zeros((1, LANES), dtype=np.int32)
    programme(nothing, nothing, 2, 0.5)  # compiles before threads share it
    return programme  # type: ignore[no-any-return, unused-ignore]


def _compare(units: Any, flat: Any, square: float, weight: Any) -> None:
    """Set S_1: decay² where the characters are equal."""
    for j in range(len(flat) // LANES):
        for lane in range(LANES):
            weight[(j + 1) * LANES + lane] = square if flat[j * LANES + lane] == units[lane] else 0.0


def _first(weight: Any, decay: float, ended: Any, running: Any, before: Any) -> None:
    """Do the same as `_step` for S_1, which is not overwritten."""
    for t in range(len(ended) - LANES):
        last, old = running[t], before[t]
        running[t + LANES] = decay * last + weight[t + LANES]
        ended[t + LANES] = weight[t + LANES] * old
        before[t] = decay * old + last


def _step(weight: Any, decay: float, ended: Any, running: Any, before: Any) -> None:
    """Turn S_l into S_{l + 1}, R_l of the last character into that of this one, and D_l[i − 1] into D_l[i]."""
    for t in range(len(ended) - LANES):
        last, old = running[t], before[t]
        running[t + LANES] = decay * last + ended[t + LANES]
        ended[t + LANES] = weight[t + LANES] * old
        before[t] = decay * old + last


def _add(ended: Any, total: Any) -> None:
    for t in range(len(total)):
        total[t] += ended[t]
