"""Many runs of kernel k-means on one Gram: the interface for other layers.

`Batch` hides everything else in this folder: what runs partitions, and how it is chosen.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._array import Array, is_sparse
from ..._backend import current
from ..._check import check_finite
from ..._config import settings
from ...gram import Gram, Plan, plan, store
from .loops import Products, featured, stored
from .state import TIE, Engine, Finished, Labels, Rule

_ITERATIONS = 15.0  # of a run, about
_DENSE = 8.0  # how many times less a multiplication with dense features costs


class Batch:
    """Run partitions of one Gram to convergence, many at a time.

    How sums of similarities are computed is decided once, by counting: a stored matrix costs about 6 n² per run (the
    first sums, then the documents that move), features cost one pass over their entries per cluster and iteration.
    Results depend neither on this choice nor on which runs share a batch.

    Parameters
    ----------
    gram : Gram
        Without its trailing shift.
    rule : Rule
        How documents are assigned; includes the shift.
    ks : sequence of int
        Values of k that will be run.
    runs : int
        Runs of each k.
    weights : array of shape (n,), optional
    max_iter : int
    share : float
        Share of the documents that each run clusters; the others are only assigned.

    Attributes
    ----------
    gram : Gram
        With its matrix in memory if that pays off.
    diagonal : array of shape (n,)
        In float64.
    independent : bool
        Whether each run is computed separately, so that threads can share the runs.

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
        self.diagonal = check_finite(gram.diagonal().astype(np.float64), "The Gram's self-similarities")
        n, k, total = len(gram), round(sum(ks) / len(ks)), runs * len(ks)
        explicit = gram.features()
        # One pass over the features replaces the two of a product, and only the clustered rows are read.
        speed = 2.0 / share * (1.0 if explicit is None or is_sparse(explicit.rows) else _DENSE)
        work = float(n) * n * total if explicit is None else float(explicit.entries) * k
        room = current().sums_room(work, None if explicit is None else self.diagonal)
        self._elsewhere = room is not None  # not in this machine's memory
        work_units = {"columns": k * total, "passes": _ITERATIONS, "rows": 6.0 * share * n * total}
        self._plan = plan(gram, **work_units, features_speed=speed, room=room)
        self.gram = store(gram) if self._plan is Plan.STORE and room is None else gram
        self.independent = self._plan is Plan.FEATURES

    @cached_property
    def _engine(self) -> Engine:
        """The documents in the form that the loops read; the same for every k."""
        if self._elsewhere:
            runner: Engine | None = current().sums(self.gram, self._plan, self.diagonal, self.weights)
            if runner is not None:
                return runner
        explicit = self.gram.features()
        if self._plan is Plan.STORE:
            return stored(store(self.gram).matrix, self.diagonal, self.weights)
        if self._plan is Plan.FEATURES and explicit is not None and explicit.rows.shape[1] > 0:
            return featured(explicit, self.diagonal, self.weights)
        return Products(self.gram, self.diagonal, self.weights)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is quickly rebuilt."""
        return {name: value for name, value in self.__dict__.items() if name != "_engine"}

    def starts_at_once(self, k: int) -> int:
        """Return how many starts fit into a part of the memory budget, at least 1."""
        return max(1, min(settings().memory // 16, 2**28) // self._engine.bytes_per_start(k))

    def run(self, k: int, starts: Labels, threads: int | None = None) -> Iterator[Finished]:
        """Run every start (starts, n) until it stops; yield each when it does.

        A document with label −1 is not clustered, only assigned; documents marked `JOINS` first join the nearest
        labelled document of their start.
        """
        yield from self._engine.run(starts, k, self.rule, self.max_iter, threads)

    def best(self, objective: Array) -> NDArray[np.intp]:
        """Return the position of the smallest objective in each row; the first of those equal up to rounding."""
        tie = TIE * float(self.weights @ np.abs(self.diagonal))
        return (objective <= objective.min(axis=-1, keepdims=True) + tie).argmax(axis=-1)
