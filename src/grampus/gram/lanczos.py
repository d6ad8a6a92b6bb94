"""Lanczos iteration with thick restarts: leading eigenpairs of a symmetric operator from products with one vector.

Every new vector is orthogonalised against all previous ones, and a restart keeps the leading Ritz vectors, so that no
progress is lost.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import norm

from .._array import Array, as_numpy
from ..errors import ConvergenceError
from .lapack import symmetric_eigh

TOLERANCE = 1e-12  # of the residual ‖Kv − λv‖, relative to ‖K‖
MOST_PRODUCTS = 3000
_BASIS = 64
_CHECK = 4  # minimum number of products between two checks of the residual
_BREAKDOWN = 1e-13  # of the projected matrix; a shorter next vector is rounding
_COPY = 1e-9  # of ‖K‖: a probe that raises no eigenvalue by more than this has found nothing new


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
        v ↦ Kv for one vector of `namespace`.
    count : int
        l, less than n.
    start : array of shape (n,)
        Start vector: anything not orthogonal to the eigenvectors.
    tolerance : float
        Tolerance of the residuals, relative to ‖K‖.
    floor : float
        Eigenvalues up to this value are not needed and may be inexact.
    probe : bool
        Repeat the search from a random vector until it finds nothing new: one start vector finds one copy of a
        multiple eigenvalue. Costs up to half as many products again.
    rng : Generator
        Generator of the random vectors.
    namespace : module
        The array library that holds the basis. The projected matrix stays with NumPy.

    Raises
    ------
    ConvergenceError
        After 3,000 products and 30 more for each pair.
    """
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
    """A basis of rows Q, its projection T = Q K Qᵀ in units of about ‖K‖, and the number of rows in use."""

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
        n, self.namespace = len(start), namespace
        self.product, self.count, self.tolerance, self.floor, self.rng = product, count, tolerance, floor, rng
        self.size = min(max(_BASIS, 2 * count), n)
        self.kept = min(count + 16, self.size - 2)
        self.basis = namespace.empty((self.size + 1, n), dtype=np.float64)
        self.small = np.zeros((self.size + 1, self.size + 1))
        self.used, self.fresh, self.scale, self.unit = 0, 0, 0.0, 0.0
        length = float(norm(start, check_finite=False))
        self.basis[0] = namespace.asarray(start / length) if length > 0 else self._fresh()

    def run(self, most: int, probe: bool) -> tuple[Array, Array]:
        """Return Ritz values, largest first, and the vectors of the requested ones."""
        coupling, known, looked, step = np.empty(0), None, 0, max(2 * _CHECK, self.count)
        for _ in range(most):
            following, beta = self._step(coupling)
            coupling = np.array([beta])
            if following is None or self.used == self.size or self.used - looked >= max(step, self.used // 8):
                values, vectors = (part[..., ::-1] for part in symmetric_eigh(self.small[: self.used, : self.used]))
                looked, step = self.used, _CHECK
                if following is None or self._converged(values, beta * vectors[-1], known is not None):
                    new = known is None or (values[: self.count] > known[: self.count] + _COPY * self.scale).any()
                    if following is None or not (probe and new):
                        if known is not None:  # the first search may have a better estimate of what follows
                            values = np.append(values[: self.count], np.maximum(values[self.count :], known[-1]))
                        return values, self._turned(vectors[:, : self.count]).T
                    known = values[: self.count + 1].copy()
                    following, coupling, looked = None, self._keep(self.count, values, vectors, 0.0), self.count
                elif self.used == self.size:
                    coupling, looked = self._keep(self.kept, values, vectors, beta), self.kept
            self.basis[self.used] = self._fresh() if following is None else following
        raise ConvergenceError(f"{most} products were not enough for residuals of {self.tolerance:g}")

    def _step(self, coupling: Array) -> tuple[Any, float]:
        """Extend T by one row; return the next unit vector and its coupling β, or None when nothing is left.

        `coupling` is the entries of K between the newest vector and those before it: one number in the middle of a run,
        one for each kept vector after a restart.
        """
        j, basis = self.used, self.basis
        rest = self.product(basis[j])
        self.unit = self.unit or _length(self.namespace, rest) or 1.0  # squares of 1e±200 overflow or vanish
        rest = rest / self.unit
        first = j - len(coupling)
        if j > first:
            rest -= self.namespace.asarray(coupling) @ basis[first:j]
        self.small[j, first:j] = self.small[first:j, j] = coupling
        self.small[j, j] = alpha = _number(rest @ basis[j])
        rest -= alpha * basis[j]
        before, beta = np.inf, float(np.sqrt(_number(rest @ rest)))
        while beta < 0.7 * before:  # reorthogonalise: once is enough, except near breakdown
            rest -= (basis[: j + 1] @ rest) @ basis[: j + 1]
            before, beta = beta, float(np.sqrt(_number(rest @ rest)))
        self.used = j + 1
        self.scale = max(self.scale, abs(alpha), beta)
        if beta > max(_BREAKDOWN * self.scale, 1e-3 * self.floor / self.unit):
            return rest / beta, beta
        # The Krylov space is exhausted. A new vector finds what it did not contain, such as a multiple eigenvalue.
        self.fresh += 1
        return (self._fresh() if self.fresh <= self.count + 1 and self.used < self.size else None), 0.0

    def _turned(self, vectors: Array) -> Any:
        """Return combinations of the basis, a row for each column of coefficients."""
        return self.namespace.asarray(vectors.T) @ self.basis[: self.used]

    def _fresh(self) -> Any:
        """Return a random unit vector, orthogonal to the basis."""
        vector = self.namespace.asarray(self.rng.standard_normal(self.basis.shape[1]))
        for _ in range(2):
            vector -= (self.basis[: self.used] @ vector) @ self.basis[: self.used]
        return vector / np.sqrt(_number(vector @ vector))

    def _converged(self, values: Array, residuals: Array, probing: bool) -> bool:
        """Return whether the leading pairs have converged; those below the floor may be inexact.

        While probing, the next pair must be accurate enough to distinguish it from the last of them.
        """
        if len(values) <= self.count:
            return False
        self.scale = max(self.scale, float(np.abs(values).max()))
        floor = self.floor / self.unit
        near = max(self.tolerance * self.scale, 1e-3 * floor)
        values, residuals = values[: self.count + 1], np.abs(residuals[: self.count + 1])
        exact = (residuals <= near) | (values + residuals <= floor)
        if not exact[: self.count].all():
            return False
        apart = max(0.1 * (values[-2] - values[-1]), 1e-8 * self.scale, near)
        return not probing or bool(exact[-1] or residuals[-1] <= apart)

    def _keep(self, kept: int, values: Array, vectors: Array, beta: float) -> Array:
        """Keep only the leading Ritz vectors; return their couplings to the next vector."""
        self.basis[:kept] = self._turned(vectors[:, :kept])
        self.small[:] = 0.0
        self.small[np.arange(kept), np.arange(kept)] = values[:kept]
        self.used = kept
        return beta * vectors[-1, :kept]
