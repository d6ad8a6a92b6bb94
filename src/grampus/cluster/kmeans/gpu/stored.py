"""Runs on a matrix of similarities on the device, all in lockstep.

Each iteration reads the rows of documents that moved in any run once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...._array import Array
from ...._device import free_memory, on_host, require_device_memory
from ....gram.device import DeviceBlocks
from ..state import JOINS, TWO_CYCLES, Finished, Labels, Rule
from .course import FIGURES, THREADS, Course, OnDevice, fill, objective_of, rule_of
from .digits import additions, digits_of

_TILE = 256  # as in loops.cu
_SHARED = 220 * 1024  # bytes of shared memory of a block
_WARPS = 30  # of a block, at most: several share the clusters of a run
_MANY = 4096  # clusters up to which a block counts for itself, as in loops.cu
_FEW = 16  # documents up to which sums are changed where they lie


class DeviceStored(OnDevice):
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
        self.digits = None if self.matrix is None else digits_of(self, self.matrix, diagonal)

    def panels(self, rows: Any) -> Iterator[tuple[Any, Any, Any]]:
        """Yield similarities of some documents, the numbers of these documents, and their rows in the similarities."""
        if self.matrix is not None:
            yield self.matrix, rows, rows
            return
        step = max(1, int(free_memory(self.xp) // 16) // (8 * self.n))  # a kernel makes copies of a block
        for first in range(0, len(rows), step):
            part = rows[first : first + step]
            block = self.xp.ascontiguousarray(self.blocks.rows(part))
            yield block, part, self.xp.arange(len(part), dtype=np.int32)

    def bytes_per_start(self, k: int) -> int:
        """Return the memory of one start on the host."""
        return 16 * self.n

    def run(self, starts: Labels, k: int, rule: Rule, max_iter: int, threads: int | None) -> Iterator[Finished]:
        """Run every start (starts, n) until it stops; yield them in order."""
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
        lone.follow(runs, np.ones(len(starts), dtype=bool), lone.members)
        lone.measure(runs)
        lone.assign(runs, outside=True)
        return np.where(starts == JOINS, on_host(lone.next), starts).astype(np.int32)


class _Lockstep:
    """Some runs of k clusters on a stored matrix: labels, sums and figures on the device."""

    def __init__(self, documents: DeviceStored, starts: Labels, k: int, rule: Rule, weights: bool = True) -> None:
        xp, n = documents.xp, documents.n
        self.on, self.xp, self.n, self.k, self.rule = documents, xp, n, k, rule
        self.weights = documents.weights if weights else None
        self.labels = xp.asarray(np.ascontiguousarray(starts, dtype=np.int32))
        self.before = xp.full(starts.shape, -3, dtype=np.int32)
        self.next = self.labels.copy()
        self.sums = xp.empty((len(starts), k, n), dtype=np.float64)
        self.figures = xp.zeros((FIGURES, len(starts), k), dtype=np.float64)
        self.touched = xp.zeros(n, dtype=np.int32)
        inside = starts >= 0
        self.members = inside.sum(axis=1)
        self.all = inside.any(axis=0)
        self.totals = [documents.total(row) for row in inside]
        self.outside = bool((~inside).any())
        self._kept: dict[bytes, Any] = {}
        self.answers: dict[int, tuple[Labels, Labels]] = {}
        self._everything = xp.asarray(np.flatnonzero(self.all), dtype=np.int32)

    def complete(self, courses: list[Course]) -> None:
        """Take every run to its end."""
        active = np.arange(len(courses))
        while len(active):
            moved = np.array([courses[p].moves[-1] if courses[p].moves else 0 for p in active])
            self.follow(active, np.array([courses[p].anew for p in active]), moved)
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

    def follow(self, runs: NDArray[np.intp], anew: NDArray[np.bool_], moved: NDArray[np.intp]) -> None:
        """Bring the sums up to date: rows of documents that moved in any run are read once.

        Where many moved, products of the matrix's digits are faster.
        """
        digits, work = self.on.digits, additions(self.members[runs], moved, anew)
        if digits is not None and digits.pays(work, self.k * len(runs)):
            self.touched.fill(0)
            digits.follow(self.before, self.labels, self._numbers(runs), self._numbers(anew), self.k, self.sums)
            return
        rows = self._everything if anew.any() else self.xp.flatnonzero(self.touched).astype(np.int32)
        self.touched.fill(0)
        if len(rows) == 0:
            return
        clear = anew
        for matrix, documents, places in self.on.panels(rows):
            self._add(matrix, documents, places, runs, anew, clear)
            clear = np.zeros(len(runs), dtype=bool)

    def _add(
        self,
        matrix: Any,
        rows: Any,
        places: Any,
        runs: NDArray[np.intp],
        anew: NDArray[np.bool_],
        clear: NDArray[np.bool_],
    ) -> None:
        """Add and take the rows of what moved, for several runs at a time, as many as fit into shared memory."""
        wide = self.on.dtype.itemsize
        tiles, many, room = -(-len(rows) // _TILE), len(runs), _SHARED - 2 * _TILE * 32 * wide
        direct = 256 * self.k > room or len(rows) < _FEW
        step = many if direct else min(many, room // (256 * self.k))
        name = f"follow{8 * wide}" + ("_direct" if direct else "") + ("" if self.weights is None else "_weighted")
        for first in range(0, many, step):
            slots = min(step, many - first)
            some = slice(first, first + slots)
            part, new, empty = (self._numbers(values[some]) for values in (runs, anew, clear))
            lines = self.xp.empty((tiles, slots, 2 * _TILE), dtype=np.uint16)
            segments = self.xp.empty((tiles, slots, 2 * _TILE + 1), dtype=np.int32)
            lists = lines, segments, self.xp.empty((tiles, slots), dtype=np.int32)
            fixed, size = (rows, len(rows), self.n, part), np.int32(slots)
            self.on.call("list_moves", (tiles, slots), _TILE, self.before, self.labels, *fixed, new, size, *lists)
            shared = 2 * _TILE * 32 * wide + (0 if direct else 256 * self.k * slots)
            warps = slots * (_WARPS // slots) if slots < _WARPS else _WARPS
            sizes = empty, size, np.int32(self.k), *lists, self.weights, self.sums
            self.on.call(name, (-(-self.n // 32),), 32 * warps, matrix, places, *fixed, *sizes, shared=shared)

    def _numbers(self, values: NDArray[Any]) -> Any:
        """Return a few whole numbers on the device; copied once."""
        key = values.astype(np.int32).tobytes()
        if key not in self._kept:
            self._kept[key] = self.xp.asarray(values.astype(np.int32))
        return self._kept[key]

    def measure(self, runs: NDArray[np.intp]) -> Array:
        """Compute the clusters' figures; return them, (figures, runs, k)."""
        total = np.int32(len(self.totals))
        self.on.call(
            "measure",
            (self.k, len(runs)),
            THREADS,
            self.sums,
            self.labels,
            self.weights,
            self.n,
            np.int32(self.k),
            self._numbers(runs),
            total,
            *rule_of(self.rule),
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
        self.on.call(
            "assign",
            (-(-self.n // THREADS), len(runs)),
            THREADS,
            self.sums,
            self.labels,
            self.before,
            self.on.diagonal,
            self.weights,
            self.n,
            np.int32(self.k),
            self._numbers(runs),
            np.int32(total),
            self.figures,
            *rule_of(self.rule),
            outside,
            self.next,
            self.touched,
            tally,
            counts,
            shared=4 * self.k if self.k <= _MANY else 0,
        )
        found = np.asarray(on_host(both))
        return found[: 2 * total].reshape(total, 2), found[2 * total :].reshape(total, self.k)

    def fill(self, run: int, counts: Array) -> Array:
        """Give every empty cluster of a run the document farthest from its own; return the tally of the moves."""
        far, least = (self.xp.empty(self.n, dtype=np.float64) for _ in range(2))
        self.on.call(
            "distances",
            (-(-self.n // THREADS),),
            THREADS,
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
