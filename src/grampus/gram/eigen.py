"""Compute a few eigenpairs of a Gram or any symmetric operator: dense, by products, or by passes over blocks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._array import Array, Index, as_numpy, is_sparse
from .._backend import current
from .._check import check_choice, check_finite, check_gram_matrix, check_integer
from .._config import may_keep, require_memory, settings
from .._parallel import blas_threads
from ..errors import ConvergenceError, InputError
from .answers import Cost
from .base import Gram, require_gram
from .feature_pairs import longest, pairs_of_columns, pairs_of_terms
from .lanczos import STARTS, TOLERANCE, lanczos
from .lapack import are_orthonormal, symmetric_eigh, symmetric_eigvalsh
from .sources import DenseGram, SparseGram

METHODS = ("lapack", "lanczos", "randomised")
_SMALL = 64  # documents; up to here, or up to _SMALL_PER_PAIR for each pair, LAPACK is faster, and exact
_SMALL_PER_PAIR = 20
_ACCEPTED = 1e-9  # of ‖K‖: the largest residual of an answer
_ORTHONORMAL = 1e-9  # the largest error of a product of two vectors
_SINGLE = 1e5  # factor on these tolerances where the similarities are float32
_ANGLE = 1e-7  # target between the found and the true subspace, where the gap allows it
_SIGN_TIE = 1e-6
_EXTRA = 8  # columns of the randomised block beyond those requested
_DEPTH = 4  # blocks of its basis before a restart
_MAX_PASSES = 300


@dataclass(frozen=True)
class Eigenpairs:
    """Some eigenvalues and eigenvectors, and how they were found.

    Attributes
    ----------
    values : array of shape (l,)
        Largest first; smallest first where the smallest were requested.
    vectors : array of shape (n, l)
        Orthonormal. In each, the entry of largest modulus is positive; among entries equal to within 10⁻⁶, the
        first.
    method : str
        ``"lapack"`` (the whole matrix), ``"lanczos"`` (products with one vector) or ``"randomised"`` (with a block).
    residual : float
        The largest ‖Kv − λv‖, relative to the largest modulus among the eigenvalues found.
    products : int
        Number of vectors multiplied with the Gram; 0 for ``"lapack"``.
    following : float
        Estimate of the next eigenvalue; infinite where there is none.

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
    following: float


