"""The hot loops, compiled: kernel k-means, neighbours, near-duplicates, the map, the subsequence kernel.

Arrays are checked here, before C++ sees them; types and layout are fixed by copying only where they differ. Every
function releases the interpreter's lock, so threads can share the work: on different runs, or on ranges of one.

Double precision decides. Its sums have one fixed order and no fused operations, so results have the same bits on every
instruction set and for any number of threads. Single precision only rules out what a certified bound allows.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from . import _core
from ._core import Documents as Documents
from ._core import Outcome as Outcome
from ._core import Panels as Panels
from ._core import Postings as Postings
from ._core import Run as Run
from ._core import Sparse as Sparse
from ._core import Team as Team

Array: TypeAlias = NDArray[Any]

LANES = 8  # pairs of strings compared together
JOINS = -2  # the label of a document that first joins the nearest labelled one; −1 is only predicted
_MOST = 2**31 - 1


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise InputError(f"{rule}. This is a bug in Grampus.")


def _numbers(values: Any, shape: tuple[int, ...], name: str, dtype: Any = np.float64) -> Array:
    array = np.require(values, dtype, ["C_CONTIGUOUS", "ALIGNED"])
    _require(array.shape == shape, f"{name} must have shape {shape}; got {array.shape}")
    return array


def _either(values: Any, ndim: int, name: str) -> Array:
    """Return floats as they are, other numbers as float64."""
    array = np.asarray(values)
    dtype = array.dtype if array.dtype in (np.float32, np.float64) else np.float64
    array = np.require(array, dtype, ["C_CONTIGUOUS", "ALIGNED"])
    _require(array.ndim == ndim, f"{name} must have {ndim} dimensions; got {array.ndim}")
    return array


def stored_documents(matrix: Any, diagonal: Any, weights: Any) -> _core.Stored:
    """Return documents given by their n × n similarities in float32 or float64.

    With None the caller adds the similarities to `Run.sums` after every `Run.advance`.
    """
    n = len(diagonal)
    if matrix is not None:
        matrix = _either(matrix, 2, "matrix")
        _require(matrix.shape == (n, n), f"matrix must have shape {(n, n)}; got {matrix.shape}")
    return _core.Stored(matrix, _numbers(diagonal, (n,), "diagonal"), _numbers(weights, (n,), "weights"))


def dense_documents(rows: Any, diagonal: Any, weights: Any) -> _core.Dense:
    """Return documents given by dense features, (n, m)."""
    n = len(diagonal)
    rows = np.require(rows, np.float64, ["C_CONTIGUOUS", "ALIGNED"])
    whole = rows.ndim == 2 and len(rows) == n and rows.shape[1] > 0
    _require(whole, f"rows must have shape ({n}, m); got {rows.shape}")
    return _core.Dense(rows, _numbers(diagonal, (n,), "diagonal"), _numbers(weights, (n,), "weights"))


def sparse_documents(rows: Any, scale: Any, diagonal: Any, weights: Any) -> Sparse:
    """Return documents given by sparse features (CSR) of shape (n, m), row i times ``scale[i]``."""
    n, m = rows.shape
    data, indices = _either(rows.data, 1, "data"), np.require(rows.indices, np.int32, ["C_CONTIGUOUS", "ALIGNED"])
    indptr = _numbers(rows.indptr, (n + 1,), "indptr", np.int64)
    _require(max(n, m) <= _MOST, "rows must have fewer than 2³¹ rows and columns")
    _require(bool(indptr[0] == 0 and (np.diff(indptr) >= 0).all()), "indptr must begin with 0 and not fall")
    _require(len(data) == len(indices) >= indptr[-1], "data and indices must be as long as indptr says")
    used = indices[: indptr[-1]]
    _require(len(used) == 0 or (used.min() >= 0 and used.max() < m), f"indices must be from 0 to {m - 1}")
    figures = (_numbers(values, (n,), name) for values, name in ((diagonal, "diagonal"), (weights, "weights")))
    return _core.Sparse(data, indices, indptr, _numbers(scale, (n,), "scale"), m, *figures)


def tree_joins(points: Any, ward: bool, apart: bool = False) -> Array:
    """Return the joins of a tree of points (n, m) by Ward's rule or average linkage, (n − 1, 2), nearest first.

    Each is the numbers of two nodes, the smaller first; join i makes node n + i. With `apart`, the distances of all
    pairs (n, n), those above the diagonal, are given instead of points.
    """
    points = _numbers(points, np.shape(points), "points")
    whole = points.ndim == 2 and 0 < len(points) <= _MOST and (not apart or points.shape[0] == points.shape[1])
    _require(whole and bool(np.isfinite(points).all()), f"points must be (n, m) and finite; got shape {points.shape}")
    joins = np.empty((len(points) - 1, 2), dtype=np.int64)
    _core.join(points, apart, ward, joins)
    return joins


def centres(points: Any, labels: Any, k: int) -> Array:
    """Return the mean of each cluster of points (n, m); that of an empty one is far away from everything, 1e6."""
    points = _numbers(points, np.shape(points), "points")
    labels = _numbers(labels, (len(points),), "labels", np.int64)
    _require(bool(((labels >= 0) & (labels < k)).all()), f"labels must be from 0 to {k - 1}")
    means = np.empty((k, points.shape[1]))
    _core.centres(points, labels, means)
    return means


def nearest_centres(points: Any, centres: Any) -> Array:
    """Return the nearest of the centres (k, m) of each of the points (n, m), the first of several equally near ones."""
    points, centres = _numbers(points, np.shape(points), "points"), _numbers(centres, np.shape(centres), "centres")
    fits = points.ndim == centres.ndim == 2 and points.shape[1] == centres.shape[1] > 0 and 0 < len(centres) <= _MOST
    _require(
        fits and len(points) <= _MOST,
        f"points and centres must have columns alike; got {points.shape}, {centres.shape}",
    )
    labels = np.zeros(len(points), dtype=np.int64)
    if len(points):
        _core.nearest_centres(points, centres, labels)
    return labels


def start_run(
    documents: Documents,
    labels: Any,
    k: int,
    rule: tuple[bool, float, float, bool, float],
    max_iter: int,
    cycles: int,
    bounded: bool = True,
) -> Run:
    """Return a run of kernel k-means that begins with these labels; `run_all` takes it to its end.

    Parameters
    ----------
    rule : adjusted, tolerance, shift, spherical, centroid
    cycles : int
        Consecutive two-cycles that end it.
    bounded : bool
        Whether to store bounds, 4 n k bytes, that say which documents cannot have moved.
    """
    labels = np.require(labels, np.int32, ["C_CONTIGUOUS", "ALIGNED"])
    _require(labels.shape == (documents.n,), f"labels must have shape ({documents.n},); got {labels.shape}")
    _require(1 <= k <= _MOST, f"k must be from 1 to {_MOST}; got {k}")
    known = len(labels) == 0 or (labels.min() >= JOINS and labels.max() < k)
    _require(known, f"labels must be from {JOINS} to {k - 1}")
    return Run(documents, labels, k, *rule, max_iter, cycles, bounded)


def run_all(runs: list[Run]) -> None:
    """Take runs on the same documents to their end; a stored matrix is read once for all of them in each iteration."""
    _core.run_all(runs)


def gram_rows(postings: Postings, documents: Any) -> Array:
    """Return rows of the Gram of sparse documents, (documents, n)."""
    documents = np.require(documents, np.int64, ["C_CONTIGUOUS", "ALIGNED"])
    inside = documents.ndim == 1 and (len(documents) == 0 or (documents.min() >= 0 and documents.max() < postings.n))
    _require(inside, f"documents must be from 0 to {postings.n - 1}")
    out = np.empty((len(documents), postings.n))
    postings.rows(documents, out)
    return out


def nearest_by_postings(postings: Postings, p: int, first: int, last: int) -> tuple[NDArray[np.int64], Array]:
    """Return columns and values of the p most similar other documents of documents first … last.

    Columns rise. Of similarities equal up to rounding the first are taken; −1 and 0 stand where fewer than p are
    above 0.
    """
    _require(0 <= first <= last <= postings.n, f"the range must be inside 0 … {postings.n}")
    _require(1 <= p < postings.n, f"p must be from 1 to {postings.n - 1}; got {p}")
    columns, values = np.empty((last - first, p), dtype=np.int64), np.empty((last - first, p))
    postings.nearest(first, columns, values)
    return columns, values


def near_pairs(documents: Sparse, threshold: float) -> _core.Heads:
    """Return what finds pairs of rows of length 1 whose product is at least `threshold`: ``pairs(first, last)``."""
    _require(0 < threshold <= 1, f"threshold must be above 0 and at most 1; got {threshold}")
    return _core.Heads(documents, threshold)


def largest(block: Any, p: int, tie: float, margin: float = 0.0) -> NDArray[np.int64]:
    """Return the places of the p largest entries of every row, in rising order.

    Of those that are equal up to `tie` times the p-th largest, plus `margin`, the first are taken.
    """
    block = np.require(block, np.float64, ["C_CONTIGUOUS", "ALIGNED"])
    _require(block.ndim == 2 and 1 <= p <= block.shape[1] <= _MOST, f"p must be from 1 to {block.shape[-1]}; got {p}")
    places = np.empty((len(block), p), dtype=np.int64)
    _core.largest(block, tie, margin, places)
    return places


def lay_out(
    heads: Any, tails: Any, weights: Any, places: Any, fixed: int, epochs: int, repulsions: int, seed: int
) -> Array:
    """Return places (n, 2) after so many epochs of attraction along the edges and repulsion from random documents.

    An edge acts in a share `weights` of the epochs. The first `fixed` documents stay where they are.
    """
    places = np.array(places, dtype=np.float32, order="C")
    n = len(places)
    _require(places.shape == (n, 2) and n <= _MOST, f"places must have shape (n, 2); got {places.shape}")
    heads, tails = (_numbers(values, (len(weights),), "edges", np.int32) for values in (heads, tails))
    inside = all(len(end) == 0 or (end.min() >= 0 and end.max() < n) for end in (heads, tails))
    _require(inside, f"edges must be inside 0 … {n - 1}")
    weights = _numbers(weights, (len(weights),), "weights", np.float32)
    _require(bool(((weights >= 0) & (weights <= 1)).all()), "weights must be from 0 to 1")
    _core.lay_out(heads, tails, weights, fixed, epochs, repulsions, seed, places)
    return places


def panels(rows: Any) -> Panels:
    """Return dense features, (n, m), in the form that `Seeds.spread` reads."""
    rows = np.require(rows, np.float64, ["C_CONTIGUOUS", "ALIGNED"])
    _require(rows.ndim == 2 and rows.shape[1] > 0, f"rows must have shape (n, m); got {rows.shape}")
    return Panels(rows)


class Seeds:
    """Documents, and the nearest of the centres that were drawn from them (greedy k-means++).

    Parameters
    ----------
    diagonal, mass : arrays of shape (n,)
        Self-similarity of each document, and the weight that it stands for.
    """

    def __init__(self, diagonal: Any, mass: Any) -> None:
        n = self._n = len(diagonal)
        _require(0 < n <= _MOST, "there must be documents to draw from")
        self._core = _core.Seeds(_numbers(diagonal, (n,), "diagonal"), _numbers(mass, (n,), "mass"))

    def draw(self, uniform: Any) -> Array:
        """Return documents drawn in proportion to mass and distance; none where every document equals a centre."""
        uniform = _numbers(uniform, (len(uniform),), "uniform")
        centres = np.zeros(len(uniform), dtype=np.int64)
        return centres if self._core.draw(uniform, centres) else centres[:0]

    def take(self, similar: Any, centres: Array) -> None:
        """Keep the drawn document that leaves the smallest sum of distances, from similarities (drawn, n)."""
        inside = len(centres) > 0 and centres.min() >= 0 and centres.max() < self._n
        _require(bool(inside), f"centres must be from 0 to {self._n - 1}")
        similar = _numbers(similar, (len(centres), self._n), "similar")
        self._core.take(similar, _numbers(centres, centres.shape, "centres", np.int64))

    def spread(self, panels: Panels, k: int, uniform: Any, team: Team) -> None:
        """Draw k centres of the same documents, each the best of several: 1 + (k − 1) · trials numbers."""
        trials = (len(uniform) - 1) // max(k - 1, 1)
        _require(panels.n == self._n, f"panels must hold the features of {self._n} documents; got {panels.n}")
        _require(k >= 1 and len(uniform) == 1 + (k - 1) * trials, "uniform must hold draws for k centres")
        _require(k == 1 or trials >= 1, "every centre needs a draw")
        self._core.spread(panels, _numbers(uniform, (len(uniform),), "uniform"), k, trials, team)

    def labels(self) -> Array:
        """Return the nearest centre of every document."""
        return self._core.labels()


def ward(total: Any, sizes: Any, groups: Any) -> Array:
    """Return which two clusters are joined at every step by Ward's rule, (k − 1, 2); the i-th union is number k + i.

    `groups` has shape (g, k): clusters of one group are joined before others, by the first of the groups first.
    """
    k = len(sizes)
    total, sizes = np.array(total, dtype=np.float64, order="C"), np.array(sizes, dtype=np.float64)
    _require(total.shape == (k, k), f"total must have shape {(k, k)}; got {total.shape}")
    _require(bool((sizes > 0).all()), "sizes must be above 0")
    joins = np.zeros((max(k - 1, 0), 2), dtype=np.int64)
    _core.ward(total, sizes, _numbers(groups, (len(groups), k), "groups", np.int64), joins)
    return joins


def trade(indptr: Any, columns: NDArray[np.int32], pairs: Any, rng: np.random.Generator) -> None:
    """Let pairs of CSR rows, (p, 2), deal the terms that only one of the two has; each keeps its number of terms.

    The columns, changed in place, rise in each row before and after. `rng` is left as if ``rng.permutation`` had dealt.
    """
    n, indptr = len(indptr) - 1, _numbers(indptr, (len(indptr),), "indptr", np.int64)
    _require(columns.dtype == np.int32, f"columns must be int32; got {columns.dtype}")
    _require(bool(indptr[0] == 0 and (np.diff(indptr) >= 0).all()), "indptr must begin with 0 and not fall")
    _require(len(columns) >= indptr[-1], "columns must be as long as indptr says")
    pairs = _numbers(pairs, (len(pairs), 2), "pairs", np.int64)
    _require(len(pairs) == 0 or (pairs.min() >= 0 and pairs.max() < n), f"pairs must be rows from 0 to {n - 1}")
    _require(bool((pairs[:, 0] != pairs[:, 1]).all()), "a pair must be of two rows")
    with rng.bit_generator.lock:
        _core.trade(indptr, columns, pairs, rng.bit_generator.capsule)


def name_rows(rows: Any) -> tuple[Array, Callable[[int, int], None]]:
    """Return room for the names of rows, (n, 32), dense or CSR, and what writes those of a range of rows.

    A name is hashlib's BLAKE2b of 16 bytes, in hexadecimal, of the columns that do not hold 0 and of what they hold.
    """
    n = rows.shape[0]
    names = np.empty((n, 32), dtype=np.uint8)
    if not hasattr(rows, "indptr"):
        dense = _either(rows, 2, "rows")
        return names, lambda first, last: _core.name_dense(dense, first, last, names)
    values, indptr = _either(rows.data, 1, "data"), _numbers(rows.indptr, (n + 1,), "indptr", np.int64)
    kind = rows.indices.dtype if rows.indices.dtype in (np.int32, np.int64) else np.int64
    columns = np.require(rows.indices, kind, ["C_CONTIGUOUS", "ALIGNED"])
    _require(bool(indptr[0] == 0 and (np.diff(indptr) >= 0).all()), "indptr must begin with 0 and not fall")
    _require(len(values) == len(columns) >= indptr[-1], "data and indices must be as long as indptr says")
    return names, lambda first, last: _core.name_sparse(indptr, columns, values, first, last, names)


def subsequence(xs: Any, ys: Any, length: int, decay: float) -> Array:
    """Return the subsequence kernel of `LANES` pairs of strings, each a column of units."""
    xs, ys = (np.require(side, np.int32, ["C_CONTIGUOUS", "ALIGNED"]) for side in (xs, ys))
    wide = xs.ndim == ys.ndim == 2 and xs.shape[1] == ys.shape[1] == LANES
    _require(wide and length >= 1, f"strings must have {LANES} columns, and length must be at least 1")
    out = np.empty(LANES)
    _core.subsequence(xs, ys, length, decay, out)
    return out
