"""The compiled ways to have the sums, used when the ``[fast]`` extra is there and the work repays loading it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._array import Array, is_sparse
from ..._config import has_numba
from ..._parallel import in_threads
from ...gram import DenseGram, Features, Gram
from .state import FactorSums, HeldSums, Labels, Rule, State, Sums, comparison

available = has_numba
WORTH_IT = 3e8  # multiplications; loading the compiled loops takes about as long as these do without them


def held(
    gram: Gram, diagonal: Array, weights: Array, k: int, matrix: Array | None, work: float, n_jobs: int | None = None
) -> Sums:
    """Return sums that are stored, compiled if that is possible and worth it."""
    if matrix is not None and work >= WORTH_IT and available():
        return FastHeldSums(DenseGram.trusted(matrix), diagonal, weights, k, matrix, n_jobs)
    return HeldSums(gram, diagonal, weights, k, matrix)


def factored(factor: Features, diagonal: Array, weights: Array, k: int, work: float, n_jobs: int | None = None) -> Sums:
    """Return sums through features, compiled if that is possible and worth it."""
    if is_sparse(factor.rows) and work >= WORTH_IT and available():
        return FastFactorSums(factor, diagonal, weights, k, n_jobs)
    return FactorSums(factor, diagonal, weights, k, n_jobs)


def _figures(state: State, rule: Rule) -> tuple[Any, ...]:
    """Return what both loops need of the clusters."""
    return state.labels, state.sizes, state.within, state.squares, *comparison(state, rule)


class FastHeldSums(HeldSums):
    """Stored sums; threads share the partitions."""

    def __init__(
        self, gram: Gram, diagonal: Array, weights: Array, k: int, matrix: Array, n_jobs: int | None = None
    ) -> None:
        from . import _loops

        super().__init__(gram, diagonal, weights, k, np.ascontiguousarray(matrix))
        self._loops, self._n_jobs = _loops, n_jobs

    def start(self, labels: Labels) -> None:
        self.sums = np.zeros((len(labels), self.k, labels.shape[1]))
        self._move(labels, labels, np.ones(len(labels), dtype=bool))

    def move(self, old: Labels, new: Labels) -> None:
        anew = 2 * (old != new).sum(axis=1) > (new >= 0).sum(axis=1)
        self.sums[anew] = 0.0
        self._move(old, new, anew)

    def _move(self, old: Labels, new: Labels, anew: Array) -> None:
        flat, k = self.sums.reshape(-1, self.sums.shape[2]), self.k

        def follow(a: int, b: int) -> None:
            lists = self._loops.list_moves(old[a:b], new[a:b], self.weights, anew[a:b], k)
            self._loops.add_rows(self.matrix, flat[a * k : b * k], *lists, 0, (b - a) * k)

        in_threads(follow, len(new), self._n_jobs)

    def state(self, labels: Labels) -> State:
        sizes, within, squares = np.zeros((3, len(labels), self.k))
        loop = self._loops.figures_held
        in_threads(
            lambda a, b: loop(self.sums, labels, self.weights, sizes, within, squares, a, b), len(labels), self._n_jobs
        )
        return State(labels, sizes, within, squares)

    def assign(self, state: State, rule: Rule) -> tuple[Labels, Array]:
        new, chosen = np.empty_like(state.labels), np.empty(state.labels.shape)
        figures = _figures(state, rule)
        loop, ways = self._loops.assign_held, (rule.adjusted, rule.tolerance, rule.shift, rule.centroid)
        documents = (self.diagonal, rule.extent(self.diagonal), self.weights)
        in_threads(
            lambda a, b: loop(self.sums, figures, documents, ways, new, chosen, a, b),
            len(new),
            self._n_jobs,
        )
        return new, chosen


class FastFactorSums(FactorSums):
    """Sums through sparse features; threads share the rows."""

    def __init__(self, factor: Features, diagonal: Array, weights: Array, k: int, n_jobs: int | None = None) -> None:
        from . import _loops

        super().__init__(factor, diagonal, weights, k, n_jobs)
        self._loops = _loops
        x = factor.rows
        self._entries = (x.data, x.indices, x.indptr, factor.scale)

    def start(self, labels: Labels) -> None:
        self.centroids = np.zeros((self.factor.rows.shape[1], len(labels) * self.k))
        self._move(labels, labels, True)

    def move(self, old: Labels, new: Labels) -> None:
        if 2 * (old != new).sum() > (new >= 0).sum():
            self.start(new)
        else:
            self._move(old, new, False)

    def _move(self, old: Labels, new: Labels, anew: bool) -> None:
        self._loops.move_sparse(self._entries, self.weights, old, new, anew, self.centroids, self.k)

    def assign(self, state: State, rule: Rule) -> tuple[Labels, Array]:
        new, chosen = np.empty_like(state.labels), np.empty(state.labels.shape)
        figures = _figures(state, rule)
        loop, ways = self._loops.assign_sparse, (rule.adjusted, rule.tolerance, rule.shift, rule.centroid)
        documents = (self.diagonal, rule.extent(self.diagonal), self.weights)
        in_threads(
            lambda a, b: loop(self._entries, self.centroids, figures, documents, ways, new, chosen, a, b),
            new.shape[1],
            self.n_jobs,
            least=256,
        )
        return new, chosen
