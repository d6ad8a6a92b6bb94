"""The dynamic programme of the subsequence kernel, for several pairs of strings side by side.

With D_l[i, j] the weight of all common subsequences of length l that end at or before (i, j), discounted to it
(Shawe-Taylor & Cristianini 2004, §11.5)::

    S_l[i, j] = decay² D_{l−1}[i − 1, j − 1]  if x_i = y_j, else 0;   D_0 = 1
    R_l[i, j] = decay R_l[i, j − 1] + S_l[i, j]
    D_l[i, j] = decay D_l[i − 1, j] + R_l[i, j]
    K(x, y)   = Σ_ij S_length[i, j]

R depends on its own last value, so one pair cannot use the processor's vectors; eight pairs of like length, interleaved
in lanes, can. Compiled where numba is installed, with NumPy and SciPy where it is not.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from ..._array import Array
from ..._config import require_memory
from .compiled import LANES

Strings: TypeAlias = tuple[Array, Array, Array]  # units, starts and ends of the documents
Programme: TypeAlias = Callable[[Array, Array, int, float], Array]

_NO_X, _NO_Y = -1, -2  # what fills the lanes of shorter strings; never equal


def has_numba() -> bool:
    """Say whether the compiled programme is to be had."""
    return importlib.util.find_spec("numba") is not None


def pairwise(one: Strings, other: Strings, length: int, decay: float, *, symmetric: bool = False) -> Array:
    """Return the similarities of all pairs; where both sides are the same, each pair is computed once."""
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
    spare = -len(columns) % LANES  # the group that is not full is that of the shortest strings
    groups = [columns[max(end - LANES, 0) : end] for end in range(LANES - spare, len(columns) + 1, LANES)]
    lanes = [_interleave(other, group, _NO_Y) for group in groups]
    out = np.zeros((len(rows), len(columns)))

    def work(place: int) -> None:
        i = rows[place]
        x = _interleave(one, np.repeat(i, LANES), _NO_X)
        for g in range((place + spare) // LANES if symmetric else 0, len(groups)):
            out[i, groups[g]] = programme(x, lanes[g], length, decay)[: len(groups[g])]

    _share_out(work, len(rows))
    if symmetric:  # in the order of sizes, what lies right of the diagonal was computed
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

    _share_out(work, -(-len(order) // LANES))
    return out


def _long_enough(strings: Strings, length: int) -> Array:
    """Return the strings that have a subsequence of the length at all."""
    return np.flatnonzero(strings[2] - strings[1] >= length)


def _some(strings: Strings, index: Array) -> Strings:
    units, starts, ends = strings
    return units, starts[index], ends[index]


def _check_room(one: Strings, other: Strings, length: int) -> None:
    """Refuse a programme whose table, of a row for each length, does not fit in memory."""
    if len(one[1]) and len(other[1]):
        longest = int((other[2] - other[1]).max())
        threads = min(_cores(), max(len(one[1]), len(other[1])))
        require_memory(
            8 * LANES * (length + 4) * (longest + 1) * threads,
            f"subsequence({length}) of strings of up to {longest} characters",
            "Use a smaller length or shorter strings",
        )


def _by_size(strings: Strings) -> Array:
    return np.argsort(strings[2] - strings[1], kind="stable")


def _interleave(strings: Strings, group: Array, fill: int) -> Array:
    """Return some strings as LANES columns, filled up to the longest one."""
    units, starts, ends = strings
    longest = int((ends[group] - starts[group]).max(initial=0))
    out = np.full((longest, LANES), fill, dtype=np.int32)
    for lane, i in enumerate(group):
        out[: ends[i] - starts[i], lane] = units[starts[i] : ends[i]]
    return out


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _share_out(work: Callable[[int], None], count: int) -> None:
    """Run the parts on all cores that this process may use."""
    cores = _cores()
    if cores == 1 or count <= 1:
        for i in range(count):
            work(i)
        return
    with ThreadPoolExecutor(min(cores, count)) as pool:
        for _ in pool.map(work, range(count)):
            pass


def _programme() -> Programme:
    return _compiled() if has_numba() else with_numpy


@lru_cache(maxsize=1)
def _compiled() -> Programme:
    """Return the compiled programme, compiled once before threads share it."""
    from .compiled import compile_programme

    programme = compile_programme()
    nothing = np.zeros((1, LANES), dtype=np.int32)
    programme(nothing, nothing, 2, 0.5)
    return programme


def with_numpy(xs: Array, ys: Array, length: int, decay: float) -> Array:
    """Return the similarities of pairs of columns, one character of x at a time."""
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
