"""Eigenpairs of K = YYᵀ from those of YᵀY, as u = Yw / √λ: of many documents with few features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import norm

from .._array import Array, is_sparse
from .._native.vectors import SparseProducts
from .._parallel import results_in_threads, team
from .answers import Features
from .lanczos import STARTS, lanczos
from .lapack import symmetric_eigh

_MANY = 20_000  # documents, twice as many as terms: the terms' side has shorter vectors and products in threads
_SEVERAL, _NARROW = 2_000, 1_024  # documents, and dense columns of which all products with each other are computed
_PARTS, _STEP = 8, 4_096  # of the documents, for these products; each part holds all of them
_SMALLEST = 1e-4  # of ‖K‖: with smaller pairs the documents' vectors would lose too many digits


class Pairs(NamedTuple):
    """Eigenvalues, largest first, with further ones as estimates of what follows, and vectors of the documents.

    Attributes
    ----------
    values : array
    vectors : array of shape (n, count)
    size : float
        The largest eigenvalue.
    within : float
        What no ‖Ku − λu‖ exceeds.
    products : int
        How many vectors were multiplied.
    """

    values: Array
    vectors: Array
    size: float
    within: float
    products: int


def pairs_of_terms(
    features: Features, count: int, tolerance: float, probe: bool, rng: np.random.Generator
) -> Pairs | None:
    """Find the largest pairs by Lanczos iteration where features are sparse and few; None where they are not.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram
    >>> from grampus.gram.feature_pairs import pairs_of_terms
    >>> pairs_of_terms(LinearGram(np.eye(3)).features(), 1, 1e-12, True, np.random.default_rng(0)) is None
    True
    """
    n, x = len(features.scale), features.rows
    if not is_sparse(x) or x.dtype != np.float64 or n < _MANY or not count + 1 < x.shape[1] <= n / 2:
        return None
    rows, products = SparseProducts(x), 0

    def product(w: Array) -> Array:
        nonlocal products
        products += w.shape[1]
        return rows.times_square(features.scale, w, team())

    start = features.project(rng.standard_normal((n, STARTS if probe else 1)))
    if not np.isfinite(start).all():
        return None
    values, vectors, size = lanczos(product, count, start, tolerance=tolerance, probe=probe, rng=rng)
    return _of_documents(features, values, vectors, size, products)


def pairs_of_columns(features: Features, count: int) -> Pairs | None:
    """Find the largest pairs by LAPACK where features are dense and few; None where they are not.

    Lanczos iteration reads Y some hundred times; the products of its columns need it once, and more threads than one.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram
    >>> from grampus.gram.feature_pairs import pairs_of_columns
    >>> pairs_of_columns(LinearGram(np.repeat(np.diag([3.0, 2.0, 1.0]), 800, axis=0)).features(), 1).values.round(6)
    array([7200., 3200.])
    """
    n, x = len(features.scale), features.rows
    if is_sparse(x) or x.dtype != np.float64 or n < _SEVERAL or not count + 1 < x.shape[1] <= min(_NARROW, n / 2):
        return None
    width, size = x.shape[1], max(_STEP, -(-n // _PARTS))

    def part(i: int) -> Array:
        total = np.zeros((width, width))
        for first in range(i * size, min((i + 1) * size, n), _STEP):
            held = slice(first, min(first + _STEP, (i + 1) * size))
            y = x[held] * features.scale[held, None]
            total += y.T @ y
        return total

    matrix = np.asarray(sum(results_in_threads(part, -(-n // size))))
    if not np.isfinite(matrix).all():
        return None
    values, vectors = symmetric_eigh(matrix, count + 1)
    return _of_documents(features, values[::-1], vectors[:, :0:-1], float(values[-1]), width)


def _of_documents(features: Features, values: Array, vectors: Array, size: float, products: int) -> Pairs | None:
    """Turn pairs of YᵀY into those of YYᵀ; None where the last is too small for that."""
    count = vectors.shape[1]
    if not values[count - 1] > _SMALLEST * size:
        return None
    roots = np.sqrt(values[:count])
    found = features.onto(vectors) / roots
    # Ku − λu = Y(Yᵀu − √λ w), and ‖Y‖² is the largest eigenvalue: half of what multiplying with K would take.
    within = float(np.sqrt(values[0])) * longest(features.project(found) - vectors * roots)
    return Pairs(values, found, size, within, products)


def longest(columns: Array) -> float:
    """Return the largest norm of a column; BLAS computes norms without overflow or underflow.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram.feature_pairs import longest
    >>> longest(np.array([[3.0, 1.0], [4.0, 1.0]]))
    5.0
    """
    return max((float(norm(column, check_finite=False)) for column in columns.T), default=0.0)
