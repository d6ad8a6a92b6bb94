"""Similarities as a graph: edges, neighbours, degrees, components, and the operators of its Laplacians."""

from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from .. import _native
from .._array import Array, Index, is_sparse, matches, scale_rows, tiles
from .._backend import current
from .._check import check_finite, check_integer
from .._config import require_memory
from .._native.dense import DenseNeighbours
from .._native.vectors import SparseProducts
from .._parallel import blas_threads, in_threads, team
from ..errors import InputError
from .answers import Cost, Features
from .base import Gram, require_gram
from .plan import quick_products
from .sources import DenseGram, SparseGram
from .transforms.base import Transformed
from .transforms.stored import fits

_NOISE = {"float64": 1e-14, "float32": 1e-6}  # of the largest similarity: smaller ones count as 0
TIES = {"float64": 1e-12, "float32": 1e-6}  # of their size: similarities that differ by less count as equal
PRODUCTS = 200  # vectors that an eigenvalue solver multiplies, about
_KNOWN: WeakKeyDictionary[Gram, tuple[NDArray[np.intp], Array]] = WeakKeyDictionary()  # by similarity, of living Grams


class GraphOperator(Transformed):
    """diag(s) K diag(s) + diag(a) − c U Uᵀ: the Laplacians of a graph, with known eigenvectors deflated.

    Parameters
    ----------
    base : Gram
    scale, added : array of shape (n,)
        s and a.
    known : array of shape (n, l)
        U, the known eigenvectors.
    lowered : float
        c, by which their eigenvalues are lowered.
    """

    def __init__(self, base: Gram, scale: Array, added: Array, known: Array, lowered: float) -> None:
        super().__init__(base)
        self.scale, self.added, self.known, self.lowered = scale, added, known, lowered
        self.dtype = np.dtype(np.float64)

    def _block(self, rows: Index, cols: Index) -> Array:
        block = self.scale[rows, None] * self.base._block(rows, cols).astype(np.float64, copy=False)
        block *= self.scale[None, cols]
        i, j = matches(rows, cols)
        block[i, j] += self.added[rows][i]
        block -= self.lowered * (self.known[rows] @ self.known[cols].T)
        return block

    def _diagonal(self) -> Array:
        own = self.scale**2 * self.base._diagonal() + self.added
        return own - self.lowered * np.einsum("ij,ij->i", self.known, self.known)

    def _matmul(self, v: Any) -> Array:
        if is_sparse(v):
            v = v.toarray()
        v = v.astype(np.float64, copy=False)
        if self._whole is None:
            product = scale_rows(self.scale, self.base._matmul(scale_rows(self.scale, v)))
            product += self.added[:, None] * v
        else:
            product = self._whole.times(v, team())
        product -= self.known @ (self.lowered * (self.known.T @ v))
        return product

    @cached_property
    def _whole(self) -> SparseProducts | None:
        """diag(s) K diag(s) + diag(a) where K is sparse: scaled once, not with every product."""
        if not isinstance(self.base, SparseGram):
            return None
        links = scale_rows(self.scale, self.base.matrix.astype(np.float64, copy=False))
        links.data *= self.scale[links.indices]
        return SparseProducts((links + sp.diags_array(self.added)).tocsr())

    def cost(self) -> Cost:
        """Return the cost of the base and of the known eigenvectors."""
        n, below, known = float(len(self)), self.base.cost(), float(self.known.size)
        return Cost(below.product + 2.0 * known, below.row + known, max(below.whole, n * n) + n * known)


