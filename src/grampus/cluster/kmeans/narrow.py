"""Starts that run to their end one by one, in threads, on dense features with few columns; compiled."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

import numpy as np
from numpy.typing import NDArray

from ..._array import Array, is_sparse
from ..._config import may_keep
from ..._parallel import blas_threads, results_in_threads, thread_count
from ...errors import InputError
from ...gram import Features
from ..results import History, Outcome
from . import fast
from .lockstep import TWO_CYCLES, Finished, Problem
from .state import Labels, Rule

# Multiplications of plain loops from which the compiled ones pay: the first use on a machine compiles them for 20 s.
WORTH_IT = 4e9
GAIN = 8.0  # a pass over dense features costs so many times less than its multiplications do in plain loops

_OUTCOMES = (Outcome.CONVERGED, Outcome.OSCILLATED, Outcome.MAX_ITER)


class Narrow:
    """Documents in a space of few dimensions, m: an iteration costs one product of n·m·k.

    A start needs no other, so results are the same to the last bit whatever runs beside it. Documents that are
    clustered together are laid out once for all starts, and for every k.
    """

    def __init__(self, factor: Features, diagonal: Array, weights: Array, n_jobs: int | None = None) -> None:
        from . import _narrow

        self._loops, self.n_jobs = _narrow, n_jobs
        scaled = factor.rows if (factor.scale == 1.0).all() else factor.rows * factor.scale[:, None]
        self.features, self.diagonal, self.weights = (
            np.require(part, np.float64, ["C_CONTIGUOUS", "WRITEABLE"]) for part in (scaled, diagonal, weights)
        )
        self.lengths = np.sqrt(np.einsum("ij,ij->i", self.features, self.features))
        self._kept: dict[tuple[Rule, bytes], tuple[Array, ...]] = {}

    @staticmethod
    def suits(factor: Features | None, work: float, n_jobs: int | None = None) -> bool:
        """Say whether documents can be held this way: dense features, compiled loops worth loading, and memory.

        `work` is how many multiplications all starts take.
        """
        if factor is None or is_sparse(factor.rows) or not factor.rows.shape[1]:
            return False
        copies = 8 * factor.rows.size * (1 + thread_count(n_jobs))
        return work >= WORTH_IT and fast.available() and may_keep(copies)

    @property
    def bytes_per_start(self) -> int:
        """How much memory one partition takes."""
        return 16 * len(self.features)

    def in_threads(self, n_jobs: int | None) -> Narrow:
        """Return the same documents for another number of threads."""
        other = copy(self)
        other.n_jobs = n_jobs
        return other

    def run(self, problem: Problem, starts: Labels) -> Iterator[Finished]:
        """Run every start to its end; yield them in order. Documents marked `JOINS` first join the nearest labelled."""
        rule = problem.rule
        ways = (rule.adjusted, rule.tolerance, rule.shift, rule.spherical, rule.centroid)
        plain = (False, rule.tolerance, 0.0, False, 1.0)

        def one(p: int) -> Finished:
            start = np.require(starts[p], np.int32, ["C_CONTIGUOUS", "WRITEABLE"])
            inside = start != -1
            parts = (self._laid_out(rule, ways, inside), self._laid_out(rule, ways, ~inside))
            labels, predicted, outcome, moves, objectives = self._loops.run(
                *parts, start, problem.k, ways, plain, problem.max_iter, TWO_CYCLES
            )
            if outcome == self._loops.NOT_FINITE:
                raise InputError("The Gram must be finite; a sum of its similarities is NaN or infinite.")
            history = History(moves, objectives[:-1])
            return Finished(p, labels, predicted, float(objectives[-1]), _OUTCOMES[outcome], history)

        with blas_threads():
            yield from results_in_threads(one, len(starts), self.n_jobs)

    def _laid_out(self, rule: Rule, ways: tuple[float, ...], chosen: NDArray[np.bool_]) -> tuple[Array, ...]:
        """Return some of the documents as the loops take them; kept for the next start while there is room."""
        name = rule, chosen.tobytes()
        part = self._kept.get(name)
        if part is None:
            everyone = np.arange(len(self.features))
            reach, none = rule.extent(self.diagonal), np.empty(0, dtype=np.float32)
            documents = (self.features, everyone, self.diagonal, reach, self.weights, self.lengths, none)
            part = self._loops.taken(documents, np.flatnonzero(chosen), ways)
            size = len(name[1]) + sum(array.nbytes for array in part[1:])
            if may_keep(4 * (len(self._kept) + 1) * size):
                self._kept[name] = part
        return part
