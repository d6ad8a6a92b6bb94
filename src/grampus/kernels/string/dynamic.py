"""The dynamic programme of the subsequence kernel: compiled where numba is installed, with NumPy and SciPy where not.

With D_l[i, j] the weight of all common subsequences of length l that end at or before (i, j), discounted to it
(Shawe-Taylor & Cristianini 2004, §11.5)::

    S_l[i, j] = decay² D_{l−1}[i − 1, j − 1]  if x_i = y_j, else 0;   D_0 = 1
    R_l[i, j] = decay R_l[i, j − 1] + S_l[i, j]
    D_l[i, j] = decay D_l[i − 1, j] + R_l[i, j]
    K(x, y)   = Σ_ij S_length[i, j]
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from ..._array import Array, tiles

Pairs: TypeAlias = tuple[Array, Array, Array]  # units, starts and ends of the documents


def has_numba() -> bool:
    """Say whether the compiled programme is to be had."""
    return importlib.util.find_spec("numba") is not None


def pairwise(one: Pairs, other: Pairs, length: int, decay: float, *, symmetric: bool = False) -> Array:
    """Return the similarities of all pairs; where both sides are the same, each pair is computed once."""
    rows, columns = len(one[1]), len(other[1])
    out = np.zeros((rows, columns))
    fill = compiled() if has_numba() else fill_row

    def row(i: int) -> None:
        fill(*one, i, *other, i if symmetric else 0, columns, length, decay, out[i])

    _share_out(row, rows)
    if symmetric:
        lower = np.tril_indices(rows, -1)
        out[lower] = out.T[lower]
    return out


def selfwise(strings: Pairs, length: int, decay: float) -> Array:
    """Return the similarity of every string to itself."""
    count = len(strings[1])
    out = np.zeros((1, count))
    fill = compiled() if has_numba() else fill_row
    _share_out(lambda i: fill(*strings, i, *strings, i, i + 1, length, decay, out[0]), count)
    return out[0]


def _share_out(work: Callable[[int], None], count: int) -> None:
    """Run the rows on all cores that this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if cores == 1 or count == 1:
        for i in range(count):
            work(i)
        return
    with ThreadPoolExecutor(min(cores, max(count, 1))) as pool:
        for _ in pool.map(work, range(count)):
            pass


@lru_cache(maxsize=1)
def compiled() -> Callable[..., None]:
    """Return the compiled programme for one row of pairs; it runs without the interpreter's lock."""
    import numba

    programme: Callable[..., None] = numba.njit(nogil=True)(_row)
    return programme


def _row(
    units: Any, starts: Any, ends: Any, i: int, others: Any, first: Any, last: Any, low: int, high: int,
    length: int, decay: float, out: Any,
) -> None:  # fmt: skip
    """Fill out[low:high] with the similarities of string i to those others; written for numba."""
    square = decay * decay
    longest = 0
    for k in range(low, high):
        longest = max(longest, last[k] - first[k])
    before = np.zeros((longest, length))  # D_l of the previous character of x, along y
    running = np.zeros(length)  # R_l
    corner = np.zeros(length)  # D_l[i − 1, j − 1]
    for k in range(low, high):
        size = last[k] - first[k]
        before[:size] = 0.0
        total = 0.0
        for a in range(starts[i], ends[i]):
            unit = units[a]
            running[:] = 0.0
            corner[:] = 0.0
            for j in range(size):
                equal = unit == others[first[k] + j]
                if equal:
                    total += square * (corner[length - 2] if length > 1 else 1.0)
                for level in range(length - 2, -1, -1):
                    value = decay * running[level]
                    if equal:
                        value += square * (corner[level - 1] if level > 0 else 1.0)
                    running[level] = value
                    corner[level] = before[j, level]
                    before[j, level] = decay * before[j, level] + value
        out[k] = total


def fill_row(
    units: Array, starts: Array, ends: Array, i: int, others: Array, first: Array, last: Array, low: int, high: int,
    length: int, decay: float, out: Array,
) -> None:  # fmt: skip
    """Fill out[low:high] likewise, one character of string i at a time, along many other strings at once."""
    sizes = (last - first)[low:high]
    longest = int(sizes.max(initial=0))
    text = units[starts[i] : ends[i]]
    if not longest or not len(text):
        out[low:high] = 0.0
        return
    for part in tiles(high - low, 8 * (2 * length + 4) * longest):
        some = np.arange(low + part.start, low + part.stop)
        padded = np.full((len(some), longest), -1, dtype=np.int64)  # no unit is negative
        inside = np.arange(longest) < sizes[part, None]
        padded[inside] = np.concatenate([others[first[k] : last[k]] for k in some])
        out[some] = _along(text, padded, length, decay)


def _along(text: Array, padded: Array, length: int, decay: float) -> Array:
    """Return the similarities of one string to many, padded to one length."""
    from scipy.signal import lfilter

    square = decay * decay
    levels = [np.zeros(padded.shape) for _ in range(length - 1)]
    total = np.zeros(len(padded))
    for unit in text:
        equal = padded == unit
        ended = np.where(equal, square, 0.0)  # S_1
        for level, before in enumerate(levels):
            corner = np.zeros_like(before)
            corner[:, 1:] = before[:, :-1]
            running = lfilter([1.0], [1.0, -decay], ended, axis=1)
            levels[level] = decay * before + running
            ended = np.where(equal, square * corner, 0.0)  # S_{l + 1}
        total += ended.sum(axis=1)
    return total
