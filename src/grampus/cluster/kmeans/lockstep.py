"""Lockstep kernel k-means: any number of restarts as one batch; those that have stopped leave it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..._array import Array
from ..._parallel import blas_threads
from ...errors import InputError
from ..results import History, Outcome, Runs
from .state import Labels, Rule, State, Sums, centroid_norms, group_counts

TWO_CYCLES = 5  # consecutive ones end a run (`dominance`, §4)


@dataclass(frozen=True)
class Problem:
    """What all restarts share.

    Attributes
    ----------
    k : int
    weights : array of shape (n,)
    diagonal : array of shape (n,)
        Self-similarities without the trailing shift.
    rule : Rule
    max_iter : int
    """

    k: int
    weights: Array
    diagonal: Array
    rule: Rule
    max_iter: int

    def objective(self, state: State) -> Array:
        """Return the unshifted objective of every partition (`dominance`, Eqn 3)."""
        total = (state.labels >= 0) @ (self.weights * self.diagonal)
        filled = state.sizes > 0
        return total - np.divide(state.within, state.sizes, out=np.zeros_like(state.within), where=filled).sum(axis=1)

    def distances(self, state: State, new: Labels, chosen: Array) -> tuple[Array, Array]:
        """Return the squared distance of every document to the centroid it was assigned to, without the shift.

        Beside it stands the least difference that is no tie.
        """
        norms, sizes = (
            np.take_along_axis(values, new.astype(np.intp), axis=1)
            for values in (centroid_norms(state, 0.0), state.sizes)
        )
        distances = self.diagonal + norms - 2.0 * chosen / np.where(sizes > 0, sizes, 1.0)  # infinite if it is empty
        return distances, self.rule.tolerance * (np.abs(self.diagonal) + np.abs(norms))


@dataclass
class _Run:
    """What is recorded of one restart while it runs."""

    moves: list[int]
    objective: list[float]
    cycles: int = 0


@dataclass(frozen=True)
class Finished:
    """One restart that has stopped."""

    index: int
    labels: Labels
    predicted: Labels
    objective: float
    outcome: Outcome
    history: History


def lockstep(problem: Problem, sums: Sums, starts: Labels) -> Iterator[Finished]:
    """Run a batch of starts (partitions, n) until every one has stopped; yield each as it stops."""
    with blas_threads():
        yield from _lockstep(problem, sums, starts)


def _lockstep(problem: Problem, sums: Sums, starts: Labels) -> Iterator[Finished]:
    labels, before = starts.copy(), np.full_like(starts, -2)
    inside = starts >= 0
    index = np.arange(len(starts))
    runs = [_Run([], []) for _ in starts]
    sums.start(labels)
    for iteration in range(1, problem.max_iter + 1):
        state = sums.state(labels)
        objective = problem.objective(state)
        if not np.isfinite(objective).all():
            raise InputError("The Gram must be finite; a sum of its similarities is NaN or infinite.")
        predicted, chosen = sums.assign(state, problem.rule)
        new = np.where(inside, predicted, -1).astype(np.int32)
        fill_empty_clusters(problem, state, new, chosen)
        moved = (new != labels).sum(axis=1)
        cycled = (new == before).all(axis=1)
        for run, moves, value, cycle in zip(runs, moved, objective, cycled, strict=True):
            run.moves.append(int(moves))
            run.objective.append(float(value))
            run.cycles = run.cycles + 1 if cycle else 0
        sums.move(labels, new)
        labels, before = new, labels
        stopped = np.array([m == 0 or r.cycles >= TWO_CYCLES for m, r in zip(moved, runs, strict=True)])
        if iteration == problem.max_iter:
            stopped[:] = True
        if not stopped.any():
            continue
        settled = stopped & (moved == 0)
        if (stopped & ~settled).any():  # their last move changed the clusters: one product more
            state = sums.state(labels)
            objective = np.where(settled, objective, problem.objective(state))
            if not inside.all():
                predicted = np.where(settled[:, None], predicted, sums.assign(state, problem.rule)[0])
        for p in np.flatnonzero(stopped):
            run, outcome = runs[p], _outcome(moved[p], runs[p])
            history = History(np.array(run.moves), np.array(run.objective))
            yield Finished(int(index[p]), labels[p], predicted[p], float(objective[p]), outcome, history)
        going = ~stopped
        if not going.any():
            return
        sums.keep(going)
        labels, before, inside, index = labels[going], before[going], inside[going], index[going]
        runs = [run for run, go in zip(runs, going, strict=True) if go]


def _outcome(moved: int, run: _Run) -> Outcome:
    if moved == 0:
        return Outcome.CONVERGED
    return Outcome.OSCILLATED if run.cycles >= TWO_CYCLES else Outcome.MAX_ITER


def fill_empty_clusters(problem: Problem, state: State, new: Labels, chosen: Array) -> None:
    """Give every empty cluster the document farthest from its centroid, in place.

    Distances are taken without the shift; only documents that leave company behind are taken, the lowest number first
    among equals. A cluster stays empty only when every document lies on its centroid: there are fewer distinct
    documents than clusters. For a positive semi-definite Gram this lowers the objective.
    """
    counts = group_counts(new, problem.k)
    if counts.all():
        return
    for p in np.flatnonzero((counts == 0).any(axis=1)):
        inside = new[p] >= 0
        target = np.where(inside, new[p], 0)[None]
        far, least = (part[0] for part in problem.distances(state.part(slice(p, p + 1)), target, chosen[p : p + 1]))
        movable = inside & (np.abs(far) > least)
        for cluster in np.flatnonzero(counts[p] == 0):
            usable = np.where(movable & (counts[p, target[0]] > 1), far, -np.inf)
            farthest = int(usable.argmax())
            if np.isneginf(usable[farthest]):
                break
            document = int((usable >= usable[farthest] - least[farthest]).argmax())
            counts[p, new[p, document]] -= 1
            new[p, document] = target[0, document] = cluster
            counts[p, cluster] = 1
            movable[document] = False


def gather(finished: list[Finished]) -> Runs:
    """Put restarts back into the order of their starts."""
    ordered = sorted(finished, key=lambda run: run.index)
    return Runs(
        labels=np.array([run.labels for run in ordered], dtype=np.intp),
        objective=np.array([run.objective for run in ordered]),
        n_iter=np.array([len(run.history.moves) for run in ordered], dtype=np.intp),
        outcomes=tuple(run.outcome for run in ordered),
        histories=tuple(run.history for run in ordered),
    )
