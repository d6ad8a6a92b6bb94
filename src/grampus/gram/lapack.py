"""Checked dense decompositions: LAPACK's answers differ between builds, and some are incomplete or wrong.

On ARM, ``syevr`` returns no vector at all when one copy of a multiple eigenvalue is requested. Every answer is
therefore compared with its matrix, and the next driver is tried where it does not fit.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from .._array import Array
from .._check import check_finite
from ..errors import ConvergenceError

_ACCEPTED = 1e-10  # of the largest modulus of an entry or eigenvalue; LAPACK itself is good to about 1e-14 √n


def symmetric_eigh(matrix: Array, count: int | None = None) -> tuple[Array, Array]:
    """Return the `count` largest eigenvalues of a symmetric matrix, smallest first, and their eigenvectors.

    All of them by default, as in ``numpy.linalg.eigh``. A matrix that differs from its transpose by rounding is
    symmetrised. The answer is checked: complete, finite, orthonormal, each pair with a small residual.

    Raises
    ------
    InputError
        If an entry is not finite.
    ConvergenceError
        If no driver of LAPACK returns such an answer.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram.lapack import symmetric_eigh
    >>> symmetric_eigh(np.diag([1.0, 3.0, 2.0]), 2)[0]
    array([2., 3.])
    """
    n, matrix = len(matrix), _symmetric(matrix)
    wanted = n if count is None else count
    attempts: list[Callable[[], tuple[Array, Array]]] = [
        lambda: np.linalg.eigh(matrix),
        lambda: scipy.linalg.eigh(matrix, driver="ev", check_finite=False),
    ]
    if wanted < n:
        # The transpose is in LAPACK's order.
        some = [n - wanted, n - 1]
        attempts.insert(0, lambda: scipy.linalg.eigh(matrix.T, subset_by_index=some, check_finite=False))

    def fits(found: tuple[Array, Array]) -> tuple[Array, Array] | None:
        values, vectors = found[0][-wanted:], found[1][:, -wanted:]
        return (values, vectors) if _are_eigenpairs(matrix, values, vectors, wanted) else None

    return _first(attempts, fits, matrix, "eigenvectors")


def symmetric_eigvalsh(matrix: Array) -> Array:
    """Return all eigenvalues of a symmetric matrix, smallest first, checked by their sum and sum of squares."""
    matrix = _symmetric(matrix)

    def fits(values: Array) -> Array | None:
        if values.shape != (len(matrix),) or not np.isfinite(values).all():
            return None
        size = _largest(matrix) or 1.0
        scaled, entries = values / size, (matrix / size).reshape(-1)
        squares, near = float(entries @ entries), _ACCEPTED * len(matrix)
        right = abs(scaled.sum() - np.trace(matrix / size)) <= near * max(np.sqrt(squares), 1.0)
        return values if right and abs(scaled @ scaled - squares) <= near * max(squares, 1.0) else None

    return _first([lambda: np.linalg.eigvalsh(matrix), lambda: symmetric_eigh(matrix)[0]], fits, matrix, "eigenvalues")


def are_orthonormal(vectors: Array, near: float = _ACCEPTED) -> bool:
    """Return whether the columns are orthonormal; False where there are NaN."""
    return bool(_largest(vectors.T @ vectors - np.eye(vectors.shape[1])) <= near)


def _symmetric(matrix: Array) -> Array:
    return matrix if np.array_equal(matrix, matrix.T) else (matrix + matrix.T) / 2.0


def _are_eigenpairs(matrix: Array, values: Array, vectors: Array, count: int) -> bool:
    if values.shape != (count,) or vectors.shape != (len(matrix), count) or not np.isfinite(values).all():
        return False
    near = _ACCEPTED * max(_largest(matrix), _largest(values))
    return are_orthonormal(vectors) and bool(_largest(matrix @ vectors - vectors * values) <= near)


def _largest(entries: Array) -> float:
    return float(np.abs(entries).max(initial=0.0))


def _first(attempts: Any, fits: Callable[[Any], Any], matrix: Array, what: str) -> Any:
    """Return the answer of the first attempt that fits the matrix."""
    check_finite(matrix)
    for attempt in attempts:
        try:
            answer = fits(attempt())
        except (np.linalg.LinAlgError, ConvergenceError):
            continue
        if answer is not None:
            return answer
    raise ConvergenceError(
        f"LAPACK found no {what} of a {matrix.shape[0]} × {matrix.shape[1]} matrix that satisfy it. Scale the "
        "similarities to the order of 1; if that does not help, reinstall NumPy and SciPy."
    )
