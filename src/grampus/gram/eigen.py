"""A few eigenpairs of a Gram or of any symmetric operator: dense, by products, or by passes over blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import norm

from .._array import Array
from .._check import check_integer
from .._config import settings
from .._parallel import blas_threads
from ..errors import ConvergenceError, InputError
from .base import Gram, check_gram
from .lapack import are_orthonormal, symmetric_eigh, symmetric_eigvalsh
from .operators import Operator, operator

METHODS = ("lapack", "arpack", "randomised")
# Below this size LAPACK on the whole matrix is quicker than an iteration, and exact.
_SMALL = 600
_ROUNDING = 1e-12  # of ‖K‖: residuals below it are as good as 0
_ACCEPTED = 1e-9  # of ‖K‖: the largest residual of an answer
_ORTHONORMAL = 1e-9  # the largest error of a product of two vectors
_SINGLE = 1e5  # times as much where the similarities are float32
_ANGLE = 1e-7  # wanted between the found and the true subspace, where the gap allows it
_SIGN_TIE = 1e-6
_EXTRA = 8  # columns of the randomised block beyond those asked for
_DEPTH = 4  # blocks of its basis before a restart
_MAX_PASSES = 300
_MAX_RESTARTS = 300
_POWER_STEPS = 6


@dataclass(frozen=True)
class Eigenpairs:
    """Some eigenvalues and eigenvectors, and how they were found.

    Attributes
    ----------
    values : array of shape (l,)
        Largest first; smallest first where the smallest were asked for.
    vectors : array of shape (n, l)
        Of unit length and orthogonal. In each, the entry of largest modulus is positive; of entries that are equally
        large to 10⁻⁶, the first.
    method : str
        ``"lapack"`` (the whole matrix), ``"arpack"`` (products with one vector) or ``"randomised"`` (with a block).
    residual : float
        The largest ‖Kv − λv‖, relative to the largest modulus among the eigenvalues found.
    products : int
        How many vectors were multiplied with the Gram; 0 for ``"lapack"``.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import DenseGram, eigenpairs
    >>> pairs = eigenpairs(DenseGram(np.diag([1.0, 3.0, 2.0])), 2)
    >>> pairs.values, pairs.method
    (array([3., 2.]), 'lapack')
    """

    values: Array
    vectors: Array
    method: str
    residual: float
    products: int


def eigenpairs(
    gram: Any, count: int, *, which: str = "largest", method: str | None = None, seed: int = 0
) -> Eigenpairs:
    """Return the `count` largest eigenvalues, by value and not by modulus, with their eigenvectors.

    Parameters
    ----------
    gram : Gram, SciPy LinearOperator, or symmetric array or sparse array
        Need not be positive semi-definite.
    count : int
        l, from 1 to n.
    which : "largest" or "smallest"
        Which end of the spectrum.
    method : "lapack", "arpack" or "randomised", optional
        Chosen by cost if left out: LAPACK up to 600 documents or when more than a quarter of the spectrum is wanted;
        ARPACK where products are cheap (features, a stored matrix, or one that fits in a quarter of the memory
        budget); the randomised block method where each product is a pass over n² similarities that must be computed
        anew, because a pass serves a whole block. Where the choice does not converge, LAPACK if the matrix fits; also
        where there are too few documents for the basis of an iteration.
    seed : int
        Of the vectors that the iterations start from.

    Returns
    -------
    Eigenpairs

    Raises
    ------
    ConvergenceError
        If the residual of a pair stays above 10⁻⁹ of the largest eigenvalue.

    Notes
    -----
    One vector sees one copy of a multiple eigenvalue. Once ARPACK has its answer, the operator without the pairs found
    is searched from another start, and again until it holds nothing larger. The block method is block Krylov iteration
    with Rayleigh-Ritz and restarts (Musco & Musco 2015).

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram, eigenpairs
    >>> pairs = eigenpairs(LinearGram(np.array([[1.0], [2.0], [2.0]])), 1)
    >>> pairs.values.round(6), pairs.vectors[:, 0].round(3)
    (array([9.]), array([0.333, 0.667, 0.667]))
    """
    if which not in ("largest", "smallest"):
        raise InputError(f"which must be 'largest' or 'smallest'; got {which!r}.")
    if method is not None and method not in METHODS:
        raise InputError(f"method must be one of {', '.join(map(repr, METHODS))}, or None; got {method!r}.")
    seed = check_integer(seed, "seed", low=0)
    held = operator(gram)
    count = check_integer(count, "count", low=1, high=held.n, of=" (the number of documents)")
    with blas_threads():
        chosen = method or _choose(held, count)
        if held.n <= {"arpack": count + 1, "randomised": _DEPTH * (count + _EXTRA)}.get(chosen, 0):
            chosen = "lapack"
        if chosen != "randomised":
            held = held.whole() if chosen == "lapack" else held.stored()
        if which == "smallest":
            held = held.negated()
        held.size = _norm(held, seed)
        if held.size == 0.0:
            return Eigenpairs(np.zeros(count), np.eye(held.n, count), chosen, 0.0, held.products)
        try:
            return _solved(held, count, chosen, seed, which)
        except ConvergenceError:
            if method is not None or chosen == "lapack" or not held.fits:
                raise
        return _solved(held.whole(), count, "lapack", seed, which)


def _choose(held: Operator, count: int) -> str:
    """Pick the cheapest method."""
    dense = 3 * 8 * held.n**2 <= settings().memory
    if dense and (held.n <= _SMALL or 4 * count > held.n):
        return "lapack"
    return "arpack" if held.cheap or held.fits else "randomised"


def _norm(held: Operator, seed: int) -> float:
    """Return about the largest modulus of an eigenvalue, never more, by a few steps of the power method."""
    v, size = np.random.default_rng(seed).standard_normal((held.n, 1)), 0.0
    for _ in range(_POWER_STEPS):
        v = held.product(v / _longest(v))
        size = _longest(v)
        if not np.isfinite(size):
            raise InputError("A product with the Gram is not finite: the similarities must be finite numbers.")
        if size == 0.0:
            break
    return size


def _solved(held: Operator, count: int, method: str, seed: int, which: str) -> Eigenpairs:
    """Solve, fix the signs, and let no answer out that is none."""
    values, vectors = _SOLVERS[method](held, count, seed)
    if values.shape != (count,) or vectors.shape != (held.n, count):
        raise _not_converged(held, count, f"{len(values)} came")
    if not are_orthonormal(vectors, _ORTHONORMAL):
        raise _not_converged(held, count, "the vectors are not orthonormal")
    vectors, products = fixed_signs(vectors), held.products
    rest = held.product(vectors) - vectors * values
    residual = _longest(rest) / max(held.size, float(np.abs(values).max()))
    if not residual <= _ACCEPTED * (_SINGLE if held.single else 1.0):
        raise _not_converged(held, count, f"a residual of {residual:.1e} of the largest eigenvalue remains")
    values = -values if which == "smallest" else values
    return Eigenpairs(values, vectors, method, residual, 0 if method == "lapack" else products)


def _longest(columns: Array) -> float:
    """Return the largest norm of a column, by BLAS, whose norm neither overflows nor underflows."""
    return max(float(norm(column, check_finite=False)) for column in columns.T)


def fixed_signs(vectors: Array) -> Array:
    """Make the entry of largest modulus of every column positive; among equals, the first."""
    sizes = np.abs(vectors)
    first = (sizes >= (1.0 - _SIGN_TIE) * sizes.max(axis=0, initial=0.0)).argmax(axis=0)
    return vectors * np.where(vectors[first, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)


# -- the methods: each returns values, largest first, and vectors -----------------------------------------------------


def _lapack(held: Operator, count: int, seed: int) -> tuple[Array, Array]:
    values, vectors = symmetric_eigh(held.dense(), count)
    return values[::-1].copy(), vectors[:, ::-1]


def _arpack(held: Operator, count: int, seed: int) -> tuple[Array, Array]:
    """Find the pairs from one start, then look for what it missed until there is nothing."""
    rng = np.random.default_rng(seed)
    values, vectors = _lanczos(held, count, rng, None)
    held.size = max(held.size, float(np.abs(values).max()))
    for _ in range(count):
        # What is left beside the pairs found need only be known well enough to compare with them.
        missed, _ = _lanczos(held, 1, rng, (values, vectors), tolerance=1e-7)
        if missed[0] <= values[-1] + 1e-9 * held.size:
            break
        _, found = _lanczos(held, 1, rng, (values, vectors))
        # Copies of one eigenvalue come together: Rayleigh-Ritz on all of them puts each in its place.
        basis = np.linalg.qr(np.concatenate([vectors, found], axis=1))[0]
        values, vectors = _ritz(basis, held.product(basis), count)
    return values, vectors


def _lanczos(
    held: Operator, count: int, rng: np.random.Generator, without: Any, *, tolerance: float = 0.1 * _ROUNDING
) -> tuple[Array, Array]:
    """Return the largest pairs by ARPACK; `without` are pairs to leave out, sent below all others."""
    from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

    def product(v: Array) -> Array:
        out = held.product(v.reshape(-1, 1))[:, 0] / unit + v.reshape(-1)
        if without is not None:
            values, vectors = without
            out -= vectors @ ((values / unit + 2.0) * (vectors.T @ v.reshape(-1)))
        return out

    unit = 1.5 * held.size  # ARPACK's tolerance is relative to λ, if that is not tiny; with K/unit + I it is to ‖K‖
    start = rng.standard_normal(held.n)
    basis = min(held.n, max(2 * count + 1, 20))
    try:
        linear = LinearOperator((held.n, held.n), product, dtype=np.float64)
        values, vectors = eigsh(linear, k=count, which="LA", v0=start, ncv=basis, maxiter=_MAX_RESTARTS, tol=tolerance)
    except ArpackNoConvergence as error:
        found = len(error.eigenvalues)
        raise _not_converged(held, count, f"{found} were found in {_MAX_RESTARTS} restarts") from error
    except ArpackError as error:
        raise _not_converged(held, count, f"ARPACK says: {error}") from error
    order = np.argsort(-values, kind="stable")
    return (values[order] - 1.0) * unit, vectors[:, order]


def _randomised(held: Operator, count: int, seed: int) -> tuple[Array, Array]:
    """Block Krylov iteration: each pass multiplies a block; the basis restarts from its Ritz vectors."""
    n = held.n
    width, least = count + _EXTRA, _ROUNDING * (_SINGLE if held.single else 1.0)
    block = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, width)))[0]
    basis, images = block, held.product(block)
    residual = np.inf
    for _ in range(_MAX_PASSES):
        values, vectors, turned = _ritz_pairs(basis, images, width)
        held.size = max(held.size, float(np.abs(values).max()))
        rest = turned - vectors * values
        gap = float(values[count - 1] - values[count])
        residual = _longest(rest[:, :count])
        near = max(least * held.size, min(_ANGLE * gap, 1e-2 * _ACCEPTED * held.size))
        if residual <= near:
            return values[:count], vectors[:, :count]
        if basis.shape[1] + width > _DEPTH * width:
            basis, images = vectors, turned
        fresh = rest
        for _ in range(2):
            fresh = fresh - basis @ (basis.T @ fresh)
            fresh = np.linalg.qr(fresh)[0]
        basis, images = np.concatenate([basis, fresh], axis=1), np.concatenate([images, held.product(fresh)], axis=1)
    raise _not_converged(held, count, f"after {_MAX_PASSES} passes a residual of {residual / held.size:.1e} remains")


def _ritz_pairs(basis: Array, images: Array, count: int) -> tuple[Array, Array, Array]:
    """Return the leading Ritz values, vectors and the images of these, from an orthonormal basis Q and KQ."""
    small = basis.T @ images
    values, turn = symmetric_eigh(small)
    turn = turn[:, ::-1][:, :count]
    return values[::-1][:count].copy(), basis @ turn, images @ turn


def _ritz(basis: Array, images: Array, count: int) -> tuple[Array, Array]:
    return _ritz_pairs(basis, images, count)[:2]


def _not_converged(held: Operator, count: int, what: str) -> ConvergenceError:
    return ConvergenceError(
        f"The {count} wanted eigenpairs of {held!r} were not all found: {what}. Ask for fewer, choose a kernel with a "
        "clearer structure, or use method='lapack' if the whole matrix fits in memory."
    )


_SOLVERS = {"lapack": _lapack, "arpack": _arpack, "randomised": _randomised}


# -- eigenvalues alone -----------------------------------------------------------------------------------------------


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
    n = len(check_gram(gram))
    if count is not None:
        count = check_integer(count, "count", low=1, high=n, of=" (the number of documents)")
    if count is None or n <= _SMALL or count > n // 4:
        with blas_threads():
            return symmetric_eigvalsh(gram.dense().astype(np.float64, copy=False))[::-1][:count].copy()
    return eigenpairs(gram, count).values


def smallest_eigenvalue(gram: Gram) -> float:
    """Return λ_min, from products alone when the Gram is large."""
    return float(eigenpairs(gram, 1, which="smallest").values[0])