def eigenpairs(
    gram: Any,
    count: int,
    *,
    which: str = "largest",
    method: str | None = None,
    seed: int = 0,
    start: Array | None = None,
    tolerance: float | None = None,
    floor: float = -np.inf,
    probe: bool = True,
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
    method : "lapack", "lanczos" or "randomised", optional
        Chosen by cost if omitted: LAPACK up to 64 documents, or 20 per requested pair; Lanczos iteration where products
        are cheap (features, a stored matrix, or one that fits in a quarter of the memory budget); the randomised block
        method where each product recomputes n² similarities, because one pass serves a whole block. LAPACK is also the
        fallback where the chosen method does not converge and the matrix fits, or where there are too few documents
        for the basis of an iteration.
    seed : int
        Seed of the random vectors of the iterations.
    start : array of shape (n,), optional
        Start vector of an iteration; K times a random vector by default.
    tolerance : float, optional
        Tolerance of the residuals, relative to the largest modulus of an eigenvalue; 10⁻¹² by default. The block
        method stops at 10⁻¹¹ where that determines the subspace to 10⁻⁷.
    floor : float
        Omit eigenvalues up to this value, and spend no products on them. Only for the largest.
    probe : bool
        Search for further copies of multiple eigenvalues, which Lanczos iteration may otherwise miss. Costs about a
        fifth more products, two at a time.

    Returns
    -------
    Eigenpairs

    Raises
    ------
    ConvergenceError
        If the residual of a pair stays above 10⁻⁹ of the largest eigenvalue.

    Notes
    -----
    One start vector finds one copy of a multiple eigenvalue, two find two. Where two of the eigenvalues found are
    equal, Lanczos iteration therefore continues from random vectors orthogonal to its answer until these find nothing
    larger. The block method is block Krylov iteration with Rayleigh-Ritz and restarts (Musco & Musco 2015).

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
    if method is not None:
        check_choice(method, "method", METHODS, ", or None")
    seed = check_integer(seed, "seed", low=0)
    held = _as_gram(gram)
    n = len(held)
    count = check_integer(count, "count", low=1, high=n, of=" (the number of documents)")
    if start is not None and np.shape(start) != (n,):
        raise InputError(f"start must have {n} entries, one for each document; got shape {np.shape(start)}.")
    if which == "smallest" and floor != -np.inf:
        raise InputError("floor is for the largest eigenvalues; it cannot be combined with which='smallest'.")
    wanted = _Wanted(count, np.random.default_rng(seed), start, tolerance, floor, probe)
    with blas_threads():
        chosen = method or _choose(held, count)
        if n <= {"lanczos": count + 1, "randomised": _DEPTH * (count + _EXTRA)}.get(chosen, 0):
            chosen = "lapack"
        search = _Search(held, 1.0 if which == "largest" else -1.0)
        try:
            return _solved(search, wanted, chosen)
        except ConvergenceError:
            if method is not None or chosen == "lapack" or not _fits(held):
                raise
        return _solved(search, wanted, "lapack")


@dataclass(frozen=True)
class _Wanted:
    """The parameters of one search."""

    count: int
    rng: np.random.Generator
    start: Array | None
    tolerance: float | None
    floor: float
    probe: bool


class _Search:
    """One search: products with K, or −K for the smallest, in float64.

    Attributes
    ----------
    products : int
        Columns multiplied so far.
    size : float
        Largest modulus of an eigenvalue found so far.
    within : float
        What no residual exceeds, by how the pairs were found; infinite where nothing is known.
    single : bool
        Whether the similarities are float32, so that Kᵀ may differ from K by their rounding.
    namespace : module
        The library of the arrays that are multiplied.
    """

    def __init__(self, gram: Gram, sign: float) -> None:
        self.gram, self.sign, self.products, self.size, self.within = gram, sign, 0, 0.0, np.inf
        self.single = gram.dtype == np.float32
        self.namespace: Any = np
        self._multiply: Callable[[Any], Any] = gram._matmul

    def product(self, v: Any) -> Any:
        """Return ±Kv for v of shape (n, c), in the library of v."""
        self.products += v.shape[1]
        visits = self.namespace is not np and isinstance(v, np.ndarray)
        out = self._multiply(self.namespace.asarray(v) if visits else v)
        out = as_numpy(out) if visits else out
        if not bool(as_numpy(np.isfinite(out).all())):
            raise InputError("A product with the Gram is not finite: the similarities must be finite numbers.")
        out = np.asarray(out, dtype=np.float64) if isinstance(out, np.ndarray) else out
        return out if self.sign > 0 else -out

    def prepare(self) -> None:
        """Make repeated products fast: use features in float64, or the matrix where it fits."""
        cheap = _cheap(self.gram)
        explicit = self.gram.features() if cheap else None
        if explicit is not None:
            self.namespace, self._multiply = current().products(explicit) or (np, self._multiply)
        elif not cheap and _fits(self.gram):
            self.matrix()

    def matrix(self) -> Array:
        """Return K in float64, exactly symmetric, and use it for all further products."""
        n = len(self.gram)
        require_memory(16 * n * n, f"The full {n} × {n} matrix in float64", "Use method='lanczos' or 'randomised'")
        matrix = check_finite(self.gram.dense().astype(np.float64, copy=False))
        if not np.array_equal(matrix, matrix.T):
            matrix = matrix + matrix.T
            matrix *= 0.5
        self._multiply, self.single, self.namespace = lambda v: matrix @ v, False, np
        return matrix


def _as_gram(given: Any) -> Gram:
    """Return a Gram unchanged; wrap a SciPy LinearOperator or a symmetric (sparse) array."""
    if isinstance(given, Gram):
        return given
    if is_sparse(given):
        return SparseGram(given)
    if hasattr(given, "matvec") and hasattr(given, "shape"):
        return _LinearOperatorGram(given)
    return DenseGram.trusted(check_gram_matrix(given, "gram").astype(np.float64, copy=False))


class _LinearOperatorGram(Gram):
    """A SciPy LinearOperator; two products with random vectors test its symmetry."""

    def __init__(self, linear: Any) -> None:
        n, m = linear.shape
        if n != m or n < 1:
            raise InputError(f"gram must be square; got shape {linear.shape}.")
        super().__init__(n, np.float64)
        self.linear = linear
        u, v = np.random.default_rng(0).standard_normal((2, n, 1))
        left, right = self._matmul(u), self._matmul(v)
        size = float(np.sqrt((left**2).sum() * (v**2).sum()))
        if abs(float((left * v).sum() - (right * u).sum())) > 1e-6 * size:
            advice = "Symmetrise it first, with (K + Kᵀ) / 2"
            raise InputError(f"gram must be symmetric; uᵀ(Kv) and vᵀ(Ku) differ. {advice}.")

    def _matmul(self, v: Any) -> Array:
        return np.asarray(self.linear.matmat(v), dtype=np.float64)

    def _block(self, rows: Index, cols: Index) -> Array:
        return self._matmul(np.eye(len(self))[:, cols])[rows]

    def _diagonal(self) -> Array:
        return self._block(slice(None), slice(None)).diagonal()

    def cost(self) -> Cost:
        """Return the cost, with cheap products: that is what an operator is for."""
        n = float(len(self))
        return Cost(n, n, n * n)


def _choose(gram: Gram, count: int) -> str:
    """Pick the cheapest method."""
    n = len(gram)
    if n <= max(_SMALL, _SMALL_PER_PAIR * count) and 3 * 8 * n * n <= settings().memory:
        return "lapack"
    return "lanczos" if _cheap(gram) or _fits(gram) else "randomised"


def _cheap(gram: Gram) -> bool:
    """Return whether a product costs no more than reading a stored matrix."""
    return gram.cost().product <= float(len(gram)) ** 2


def _fits(gram: Gram) -> bool:
    """Return whether the matrix may be stored in float64."""
    return may_keep(8 * len(gram) ** 2)


def _solved(search: _Search, wanted: _Wanted, method: str) -> Eigenpairs:
    """Solve, fix the signs, and check the answer."""
    n, count = len(search.gram), wanted.count
    values, vectors = _SOLVERS[method](search, wanted)
    products = 0 if method == "lapack" else search.products
    if len(values) < count or vectors.shape != (n, count):
        raise _not_converged(search, count, f"{min(len(values), vectors.shape[1])} came")
    real = int((values[:count] > wanted.floor).sum())
    following = float(values[real]) if real < len(values) else -np.inf
    values, vectors = values[:real], fixed_signs(vectors[:, :real])
    if not are_orthonormal(vectors, _ORTHONORMAL):
        raise _not_converged(search, count, "the vectors are not orthonormal")
    size = max(search.size, float(np.abs(values).max(initial=0.0)), np.finfo(np.float64).tiny)
    accepted = max(_ACCEPTED * (_SINGLE if search.single else 1.0), 2e-3 * wanted.floor / size)
    accepted = max(accepted, 2.0 * (wanted.tolerance or 0.0))
    residual = search.within / size
    if not residual <= accepted:
        residual = longest(search.product(vectors) - vectors * values) / size if real else 0.0
    if not residual <= accepted:
        raise _not_converged(search, count, f"a residual of {residual:.1e} of the largest eigenvalue remains")
    if search.sign < 0:
        values, following = -values, -following
    return Eigenpairs(values, vectors, method, residual, products, following)


def fixed_signs(vectors: Array) -> Array:
    """Make the entry of largest modulus of every column positive; among equals, the first."""
    sizes = np.abs(vectors)
    first = (sizes >= (1.0 - _SIGN_TIE) * sizes.max(axis=0, initial=0.0)).argmax(axis=0)
    return vectors * np.where(vectors[first, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)


# -- the methods: each returns values, largest first, with further ones as estimates of what follows, and vectors


def _lapack(search: _Search, wanted: _Wanted) -> tuple[Array, Array]:
    matrix = search.matrix()
    search.size = float(np.abs(matrix).max())
    values, vectors = symmetric_eigh(search.sign * matrix, min(wanted.count + 1, len(matrix)))
    return values[::-1].copy(), vectors[:, ::-1][:, : wanted.count]


def _lanczos(search: _Search, wanted: _Wanted) -> tuple[Array, Array]:
    """Find the pairs from one start vector, then search for copies that it missed."""
    search.prepare()
    try:
        found = _by_features(search, wanted)
        return _by_documents(search, wanted) if found is None else found
    except ConvergenceError as error:
        raise _not_converged(search, wanted.count, str(error)) from None


def _by_documents(search: _Search, wanted: _Wanted) -> tuple[Array, Array]:
    """Find the pairs by products with K itself."""
    given = [] if wanted.start is None else [wanted.start[:, None]]
    more = (STARTS if wanted.probe else 1) - len(given)
    if more:  # in the range of K, where copies of a document have equal entries
        given.append(as_numpy(search.product(wanted.rng.standard_normal((len(search.gram), more)))))
    values, vectors, search.size = lanczos(
        search.product, wanted.count, np.concatenate(given, axis=1),
        tolerance=TOLERANCE if wanted.tolerance is None else wanted.tolerance, floor=wanted.floor,
        probe=wanted.probe, rng=wanted.rng, namespace=search.namespace,
    )  # fmt: skip
    return values, vectors


def _by_features(search: _Search, wanted: _Wanted) -> tuple[Array, Array] | None:
    """Find the pairs of K = YYᵀ from those of YᵀY, where that is faster; None where it is not."""
    features = search.gram.features()
    asked = wanted.start is not None or wanted.floor != -np.inf
    if features is None or asked or search.sign < 0 or search.namespace is not np:
        return None
    tolerance = TOLERANCE if wanted.tolerance is None else wanted.tolerance
    found = pairs_of_terms(features, wanted.count, tolerance, wanted.probe, wanted.rng)
    found = found or pairs_of_columns(features, wanted.count)
    if found is None:
        return None
    search.size, search.within = found.size, found.within
    search.products += found.products
    return found.values, found.vectors


def _randomised(search: _Search, wanted: _Wanted) -> tuple[Array, Array]:
    """Block Krylov iteration: each pass multiplies a block; the basis restarts from its Ritz vectors."""
    count, width = wanted.count, wanted.count + _EXTRA
    least = (wanted.tolerance or TOLERANCE) * (_SINGLE if search.single else 1.0)
    block = wanted.rng.standard_normal((len(search.gram), width))
    if wanted.start is not None:
        block[:, 0] = wanted.start
    basis = np.linalg.qr(block)[0]
    images = search.product(basis)
    residual = np.inf
    for _ in range(_MAX_PASSES):
        values, vectors, turned = _ritz_pairs(basis, images, width)
        search.size = max(search.size, float(np.abs(values).max()))
        rest = turned - vectors * values
        gap = float(values[count - 1] - values[count])
        residual = longest(rest[:, :count][:, values[:count] > wanted.floor])
        if residual <= max(least * search.size, min(_ANGLE * gap, 1e-2 * _ACCEPTED * search.size)):
            return values[: count + 1], vectors[:, :count]
        if basis.shape[1] + width > _DEPTH * width:
            basis, images = vectors, turned
        fresh = rest
        for _ in range(2):
            fresh = fresh - basis @ (basis.T @ fresh)
            fresh = np.linalg.qr(fresh)[0]
        basis, images = np.concatenate([basis, fresh], axis=1), np.concatenate([images, search.product(fresh)], axis=1)
    what = f"after {_MAX_PASSES} passes a residual of {residual / search.size:.1e} remains"
    raise _not_converged(search, count, what)


def _ritz_pairs(basis: Array, images: Array, count: int) -> tuple[Array, Array, Array]:
    """Return the leading Ritz values, vectors and the images of these, from an orthonormal basis Q and KQ."""
    small = basis.T @ images
    values, turn = symmetric_eigh(small)
    turn = turn[:, ::-1][:, :count]
    return values[::-1][:count].copy(), basis @ turn, images @ turn


def _not_converged(search: _Search, count: int, what: str) -> ConvergenceError:
    return ConvergenceError(
        f"The {count} wanted eigenpairs of {search.gram!r} were not all found: {what}. Request fewer, choose a kernel "
        "with a clearer structure, or use method='lapack' if the whole matrix fits in memory."
    )


_SOLVERS = {"lapack": _lapack, "lanczos": _lanczos, "randomised": _randomised}


# -- eigenvalues alone -----------------------------------------------------------------------------------------------


def eigenvalues(gram: Gram, count: int | None = None) -> Array:
    """Return the eigenvalues, largest first.

    Parameters
    ----------
    gram : Gram
    count : int, optional
        Only the `count` largest, from products alone, without storing the Gram. All of them by default, which needs
        the whole matrix (in float64) within the memory budget.

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
    n = len(require_gram(gram))
    if count is not None:
        count = check_integer(count, "count", low=1, high=n, of=" (the number of documents)")
    if count is None or n <= max(_SMALL, _SMALL_PER_PAIR * count):
        with blas_threads():
            return symmetric_eigvalsh(gram.dense().astype(np.float64, copy=False))[::-1][:count].copy()
    return eigenpairs(gram, count).values


def smallest_eigenvalue(gram: Gram) -> float:
    """Return λ_min, from products alone when the Gram is large."""
    return float(eigenpairs(gram, 1, which="smallest").values[0])
