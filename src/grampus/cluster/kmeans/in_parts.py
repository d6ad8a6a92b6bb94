"""k-means on rows in pieces: the compiled assignment for each piece, exact sums over the pieces.

Documents travel nowhere. An iteration sends the means to the pieces and brings back one sum and one count for each
cluster; it is the last when these are the same as before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ... import _native
from ..._array import Array, row_squares, sum_rows
from ..._backend import current
from ...gram import LinearGram, Plan
from ...scale import Parts, Record
from ..results import Outcome
from .state import RULES, TWO_CYCLES, Labels


@dataclass(frozen=True)
class Means:
    """Clusters of rows in pieces.

    Attributes
    ----------
    sums : array of shape (k, m)
        Sum of the rows of every cluster; exact.
    counts : array of shape (k,)
        Documents of every cluster.
    squares : float
        Sum of the squared lengths of all rows.
    n_iter : int
    outcome : Outcome
    fixed : array of shape (k, m), optional
        What the rows were assigned to, where that is not the mean: sums and counts are those of this assignment.
    """

    sums: Array
    counts: Array
    squares: float
    n_iter: int = 0
    outcome: Outcome = Outcome.MAX_ITER
    fixed: Array | None = None

    @property
    def means(self) -> Array:
        """What rows are assigned to: the mean of every cluster (a row of zeros for an empty one), or `fixed`."""
        return self.sums / np.maximum(self.counts, 1.0)[:, None] if self.fixed is None else self.fixed

    @property
    def objective(self) -> float:
        """Sum of the squared distances of the rows to the means of their clusters."""
        inside = self.counts @ (self.means * self.means).sum(axis=1)
        return self.squares - 2.0 * float((self.means * self.sums).sum()) + float(inside)

    def take(self, order: Any) -> Means:
        """Return some of the clusters, in another order."""
        fixed = None if self.fixed is None else self.fixed[order]
        return replace(self, sums=self.sums[order], counts=self.counts[order], fixed=fixed)


def kmeans_parts(
    parts: Parts,
    means: Array,
    *,
    step: str = "features",
    max_iter: int = 100,
    start: int = 0,
    keep: Callable[[int, Means], object] = lambda number, found: None,
) -> Means:
    """Run k-means from given means over all pieces, until nothing changes.

    Parameters
    ----------
    parts : Parts
        With dense rows on the grid of exact sums, the array "x" of a step.
    means : array of shape (k, m)
    step : str
    max_iter : int
    start : int
        Iterations that an earlier run has finished.
    keep : callable
        Called after every iteration as ``keep(number, found)``.
    """
    before: list[Means] = []
    outcome = Outcome.MAX_ITER
    for number in range(start, max_iter):
        sums, counts, squares = parts.total(_sums, [step], means, name="k-means")
        if not counts.all():
            sums, counts = _refilled(parts, step, means, sums, counts)
        found = Means(sums, counts, float(squares), number + 1)
        if before and np.array_equal(before[-1].sums, sums) and np.array_equal(before[-1].counts, counts):
            return Means(sums, counts, float(squares), number + 1, Outcome.CONVERGED)
        keep(number + 1, found)
        means = found.means
        if len(before) > 1 and np.array_equal(before[-2].sums, sums):
            outcome = Outcome.OSCILLATED
            break
        before = [*before[-1:], found]
    sums, counts, squares = parts.total(_sums, [step], means, name="k-means")
    return Means(sums, counts, float(squares), before[-1].n_iter if before else 0, outcome, means)


def assign(rows: Array, means: Array) -> Labels:
    """Return the nearest mean of every row; the lowest number in a tie. Every row is decided on its own.

    Parameters
    ----------
    rows : array of shape (n, m)
    means : array of shape (k, m)
    """
    n, k = len(rows), len(means)
    both = np.concatenate([rows, means])
    labels = np.concatenate([np.full(n, -1, np.int32), np.arange(k, dtype=np.int32)])
    rule, squares, ones = RULES["plain"], row_squares(both), np.ones(n + k)
    if current().sums_room(float(n) * k * rows.shape[1], squares) is not None:
        runner = current().sums(LinearGram.trusted(both), Plan.FEATURES, squares, ones)
        (found,) = runner.run(labels[None], k, rule, 0, None)
        return np.asarray(found.predicted[:n])
    documents = _native.dense_documents(both, squares, ones)
    fields = (rule.adjusted, rule.tolerance, rule.shift, rule.spherical, rule.centroid)
    run = _native.start_run(documents, labels, k, fields, 0, TWO_CYCLES, bounded=False)
    _native.run_all([run])
    return np.asarray(run.predicted[:n])


def _rows(features: Record) -> Array:
    return np.asarray(features["x"], dtype=np.float64)


def _sums(features: Record, means: Array) -> tuple[Array, Array, Any]:
    """Return the sums, the counts and the squares of the clusters of a piece."""
    rows = _rows(features)
    labels, k = assign(rows, means).astype(np.intp), len(means)
    sums = sum_rows(rows, labels, k, np.ones(len(rows)))
    return sums, np.bincount(labels, minlength=k).astype(np.float64), float(features["squares"])


def _refilled(parts: Parts, step: str, means: Array, sums: Array, counts: Array) -> tuple[Array, Array]:
    """Give every empty cluster the row that is farthest from its mean, as kernel k-means does."""
    sums, counts = sums.copy(), counts.copy()
    for empty in np.flatnonzero(counts == 0).tolist():
        best = max(parts.each(_farthest, [step], means, counts, name="k-means"))
        own, row = int(best[1]), np.array(best[2])
        sums[empty], counts[empty] = row, 1.0
        sums[own] -= row
        counts[own] -= 1.0
        means = means.copy()
        means[empty] = row
    return sums, counts


def _farthest(features: Record, means: Array, counts: Array) -> tuple[float, int, tuple[float, ...]]:
    """Return the row of a piece that is farthest from its mean, among clusters of several; ties by content."""
    rows = _rows(features)
    if not len(rows):
        return -1.0, 0, ()
    labels = assign(rows, means)
    far = ((rows - means[labels]) ** 2).sum(axis=1)
    far[counts[labels] < 2] = -1.0
    ties = np.flatnonzero(far == far.max())
    at = max(ties.tolist(), key=lambda place: tuple(rows[place].tolist()))
    return float(far[at]), int(labels[at]), tuple(rows[at].tolist())
