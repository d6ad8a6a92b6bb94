"""Runs on a matrix of similarities on the device, all in lockstep.

Each iteration reads the rows of documents that moved in any run once.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array, as_numpy
from ..cluster.kmeans.state import JOINS, TWO_CYCLES, Finished, Labels, Rule
from .blocks import DeviceBlocks
from .card import free_memory, require_device_memory
from .course import FIGURES, THREADS, Course, OnDevice, fill, objectives_less, rule_of

Flags = NDArray[np.bool_]  # one for each run
_TOGETHER = 64  # runs in lockstep
_ROWS = 768  # of a tile, at most, as in loops.cu
_OWN = 17  # clusters of a warp, as in loops.cu
_WARPS = 32  # of a block, at most
_SHARED = 226 * 1024  # bytes of shared memory of a block
_MANY = 4096  # clusters up to which a block counts for itself, as in loops.cu; and of a list of moves


class DeviceStored(OnDevice):
    """Runs on a matrix of similarities, all in lockstep.

    Parameters
    ----------
    blocks : DeviceBlocks
        What computes rows on the device.
    keep : bool
        Whether the matrix stays on the device; otherwise the rows of documents that moved are computed each time.
    """

    def __init__(self, xp: Any, blocks: DeviceBlocks, keep: bool, diagonal: Array, weights: Array) -> None:
        super().__init__(xp, diagonal, weights)
        self.blocks, self.dtype = blocks, blocks.gram.dtype
        self.matrix = blocks.matrix() if keep else None

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

    def _finished(self, starts: Labels, k: int, rule: Rule, max_iter: int) -> Iterator[Finished]:
        free, each = free_memory(self.xp), 8 * self.n * (k + 4)
        if each > free:
            fit = free // (8 * self.n) - 4
            instead = f"At most {fit:,} clusters fit" if fit > 0 else f"At most {free // (8 * (k + 4)):,} documents fit"
            require_device_memory(self.xp, each, f"One start with {k:,} clusters", instead)
        most = max(1, min(_TOGETHER, free // each))
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
        return np.where(starts == JOINS, as_numpy(lone.next), starts).astype(np.int32)


@lru_cache(maxsize=256)
def _tile(count: int, many: int, each: int, wide: int, lists: int, weighted: bool) -> tuple[int, int, int]:
    """Return the rows of a tile that fit into shared memory, and the lengths of a run's lists and of their heads.

    A document is on one list, or on two if it leaves a cluster, too; lists are filled up to multiples of four.
    """
    stride = -(-2 * many // 8) * 8
    tall = count
    while True:
        room = -(-min(lists * (tall + 3 * many), 4 * lists * tall) // 4) * 4 + 4  # four to read ahead
        if _bytes(tall, each, wide, room, stride, weighted) <= _SHARED:
            return tall, room, stride
        tall -= 1


def _bytes(tall: int, each: int, wide: int, room: int, stride: int, weighted: bool) -> int:
    """Return the shared memory of a block that adds up: two tiles, their lists, and weights."""
    return 2 * (tall + 1) * 32 * wide + 2 * each * (4 * room + 2 * stride) + 16 * (tall + 1) * weighted


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
        total = len(starts)
        self.state = xp.zeros(FIGURES * total * k + (total * (2 + k) + 2) // 2, dtype=np.float64)  # copied as a whole
        self.figures = self.state[: FIGURES * total * k].reshape(FIGURES, total, k)
        # How many rows moved, tally (runs, 2), counts (runs, k).
        self.numbers = self.state[FIGURES * total * k :].view(np.int32)
        self.tally, self.counts = self.numbers[1 : 1 + 2 * total], self.numbers[1 + 2 * total :]
        self.touched = xp.zeros(n, dtype=np.int32)
        self.rows, self.moved = xp.empty(n, dtype=np.int32), 0
        inside = starts >= 0
        self.members = inside.sum(axis=1)
        self.all = inside.any(axis=0)
        self.totals = np.array([documents.total(row) for row in inside])
        self.outside = bool((~inside).any())
        self._kept: dict[bytes, Any] = {}
        self.answers: dict[int, tuple[Labels, Labels]] = {}
        self._everything = xp.asarray(np.flatnonzero(self.all), dtype=np.int32)

    def complete(self, courses: list[Course]) -> None:
        """Take every run to its end."""
        active = np.arange(len(courses))
        while len(active):
            self.follow(active, np.array([courses[p].anew for p in active]))
            self.measure(active)
            figures, tally, counts = self.assign(active)
            values = (self.totals - objectives_less(figures)).tolist()
            going = np.array([courses[p].judge(values[p]) for p in active.tolist()])
            if not going.all():
                self._keep(active[~going])
                active = active[going]
            empty, moves = counts.min(axis=1, initial=1) == 0, tally.tolist()
            for p in active.tolist():
                moved, strayed = self.fill(p, counts[p], tally[p]) if empty[p] else moves[p]
                courses[p].advance(moved, strayed, int(self.members[p]))
            self.before, self.labels, self.next = self.labels, self.next, self.before

    def _keep(self, runs: NDArray[np.intp]) -> None:
        """Copy the answers of runs that have stopped to the host, with labels for documents that are only predicted."""
        if self.outside:
            self.assign(runs, outside=True)
        for p in map(int, runs):
            labels = np.array(as_numpy(self.labels[p]))
            self.answers[p] = labels, np.where(labels >= 0, labels, as_numpy(self.next[p])) if self.outside else labels

    def follow(self, runs: NDArray[np.intp], anew: Flags) -> None:
        """Bring the sums up to date: rows of documents that moved in any run are read once."""
        rows = self._everything if anew.any() else self.rows[: self.moved]
        if len(rows) == 0:
            return
        clear = anew
        for matrix, documents, places in self.on.panels(rows):
            for low in range(0, self.k, _MANY):
                self._add(matrix, documents, places, runs, anew, clear, low)
            clear = np.zeros(len(runs), dtype=bool)

    def _add(
        self, matrix: Any, rows: Any, places: Any, runs: NDArray[np.intp], anew: Flags, clear: Flags, low: int
    ) -> None:
        """Add and take the rows of what moved, to and from the clusters from `low` on."""
        slots, many = len(runs), min(_MANY, self.k - low)
        # A warp adds up some clusters of a run; a block holds the warps of several runs, or a part of those of one.
        warps = -(-many // _OWN)
        parts = -(-warps // _WARPS)
        units = -(-warps // parts)
        each = max(1, min(slots, _WARPS // units)) if parts == 1 else 1
        units = min(max(units, _WARPS // each), many) if parts == 1 else units  # few clusters: more warps, fewer each
        wide, weighted = self.on.dtype.itemsize, self.weights is not None
        tall, room, stride = _tile(min(len(rows), _ROWS), many, each, wide, 1 if anew.all() else 2, weighted)
        tiles = -(-len(rows) // tall)
        lines, heads = (self.xp.empty((tiles, slots, size), dtype=kind)
                        for size, kind in ((room, np.uint32), (stride, np.uint16)))  # fmt: skip
        changed = self.xp.zeros((slots, many), dtype=np.int32)
        part, new, empty = (self._numbers(values) for values in (runs, anew, clear))
        size, some = np.int32(slots), tuple(np.int32(value) for value in (low, many, room, stride))
        fixed, lists = (rows, len(rows), self.n, part), (lines, heads, changed)
        moves = (self.before, self.labels, *fixed, new, size, *some, np.int32(tall), np.int32(32 * wide), *lists)
        self.on.call("list_moves", (tiles, slots), tall, *moves, shared=8 * many)
        grid = -(-self.n // 32), -(-slots // each) * parts
        sizes = (size, *(np.int32(value) for value in (each, units, parts, self.k)), *some, np.int32(tall))
        shared = _bytes(tall, each, wide, room, stride, weighted)
        last = empty, *sizes, *lists, self.weights, self.sums
        name = f"follow{8 * wide}" + ("_weighted" if weighted else "")
        self.on.call(name, grid, 32 * each * units, matrix, places, *fixed, *last, shared=shared)

    def _numbers(self, values: NDArray[Any]) -> Any:
        """Return a few whole numbers on the device; copied once."""
        key = values.astype(np.int32).tobytes()
        if key not in self._kept:
            self._kept[key] = self.xp.asarray(values.astype(np.int32))
        return self._kept[key]

    def measure(self, runs: NDArray[np.intp]) -> None:
        """Compute the clusters' figures."""
        rows = self.sums, self.labels, self.weights, self.n, np.int32(self.k)
        slots = self._numbers(runs), np.int32(len(self.totals))
        self.on.call("measure", (self.k, len(runs)), THREADS, *rows, *slots, *rule_of(self.rule), self.figures)

    def assign(self, runs: NDArray[np.intp], outside: bool = False) -> tuple[Array, Array, Array]:
        """Find the next cluster of every member, or of every document outside.

        Returns the figures of the clusters (figures, runs, k), how many documents move and do not move back, (runs, 2),
        and the sizes of the next clusters, (runs, k).
        """
        total, numbers = len(self.totals), self.numbers
        numbers.fill(0)
        rows = self.sums, self.labels, self.before, self.on.diagonal, self.weights, self.n, np.int32(self.k)
        slots = self._numbers(runs), np.int32(total), self.figures, *rule_of(self.rule)
        last = outside, self.next, self.touched, self.tally, self.counts
        grid, shared = (-(-self.n // THREADS), len(runs)), 4 * self.k if self.k <= _MANY else 0
        self.on.call("assign", grid, THREADS, *rows, *slots, *last, shared=shared)
        if not outside:
            self._collect()
        state = np.asarray(as_numpy(self.state))
        figures = state[: self.figures.size].reshape(self.figures.shape)
        found = state[self.figures.size :].view(np.int32)
        self.moved = self.moved if outside else int(found[0])
        tallied, counted = found[1 : 1 + 2 * total], found[1 + 2 * total :][: total * self.k]
        return figures, tallied.reshape(total, 2), counted.reshape(total, self.k)

    def _collect(self) -> None:
        """List the documents that move in any run."""
        self.on.call("collect", (1,), 1024, self.touched, self.n, self.rows, self.numbers)

    def fill(self, run: int, counts: Array, tally: Array) -> tuple[int, int]:
        """Give every empty cluster of a run the document farthest from its own; return the new tally of the moves."""
        far = self.xp.empty((2, self.n), dtype=np.float64)
        rows = self.sums, self.next, self.on.diagonal, self.n, np.int32(self.k)
        last = run, np.int32(len(self.totals)), self.figures, float(self.rule.tolerance), far[0], far[1]
        self.on.call("distances", (-(-self.n // THREADS),), THREADS, *rows, *last)
        found = np.asarray(as_numpy(self.next[run]))
        distance, least = np.asarray(as_numpy(far))
        filled = fill(found, distance, least, counts)
        moved, strayed = (int(value) for value in tally)
        changed = np.flatnonzero(filled != found)
        if len(changed):
            there = self.xp.asarray(changed)
            labels, before = (np.asarray(as_numpy(rows[run][there])) for rows in (self.labels, self.before))
            moved += int((filled[changed] != labels).sum()) - int((found[changed] != labels).sum())
            strayed += int((filled[changed] != before).sum()) - int((found[changed] != before).sum())
            self.next[run] = self.xp.asarray(filled)
            self.touched[self.rows[: self.moved]] = 1
            self.touched[there] = 1
            self._collect()
            self.moved = int(as_numpy(self.numbers)[0])
        return moved, strayed