def neighbour_graph(gram: Gram, n_neighbors: int) -> SparseGram:
    """Keep only the similarities of each document to its nearest neighbours.

    Parameters
    ----------
    gram : Gram
    n_neighbors : int
        p, from 1 to n − 1. Two documents stay linked if either is among the p most similar to the other; of those
        equally similar up to rounding, the first are taken. A document is not its own neighbour, and similarities of
        0 and below are not links.

    Returns
    -------
    SparseGram
        With at most 2 n p entries; computed tile by tile, so n² is never stored.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import DenseGram, neighbour_graph
    >>> K = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.2], [0.1, 0.2, 1.0]])
    >>> neighbour_graph(DenseGram(K), 1).dense()
    array([[0. , 0.9, 0. ],
           [0.9, 0. , 0.2],
           [0. , 0.2, 0. ]])
    """
    n = len(require_gram(gram))
    count = check_integer(n_neighbors, "n_neighbors", low=1, high=n - 1, of=" (the other documents)")
    require_memory(48 * n * count, "The neighbour graph", "Use fewer neighbours")
    index, values = nearest_neighbors(gram, count)
    kept = values > 0
    starts = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    graph = sp.csr_array((values[kept], index[kept], starts), shape=(n, n))
    return SparseGram(graph.maximum(graph.T))


def nearest_neighbors(
    gram: Gram, n_neighbors: int, *, by_distance: bool = False, n_jobs: int | None = None
) -> tuple[NDArray[np.intp], Array]:
    """Return the nearest other documents of each document, in increasing order, and their nearness, both (n, p).

    Reads the Gram once, in tiles; n² is never stored. Of documents equally near up to rounding, the first are taken.
    Sparse features are compared through an inverted index; where fewer than p similarities are above 0, the rest of the
    row is −1 and 0. What was found by similarity is remembered as long as the Gram lives.

    Parameters
    ----------
    gram : Gram
    n_neighbors : int
        p, from 1 to n − 1.
    by_distance : bool
        Nearness is −d²(i, j) + K_ii, in feature space, instead of the similarity; documents without self-similarity
        (empty ones) are then infinitely far away.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram
    >>> from grampus.gram.graph import nearest_neighbors
    >>> nearest_neighbors(LinearGram(np.array([[1.0], [9.0], [2.0]])), 1)[0].T
    array([[1, 2, 1]])
    >>> nearest_neighbors(LinearGram(np.array([[1.0], [9.0], [2.0]])), 1, by_distance=True)[0].T
    array([[2, 2, 0]])
    """
    if by_distance:
        return _nearest(gram, n_neighbors, True, n_jobs)
    known = _KNOWN.get(gram)
    if known is None or known[0].shape[1] < n_neighbors:
        known = _KNOWN[gram] = _nearest(gram, n_neighbors, False, n_jobs)
    if known[0].shape[1] == n_neighbors:
        return known[0].copy(), known[1].copy()
    columns, values = nearest(known[1], n_neighbors)
    return np.take_along_axis(known[0], columns, axis=1), values


def remember_neighbors(gram: Gram, index: NDArray[np.intp], values: Array) -> None:
    """Let `nearest_neighbors` know what it returned for an equal Gram, in a copy of this process."""
    _KNOWN[gram] = index, values


def _nearest(gram: Gram, n_neighbors: int, by_distance: bool, n_jobs: int | None) -> tuple[NDArray[np.intp], Array]:
    elsewhere, explicit = current().neighbours(gram, n_neighbors, by_distance), gram.features()
    if elsewhere is not None:
        return elsewhere
    if not by_distance and explicit is not None and is_sparse(explicit.rows):
        return _through_postings(explicit, n_neighbors, n_jobs)
    n = len(gram)
    index, values = np.empty((n, n_neighbors), dtype=np.intp), np.empty((n, n_neighbors))
    diagonal = gram.diagonal().astype(np.float64)
    far = np.where(diagonal > 0, diagonal, np.inf)
    tie = TIES["float64"] * float(np.abs(diagonal).max(initial=0.0)) if by_distance else None
    dense = None if explicit is None else _dense_rows(explicit)
    if dense is not None:
        rows = DenseNeighbours(dense, far if by_distance else None)
        limits = (TIES["float64"], 0.0) if tie is None else (0.0, tie)

        def some(start: int, stop: int) -> None:
            for part in tiles(stop - start, 5 * n):
                at = slice(start + part.start, start + part.stop)
                index[at], values[at] = rows.nearest(at.start, at.stop, n_neighbors, *limits)

        with blas_threads():
            in_threads(some, n, n_jobs, least=256)
        return index, values

    def read(rows: slice) -> Array:
        return check_finite(gram._block(rows, slice(0, n)))

    def piece(start: int, stop: int) -> None:
        for part in tiles(stop - start, (40 if by_distance else 24) * n):
            rows = slice(start + part.start, start + part.stop)
            block = read(rows)
            if by_distance:
                block = 2.0 * block.astype(np.float64, copy=False) - far
            block[np.arange(len(block)), np.arange(rows.start, rows.stop)] = -np.inf
            index[rows], values[rows] = nearest(block, n_neighbors, tie)

    read(slice(0, 1))  # let a block prepare what threads will share
    with blas_threads():
        in_threads(piece, n, n_jobs, least=256)
    return index, values


