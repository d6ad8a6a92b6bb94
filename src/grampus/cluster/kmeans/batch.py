"""Many runs of kernel k-means on one Gram: the interface for other layers.

Everything else in this folder (lockstep, compiled loops, where the sums come from) is hidden behind `Batch`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._array import Array
from ..._config import settings
from ..._parallel import blas_threads, results_in_threads
from ...errors import InputError
from ...gram import Gram, Plan, plan, store
from .fast import factored, held
from .lockstep import Finished, Problem, lockstep
from .narrow import GAIN, Narrow
from .state import JOINS, TIE, Labels, Rule, Sums

_ITERATIONS = 15.0  # of a run, about


class Batch:
    """Run partitions of one Gram to convergence, many at a time.

    Where sums of similarities come from is decided once, by counting: a stored matrix costs about 6 n² a run (the first
    sums, then the documents that move), features cost one pass over their entries for each cluster and iteration.
    Results do not depend on the choice, nor on which runs share a batch.

    Parameters
    ----------
    gram : Gram
        Without its trailing shift.
    rule : Rule
        How documents are assigned; holds the shift.
    ks : sequence of int
        Values of k that will be run.
    runs : int
        Runs of each k.
    weights : array of shape (n,), optional
    max_iter : int
    share : float
        Share of the documents that each run clusters; the others are only predicted.

    Attributes
    ----------
    gram : Gram
        With its matrix in memory if that was worthwhile.
    diagonal : array of shape (n,)
        In float64.
    independent : bool
        Whether each run is computed by itself, so that threads can share anything.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.cluster.kmeans import RULES, Batch
    >>> from grampus.gram import LinearGram
    >>> batch = Batch(LinearGram(np.array([[0.0], [1.0], [9.0]])), RULES["plain"], ks=[2], runs=1)
    >>> [run.labels.tolist() for run in batch.run(2, np.array([[0, 1, 1]], dtype=np.int32))]
    [[0, 0, 1]]
    """

    def __init__(
        self,
        gram: Gram,
        rule: Rule,
        ks: Sequence[int],
        runs: int,
        *,
        weights: Array | None = None,
        max_iter: int = 100,
        share: float = 1.0,
    ) -> None:
        self.rule, self.max_iter = rule, max_iter
        self.weights = np.ones(len(gram)) if weights is None else weights
        self.diagonal = gram.diagonal().astype(np.float64)
        if not np.isfinite(self.diagonal).all():
            raise InputError("The Gram's self-similarities must be finite; some are NaN or infinite.")
        n, k, total = len(gram), round(sum(ks) / len(ks)), runs * len(ks)
        explicit = gram.features()
        passes = _ITERATIONS * k * total * (0 if explicit is None else explicit.entries)
        alone = Narrow.suits(explicit, passes)
        # One pass over the features replaces a product's two. Of dense features only the clustered rows are read; for
        # part of the documents, sparse rows are scattered.
        speed = 2.0 * GAIN / share if alone else 2.0 if share == 1.0 else 2.0 / 3.0
        chosen = plan(gram, columns=k * total, passes=_ITERATIONS, rows=6.0 * share * n * total, features_speed=speed)
        self.gram = store(gram) if chosen is Plan.STORE else gram
        self.independent = alone and chosen is Plan.FEATURES
        self._plan, self._work = chosen, passes if chosen is Plan.FEATURES else 6.0 * n * n * total

    @cached_property
    def _narrow(self) -> Narrow:
        """The documents laid out for runs of their own, the same for every k."""
        explicit = self.gram.features()
        assert explicit is not None
        return Narrow(explicit, self.diagonal, self.weights)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is quickly rebuilt."""
        return {name: value for name, value in self.__dict__.items() if name != "_narrow"}

    def _sums(self, k: int, threads: int | None) -> Sums:
        explicit = self.gram.features()
        if self._plan is Plan.FEATURES and explicit is not None:
            return factored(explicit, self.diagonal, self.weights, k, self._work, threads)
        matrix = store(self.gram).matrix if self._plan is Plan.STORE else None
        return held(self.gram, self.diagonal, self.weights, k, matrix, self._work, threads)

    def starts_at_once(self, k: int) -> int:
        """Return how many starts fit together into a part of the memory budget, at least 1."""
        each = (self._narrow if self.independent else self._sums(k, 1)).bytes_per_start
        return max(1, min(settings().memory // 16, 2**28) // each)

    def run(self, k: int, starts: Labels, threads: int | None = None) -> Iterator[Finished]:
        """Run every start (starts, n) until it stops; yield each as it does.

        A label of −1 keeps a document out of the clustering, and it is predicted; documents marked `JOINS` first join
        the nearest labelled document of their start, in place.
        """
        problem = Problem(k, self.weights, self.diagonal, self.rule, self.max_iter)
        if self.independent:
            return self._narrow.in_threads(threads).run(problem, starts)
        self._join(starts, threads)
        return lockstep(problem, self._sums(k, threads), starts)

    def _join(self, starts: Labels, threads: int | None) -> None:
        waiting = np.flatnonzero((starts == JOINS).any(axis=1))

        def join(i: int) -> None:
            start = starts[waiting[i]]
            members, centres = np.flatnonzero(start == JOINS), np.flatnonzero(start >= 0)
            start[members] = nearest_of(self.gram, members, centres[np.argsort(start[centres])])

        with blas_threads():
            list(results_in_threads(join, len(waiting), threads))

    def best(self, objective: Array) -> NDArray[np.intp]:
        """Return the position of the smallest objective in each row; the first of equals, so rounding has no say."""
        tie = TIE * float(self.weights @ np.abs(self.diagonal))
        return (objective <= objective.min(axis=-1, keepdims=True) + tie).argmax(axis=-1)


def nearest_of(gram: Gram, members: NDArray[np.intp], centres: NDArray[np.intp]) -> Labels:
    """Return which of some documents is the nearest, for every member; the first of them in a tie."""
    diagonal = gram.diagonal().astype(np.float64, copy=False)
    near = diagonal[centres, None] - 2.0 * gram._block(centres, members).astype(np.float64, copy=False)
    least = near.argmin(axis=0)
    limit = near[least, np.arange(len(members))] + TIE * (np.abs(diagonal[members]) + np.abs(diagonal[centres[least]]))
    return (near <= limit).argmax(axis=0).astype(np.int32)
