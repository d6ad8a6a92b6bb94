"""String kernels straight from their definitions: slow, short, and independent of the library.

Sums are exact (fsum): over hundreds of thousands of terms, plain ones would be less accurate than what they check.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray


def weight(name: str, length: int = 0, decay: float = 1.0) -> Callable[[int], float]:
    """The weight of a common substring by its size."""
    table: dict[str, Callable[[int], float]] = {
        "spectrum": lambda size: float(size == length),
        "boundrange": lambda size: float(size <= length),
        "constant": lambda size: 1.0,
        "exponential": lambda size: decay**-size,
        "string": lambda size: decay ** (2 * (size + 1)) if size == length else 0.0,
        "fullstring": lambda size: decay ** (2 * size) if size <= length else 0.0,
    }
    return table[name]


def substrings(x: str) -> Counter[str]:
    """Every substring of x, with the number of its occurrences."""
    return Counter(x[i:j] for i in range(len(x)) for j in range(i + 1, len(x) + 1))


def substring_kernel(x: str, y: str, w: Callable[[int], float]) -> float:
    """Σ_u w(|u|) c_x(u) c_y(u)."""
    left, right = substrings(x), substrings(y)
    return fsum(w(len(u)) * count * right[u] for u, count in left.items() if u in right)


def subsequence_kernel(x: str, y: str, length: int, decay: float) -> float:
    """Σ over pairs of equal subsequences of decay^(spans), all index tuples written out."""

    def spans(s: str) -> list[tuple[str, int]]:
        return [
            ("".join(s[i] for i in chosen), chosen[-1] - chosen[0] + 1)
            for chosen in combinations(range(len(s)), length)
        ]

    right = spans(y)
    return fsum(decay ** (a + b) for u, a in spans(x) for v, b in right if u == v)


def matrix(left: list[str], right: list[str], kernel: Callable[[str, str], float]) -> NDArray[Any]:
    """The kernel of every pair."""
    return np.array([[kernel(x, y) for y in right] for x in left]).reshape(len(left), len(right))


def common_prefixes(x: str, y: str) -> NDArray[Any]:
    """m(i, j), the longest common prefix of the suffixes at i and j, from the last character to the first."""
    a, b = (np.array([ord(c) for c in s], dtype=np.int64) for s in (x, y))
    m = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int64)
    for i in range(len(a) - 1, -1, -1):
        m[i, :-1] = np.where(a[i] == b, m[i + 1, 1:] + 1, 0)
    return m[:-1, :-1]


def plain_subsequence(x: NDArray[Any], y: NDArray[Any], length: int, decay: float) -> float:
    """The dynamic programme of one pair with NumPy: along y by a loop over columns, along x by a loop over rows."""
    n, m = len(x), len(y)
    equal = x[:, None] == y[None, :]
    ended = np.where(equal, decay**2, 0.0)
    for _ in range(length - 1):
        d = np.zeros((n + 1, m + 1))
        for j in range(1, m + 1):
            d[1:, j] = decay * d[1:, j - 1] + ended[:, j - 1]
        for i in range(1, n + 1):
            d[i] += decay * d[i - 1]
        ended = np.where(equal, decay**2 * d[:-1, :-1], 0.0)
    return float(ended.sum())
