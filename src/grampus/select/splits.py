"""Splits into halves, and where each half starts: every one from a seed of its own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array, is_sparse
from .._backend import PROCESSOR, current
from .._check import check_choice, check_integer
from .._config import may_keep
from .._parallel import FEW, results_in_threads, thread_count
from ..cluster.kmeans import JOINS, Labels, plus_plus, random_partition, row_reader
from ..errors import InputError
from ..gram import Gram

INITS = ("auto", "random", "k-means++", "documents")
DRAWN = 256e6  # bytes of rows that threads read at once to draw starts
NEIGHBORS = 5  # `validation`, §3.3
SEEDS = ("compactness", "random")  # how the documents at the centres of prototypes are chosen
_SPLIT, _START, _NULL, PROTOTYPES = 0, 1, 2, 3  # what a generator is for

Entropy = tuple[int, ...]


def keyed_generator(entropy: Entropy, *key: int) -> np.random.Generator:
    """Return the generator of one purpose; generators of different keys are independent."""
    return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=key))


def null_generator(entropy: Entropy, draw: int) -> np.random.Generator:
    """Return the generator of one draw of the reference."""
    return keyed_generator(entropy, _NULL, draw)


@lru_cache(maxsize=256)  # every k asks for the same ones
def half(n: int, entropy: Entropy, split: int) -> NDArray[np.bool_]:
    """Return which of n documents are in the first half of a split: ⌊n/2⌋ of them."""
    inside = np.zeros(n, dtype=bool)
    inside[keyed_generator(entropy, _SPLIT, split).permutation(n)[: n // 2]] = True
    inside.flags.writeable = False
    return inside


@dataclass(frozen=True)
class Splits:
    """How many splits are made, of what, and how their halves are clustered.

    Parameters
    ----------
    n : int
        τ, the number of splits; the same ones serve every k.
    init : "auto", "random", "k-means++" or "documents"
        Where halves start: random clusters, none of them empty (`validation`, §4; good for texts); k documents drawn
        apart from each other (good for well-separated clouds); k documents drawn at random, as R's kmeans does; or,
        for "auto", the first start random and the others by k-means++.
    n_init : int
        Starts of each half; the one with the smallest unshifted objective is kept. The paper has one random start.
    reduction : int, optional
        ρ, documents for one prototype (RED-S). By default 4; more for more than 10,000 documents, less for few.
    n_neighbors : int
        p, neighbours averaged into a prototype (RED-S).
    seeds : "compactness" or "random"
        Which documents become prototypes (RED-S): every ρ-th by compactness, or random ones (BTS, Hamamoto et al.
        1997), the baseline of `validation`.

    Examples
    --------
    >>> from grampus.select import Splits
    >>> Splits(20, init="random", n_init=1)
    Splits(n=20, init='random', n_init=1, reduction=None, n_neighbors=5, seeds='compactness')
    """

    n: int = 200
    init: str = "auto"
    n_init: int = 3
    reduction: int | None = None
    n_neighbors: int = NEIGHBORS
    seeds: str = SEEDS[0]

    def __post_init__(self) -> None:
        check_choice(self.init, "init", INITS)
        check_choice(self.seeds, "seeds", SEEDS)
        lowest = {"n": 1, "n_init": 1, "n_neighbors": 0} | ({} if self.reduction is None else {"reduction": 1})
        for name, low in lowest.items():
            object.__setattr__(self, name, check_integer(getattr(self, name), f"Splits: {name}", low=low))

    @property
    def reduced(self) -> bool:
        """Whether options of the prototypes are set."""
        return self.reduction is not None or self.n_neighbors != NEIGHBORS or self.seeds != SEEDS[0]

    def draw(self, gram: Gram, k: int, entropy: Entropy, numbers: Sequence[int]) -> Labels:
        """Return the partitions that both halves of some splits start from, −1 outside the half.

        Shape (2 · splits · n_init, n): first all starts of the first half of the first split. Documents marked `JOINS`
        are still to join the nearest of those that have a label.
        """
        n = len(gram)
        starts = np.full((2 * len(numbers) * self.n_init, n), -1, dtype=np.int32)
        seeded = self.init not in ("random", "documents")
        reader, diagonal = (row_reader(gram), gram.diagonal().astype(np.float64)) if seeded else (None, np.empty(0))

        def draw(at: int) -> None:
            number, side = numbers[at // 2], at % 2
            first = half(n, entropy, number)
            members = np.flatnonzero(~first if side else first)
            read = reader(members) if reader is not None else None
            for start in range(self.n_init):
                row, rng = starts[at * self.n_init + start], keyed_generator(entropy, _START, number, k, side, start)
                if self.init == "random" or (self.init == "auto" and start == 0):
                    row[members] = random_partition(len(members), k, rng)
                elif self.init == "documents":
                    row[members] = JOINS
                    row[rng.choice(members, k, replace=False)] = np.arange(k)
                elif read is not None:
                    row[members] = plus_plus(read, diagonal[members], k, rng, np.ones(len(members)))

        explicit, threads = gram.features(), thread_count() if current() is PROCESSOR else 1
        each = 0.0 if explicit is None or is_sparse(explicit.rows) else 6.0 * n * explicit.rows.shape[1]
        threads = min(threads, max(FEW, int(DRAWN / max(each, 1.0))))
        for _ in results_in_threads(draw, 2 * len(numbers), threads if may_keep(threads * each) else min(threads, FEW)):
            pass
        return starts


def check_splits(splits: Any) -> Splits:
    """Return splits that were given."""
    if not isinstance(splits, Splits):
        raise InputError(f"splits must be a Splits; got {splits!r}. Use splits=Splits(200), for example.")
    return splits


def check_ks(ks: Any, most: int | None = None) -> tuple[int, ...]:
    """Return the values of k that get a score, rising: distinct whole numbers from 1 on, one of them above 1.

    One cluster is always predicted perfectly and gets no score; the null test decides about it. None may exceed `most`,
    the documents of a half, where that is known.
    """
    if isinstance(ks, (str, bytes)) or not isinstance(ks, Iterable):
        ks = [ks]
    values = [check_integer(k, "Each value of ks", low=1) for k in ks]
    if len(set(values)) < len(values):
        twice = next(k for k in values if values.count(k) > 1)
        raise InputError(f"ks must not contain a value twice; {twice} appears {values.count(twice)} times.")
    scored = tuple(sorted(k for k in values if k > 1))
    if not scored:
        raise InputError(f"ks must contain at least one value above 1; got {values}.")
    if most is not None and scored[-1] > most:
        raise InputError(
            f"Each half must hold max(ks) documents, so there must be at least {2 * scored[-1]} (2 × {scored[-1]}); "
            f"the halves hold {most}. Use smaller ks or more documents."
        )
    return scored


def check_distinct(names: Array | None, halves: Iterable[Array], k: int) -> None:
    """Refuse splits with a half of fewer than k distinct documents; without names nothing is known."""
    if names is None:
        return
    _, codes = np.unique(names, return_inverse=True, axis=0)
    codes = codes.reshape(-1)
    if len(names) - (int(codes.max()) + 1) <= len(names) // 2 - k:
        return  # even if every copy were in one half
    for number, inside in enumerate(halves):
        least = min(len(np.unique(codes[inside])), len(np.unique(codes[~inside])))
        if least < k:
            raise InputError(
                f"Each half must hold {k} distinct documents for k = {k}; a half of split {number} holds {least} "
                f"({int(codes.max()) + 1} of the {len(codes)} are distinct). Use smaller ks, or remove copies."
            )
