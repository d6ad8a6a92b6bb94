"""Both halves of many splits, clustered and predicting each other, in lockstep."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array
from .._config import settings
from .._parallel import blas_threads
from ..cluster.kmeans.fast import factored, held
from ..cluster.kmeans.lockstep import Problem
from ..cluster.kmeans.narrow import GAIN, Narrow, run_starts
from ..cluster.kmeans.state import TIE, Labels, Rule, State, Sums
from ..errors import InputError
from ..gram import Gram, Plan, plan, store
from .splits import ONE_RANDOM, Entropy, Starts, nearest_of

MAX_ITER = 100


@dataclass
class Clock:
    """Seconds spent on sums of similarities and on everything else an iteration does; added up over threads."""

    products: float = 0.0
    assignment: float = 0.0

    def add(self, other: Clock) -> None:
        """Add what another one measured."""
        self.products += other.products
        self.assignment += other.assignment


class Timed(Sums):
    """Sums that note how long each part took."""

    def __init__(self, inner: Sums, clock: Clock) -> None:
        super().__init__(inner.diagonal, inner.weights, inner.k)
        self.inner, self.clock = inner, clock

    @property
    def bytes_per_start(self) -> int:
        """As below."""
        return self.inner.bytes_per_start

    def start(self, labels: Labels) -> None:
        """Count as products."""
        began = time.perf_counter()
        self.inner.start(labels)
        self.clock.products += time.perf_counter() - began

    def move(self, old: Labels, new: Labels) -> None:
        """Count as products."""
        began = time.perf_counter()
        self.inner.move(old, new)
        self.clock.products += time.perf_counter() - began

    def keep(self, chosen: NDArray[np.bool_]) -> None:
        """Not counted."""
        self.inner.keep(chosen)

    def within(self, labels: Labels) -> Array:
        """Not counted."""
        return self.inner.within(labels)

    def state(self, labels: Labels) -> State:
        """Count as assignment."""
        began = time.perf_counter()
        state = self.inner.state(labels)
        self.clock.assignment += time.perf_counter() - began
        return state

    def assign(self, state: State, rule: Rule) -> tuple[Labels, Array]:
        """Count as assignment; for features, where both are one pass, too."""
        began = time.perf_counter()
        found = self.inner.assign(state, rule)
        self.clock.assignment += time.perf_counter() - began
        return found


@dataclass(frozen=True)
class Splitter:
    """What all runs on one collection share.

    Attributes
    ----------
    gram : Gram
        Without the shift.
    stored : Gram or None
        The same with its matrix in memory, where that is the cheaper way.
    diagonal : array of shape (n,)
    rule : Rule
        How documents are assigned; holds the shift.
    work : float
        Multiplications of the whole job, which decide whether compiled loops are worth loading.
    passes : float
        The same when every iteration passes over the features; 0 where there are none.
    starts : Starts
    """

    gram: Gram
    stored: Any
    diagonal: Array
    rule: Rule
    work: float
    passes: float
    starts: Starts

    @classmethod
    def of(
        cls,
        gram: Gram,
        rule: Rule,
        ks: Sequence[int],
        n_splits: int,
        *,
        starts: Starts = ONE_RANDOM,
        times: int = 1,
    ) -> Splitter:
        """Choose, by counting, how the sums are had: from a stored matrix or from features.

        The same is going to be done `times` times.
        """
        diagonal = gram.diagonal().astype(np.float64)
        if not np.isfinite(diagonal).all():
            raise InputError("The Gram's self-similarities must be finite; some are NaN or infinite.")
        runs, k, n = 2 * n_splits * starts.n_init * len(ks) * times, round(sum(ks) / len(ks)), len(gram)
        explicit = gram.features()
        passes = 0.0 if explicit is None else 15.0 * explicit.entries * k * runs
        # A pass over dense features is over the half alone; one over sparse features is a scattered one.
        speed = 2.0 * GAIN / 0.5 if Narrow.suits(explicit, passes) else 2.0 / 3.0
        chosen = plan(gram, columns=k * runs, passes=15, rows=3.0 * n * runs, features_speed=speed)
        stored = store(gram) if chosen is Plan.STORE else None
        return cls(gram, stored, diagonal, rule, 6.0 * n * n * runs, passes, starts)

    @cached_property
    def narrow(self) -> Narrow | None:
        """What runs starts one by one on dense features, if that is the way; the same for every k."""
        explicit = None if self.stored is not None else self.gram.features()
        if explicit is None or not Narrow.suits(explicit, self.passes):
            return None
        return Narrow(explicit, self.diagonal, np.ones(len(self.gram)))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is quickly made again."""
        return {name: value for name, value in self.__dict__.items() if name != "narrow"}

    def way(self, k: int, threads: int) -> Sums | Narrow:
        """Return what runs partitions into k clusters."""
        if self.narrow is not None:
            return self.narrow.in_threads(threads)
        weights = np.ones(len(self.gram))
        if self.stored is not None:
            return held(self.stored, self.diagonal, weights, k, self.stored.matrix, self.work, threads)
        explicit = self.gram.features()
        if explicit is not None:
            return factored(explicit, self.diagonal, weights, k, self.work, threads)
        return held(self.gram, self.diagonal, weights, k, None, self.work, threads)

    def splits_at_once(self, k: int, workers: int = 1) -> int:
        """Return how many splits fit into the memory budget together."""
        each = self.way(k, 1).bytes_per_start
        return max(1, min(settings().memory // 16, 2**28) // (2 * each * workers * self.starts.n_init))

    def halves(self, k: int, splits: Sequence[int], entropy: Entropy, threads: int) -> Halves:
        """Cluster both halves of some splits; each predicts the other in the same products."""
        clock, way = Clock(), self.way(k, threads)
        nearest = None if isinstance(way, Narrow) else partial(nearest_of, self.stored or self.gram)
        with blas_threads():
            first = self.starts.draw(self.stored or self.gram, k, entropy, splits, nearest, threads)
        problem = Problem(k, np.ones(len(self.gram)), self.diagonal, self.rule, MAX_ITER)
        labels, predicted, objective = np.empty_like(first), np.empty_like(first), np.empty(len(first))
        began = time.perf_counter()
        for run in run_starts(problem, way if isinstance(way, Narrow) else Timed(way, clock), first):
            labels[run.index], predicted[run.index], objective[run.index] = run.labels, run.predicted, run.objective
        if isinstance(way, Narrow):  # where products and assignment are one
            clock.assignment += time.perf_counter() - began
        if self.starts.n_init > 1:
            best = self._best(objective.reshape(-1, self.starts.n_init))
            labels, predicted = labels[best], predicted[best]
        return Halves(labels, predicted, clock)

    def _best(self, objective: Array) -> NDArray[np.intp]:
        """Return the row of the best start of every half; the first of equals, so that rounding does not matter."""
        tie = TIE * float(np.abs(self.diagonal).sum())
        least = objective.min(axis=1, keepdims=True)
        return (objective <= least + tie).argmax(axis=1) + np.arange(len(objective)) * objective.shape[1]


@dataclass(frozen=True)
class Halves:
    """Labels and predictions of both halves of some splits, (2 · splits, n): row 2t is the first half of the t-th."""

    labels: Labels
    predicted: Labels
    clock: Clock

    def crossed(self) -> tuple[Labels, Labels]:
        """Return the clustering of every half beside what the other half predicts of it."""
        return self.labels, self.predicted[np.arange(len(self.labels)) ^ 1]
