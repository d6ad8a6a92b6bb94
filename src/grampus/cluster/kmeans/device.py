"""The backend of kernel k-means on a GPU: the same runs, with all that is large on the device.

The loops are in ``device.cu``. Here is what steers them: which documents moved, what the clusters' figures are, when a
run ends. On a stored matrix all runs go in lockstep, and each iteration reads the rows of documents that moved in any
of them once. On features the runs go one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._array import Array
from ..._device import call, free_memory, functions, on_host, require_device_memory
from ...errors import InputError
from ...gram import Gram, Plan
from ...gram.device import DeviceBlocks
from ..results import History, Outcome
from .state import JOINS, Finished, Labels, Rule

SOURCE = Path(__file__).with_name("device.cu")
TILE = 256  # as in device.cu
_SIZE, _INNER, _SQUARE, _OFFSET, _SLOPE, _EXTENT, _COUNT, _FIGURES = range(8)
_SHARED = 220 * 1024  # bytes of shared memory of a block
_WARPS = 16
_FEW = 16  # documents up to which sums are changed where they lie
_THREADS = 256
_RANGE = 1e6  # lengths that differ by more are not for whole numbers
_ROUNDING = 2.0**-24
_BITS = 61  # of a sum of features
_PART = 2**28  # bytes of dense sums at a time


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
        if not np.isfinite(objective) and (first or self.moves[-1] > 0):
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


class _Device:
    """What both kinds of documents share: the diagonal, the weights, and calls of compiled functions."""

    def __init__(self, xp: Any, diagonal: Array, weights: Array) -> None:
        self.xp, self.n = xp, len(diagonal)
        self.host_diagonal, self.host_weights = diagonal, weights
        self.diagonal = xp.asarray(diagonal, dtype=np.float64)
        self.weights = None if (weights == 1.0).all() else xp.asarray(weights, dtype=np.float64)
        self.module = functions(xp, SOURCE)

    def _call(self, name: str, grid: tuple[int, ...], block: int, *args: Any, shared: int = 0) -> None:
        call(self.module.get_function(name), grid, block, *args, shared=shared)

    def _total(self, inside: NDArray[np.bool_]) -> float:
        return float(self.host_weights[inside] @ self.host_diagonal[inside])


def objective_of(total: float, figures: Array) -> float:
    """Return Σ w_i K_ii − Σ_c W_c / n_c from figures (figures, k)."""
    filled = figures[_SIZE] > 0
    return total - float((figures[_INNER][filled] / figures[_SIZE][filled]).sum())


def _rule(rule: Rule) -> tuple[float, float, float, bool, bool]:
    return float(rule.tolerance), float(rule.shift), float(rule.centroid), rule.adjusted, rule.spherical


class DeviceStored(_Device):
    """Runs on a matrix of similarities, all in lockstep.

    Parameters
    ----------
    blocks : DeviceBlocks
        What computes rows on the device.
    keep : bool
        Whether the matrix stays on the device; otherwise the rows of documents that moved are computed each time.
    """

    group = 64

    def __init__(self, xp: Any, blocks: DeviceBlocks, keep: bool, diagonal: Array, weights: Array) -> None:
        super().__init__(xp, diagonal, weights)
        self.blocks, self.dtype = blocks, blocks.gram.dtype
        self.matrix = blocks.matrix() if keep else None

    def panels(self, rows: Any) -> Iterator[tuple[Any, Any, Any]]:
        """Yield similarities of some documents, the numbers of these documents, and their rows in the similarities."""
        if self.matrix is not None:
            yield self.matrix, rows, rows
            return
        step = max(1, int(free_memory(self.xp) // 4) // (8 * self.n))
        for first in range(0, len(rows), step):
            part = rows[first : first + step]
            block = self.xp.ascontiguousarray(self.blocks.rows(part))
            yield block, part, self.xp.arange(len(part), dtype=np.int32)

    def bytes_per_start(self, k: int) -> int:
        """Return the memory of one start on the host."""
        return 16 * self.n

    def run(self, starts: Labels, k: int, rule: Rule, max_iter: int, threads: int | None) -> Iterator[Finished]:
        """Run every start (starts, n) until it stops; yield them in order."""
        from .backends import TWO_CYCLES

        most = max(1, min(self.group, free_memory(self.xp) // (8 * self.n * (k + 4))))
        require_device_memory(self.xp, 8 * self.n * (k + 4), "The sums of one start", "Use fewer clusters or documents")
        for first in range(0, len(starts), most):
            part = starts[first : first + most]
            courses = [Course(rule, max_iter, TWO_CYCLES) for _ in part]
            lockstep = _Lockstep(self, self._joined(part, k, rule), k, rule)
            lockstep.complete(courses)
            for p, course in enumerate(courses):
                yield course.finished(first + p, *lockstep.answers[p])

    def _joined(self, starts: Labels, k: int, rule: Rule) -> Labels:
        """Give documents marked `JOINS` the label of the nearest labelled one: clusters of one document each."""
        if not (starts == JOINS).any():
            return starts
        plain = Rule(tolerance=rule.tolerance)
        centres = np.where(starts == JOINS, -1, starts).astype(np.int32)
        lone = _Lockstep(self, centres, k, plain, weights=False)
        runs = np.arange(len(starts))
        lone.follow(runs, np.ones(len(starts), dtype=bool))
        lone.measure(runs)
        lone.assign(runs, outside=True)
        return np.where(starts == JOINS, on_host(lone.next), starts).astype(np.int32)


class _Lockstep:
    """Some runs of k clusters on a stored matrix: labels, sums and figures on the device."""

    def __init__(self, documents: DeviceStored, starts: Labels, k: int, rule: Rule, weights: bool = True) -> None:
        xp, n = documents.xp, documents.n
        self.on, self.xp, self.n, self.k, self.rule = documents, xp, n, k, rule
        self.weights = documents.weights if weights else None
        self.labels = xp.asarray(starts, dtype=np.int32)
        self.before = xp.full(starts.shape, -3, dtype=np.int32)
        self.next = self.labels.copy()
        self.sums = xp.empty((len(starts), k, n), dtype=np.float64)
        self.figures = xp.zeros((_FIGURES, len(starts), k), dtype=np.float64)
        self.touched = xp.zeros(n, dtype=np.int32)
        inside = starts >= 0
        self.members = inside.sum(axis=1)
        self.all = inside.any(axis=0)
        self.totals = [documents._total(row) for row in inside]
        self.outside = bool((~inside).any())
        self.answers: dict[int, tuple[Labels, Labels]] = {}
        self._everything = xp.asarray(np.flatnonzero(self.all), dtype=np.int32)

    def complete(self, courses: list[Course]) -> None:
        """Take every run to its end."""
        active = np.arange(len(courses))
        while len(active):
            self.follow(active, np.array([courses[p].anew for p in active]))
            figures = self.measure(active)
            going = np.array([courses[p].judge(objective_of(self.totals[p], figures[:, p])) for p in active])
            if not going.all():
                self._keep(active[~going])
            active = active[going]
            if len(active) == 0:
                return
            tally, counts = self.assign(active)
            for p in active:
                if counts[p].min() == 0:
                    tally[p] = self.fill(int(p), counts[p])
                courses[p].advance(int(tally[p, 0]), int(tally[p, 1]), int(self.members[p]))
            self.before, self.labels, self.next = self.labels, self.next, self.before

    def _keep(self, runs: NDArray[np.intp]) -> None:
        """Copy the answers of runs that have stopped to the host, with labels for documents that are only predicted."""
        if self.outside:
            self.assign(runs, outside=True)
        for p in map(int, runs):
            labels = np.array(on_host(self.labels[p]))
            self.answers[p] = labels, np.where(labels >= 0, labels, on_host(self.next[p])) if self.outside else labels

    def follow(self, runs: NDArray[np.intp], anew: NDArray[np.bool_]) -> None:
        """Bring the sums up to date: rows of documents that moved in any run are read once."""
        rows = self._everything if anew.any() else self.xp.flatnonzero(self.touched).astype(np.int32)
        self.touched.fill(0)
        if len(rows) == 0:
            return
        clear = anew
        for matrix, documents, lines in self.on.panels(rows):
            self._add(matrix, documents, lines, runs, anew, clear)
            clear = np.zeros(len(runs), dtype=bool)

    def _add(
        self,
        matrix: Any,
        rows: Any,
        lines: Any,
        runs: NDArray[np.intp],
        anew: NDArray[np.bool_],
        clear: NDArray[np.bool_],
    ) -> None:
        """Add and take the rows of what moved, for several runs at a time, as many as fit into shared memory."""
        wide = self.on.dtype.itemsize
        tiles, many, room = -(-len(rows) // TILE), len(runs), _SHARED - 2 * TILE * 32 * wide
        direct = 256 * self.k > room or len(rows) < _FEW
        step = many if direct else min(many, room // (256 * self.k))
        for first in range(0, many, step):
            slots = min(step, many - first)
            some = slice(first, first + slots)
            part, new, empty = (self.xp.asarray(values[some], dtype=np.int32) for values in (runs, anew, clear))
            entries = self.xp.empty((tiles, slots, 2 * TILE), dtype=np.int32)
            counts = self.xp.empty((tiles, slots), dtype=np.int32)
            fixed = rows, len(rows), self.n, part
            these = new, np.int32(slots), entries, counts
            self.on._call("list_moves", (tiles, slots), TILE, self.before, self.labels, *fixed, *these)
            shared = 2 * TILE * 32 * wide + (0 if direct else 256 * self.k * slots)
            sizes = empty, np.int32(slots), np.int32(self.k), entries, counts, self.weights, direct, self.sums
            name = "follow32" if wide == 4 else "follow64"
            grid = (-(-self.n // 32),)
            self.on._call(name, grid, 32 * min(slots, _WARPS), matrix, lines, *fixed, *sizes, shared=shared)

    def measure(self, runs: NDArray[np.intp]) -> Array:
        """Compute the clusters' figures; return them, (figures, runs, k)."""
        total = np.int32(len(self.totals))
        self.on._call(
            "measure",
            (self.k, len(runs)),
            _THREADS,
            self.sums,
            self.labels,
            self.weights,
            self.n,
            np.int32(self.k),
            self.xp.asarray(runs, dtype=np.int32),
            total,
            *_rule(self.rule),
            self.figures,
        )
        return np.asarray(on_host(self.figures))

    def assign(self, runs: NDArray[np.intp], outside: bool = False) -> tuple[Array, Array]:
        """Find the next cluster of every member, or of every document outside.

        Returns how many move and do not move back, (runs, 2), and the sizes of the next clusters, (runs, k).
        """
        total = len(self.totals)
        both = self.xp.zeros(total * (2 + self.k), dtype=np.int32)
        tally, counts = both[: 2 * total].reshape(total, 2), both[2 * total :].reshape(total, self.k)
        self.on._call(
            "assign",
            (-(-self.n // _THREADS), len(runs)),
            _THREADS,
            self.sums,
            self.labels,
            self.before,
            self.on.diagonal,
            self.weights,
            self.n,
            np.int32(self.k),
            self.xp.asarray(runs, dtype=np.int32),
            np.int32(total),
            self.figures,
            *_rule(self.rule),
            outside,
            self.next,
            self.touched,
            tally,
            counts,
        )
        found = np.asarray(on_host(both))
        return found[: 2 * total].reshape(total, 2), found[2 * total :].reshape(total, self.k)

    def fill(self, run: int, counts: Array) -> Array:
        """Give every empty cluster of a run the document farthest from its own; return the tally of the moves."""
        far, least = (self.xp.empty(self.n, dtype=np.float64) for _ in range(2))
        self.on._call(
            "distances",
            (-(-self.n // _THREADS),),
            _THREADS,
            self.sums,
            self.next,
            self.on.diagonal,
            self.n,
            np.int32(self.k),
            run,
            np.int32(len(self.totals)),
            self.figures,
            float(self.rule.tolerance),
            far,
            least,
        )
        labels, before, found = (np.array(on_host(rows[run])) for rows in (self.labels, self.before, self.next))
        filled = fill(found, np.asarray(on_host(far)), np.asarray(on_host(least)), counts)
        self.next[run] = self.xp.asarray(filled)
        inside = labels >= 0
        self.touched[self.xp.asarray(np.flatnonzero(inside & (filled != labels)))] = 1
        return np.array([(filled != labels)[inside].sum(), (filled != before)[inside].sum()])


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


class DeviceRows(_Device):
    """Runs on rows of features on the device, one after the other.

    Sums are whole numbers, value · 2^b: no order of additions changes them, and nothing is left behind when a document
    leaves. Single precision rules out clusters with the bound of ``_native/features.cpp``; what is close is decided in
    double precision.
    """

    group = 1

    def __init__(self, xp: Any, rows: Any, scale: Array, diagonal: Array, weights: Array) -> None:
        super().__init__(xp, diagonal, weights)
        self.features = rows.shape[1]
        self.indptr = self.indices = None
        sparse = hasattr(rows, "indptr")
        if sparse:
            self.indptr = xp.asarray(rows.indptr, dtype=np.int64)
            self.indices = xp.asarray(rows.indices, dtype=np.int32)
            factors = xp.asarray(np.repeat(scale, np.diff(rows.indptr)))
            self.data = xp.asarray(rows.data, dtype=np.float64) * factors
            columns = np.bincount(
                rows.indices, weights=np.abs(rows.data) * np.repeat(scale * weights, np.diff(rows.indptr)), minlength=1
            )
        else:
            self.data = xp.ascontiguousarray(xp.asarray(rows, dtype=np.float64) * xp.asarray(scale)[:, None])
            columns = on_host(abs(self.data).T @ xp.asarray(weights))
        self.single = self.data.astype(np.float32)
        lengths = np.sqrt(np.maximum(diagonal, 0.0))
        self.lengths = xp.asarray(lengths * (1 + 1e-12))
        self.longest = float(lengths.max(initial=0.0))
        self.factor = _power(float(np.max(columns, initial=0.0)))
        self.weight_factor = _power(float(weights.sum()))

    def bytes_per_start(self, k: int) -> int:
        """Return the memory of one start on the host."""
        return 16 * self.n

    def run(self, starts: Labels, k: int, rule: Rule, max_iter: int, threads: int | None) -> Iterator[Finished]:
        """Run every start (starts, n) until it stops; yield them in order."""
        from .backends import TWO_CYCLES

        size = 8 * self.features * k + 4 * self.features * (k + 32) + 16 * self.n
        require_device_memory(self.xp, size, "The sums of one start", "Use fewer clusters or terms")
        for p, start in enumerate(starts):
            course = Course(rule, max_iter, TWO_CYCLES)
            start = self._joined(start, k, rule)  # noqa: PLW2901
            one = _Alone(self, start, k, rule)
            yield course.finished(p, *one.complete(course))

    def _joined(self, start: Labels, k: int, rule: Rule) -> Labels:
        if not (start == JOINS).any():
            return start
        lone = _Alone(
            self, np.where(start == JOINS, -1, start).astype(np.int32), k, Rule(tolerance=rule.tolerance), weights=False
        )
        lone.follow(True)
        lone.assign(lone.measure(), outside=True)
        return np.where(start == JOINS, on_host(lone.next), start).astype(np.int32)


def _power(total: float) -> float:
    """Return the power of two that makes whole numbers of `_BITS` bits of sums up to `total`."""
    return 2.0 ** (_BITS - int(np.ceil(np.log2(total)))) if total > 0 else 1.0


class _Alone:
    """One run of k clusters on features."""

    def __init__(self, documents: DeviceRows, start: Labels, k: int, rule: Rule, weights: bool = True) -> None:
        xp, n, m = documents.xp, documents.n, documents.features
        self.on, self.xp, self.n, self.k, self.rule = documents, xp, n, k, rule
        self.weights = documents.weights if weights else None
        self.stride = -(-k // 32) * 32
        self.labels = xp.asarray(start, dtype=np.int32)
        self.before = xp.full(n, -3, dtype=np.int32)
        self.next = self.labels.copy()
        self.sums = xp.empty((m, k), dtype=np.int64)
        self.tallies = xp.empty((3, k), dtype=np.int64)
        self.table = xp.empty((m, self.stride), dtype=np.float32)
        self.parts = min(2048, max(1, m // 8))
        self.partial = xp.empty((self.parts, k), dtype=np.float64)
        self.figures = xp.zeros((_FIGURES, k), dtype=np.float64)
        self.doubtful = xp.empty(n, dtype=np.int32)
        inside = start >= 0
        self.members, self.total = int(inside.sum()), documents._total(inside)

    def complete(self, course: Course) -> tuple[Labels, Labels]:
        """Take the run to its end; return its labels, and with them those of documents only predicted."""
        while True:
            self.follow(course.anew)
            figures = self.measure()
            if not course.judge(objective_of(self.total, figures)):
                break
            self.assign(figures)
            both = self.xp.zeros(2 + self.k, dtype=np.int32)
            self.on._call(
                "count_moves",
                (-(-self.n // _THREADS),),
                _THREADS,
                self.labels,
                self.before,
                self.next,
                self.n,
                both,
                both[2:],
            )
            found = np.asarray(on_host(both))
            tally = self.fill(found[2:], figures) if found[2:].min() == 0 else found
            course.advance(int(tally[0]), int(tally[1]), self.members)
            self.before, self.labels, self.next = self.labels, self.next, self.before
        labels = np.asarray(on_host(self.labels))
        if self.members == self.n:
            return labels, labels
        self.assign(figures, outside=True)
        return labels, np.where(labels >= 0, labels, np.asarray(on_host(self.next)))

    def follow(self, anew: bool) -> None:
        """Bring the sums up to date."""
        if anew:
            self.sums.fill(0)
            self.tallies.fill(0)
        on = self.on
        blocks = min(-(-self.n // 8), 8192)
        on._call(
            "move_rows",
            (blocks,),
            _THREADS,
            on.indptr,
            on.indices,
            on.data,
            on.features,
            self.n,
            np.int32(self.k),
            self.before,
            self.labels,
            anew,
            self.weights,
            on.factor,
            on.weight_factor,
            self.sums,
            self.tallies,
        )

    def measure(self) -> Array:
        """Compute the clusters' figures and the table in single precision; return the figures, (figures, k)."""
        on, each = self.on, -(-self.on.features // self.parts)
        on._call(
            "fold",
            (self.parts,),
            min(self.stride, 256),
            self.sums,
            on.features,
            np.int32(self.k),
            np.int32(self.stride),
            1.0 / on.factor,
            each,
            self.partial,
            self.table,
        )
        on._call(
            "measure_rows",
            (-(-self.k // _THREADS),),
            _THREADS,
            self.partial,
            self.parts,
            np.int32(self.k),
            self.tallies,
            1.0 / on.weight_factor,
            *_rule(self.rule),
            self.figures,
        )
        return np.asarray(on_host(self.figures))

    def assign(self, figures: Array, outside: bool = False) -> None:
        """Find the next cluster of every member, or of every document outside."""
        screen = self._screen(figures)
        if screen is None:
            self._decide(self.n, None, outside)
            return
        on, doubts = self.on, self.xp.zeros(1, dtype=np.int32)
        shared = (
            self.figures,
            self.labels,
            on.lengths,
            on.diagonal,
            self.weights,
            *screen,
            outside,
            self.next,
            self.doubtful,
            doubts,
        )
        sizes = np.int32(self.k), np.int32(self.stride)
        if on.indptr is not None:
            on._call(
                "screen_sparse",
                (-(-self.n // 8),),
                _THREADS,
                on.indptr,
                on.indices,
                on.single,
                self.n,
                *sizes,
                self.table,
                *shared,
            )
        else:
            step = max(1, _PART // (4 * self.stride))
            for first in range(0, self.n, step):
                sums = on.single[first : first + step] @ self.table
                on._call(
                    "screen_dense",
                    (-(-len(sums) // 8),),
                    _THREADS,
                    sums,
                    first,
                    len(sums),
                    on.features,
                    *sizes,
                    *shared,
                )
        count = int(on_host(doubts)[0])
        if count:
            self._decide(count, self.doubtful, outside)

    def _screen(self, figures: Array) -> tuple[float, float, float, float, float, bool] | None:
        """Return what the bound of single precision needs; None where it does not hold."""
        rule, filled = self.rule, figures[_SIZE] > 0
        limit = 1e12
        if (
            rule.adjusted
            or not 1 / limit < self.on.longest < limit
            or not figures[_SIZE].sum() < limit
            or not abs(rule.shift) < limit
        ):
            return None
        slopes = np.abs(figures[_SLOPE][filled])
        steep = float((slopes * np.sqrt(np.maximum(figures[_INNER][filled], 0.0))).max())
        high, wide = (float(np.abs(figures[row][filled]).max()) for row in (_OFFSET, _EXTENT))
        constant = 16 * _ROUNDING * (high + float(slopes.max()) * abs(rule.shift)) + 1e-36
        return steep, constant, wide, float(rule.tolerance), float(rule.shift), rule.spherical

    def _decide(self, count: int, which: Any, outside: bool, similar: Any = None) -> None:
        on = self.on
        on._call(
            "decide",
            (min(count, 65535 * 8),),
            32,
            on.indptr,
            on.indices,
            on.data,
            on.features,
            np.int32(self.k),
            self.sums,
            1.0 / on.factor,
            self.figures,
            self.labels,
            on.diagonal,
            self.weights,
            *_rule(self.rule),
            outside,
            count,
            which,
            self.next,
            similar,
            shared=8 * self.k,
        )

    def fill(self, counts: Array, figures: Array) -> Array:
        """Give every empty cluster the document farthest from its own; return the tally of the moves."""
        similar = self.xp.zeros(self.n, dtype=np.float64)
        self._decide(self.n, None, False, similar)
        labels, before, found = (np.array(on_host(rows)) for rows in (self.labels, self.before, self.next))
        own, sizes = np.maximum(found, 0), figures[_SIZE]
        norms = np.divide(figures[_INNER], sizes**2, out=np.full(self.k, np.inf), where=sizes > 0)[own]
        far = self.on.host_diagonal + norms - 2.0 * np.asarray(on_host(similar)) / np.where(sizes > 0, sizes, 1.0)[own]
        least = self.rule.tolerance * (np.abs(self.on.host_diagonal) + np.abs(norms))
        filled = fill(found, far, least, counts)
        self.next = self.xp.asarray(filled)
        inside = labels >= 0
        return np.array([(filled != labels)[inside].sum(), (filled != before)[inside].sum()])


def on_gpu(xp: Any, gram: Gram, how: Plan, diagonal: Array, weights: Array) -> DeviceStored | DeviceRows:
    """Return the backend on the device for a plan: the matrix stored, features, or rows computed each time."""
    explicit = gram.features()
    if how is Plan.FEATURES and explicit is not None and explicit.rows.shape[1] > 0:
        return DeviceRows(xp, explicit.rows, explicit.scale, diagonal, weights)
    return DeviceStored(xp, DeviceBlocks(gram, xp), how is Plan.STORE, diagonal, weights)


def suits_device(diagonal: Array) -> bool:
    """Return whether the documents' lengths are near enough to each other for sums in whole numbers."""
    sizes = diagonal[diagonal > 0]
    return len(sizes) == 0 or float(sizes.max()) <= _RANGE**2 * float(sizes.min())