def _dense_rows(explicit: Features) -> Array | None:
    """Return dense features in double precision with their scale, if they are finite."""
    if is_sparse(explicit.rows) or explicit.rows.dtype != np.float64 or explicit.rows.shape[1] == 0:
        return None
    rows = explicit.rows * explicit.scale[:, None]
    return rows if np.isfinite(rows).all() else None


def _through_postings(features: Features, count: int, n_jobs: int | None) -> tuple[NDArray[np.intp], Array]:
    """Return the nearest documents through an inverted index; similarities of 0 and below give −1 and 0."""
    rows, n = features.rows, len(features.scale)
    check_finite(rows.data)
    postings = _native.Postings(_native.sparse_documents(rows, features.scale, np.ones(n), np.ones(n)))
    index, values = np.empty((n, count), dtype=np.intp), np.empty((n, count))

    def piece(start: int, stop: int) -> None:
        index[start:stop], values[start:stop] = _native.nearest_by_postings(postings, count, start, stop)

    in_threads(piece, n, n_jobs, least=256)
    return index, values


def nearest(block: Array, neighbours: int, tie: float | None = None) -> tuple[NDArray[np.intp], Array]:
    """Return the columns and values of the largest entries of every row, columns in increasing order.

    Of entries that are equal up to `tie`, by default up to rounding, the first are taken.
    """
    relative, margin = (TIES[block.dtype.name], 0.0) if tie is None else (0.0, tie)
    columns = _native.largest(block, neighbours, relative, margin)
    return columns, np.take_along_axis(block, columns, axis=1)


def positive_part(gram: Gram) -> tuple[Gram, float]:
    """Return the similarities with negative ones set to 0, and the share of those.

    Nothing is read where no similarity can be negative. Otherwise all are read, and where one is negative beyond
    rounding the matrix must fit into the memory budget. Those of a low-rank approximation stay as they are.
    """
    n = len(gram)
    if isinstance(gram, SparseGram):
        share = float((gram.matrix.data < 0).sum()) / n**2
        return (SparseGram(gram.matrix.maximum(0.0 * gram.matrix)) if share else gram), share
    gram = quick_products(gram, PRODUCTS)
    if gram.non_negative() or gram.approximate:
        return gram, 0.0
    count, largest = _negatives(gram)
    if count == 0 and not fits(gram):
        return gram, 0.0
    if not fits(gram):
        raise InputError(
            f"{count} similarities are negative, and the {n} × {n} matrix without them is too large for the memory "
            "budget. Use n_neighbors=…, which keeps the nearest documents only, or raise the budget with "
            "grampus.config."
        )
    matrix = gram.dense()
    diagonal = np.maximum(matrix.diagonal(), 0.0)
    matrix[matrix < _NOISE[gram.dtype.name] * largest] = 0.0
    np.fill_diagonal(matrix, diagonal)
    return DenseGram.trusted(matrix), count / n**2


