"""What the runs on a device share: how a run goes on and ends, and calls of the compiled functions."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array
from ..cluster.kmeans.state import Finished, Labels, Rule
from ..cluster.results import History, Outcome
from ..errors import InputError
from .card import call, function, within_memory

SOURCE = Path(__file__).with_name("loops.cu")
THREADS = 256  # of a block
SIZE, INNER, SQUARE, OFFSET, SLOPE, EXTENT, COUNT, FIGURES = range(8)  # as in loops.cu


@dataclass
class Course:
    """What is known of one run: its moves, its objectives, and how it ended."""

    rule: Rule
    max_iter: int
    two_cycles: int
    moves: list[int] = field(default_factory=list)
    objectives: list[float] = field(default_factory=list)
    cycles: int = 0
    outcome: Outcome | None = None
    anew: bool = True

    def judge(self, objective: float) -> bool:
        """Record an objective; return whether to go on."""
        self.objectives.append(objective)
        first = not self.moves
        if not isfinite(objective) and (first or self.moves[-1] > 0):
            raise InputError("The Gram must be finite; a sum of its similarities is NaN or infinite.")
        if not first and self.moves[-1] == 0:
            self.outcome = Outcome.CONVERGED
        elif self.cycles >= self.two_cycles:
            self.outcome = Outcome.OSCILLATED
        elif len(self.moves) >= self.max_iter:
            self.outcome = Outcome.MAX_ITER
        return self.outcome is None

    def advance(self, moved: int, strayed: int, members: int) -> None:
        """Record the moves of an iteration; more than half of the documents are summed anew."""
        self.moves.append(moved)
        self.cycles = 0 if strayed else self.cycles + 1
        self.anew = 2 * moved > members

    def finished(self, index: int, labels: Labels, predicted: Labels) -> Finished:
        """Return the record of the finished run."""
        assert self.outcome is not None
        history = History(np.array(self.moves, dtype=np.int64), np.array(self.objectives[:-1]))
        return Finished(index, labels, predicted, self.objectives[-1], self.outcome, history)


class OnDevice(ABC):
    """What both kinds of documents share: the diagonal, the weights, and calls of compiled functions."""

    def __init__(self, xp: Any, diagonal: Array, weights: Array) -> None:
        self.xp, self.n = xp, len(diagonal)
        self.host_diagonal, self.host_weights = diagonal, weights
        self.diagonal = xp.asarray(diagonal, dtype=np.float64)
        self.weights = None if (weights == 1.0).all() else xp.asarray(weights, dtype=np.float64)
        self._functions: dict[str, Any] = {}

    def bytes_per_start(self, k: int) -> int:
        """Return the memory of one start on the host."""
        return 16 * self.n

    def run(self, starts: Labels, k: int, rule: Rule, max_iter: int, threads: int | None) -> Iterator[Finished]:
        """Run every start (starts, n) until it stops; yield them in order."""
        with within_memory(self.xp, f"A run of {k:,} clusters of {self.n:,} documents"):
            yield from self._finished(starts, k, rule, max_iter)

    @abstractmethod
    def _finished(self, starts: Labels, k: int, rule: Rule, max_iter: int) -> Iterator[Finished]:
        """Yield the finished runs."""

    def call(self, name: str, grid: tuple[int, ...], block: int, *args: Any, shared: int = 0) -> None:
        """Run a compiled function."""
        if name not in self._functions:
            self._functions[name] = function(self.xp, SOURCE, name)
        call(self._functions[name], grid, block, *args, shared=shared)

    def total(self, inside: NDArray[np.bool_]) -> float:
        """Return the weighted sum of the self-similarities of some documents."""
        if inside.all():
            return self._everything
        return float(self.host_weights[inside] @ self.host_diagonal[inside])

    @cached_property
    def _everything(self) -> float:
        return float(self.host_weights @ self.host_diagonal)


def objectives_less(figures: Array) -> Array:
    """Return Σ_c W_c / n_c of figures (figures, …, k); the objective is Σ w_i K_ii less this."""
    size = figures[SIZE]
    return np.asarray(np.divide(figures[INNER], size, out=np.zeros_like(size), where=size > 0).sum(axis=-1))


def rule_of(rule: Rule) -> tuple[float, float, float, bool, bool]:
    """Return a rule as the compiled functions take it."""
    return float(rule.tolerance), float(rule.shift), float(rule.centroid), rule.adjusted, rule.spherical


def fill(chosen: Labels, far: Array, least: Array, counts: Array) -> Labels:
    """Give every empty cluster the document farthest from the centroid it was assigned to; first of equals.

    Only documents that leave company behind move, and none whose distance is rounding.
    """
    chosen, counts = chosen.copy(), counts.copy()
    usable = (chosen >= 0) & (np.abs(far) > least)
    for cluster in np.flatnonzero(counts == 0):
        free = usable & (counts[np.maximum(chosen, 0)] > 1)
        if not free.any():
            break
        values = np.where(free, far, -np.inf)
        farthest = int(values.argmax())
        document = int((free & (far >= far[farthest] - least[farthest])).argmax())
        counts[chosen[document]] -= 1
        chosen[document], counts[cluster], usable[document] = cluster, 1, False
    return chosen
