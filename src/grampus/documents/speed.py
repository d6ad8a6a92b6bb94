"""The speed of this machine, from a tenth of a second of work of each kind; measured once for each process."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

ARRAYS, TEXTS = 0.004, 0.020  # seconds that the two measurements take where the rates below were measured
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Speed:
    """Rates a second.

    Attributes
    ----------
    product, flat, stream, function : float
        Multiplications of matrix products, of passes over vectors, of sparse products, and inside a function of two
        documents such as the Gaussian kernel.
    text : float
        Bytes of text that are cleaned, counted and weighted.
    slower : float
        How much longer Python takes than where the rates were measured.
    """

    product: float
    flat: float
    stream: float
    function: float
    text: float
    slower: float


@cache
def machine_speed() -> Speed:
    """Return the rates of this machine, in processor time.

    Examples
    --------
    >>> from grampus.documents.speed import machine_speed
    >>> machine_speed().product > machine_speed().stream
    True
    """
    arrays, texts = ARRAYS / _fastest(_arrays), TEXTS / _fastest(_texts)
    return Speed(5e9 * arrays, 2e9 * arrays, 4e8 * arrays, 2.5e9 * arrays, 8e6 * texts, 1.0 / texts)


def _fastest(work: Callable[[], object], times: int = 4) -> float:
    """Return the shortest of a few runs, in seconds; other processes can only make it longer."""
    found = []
    for _ in range(times):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return max(min(found), 1e-4)


def _arrays() -> object:
    """Multiply matrices, and pass over them with exp, as the kernels and k-means do."""
    x = np.linspace(0.0, 1.0, 256 * 256).reshape(256, 256)
    return np.exp(-(x @ x)).sum() + sum(float((x * y).sum()) for y in np.linspace(0.0, 1.0, 20))


def _texts() -> object:
    """Count the words of a text."""
    counts: dict[str, int] = {}
    for word in _WORD.findall(" ".join(f"whale{i % 997} sea harbour" for i in range(12_000))):
        counts[word] = counts.get(word, 0) + 1
    return counts
