"""Leading principal components of a centred Gram, from products alone.

A Lanczos iteration with a thick restart, every new vector made orthogonal to all before it. It needs about two thirds
of the products that a restarted solver with a small basis needs, because nothing that was found is thrown away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._array import Array
from ..errors import ConvergenceError
from .eigen import fixed_signs
from .lapack import symmetric_eigh

SMALL = 64  # documents; up to here LAPACK on the whole centred matrix is quicker, and exact
TOLERANCE = 1e-10  # of the residual ‖Kv − λv‖, relative to λ
_BASIS = 64
_CHECK = 4  # products between two looks at the residual
_BREAKDOWN = 1e-13  # of the projected matrix; a next vector this short is rounding


@dataclass(frozen=True)
class Components:
    """Eigenpairs of HKH, H = I − 11ᵀ/n, that have positive eigenvalues.

    Attributes
    ----------
    values : array of shape (l,)
        Largest first; fewer than asked for where the rank is smaller.
    vectors : array of shape (n, l)
        Of unit length; the entry of largest modulus is positive.
    following : float
        The next eigenvalue, as far as the iteration has found it; at least 0.
    """

    values: Array
    vectors: Array
    following: float

    @property
    def gap(self) -> float:
        """The smallest distance between neighbours among λ₁ … λ_{l+1}, relative to λ₁; 0 without components."""
        if len(self.values) == 0:
            return 0.0
        return float(-np.diff(np.append(self.values, self.following)).max() / self.values[0])


def leading_components(
    product: Callable[[Array], Array],
    count: int,
    start: Array,
    *,
    dense: Callable[[], Array],
    floor: float = 0.0,
    probe: bool = False,
    max_products: int = 3000,
) -> Components:
    """Return up to `count` components of the centred Gram.

    Parameters
    ----------
    product : callable
        v ↦ Kv for one vector; K need not be centred.
    count : int
        l.
    start : array of shape (n,)
        Where the iteration starts; anything not orthogonal to the components.
    dense : callable
        Returns K itself; asked for only when n is at most `SMALL`.
    floor : float
        Eigenvalues up to here are rounding, and left out.
    probe : bool
        Once the components are found, look from another start for an eigenvalue that the first one missed, as it
        misses all but one copy of a multiple eigenvalue. Costs about half as many products again.
    max_products : int
        After so many products without an answer a `ConvergenceError` is raised.
    """
    n = len(start)
    if n <= SMALL:
        values, vectors = _exact(dense())
    else:
        values, vectors = _Lanczos(product, n, count, start, floor).run(max_products, probe)
    real = min(count, int((values > floor).sum()))
    following = max(float(values[real]), 0.0) if real < len(values) and real == count else 0.0
    return Components(values[:real], fixed_signs(vectors[:, :real]), following)


def _exact(matrix: Array) -> tuple[Array, Array]:
    """Return all eigenpairs of the centred matrix, largest first."""
    centred = matrix - matrix.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    values, vectors = symmetric_eigh(centred)
    return values[::-1], vectors[:, ::-1]


class _Lanczos:
    """A basis of rows Q, its projection T = Q K Qᵀ, and the number of rows in use."""

    def __init__(self, product: Callable[[Array], Array], n: int, count: int, start: Array, floor: float) -> None:
        self.product, self.count, self.floor = product, count, floor
        self.size = min(max(_BASIS, 6 * count), n - 1)
        self.kept = min(count + 16, self.size - 2)
        self.basis, self.small = np.empty((self.size + 1, n)), np.zeros((self.size + 1, self.size + 1))
        self.used, self.fresh, self.scale = 0, 0, 0.0
        self.rng = np.random.default_rng(n)
        first = start - start.mean()
        length = np.sqrt(first @ first)
        self.basis[0] = first / length if length > 0 else self._fresh()

    def run(self, max_products: int, probe: bool) -> tuple[Array, Array]:
        """Return Ritz values, largest first, and the vectors of those that were asked for."""
        coupling, probing, known = np.empty(0), False, 0.0
        for _ in range(max_products):
            following, beta = self._step(coupling)
            coupling = np.array([beta])
            if following is None or self.used == self.size or (self.used % _CHECK == 0 and self.used >= 2 * _CHECK):
                values, vectors = symmetric_eigh(self.small[: self.used, : self.used])
                values, vectors = values[::-1].copy(), vectors[:, ::-1]
                if following is None or self._converged(values, beta * vectors[-1], probing):
                    if following is None or probing or not probe:
                        values[self.count :] = np.maximum(values[self.count :], known)
                        return values, (vectors[:, : self.count].T @ self.basis[: self.used]).T
                    probing, known = True, float(values[self.count])
                    following, coupling = None, self._keep(self.count, values, vectors, 0.0)
                elif self.used == self.size:
                    coupling = self._keep(self.kept, values, vectors, beta)
            self.basis[self.used] = self._fresh() if following is None else following
        raise ConvergenceError(
            f"{self.count} principal components of a node of {self.basis.shape[1]} documents were not found to "
            f"{TOLERANCE:g} in {max_products} products. Ask for fewer directions, or use a kernel with a clearer "
            "structure."
        )

    def _step(self, coupling: Array) -> tuple[Array | None, float]:
        """Extend T by one row; return the next unit vector and its coupling β, or None when nothing is left.

        `coupling` holds K's entries between the newest vector and those just before it: one number in the middle of a
        run, as many as were kept after a restart.
        """
        j, basis = self.used, self.basis
        rest = self.product(basis[j])
        rest = rest - np.add.reduce(rest) / len(rest)
        first = j - len(coupling)
        rest -= coupling @ basis[first:j]
        self.small[j, first:j] = self.small[first:j, j] = coupling
        self.small[j, j] = alpha = rest @ basis[j]
        rest -= alpha * basis[j]
        before, beta = np.inf, float(np.sqrt(rest @ rest))
        while beta < 0.7 * before:  # against rounding: once is enough, except near the end of what there is
            rest -= (basis[: j + 1] @ rest) @ basis[: j + 1]
            rest -= np.add.reduce(rest) / len(rest)
            before, beta = beta, float(np.sqrt(rest @ rest))
        self.used = j + 1
        self.scale = max(self.scale, abs(alpha), beta)
        if beta > max(_BREAKDOWN * self.scale, 1e-3 * self.floor):
            return rest / beta, beta
        # The start has no more to give. What it did not contain, such as a multiple eigenvalue, a new one finds.
        self.fresh += 1
        return (self._fresh() if self.fresh <= self.count + 1 and self.used < self.size else None), 0.0

    def _fresh(self) -> Array:
        """Return a random unit vector, centred and orthogonal to the basis."""
        vector = self.rng.standard_normal(self.basis.shape[1])
        for _ in range(2):
            vector -= vector.mean()
            vector -= (self.basis[: self.used] @ vector) @ self.basis[: self.used]
        return vector / np.sqrt(vector @ vector)

    def _converged(self, values: Array, residuals: Array, probing: bool) -> bool:
        """Say whether the leading pairs are found; those that will be left out need not be exact.

        While probing, the next pair must be known well enough to tell it from the last of them.
        """
        if len(values) <= self.count:
            return False
        residuals, near = np.abs(residuals[: self.count + 1]), 1e-3 * self.floor
        exact = residuals <= np.maximum(TOLERANCE * values[: self.count + 1], near)
        exact |= values[: self.count + 1] + residuals <= self.floor
        if not exact[: self.count].all():
            return False
        apart = max(0.1 * (values[self.count - 1] - values[self.count]), 1e-8 * values[0], near)
        return not probing or bool(exact[self.count] or residuals[self.count] <= apart)

    def _keep(self, kept: int, values: Array, vectors: Array, beta: float) -> Array:
        """Go on with the leading Ritz vectors alone; return their couplings to the next vector."""
        self.basis[:kept] = vectors[:, :kept].T @ self.basis[: self.used]
        self.small[:] = 0.0
        self.small[np.arange(kept), np.arange(kept)] = values[:kept]
        self.used = kept
        return beta * vectors[-1, :kept]
