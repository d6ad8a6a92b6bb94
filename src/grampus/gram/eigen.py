"""Eigenvalues of a Gram."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigvalsh

from .._array import Array
from .._check import check_integer
from .._parallel import blas_threads
from ..errors import ConvergenceError
from .base import Gram

# Below this size LAPACK on the whole matrix is quicker than an iteration, and exact.
_SMALL = 600


def eigenvalues(gram: Gram, count: int | None = None) -> Array:
    """Return the eigenvalues, largest first.

    Parameters
    ----------
    gram : Gram
    count : int, optional
        Only the `count` largest, found with products alone, without storing the Gram. All of them by default, which
        needs the whole matrix (in float64) within the memory budget.

    Returns
    -------
    array of shape (count,) or (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import DenseGram, eigenvalues
    >>> eigenvalues(DenseGram(np.diag([1.0, 3.0, 2.0])))
    array([3., 2., 1.])
    """
    n = len(gram)
    if count is not None:
        count = check_integer(count, "count", low=1, high=n, of=" (the number of documents)")
    if count is None or n <= _SMALL or count > n // 4:
        with blas_threads():
            return np.asarray(eigvalsh(gram.dense().astype(np.float64, copy=False)))[::-1][:count].copy()
    return np.sort(_extreme(gram, count, "LA"))[::-1].copy()


def smallest_eigenvalue(gram: Gram) -> float:
    """Return λ_min, from products alone when the Gram is large."""
    return float(eigenvalues(gram)[-1]) if len(gram) <= _SMALL else float(_extreme(gram, 1, "SA")[0])


def _extreme(gram: Gram, count: int, which: str) -> Array:
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    start = np.random.default_rng(0).standard_normal(len(gram))
    try:
        with blas_threads():
            return np.asarray(
                eigsh(gram.to_linear_operator(), k=count, which=which, v0=start, return_eigenvectors=False)
            )
    except ArpackNoConvergence as error:
        raise ConvergenceError(
            f"{len(error.eigenvalues)} of {count} eigenvalues converged for {gram!r}. Ask for fewer, or use a Gram "
            "small enough for its whole spectrum (count=None)."
        ) from error
