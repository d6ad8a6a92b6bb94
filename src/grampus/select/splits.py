"""Splits into halves, and where each half starts: every one from a seed of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .._check import check_integer
from .._parallel import results_in_threads
from ..cluster.kmeans.seeding import plus_plus, random_partition
from ..cluster.kmeans.state import JOINS, TIE, Labels
from ..errors import InputError
from ..gram import Gram

STARTS = ("auto", "random", "k-means++", "documents")
_SPLIT, _START, _NULL = 0, 1, 2  # what a generator is for

Entropy = tuple[int, ...]
Nearest = Callable[[NDArray[np.intp], NDArray[np.intp]], Labels]


def generator(entropy: Entropy, *key: int) -> np.random.Generator:
    """Return the generator of one purpose; generators of different keys are independent."""
    return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=key))


@lru_cache(maxsize=256)  # every k asks for the same ones
def half(n: int, entropy: Entropy, split: int) -> NDArray[np.bool_]:
    """Return which of n documents are in the first half of a split: ⌊n/2⌋ of them."""
    inside = np.zeros(n, dtype=bool)
    inside[generator(entropy, _SPLIT, split).permutation(n)[: n // 2]] = True
    inside.flags.writeable = False
    return inside


@dataclass(frozen=True)
class Starts:
    """Where the clustering of a half starts.

    Attributes
    ----------
    init : "auto", "random", "k-means++" or "documents"
        Random clusters, none of which is empty (`validation`, §4); the nearest of k documents drawn by k-means++ or,
        for "documents", at random; "auto" has the first start random and the others by k-means++: one suits texts, the
        other well-separated clouds.
    n_init : int
        Starts of each half; the one with the smallest unshifted objective is kept.
    """

    init: str = "random"
    n_init: int = 1

    def __post_init__(self) -> None:
        if self.init not in STARTS:
            raise InputError(f"init must be one of {', '.join(map(repr, STARTS))}; got {self.init!r}.")
        object.__setattr__(self, "n_init", check_integer(self.n_init, "n_init", low=1))

    def draw(
        self,
        gram: Gram,
        k: int,
        entropy: Entropy,
        splits: Sequence[int],
        nearest: Nearest | None = None,
        threads: int = 1,
    ) -> Labels:
        """Return the partitions that both halves of some splits start from, −1 outside the half.

        Shape (2 · splits · n_init, n): first all starts of the first half of the first split. `nearest` tells which of
        some documents is the nearest to each member; without it, members that are to join one are marked `JOINS`.
        """
        n = len(gram)
        found = np.full((2 * len(splits) * self.n_init, n), -1, dtype=np.int32)
        drawn: list[tuple[int, NDArray[np.intp], NDArray[np.intp]]] = []  # documents that others are to join
        row = 0
        for split in splits:
            first = half(n, entropy, split)
            for side, inside in enumerate((first, ~first)):
                members = np.flatnonzero(inside)
                for start in range(self.n_init):
                    rng = generator(entropy, _START, split, k, side, start)
                    if self.init == "random" or (self.init == "auto" and start == 0):
                        found[row, members] = random_partition(len(members), k, rng)
                    elif self.init == "documents":
                        drawn.append((row, members, rng.choice(members, k, replace=False)))
                    else:
                        found[row, members] = plus_plus(gram, k, rng, members, np.ones(len(members)))[members]
                    row += 1

        def join(number: int) -> None:
            row, members, centres = drawn[number]
            found[row, members] = JOINS if nearest is None else nearest(members, centres)
            found[row, centres] = np.arange(k)  # each is its own

        list(results_in_threads(join, len(drawn), threads))
        return found


def nearest_of(gram: Gram, members: NDArray[np.intp], centres: NDArray[np.intp]) -> Labels:
    """Return which of some documents is the nearest, for every member; in a tie the first of them."""
    diagonal = gram.diagonal().astype(np.float64, copy=False)
    near = diagonal[centres, None] - 2.0 * gram._block(centres, members).astype(np.float64, copy=False)
    least = near.argmin(axis=0)
    limit = near[least, np.arange(len(members))] + TIE * (np.abs(diagonal[members]) + np.abs(diagonal[centres[least]]))
    return (near <= limit).argmax(axis=0).astype(np.int32)


ONE_RANDOM = Starts()


def null_generator(entropy: Entropy, draw: int) -> np.random.Generator:
    """Return the generator of one draw of the reference."""
    return generator(entropy, _NULL, draw)
