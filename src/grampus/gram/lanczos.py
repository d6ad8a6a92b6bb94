"""Lanczos iteration with thick restarts: leading eigenpairs of a symmetric operator from products with few vectors.

Every new vector is orthogonalised against all previous ones, and a restart keeps the leading Ritz vectors, so that no
progress is lost. One start vector finds one copy of a multiple eigenvalue, two find two (Golub & Underwood 1977).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import norm

from .._array import Array, as_numpy
from .._native.vectors import along, take_away
from .._parallel import helpers, team
from ..errors import ConvergenceError
from .lapack import symmetric_eigh

TOLERANCE = 1e-12  # of the residual ‖Kv − λv‖, relative to ‖K‖
STARTS = 2  # vectors that a search for multiple eigenvalues starts from, and multiplies together
MOST_PRODUCTS = 3000
_BASIS = 64
_CHECK = 4  # minimum number of products between two checks of the residual
_BREAKDOWN = 1e-13  # of the projected matrix; a shorter next vector is rounding
_COPY = 1e-9  # of ‖K‖: values this near are copies; a probe that raises none by more has found nothing new
_ONE_START = 1e-6  # of their lengths: starts that differ by less are one
_SHARED = 4096  # entries of a vector that are worth another thread


def lanczos(
    product: Callable[[Any], Any],
    count: int,
    start: Array,
    *,
    tolerance: float = TOLERANCE,
    floor: float = -np.inf,
    probe: bool = True,
    rng: np.random.Generator,
    namespace: Any = np,
) -> tuple[Array, Array, float]:
    """Return the `count` largest eigenvalues and an estimate of the next, the vectors of the former, and ‖K‖.

    The norm is the largest modulus of an eigenvalue found.

    Parameters
    ----------
    product : callable
        V ↦ KV for a few vectors of `namespace`, (n, c).
    count : int
        l, less than n.
    start : array of shape (n, c)
        Start vectors, one or more: anything not orthogonal to the eigenvectors. As many are multiplied together.
    tolerance : float
        Tolerance of the residuals, relative to ‖K‖.
    floor : float
        Eigenvalues up to this value are not needed and may be inexact.
    probe : bool
        c start vectors find c copies of a multiple eigenvalue. Where so many of the values are equal, or with one start
        vector in any case, repeat the search from random vectors until it finds nothing new. Costs up to half as many
        products again.
    rng : Generator
        Generator of the random vectors.
    namespace : module
        The array library that holds the basis. The projected matrix stays with NumPy.

    Raises
    ------
    ConvergenceError
        After 3,000 products and 30 more for each pair.
    """
    with helpers(len(start), least=_SHARED):
        search = _Lanczos(product, count, start, tolerance, floor, rng, namespace)
        values, vectors = search.run(MOST_PRODUCTS + 30 * count, probe)
    return values[: count + 1] * search.unit, as_numpy(vectors), search.scale * search.unit


def _length(namespace: Any, vector: Any) -> float:
    """Return ‖v‖, without overflow or underflow."""
    if namespace is np:
        return float(norm(vector, check_finite=False))
    largest = float(as_numpy(abs(vector).max()))
    return largest * _number(np.square(vector / largest).sum()) ** 0.5 if largest > 0 else 0.0


def _number(value: Any) -> float:
    return float(as_numpy(value))


class _Lanczos:
    """A basis of rows Q, its projection T = Q K Qᵀ in units of about ‖K‖, and the number of rows in use.

    The `wide` rows after those are the newest vectors, which have not been multiplied with K yet. Their `coupling` is
    the entries of K between them, in columns, and the last rows in use: those before them or, after a restart, all.
    """

    def __init__(
        self,
        product: Callable[[Any], Any],
        count: int,
        start: Array,
        tolerance: float,
        floor: float,
        rng: np.random.Generator,
        namespace: Any,
    ) -> None:
        (n, self.most), self.namespace = start.shape, namespace
        self.product, self.count, self.tolerance, self.floor, self.rng = product, count, tolerance, floor, rng
        self.size = min(max(_BASIS, 2 * count), n)
        self.kept = min(count + 16, self.size - 2)
        self.basis = namespace.empty((self.size + self.most, n), dtype=np.float64)
        self.small = np.zeros((self.size + self.most, self.size + self.most))
        self.used, self.wide, self.fresh, self.scale, self.unit = 0, 0, 0, 0.0, 0.0
        lengths = np.array([float(norm(column, check_finite=False)) for column in start.T])
        units = np.ascontiguousarray((start / np.where(lengths > 0, lengths, 1.0)).T)
        self._append(namespace.asarray(units), _ONE_START)
        if self.wide == 0:
            self._append_random(1)

    def run(self, most: int, probe: bool) -> tuple[Array, Array]:
        """Return Ritz values, largest first, and the vectors of the requested ones."""
        coupling, known, looked, step = self._uncoupled(), None, 0, max(2 * _CHECK, self.count)
        products = 0
        while products < most:
            products += self.wide
            coupling = self._step(coupling)
            full, ended = self.used + self.wide > self.size, self.wide == 0
            if full or ended or self.used - looked >= max(step, self.used // 8):
                values, vectors = (part[..., ::-1] for part in symmetric_eigh(self.small[: self.used, : self.used]))
                looked, step = self.used, _CHECK
                rest = coupling.T @ vectors[self.used - len(coupling) :]  # of every pair, along the newest vectors
                if ended or self._converged(values, np.sqrt((rest * rest).sum(axis=0)), known is not None):
                    if ended or not (probe and self._may_hide(values, known)):
                        if known is not None:  # the first search may have a better estimate of what follows
                            values = np.append(values[: self.count], np.maximum(values[self.count :], known[-1]))
                        return values, self._turned(vectors[:, : self.count]).T
                    known = values[: self.count + 1].copy()
                    self._keep(self.count, values, vectors, 0)
                    self._append_random(self.most)
                    coupling, looked = self._uncoupled(), self.count
                elif full:
                    self._keep(self.kept, values, vectors, self.wide)
                    coupling, looked = rest[:, : self.kept].T, self.kept
        raise ConvergenceError(f"{most} products were not enough for residuals of {self.tolerance:g}")

    def _step(self, coupling: Array) -> Array:
        """Extend T by the newest vectors, and append the next; return their coupling. None is left at the end."""
        j, wide = self.used, self.wide
        newest, first = self.basis[j : j + wide], j - len(coupling)
        rest = self._multiplied(newest)
        self.unit = self.unit or _length(self.namespace, rest[0]) or 1.0  # squares of 1e±200 overflow or vanish
        rest = rest / self.unit
        if j > first:
            rest -= self.namespace.asarray(coupling.T) @ self.basis[first:j]
        self.small[first:j, j : j + wide], self.small[j : j + wide, first:j] = coupling, coupling.T
        own = rest @ newest.T
        rest -= own @ newest
        own = as_numpy(own)
        self.small[j : j + wide, j : j + wide] = 0.5 * (own + own.T)
        self.used, self.wide, self.scale = j + wide, 0, max(self.scale, float(np.abs(own).max()))
        coupling = self._append(rest)
        if self.wide == 0:  # the Krylov space is exhausted; a new vector finds what it did not contain
            self.fresh += 1
            if self.fresh <= self.count + 1 and self.used < self.size:
                self._append_random(1)
            return self._uncoupled()
        return coupling

    def _multiplied(self, rows: Any) -> Any:
        found = self.product(self.namespace.ascontiguousarray(rows.T)).T
        return self.namespace.ascontiguousarray(found)

    def _uncoupled(self) -> Array:
        return np.zeros((0, self.wide))

    def _append(self, rest: Any, least: float = 0.0) -> Array:
        """Append unit vectors for what is new in some vectors (c, n), which are overwritten.

        Returns their inner products with the vectors, (c, appended). What is shorter than `least`, or only rounding,
        is not new.
        """
        found = np.zeros((len(rest), len(rest)))
        lengths = self._lengths(rest)
        self._orthogonalise(rest)
        for i, before in enumerate(lengths):
            vector = rest[i : i + 1]
            if self.wide:
                others = self.basis[self.used : self.used + self.wide]
                shares = others @ vector[0]
                vector -= shares @ others
                found[i, : self.wide] = as_numpy(shares)
            length = self._reorthogonalised(vector, before)
            self.scale = max(self.scale, length)
            if length > max(least, _BREAKDOWN * self.scale, 1e-3 * self.floor / (self.unit or 1.0)):
                self.basis[self.used + self.wide] = vector[0] / length
                found[i, self.wide] = length
                self.wide += 1
        return found[:, : self.wide]

    def _reorthogonalised(self, vector: Any, before: float) -> float:
        """Orthogonalise a vector again while it becomes much shorter: once is enough, except near breakdown."""
        length = self._lengths(vector)[0]
        while length < 0.7 * before:
            self._orthogonalise(vector)
            before, length = length, self._lengths(vector)[0]
        return length

    def _append_random(self, count: int) -> None:
        """Append random unit vectors that are orthogonal to the basis."""
        for _ in range(count):
            vector = self.namespace.asarray(self.rng.standard_normal((1, self.basis.shape[1])))
            for _ in range(2):
                self._orthogonalise(vector)
            self.basis[self.used + self.wide] = vector[0] / self._lengths(vector)[0]
            self.wide += 1

    def _lengths(self, vectors: Any) -> list[float]:
        """Return the length of each row."""
        return [_number(vector @ vector) ** 0.5 for vector in vectors]

    def _orthogonalise(self, vectors: Any) -> None:
        """Subtract from some vectors (c, n), in place, their projections on the basis and the newest vectors."""
        count = self.used + self.wide
        if self.namespace is np:
            take_away(self.basis, along(self.basis, count, vectors, team()), vectors, team())
        elif count:
            vectors -= (vectors @ self.basis[:count].T) @ self.basis[:count]

    def _turned(self, vectors: Array) -> Any:
        """Return combinations of the basis, a row for each column of coefficients."""
        return self.namespace.asarray(vectors.T) @ self.basis[: self.used]

    def _converged(self, values: Array, residuals: Array, probing: bool) -> bool:
        """Return whether the leading pairs have converged; those below the floor may be inexact.

        While probing, the next pair must be accurate enough to distinguish it from the last of them.
        """
        if len(values) <= self.count:
            return False
        self.scale = max(self.scale, float(np.abs(values).max()))
        floor = self.floor / self.unit
        near = max(self.tolerance * self.scale, 1e-3 * floor)
        values, residuals = values[: self.count + 1], residuals[: self.count + 1]
        exact = (residuals <= near) | (values + residuals <= floor)
        if not exact[: self.count].all():
            return False
        apart = max(0.1 * (values[-2] - values[-1]), 1e-8 * self.scale, near)
        return not probing or bool(exact[-1] or residuals[-1] <= apart)

    def _may_hide(self, values: Array, known: Array | None) -> bool:
        """Return whether there may be further copies of the leading values.

        There are none after a search from random vectors that raised no value, `known` before it; nor are there in the
        first search, from c vectors, where fewer than c of the values are equal.
        """
        near, values = _COPY * self.scale, values[: self.count]
        if known is not None:
            return bool((values > known[: self.count] + near).any())
        return bool((values[: len(values) - self.most + 1] <= values[self.most - 1 :] + near).any())

    def _keep(self, kept: int, values: Array, vectors: Array, newest: int) -> None:
        """Keep only the leading Ritz vectors, and so many of the newest vectors."""
        following = self.basis[self.used : self.used + newest].copy()
        self.basis[:kept] = self._turned(vectors[:, :kept])
        self.basis[kept : kept + newest] = following
        self.small[:] = 0.0
        self.small[np.arange(kept), np.arange(kept)] = values[:kept]
        self.used, self.wide = kept, newest
