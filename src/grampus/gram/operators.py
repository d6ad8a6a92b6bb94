"""What an eigenvalue solver sees: n, products, the dense matrix, and what these cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._array import Array, is_sparse
from .._check import check_gram_matrix
from .._config import require_memory, settings
from ..errors import InputError
from .base import Gram
from .sources import SparseGram


class Operator:
    """A symmetric operator in float64.

    Attributes
    ----------
    n : int
    cheap : bool
        Whether a product costs less than a pass over n² similarities that must be computed.
    single : bool
        Whether the similarities are float32, so that Kᵀ may differ from K by their rounding.
    products : int
        Columns multiplied so far.
    size : float
        The largest modulus of an eigenvalue seen so far.
    """

    def __init__(
        self,
        n: int,
        multiply: Callable[[Array], Array],
        matrix: Callable[[], Array],
        cheap: bool,
        name: str,
        single: bool = False,
    ) -> None:
        self.n, self.cheap, self.single, self.products, self.size = n, cheap, single, 0, 0.0
        self._multiply, self._matrix, self._name, self._sign = multiply, matrix, name, 1.0

    def __repr__(self) -> str:
        return self._name

    def product(self, v: Array) -> Array:
        """Return Kv for v of shape (n, c)."""
        self.products += v.shape[1]
        out = self._multiply(v)
        return out if self._sign > 0 else -out

    def dense(self) -> Array:
        """Return the matrix in float64, symmetric to the last bit."""
        n = self.n
        require_memory(16 * n * n, f"The full {n} × {n} matrix in float64", "Use method='arpack' or 'randomised'")
        matrix = self._matrix()
        if not np.isfinite(matrix).all():
            raise InputError("The similarities must be finite; some are NaN or infinite.")
        matrix = matrix + matrix.T
        matrix *= self._sign / 2.0
        return matrix

    @property
    def fits(self) -> bool:
        """Whether the matrix may be kept: a quarter of the budget."""
        return 8 * self.n**2 <= settings().memory // 4

    def stored(self) -> Operator:
        """Return the operator with its matrix kept in memory, where products would compute it each time."""
        return self if self.cheap or not self.fits else self.whole()

    def whole(self) -> Operator:
        """Return the operator as its matrix."""
        matrix = self.dense()
        other = Operator(self.n, lambda v: matrix @ v, lambda: matrix, True, self._name)
        other.size = self.size
        return other

    def negated(self) -> Operator:
        """Return −K."""
        other = Operator(self.n, self._multiply, self._matrix, self.cheap, self._name, self.single)
        other._sign = -self._sign
        return other


def operator(given: Any) -> Operator:
    """Return a Gram, a SciPy LinearOperator, or a symmetric (sparse) array as an operator."""
    if is_sparse(given):
        given = SparseGram(given)
    if isinstance(given, Gram):
        gram = given
        return Operator(
            len(gram),
            lambda v: np.asarray(gram._matmul(v), dtype=np.float64),
            lambda: gram.dense().astype(np.float64, copy=False),
            gram.cost().product <= float(len(gram)) ** 2,
            repr(gram),
            gram.dtype == np.float32,
        )
    if hasattr(given, "matvec") and hasattr(given, "shape"):
        return _from_linear_operator(given)
    matrix = check_gram_matrix(given, "gram").astype(np.float64, copy=False)
    return Operator(
        len(matrix), lambda v: matrix @ v, lambda: matrix, True, f"a matrix of {len(matrix)} × {len(matrix)}"
    )


def _from_linear_operator(linear: Any) -> Operator:
    """Wrap a LinearOperator; two products with random vectors tell whether it can be symmetric."""
    n, m = linear.shape
    if n != m or n < 1:
        raise InputError(f"gram must be square; got shape {linear.shape}.")

    def multiply(v: Array) -> Array:
        return np.asarray(linear.matmat(v), dtype=np.float64)

    rng = np.random.default_rng(0)
    u, v = rng.standard_normal((2, n, 1))
    left, right = multiply(u), multiply(v)
    size = float(np.sqrt((left**2).sum() * (v**2).sum()))
    if abs(float((left * v).sum() - (right * u).sum())) > 1e-6 * size:
        raise InputError("gram must be symmetric; uᵀ(Kv) and vᵀ(Ku) differ. Symmetrise it first, with (K + Kᵀ) / 2.")
    return Operator(n, multiply, lambda: multiply(np.eye(n)), True, f"an operator of {n} × {n}")
