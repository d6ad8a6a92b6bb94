"""Runs on rows of features on the device, one after the other."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._array import Array, as_numpy
from ..cluster.kmeans.state import JOINS, TWO_CYCLES, Finished, Labels, Rule
from .card import free_memory, require_device_memory
from .course import (
    EXTENT,
    FIGURES,
    INNER,
    OFFSET,
    SIZE,
    SLOPE,
    THREADS,
    Course,
    OnDevice,
    fill,
    objectives_less,
    rule_of,
)
from .halves import Halves

_ROUNDING = 2.0**-24
_BITS = 61  # of a sum of features
_LIMIT = 1e12  # lengths beyond this, or below its inverse, are not for single precision
_PART = 2**28  # bytes of dense sums at a time


class DeviceRows(OnDevice):
    """Runs on rows of features on the device, one after the other.

    Sums are whole numbers, value · 2^b: no order of additions changes them, and nothing is left behind when a document
    leaves. Single precision rules out clusters with the bound of ``_native/features.cpp``; what is close is decided in
    double precision.
    """

    def __init__(self, xp: Any, rows: Any, scale: Array, diagonal: Array, weights: Array) -> None:
        super().__init__(xp, diagonal, weights)
        self.features = rows.shape[1]
        self.indptr = self.indices = None
        sparse = hasattr(rows, "indptr")
        free, size = free_memory(xp), 32 * rows.nnz if sparse else 32 * rows.shape[0] * rows.shape[1]
        fit = int(self.n * free / size) if size else self.n
        require_device_memory(xp, size, f"The feature matrix of {self.n:,} documents", f"About {fit:,} documents fit")
        if sparse:
            self.indptr = xp.asarray(rows.indptr, dtype=np.int64)
            self.indices = xp.asarray(rows.indices, dtype=np.int32)
            factors = xp.asarray(np.repeat(scale, np.diff(rows.indptr)))
            self.data = xp.asarray(rows.data, dtype=np.float64) * factors
            heavy = np.abs(rows.data) * np.repeat(scale * weights, np.diff(rows.indptr))
            columns = np.bincount(rows.indices, weights=heavy, minlength=1)
        else:
            self.data = xp.ascontiguousarray(xp.asarray(rows, dtype=np.float64) * xp.asarray(scale)[:, None])
            columns = as_numpy(abs(self.data).T @ xp.asarray(weights))
        lengths = np.sqrt(np.maximum(diagonal, 0.0))
        self.lengths = xp.asarray(lengths * (1 + 1e-12))
        if sparse:
            self.single = self.data.astype(np.float32)
        else:
            self.halves = Halves(xp, self.data, lengths)
        self.longest = float(lengths.max(initial=0.0))
        self.factor = _power(float(np.max(columns, initial=0.0)))
        self.weight_factor = _power(float(weights.sum()))

    def _finished(self, starts: Labels, k: int, rule: Rule, max_iter: int) -> Iterator[Finished]:
        size = 8 * self.features * k + 4 * self.features * (k + 32) + 16 * self.n
        fit = int((free_memory(self.xp) - 128 * self.features - 16 * self.n) // (12 * self.features))
        instead = f"At most {fit:,} clusters fit" if fit > 0 else "Use fewer terms or documents"
        require_device_memory(self.xp, size, f"One start with {k:,} clusters", instead)
        for p, start in enumerate(starts):
            course = Course(rule, max_iter, TWO_CYCLES)
            start = self._joined(start, k, rule)  # noqa: PLW2901
            one = _Alone(self, start, k, rule)
            yield course.finished(p, *one.complete(course))

    def _joined(self, start: Labels, k: int, rule: Rule) -> Labels:
        if not (start == JOINS).any():
            return start
        centres = np.where(start == JOINS, -1, start).astype(np.int32)
        lone = _Alone(self, centres, k, Rule(tolerance=rule.tolerance), weights=False)
        lone.follow(True)
        lone.assign(lone.measure(), outside=True)
        return np.where(start == JOINS, as_numpy(lone.next), start).astype(np.int32)


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
        self.labels = xp.asarray(np.ascontiguousarray(start, dtype=np.int32))
        self.before = xp.full(n, -3, dtype=np.int32)
        self.next = self.labels.copy()
        self.sums = xp.empty((m, k), dtype=np.int64)
        self.tallies = xp.empty((3, k), dtype=np.int64)
        self.table = xp.empty((m, self.stride), dtype=np.float32)
        self.parts = min(2048, max(1, m // 8))
        self.partial = xp.empty((self.parts, k), dtype=np.float64)
        self.figures = xp.zeros((FIGURES, k), dtype=np.float64)
        self.doubtful = xp.empty(n, dtype=np.int32)
        inside = start >= 0
        self.members, self.total = int(inside.sum()), documents.total(inside)

    def complete(self, course: Course) -> tuple[Labels, Labels]:
        """Take the run to its end; return its labels, and with them those of documents only predicted."""
        while True:
            self.follow(course.anew)
            figures = self.measure()
            if not course.judge(self.total - float(objectives_less(figures))):
                break
            self.assign(figures)
            both = self.xp.zeros(2 + self.k, dtype=np.int32)
            rows = self.labels, self.before, self.next, self.n
            self.on.call("count_moves", (-(-self.n // THREADS),), THREADS, *rows, both, both[2:])
            found = np.asarray(as_numpy(both))
            tally = self.fill(found[2:], figures) if found[2:].min() == 0 else found
            course.advance(int(tally[0]), int(tally[1]), self.members)
            self.before, self.labels, self.next = self.labels, self.next, self.before
        labels = np.asarray(as_numpy(self.labels))
        if self.members == self.n:
            return labels, labels
        self.assign(figures, outside=True)
        return labels, np.where(labels >= 0, labels, np.asarray(as_numpy(self.next)))

    def follow(self, anew: bool) -> None:
        """Bring the sums up to date."""
        if anew:
            self.sums.fill(0)
            self.tallies.fill(0)
        on = self.on
        rows = on.indptr, on.indices, on.data, on.features, self.n, np.int32(self.k)
        moves = self.before, self.labels, anew, self.weights, on.factor, on.weight_factor
        on.call("move_rows", (min(-(-self.n // 8), 8192),), THREADS, *rows, *moves, self.sums, self.tallies)

    def measure(self) -> Array:
        """Compute the clusters' figures and the table in single precision; return the figures, (figures, k)."""
        on, each, k = self.on, -(-self.on.features // self.parts), np.int32(self.k)
        sums = self.sums, on.features, k, np.int32(self.stride), 1.0 / on.factor, each
        on.call("fold", (self.parts,), min(self.stride, 256), *sums, self.partial, self.table)
        sizes = self.partial, self.parts, k, self.tallies, 1.0 / on.weight_factor
        on.call("measure_rows", (-(-self.k // THREADS),), THREADS, *sizes, *rule_of(self.rule), self.figures)
        return np.asarray(as_numpy(self.figures))

    def assign(self, figures: Array, outside: bool = False) -> None:
        """Find the next cluster of every member, or of every document outside."""
        screen = self._screen(figures)
        if screen is None:
            self._decide(self.n, None, outside)
            return
        on, doubts = self.on, self.xp.zeros(1, dtype=np.int32)
        figures_of = self.figures, self.labels, on.lengths, on.diagonal, self.weights
        shared = *figures_of, *screen, outside, self.next, self.doubtful, doubts
        if on.indptr is not None:
            rows = on.indptr, on.indices, on.single, self.n, np.int32(self.k), np.int32(self.stride), self.table
            on.call("screen_sparse", (-(-self.n // 8),), THREADS, *rows, *shared)
        else:
            right, table = on.halves.table(self._double(), figures[INNER])
            for first, sums in on.halves.products(table, _PART):
                fixed = sums, first, len(sums), on.halves.entries, np.int32(self.k), np.int32(len(table))
                on.call("screen_dense", (-(-len(sums) // 8),), THREADS, *fixed, on.halves.scale, right, *shared)
        count = int(as_numpy(doubts)[0])
        if count:
            self._decide(count, self.doubtful, outside)

    def _screen(self, figures: Array) -> tuple[float, float, float, float, float, bool] | None:
        """Return what the bound of single precision needs; None where it does not hold."""
        rule, filled = self.rule, figures[SIZE] > 0
        within = 1 / _LIMIT < self.on.longest < _LIMIT and figures[SIZE].sum() < _LIMIT and abs(rule.shift) < _LIMIT
        if rule.adjusted or not within:
            return None
        slopes = np.abs(figures[SLOPE][filled])
        steep = float((slopes * np.sqrt(np.maximum(figures[INNER][filled], 0.0))).max())
        high, wide = (float(np.abs(figures[row][filled]).max()) for row in (OFFSET, EXTENT))
        constant = 16 * _ROUNDING * (high + float(slopes.max()) * abs(rule.shift)) + 1e-36
        return steep, constant, wide, float(rule.tolerance), float(rule.shift), rule.spherical

    def _double(self) -> Any:
        """Return the sums in double precision, (features, k)."""
        return self.sums * (1.0 / self.on.factor)

    def _decide(self, count: int, which: Any, outside: bool, similar: Any = None) -> None:
        """Decide in double precision; sums of dense rows are products."""
        on = self.on
        if on.indptr is not None:
            self._choose(None, 0, count, which, outside, similar)
            return
        table, step = self._double(), max(1, _PART // (8 * self.k))
        for first in range(0, count, step):
            part = slice(first, min(first + step, count))
            rows = on.data[part] if which is None else on.data[which[part]]
            self._choose(rows @ table, first, len(rows), which, outside, similar)

    def _choose(self, products: Any, first: int, count: int, which: Any, outside: bool, similar: Any) -> None:
        on = self.on
        rows = on.indptr, on.indices, on.data, products, first, np.int32(self.k), self.sums, 1.0 / on.factor
        rule = self.figures, self.labels, on.diagonal, self.weights, *rule_of(self.rule)
        last = outside, count, which, self.next, similar
        on.call("decide", (min(count, 65535 * 8),), 32, *rows, *rule, *last, shared=8 * self.k)

    def fill(self, counts: Array, figures: Array) -> Array:
        """Give every empty cluster the document farthest from its own; return the tally of the moves."""
        similar = self.xp.zeros(self.n, dtype=np.float64)
        self._decide(self.n, None, False, similar)
        labels, before, found = (np.array(as_numpy(rows)) for rows in (self.labels, self.before, self.next))
        own, sizes = np.maximum(found, 0), figures[SIZE]
        norms = np.divide(figures[INNER], sizes**2, out=np.full(self.k, np.inf), where=sizes > 0)[own]
        far = self.on.host_diagonal + norms - 2.0 * np.asarray(as_numpy(similar)) / np.where(sizes > 0, sizes, 1.0)[own]
        least = self.rule.tolerance * (np.abs(self.on.host_diagonal) + np.abs(norms))
        filled = fill(found, far, least, counts)
        self.next = self.xp.asarray(filled)
        inside = labels >= 0
        return np.array([(filled != labels)[inside].sum(), (filled != before)[inside].sum()])
