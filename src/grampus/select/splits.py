"""Splits into halves, and where each half starts: every one from a seed of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cluster.seeding import plus_plus, random_partition
from ..cluster.sums import Labels
from ..errors import InputError
from ..gram import Gram

STARTS = ("k-means++", "random")
_SPLIT, _START, _NULL = 0, 1, 2  # what a generator is for

Entropy = tuple[int, ...]


def entropy_of(random_state: Any) -> Entropy:
    """Return four numbers that fix everything random about one selection."""
    from sklearn.utils import check_random_state

    try:
        source = check_random_state(random_state)
    except ValueError as error:
        raise InputError(f"random_state: {error}") from error
    return tuple(int(number) for number in source.randint(0, 2**31 - 1, size=4))


def generator(entropy: Entropy, *key: int) -> np.random.Generator:
    """Return the generator of one purpose; generators of different keys are independent."""
    return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=key))


def half(n: int, entropy: Entropy, split: int) -> NDArray[np.bool_]:
    """Return which of n documents are in the first half of a split: ⌊n/2⌋ of them."""
    inside = np.zeros(n, dtype=bool)
    inside[generator(entropy, _SPLIT, split).permutation(n)[: n // 2]] = True
    return inside


def starts(gram: Gram, k: int, entropy: Entropy, splits: Sequence[int], init: str = "random") -> Labels:
    """Return the starting partitions of both halves of some splits, (2 · splits, n): −1 outside the half.

    Row 2t is the first half of the t-th of them, row 2t + 1 the second. Documents of a half start in random clusters,
    none of which is empty (`validation`, §4), or with the nearest of k documents of the half drawn by k-means++.
    """
    n = len(gram)
    found = np.full((2 * len(splits), n), -1, dtype=np.int32)
    for row, split in enumerate(splits):
        first = half(n, entropy, split)
        for side, inside in enumerate((first, ~first)):
            rng = generator(entropy, _START, split, k, side)
            members = np.flatnonzero(inside)
            if init == "random":
                found[2 * row + side, members] = random_partition(len(members), k, rng)
            else:
                found[2 * row + side, members] = plus_plus(gram, k, rng, members, np.ones(len(members)))[members]
    return found


def check_init(init: object) -> str:
    """Return the name of a way to start."""
    if init not in STARTS:
        raise InputError(f"init must be one of {', '.join(map(repr, STARTS))}; got {init!r}.")
    return str(init)


def null_generator(entropy: Entropy, draw: int) -> np.random.Generator:
    """Return the generator of one draw of the reference."""
    return generator(entropy, _NULL, draw)
