"""The compiled form of the subsequence programme: short loops over flat arrays that the compiler turns into vectors.

Strings lie interleaved, lane by lane, behind one row of zeros that stands for "before the first character"; so the last
character of a lane is LANES numbers back, and LANES neighbouring steps do not depend on each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

LANES = 8


def compile_programme() -> Callable[..., Any]:
    """Return ``programme(xs, ys, length, decay)`` for LANES pairs of columns; it needs no interpreter's lock."""
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

    return programme  # type: ignore[no-any-return, unused-ignore]


def _compare(units: Any, flat: Any, square: float, weight: Any) -> None:
    """S_1: decay² where the characters are equal."""
    for j in range(len(flat) // LANES):
        for lane in range(LANES):
            weight[(j + 1) * LANES + lane] = square if flat[j * LANES + lane] == units[lane] else 0.0


def _first(weight: Any, decay: float, ended: Any, running: Any, before: Any) -> None:
    """Do the same as `_step` for S_1, which is kept."""
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
