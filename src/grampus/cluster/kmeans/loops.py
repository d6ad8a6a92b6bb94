"""Kernel k-means on the processor: compiled loops over stored, sparse or dense rows, or products with a Gram.

Every run is independent of the others, so results are the same to the last bit for any number of threads and any batch.
Of runs on features, only documents that may have changed cluster cost anything. Runs on a stored matrix are grouped, so
that one pass over the matrix serves all of them.
"""

from collections.abc import Iterator
from dataclasses import astuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ... import _native
from ..._array import Array, is_sparse
from ..._config import may_keep
from ..._parallel import blas_threads, helpers, results_in_threads, thread_count
from ...errors import InputError
from ...gram import Features, Gram
from ..results import History, Outcome
from .state import JOINS, TIE, TWO_CYCLES, Finished, Labels, Rule

_GROUP = 128  # runs on a stored matrix that share its passes
SHARED = 4096  # documents per thread, at least: handing over less takes longer than the work


class Loops:
    """Runs of kernel k-means on documents that C++ reads.

    Parameters
    ----------
    documents : Documents
    width : int
        Length of a cluster's sums: n for a stored matrix, m for features.
    group : int
        Runs that share their passes.
    """

    def __init__(self, documents: _native.Documents, width: int, group: int) -> None:
        self.documents, self.width, self.group = documents, width, group

    def bytes_per_start(self, k: int) -> int:
        """Return the memory of one start."""
        return 8 * k * self.width if self.group > 1 else 16 * self.documents.n

    def run(self, starts: Labels, k: int, rule: Rule, max_iter: int, threads: int | None) -> Iterator[Finished]:
        """Run every start (starts, n) until it stops; yield them in order.

        A document with label −1 is not clustered, only assigned; documents marked `JOINS` first join the nearest
        labelled document of their start.
        """
        many = thread_count(threads)
        group = max(1, min(self.group, -(-len(starts) // many)))
        # Bounds of every document and cluster say who cannot have moved; without room for them all are looked at.
        bounded = may_keep(4 * self.documents.n * (k + 8) * many)

        def begin(p: int) -> _native.Run:
            return _native.start_run(self.documents, starts[p], k, astuple(rule), max_iter, TWO_CYCLES, bounded)

        if len(starts) < many and (len(starts) == 1 or self.documents.n >= many * SHARED):
            for p in range(len(starts)):
                yield finished(p, self._share(begin(p), threads))
            return

        def some(g: int) -> list[Finished]:
            numbers = range(g * group, min((g + 1) * group, len(starts)))
            runs = [begin(p) for p in numbers]
            _native.run_all(runs)
            return [finished(p, run) for p, run in zip(numbers, runs, strict=True)]

        for part in results_in_threads(some, -(-len(starts) // group), threads):
            yield from part

    def _share(self, run: _native.Run, threads: int | None) -> _native.Run:
        """Complete one run, with threads sharing each of its iterations."""
        with helpers(self.documents.n, threads, least=SHARED) as team:
            while run.step(team):
                pass
        return run


class Products(Loops):
    """Runs on a Gram through products: all in lockstep, one product per iteration."""

    def __init__(self, gram: Gram, diagonal: Array, weights: Array) -> None:
        super().__init__(_native.stored_documents(None, diagonal, weights), len(gram), _GROUP)
        self.gram, self.weights = gram, weights

    def run(self, starts: Labels, k: int, rule: Rule, max_iter: int, threads: int | None) -> Iterator[Finished]:
        """Run every start; yield each when it stops."""
        starts = np.array([join(self.gram, start) for start in starts])
        options = (k, astuple(rule), max_iter, TWO_CYCLES)
        going = [(p, _native.start_run(self.documents, start, *options)) for p, start in enumerate(starts)]
        before = dict(enumerate(starts))
        with blas_threads():
            while going:
                self._follow([run for _, run in going], [before[p] for p, _ in going], k)
                stopped = [(p, run) for p, run in going if not run.measure()]
                yield from (finished(p, run) for p, run in stopped)
                going = [(p, run) for p, run in going if run.outcome == _native.Outcome.RUNNING]
                for p, run in going:
                    before[p] = run.labels
                    run.assign(0, run.members)
                    run.advance()

    def _follow(self, runs: list[_native.Run], before: list[Labels], k: int) -> None:
        """Update the sums for documents that moved since `before`, for changed clusters only."""
        parts = []
        for run, old in zip(runs, before, strict=True):
            run.follow(0, self.documents.n)
            new = run.labels
            moved = np.flatnonzero(new >= 0) if run.anew else np.flatnonzero(new != old)
            rows, columns, values = new[moved], moved, self.weights[moved]
            if not run.anew:
                rows, columns = np.concatenate([rows, old[moved]]), np.concatenate([moved, moved])
                values = np.concatenate([values, -values])
            parts.append(sp.csr_array((values, (rows, columns)), shape=(k, len(new))))
        coefficients = sp.csr_array(sp.vstack(parts))
        changed = np.flatnonzero(np.diff(coefficients.indptr))
        product = (self.gram @ coefficients[changed].T).T
        for row, place in zip(product, changed, strict=True):
            runs[place // k].sums[place % k] += row


def stored(matrix: Array, diagonal: Array, weights: Array) -> Loops:
    """Return the backend for an n × n matrix, in float32 or float64."""
    return Loops(_native.stored_documents(matrix, diagonal, weights), len(matrix), _GROUP)


def featured(features: Features, diagonal: Array, weights: Array) -> Loops:
    """Return the backend for rows of features, sparse or dense."""
    rows, scale = features.rows, features.scale
    if is_sparse(rows):
        return Loops(_native.sparse_documents(rows, scale, diagonal, weights), rows.shape[1], 1)
    return Loops(_native.dense_documents(dense_rows(features), diagonal, weights), rows.shape[1], 1)


def dense_rows(features: Features) -> Array:
    """Return rows of dense features with their scale; not copied where that is 1."""
    return features.rows if (features.scale == 1.0).all() else features.rows * features.scale[:, None]


def finished(index: int, run: _native.Run) -> Finished:
    """Return the record of a finished run."""
    if run.outcome == _native.Outcome.NOT_FINITE:
        raise InputError("The Gram must be finite; a sum of its similarities is NaN or infinite.")
    values = run.objectives
    history = History(run.moves, values[:-1])
    outcome = Outcome(run.outcome.name.lower())
    return Finished(index, run.labels, run.predicted, float(values[-1]), outcome, history)


def join(gram: Gram, start: Labels) -> Labels:
    """Assign every document marked `JOINS` to the nearest labelled one; the lowest label in a tie."""
    members, centres = np.flatnonzero(start == JOINS), np.flatnonzero(start >= 0)
    if len(members) == 0:
        return start
    joined = start.copy()
    joined[members] = nearest_of(gram, members, centres[np.argsort(start[centres])])
    return joined


def nearest_of(gram: Gram, members: NDArray[np.intp], centres: NDArray[np.intp]) -> Labels:
    """Return the index of the nearest centre for every member; the first in a tie."""
    diagonal = gram.diagonal().astype(np.float64, copy=False)
    near = diagonal[centres, None] - 2.0 * gram._block(centres, members).astype(np.float64, copy=False)
    least = near.argmin(axis=0)
    limit = near[least, np.arange(len(members))] + TIE * (np.abs(diagonal[members]) + np.abs(diagonal[centres[least]]))
    return (near <= limit).argmax(axis=0).astype(np.int32)