def _negatives(gram: Gram) -> tuple[int, float]:
    """Count the similarities of different documents that are negative beyond rounding; return the largest modulus."""
    n, count, largest = len(gram), 0, 0.0
    everyone = np.arange(n)
    with blas_threads():
        for rows in tiles(n, 16 * n):
            block = gram._block(rows, slice(0, n))
            block[np.arange(len(block)), everyone[rows]] = 0.0  # self-similarities are not links
            check_finite(block)
            largest = max(largest, float(np.abs(block).max()))
            count += int((block < -_NOISE[gram.dtype.name] * largest).sum())
    return count, largest


def degrees(gram: Gram, *, loops: bool = False, among: Array | None = None) -> Array:
    """Return the row sums in float64, without self-similarities unless they count as loops. Costs one product.

    Only documents for which `among` is 1 are summed over; all of them by default. A sum that is only the rounding of a
    self-similarity is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram
    >>> from grampus.gram.graph import degrees
    >>> degrees(LinearGram(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])))
    array([1., 1., 0.])
    """
    n = len(gram)
    among = np.ones(n) if among is None else among
    sums = check_finite(np.asarray(gram @ among, dtype=np.float64))
    if loops:
        return sums
    self_links = among * gram.diagonal()
    rest = sums - self_links
    rest[np.abs(rest) <= 1e-13 * n**0.5 * np.abs(self_links)] = 0.0
    return rest


def components(gram: Gram) -> NDArray[np.intp]:
    """Return the connected component of every document, 0 … c−1 by size; the first document breaks ties.

    Two documents are linked when their similarity is positive. Non-negative features are not multiplied: documents
    are linked through their terms, in O(entries). Otherwise rows are read until all documents are reached.
    """
    base, _ = gram.split_shift()
    explicit = base.features()
    if isinstance(base, SparseGram):
        labels = connected_components(base.matrix > 0, directed=False)[1]
    elif explicit is not None and is_sparse(explicit.rows) and explicit.non_negative():
        labels = _through_terms(explicit.rows, explicit.scale)
    else:
        labels = _by_rows(base)
    _, first, label, count = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.lexsort((first, -count))] = np.arange(len(first))
    return rank[label.reshape(-1)]


def _through_terms(features: Any, scale: Array) -> NDArray[np.intp]:
    n, m = features.shape
    reached = np.zeros(n)
    reached[:1] = 1.0
    for _ in range(8):  # mostly all documents are linked, which a few products show sooner than a search
        further = (features @ (features.T @ (scale * reached)) * scale > 0).astype(np.float64)
        if further.all():
            return np.zeros(n, dtype=np.intp)
        if np.array_equal(further, reached):
            break
        reached = further
    stored = (features.data != 0) & (np.repeat(scale, np.diff(features.indptr)) > 0)
    rows = np.repeat(np.arange(n), np.diff(features.indptr))[stored]
    links = sp.coo_array((np.ones(len(rows), dtype=np.int8), (rows, n + features.indices[stored])), (n + m, n + m))
    return np.asarray(connected_components(links, directed=False)[1][:n])


def _by_rows(gram: Gram) -> NDArray[np.intp]:
    """Search the graph, some rows at a time; in a dense graph the first rows reach everything."""
    n = len(gram)
    labels, label = np.full(n, -1, dtype=np.intp), 0
    while (labels < 0).any():
        frontier = np.flatnonzero(labels < 0)[:1]
        labels[frontier] = label
        while len(frontier):
            reached = np.zeros(n, dtype=bool)
            for part in tiles(len(frontier), 16 * n):
                unseen = np.flatnonzero((labels < 0) & ~reached)
                if len(unseen) == 0:
                    break
                reached[unseen] |= (gram._block(frontier[part], unseen) > 0).any(axis=0)
            frontier = np.flatnonzero(reached)
            labels[frontier] = label
        label += 1
    return labels
