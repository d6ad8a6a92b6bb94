"""The map: a layout of the neighbour graph of the Gram, which knows nothing of the clusters.

Documents attract their nearest neighbours and repel documents drawn at random (Tang et al. 2016, LargeVis; McInnes,
Healy & Melville 2018, UMAP), from a start by principal components. Neighbours on the map are neighbours in the Gram;
gaps are gaps of the graph; long distances mean little. Collections above `LARGEST` lay out representatives, and each of
the other documents moves among those it resembles most.
"""

import warnings
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ... import _native
from ..._array import Array, tiles
from ..._parallel import blas_threads, meanwhile, results_in_threads, spares_copies
from ...cluster import embedding_2d
from ...errors import ConvergenceError, InputError
from ...gram import Gram
from ...gram.graph import nearest, nearest_neighbors
from ...gram.lapack import symmetric_eigh
from ...run import Apart, returned

NEIGHBOURS = 15
LARGEST = 50_000  # documents that are laid out all at once
REPRESENTATIVES = 20_000  # of a larger collection, at most
FEWEST_REPRESENTATIVES = 5_000
COMPARED = 1_500_000_000  # pairs of a document and a representative, about
NEAR = 5  # representatives that place another document
CELLS = 4  # cells of representatives in which they are looked for
EPOCHS, FEWEST_EPOCHS = 500, 150  # for a small collection, and for a large one
SMALL = 3_000  # documents; of more, each is moved less often, so that all take about as long
REPULSIONS = 4  # for each attraction: as many as are computed at once
SEED = 0
FINE = 2.0**20  # similarities and starts are rounded to so many steps, so that no rounding error grows
START = 10.0  # half the width of the start
RIM = 1.08  # of the radius: where documents without any neighbour lie

Edges = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]


def coordinates(gram: Gram) -> Array:
    """Return two coordinates for every document, for plots; a trailing shift is ignored.

    Deterministic, and the same for any order of the documents. Costs one reading of the Gram (above `LARGEST`
    documents, of its columns of the representatives) and O(n) for the layout.

    Parameters
    ----------
    gram : Gram

    Returns
    -------
    array of shape (n, 2)
        The longer axis of the map is the first.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.documents.tell.layout import coordinates
    >>> from grampus.gram import LinearGram
    >>> x = np.repeat(np.eye(2), 20, axis=0) + 0.01 * np.arange(40)[:, None]
    >>> places = coordinates(LinearGram(x))
    >>> bool(np.ptp(places[:20], axis=0).max() < np.abs(places[:20].mean(axis=0) - places[20:].mean(axis=0)).max())
    True
    """
    return begin_layout(gram)()


def begin_layout(gram: Gram) -> Callable[[], Array]:
    """Return what waits for the coordinates of every document; its longest loop runs meanwhile in another thread.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.documents.tell.layout import begin_layout
    >>> from grampus.gram import LinearGram
    >>> begin_layout(LinearGram(np.eye(4)))().shape
    (4, 2)
    """
    base, order = gram.split_shift()[0].canonical()
    laid_out = _begin(base) if len(gram) <= LARGEST else _begin_by_representatives(base)
    return lambda: _put_back(laid_out(), order)


def begin_layout_apart(gram: Gram) -> Callable[[], Array] | None:
    """Begin all of the layout in a copy of this process and return what waits for it; None where that does not pay."""
    return Apart(lambda: returned(coordinates(gram))) if spares_copies(len(gram)) else None


def _put_back(places: Array, order: NDArray[np.intp]) -> Array:
    back = np.empty_like(places)
    back[order] = places
    return back


def representatives(gram: Gram) -> int:
    """Return how many documents are laid out themselves where the others are placed beside them; 0 if all are."""
    n = len(gram)
    return max(min(REPRESENTATIVES, COMPARED // n), min(REPRESENTATIVES, FEWEST_REPRESENTATIVES)) if n > LARGEST else 0


def _begin(base: Gram) -> Callable[[], Array]:
    """Begin to lay out documents in canonical order; return what waits for their places."""
    n, start = len(base), _start(base)
    if n <= 3:
        return lambda: start
    index, distances = _neighbours(base, min(NEIGHBOURS, n - 1))
    edges = _edges(index, distances)
    epochs = max(FEWEST_EPOCHS, min(EPOCHS, EPOCHS * SMALL // n))
    places = meanwhile(lambda: _native.lay_out(*edges, start, 0, epochs, REPULSIONS, SEED))
    return lambda: _turned(places().astype(np.float64), alone=np.bincount(edges[0], minlength=n) == 0)


def _start(base: Gram) -> Array:
    """Return the principal components, at most `START` from the middle; 0 if the documents do not differ."""
    with warnings.catch_warnings():
        for message in (r"\d+ of \d+ eigenvalues are negative", "The Gram is indefinite"):
            warnings.filterwarnings("ignore", message, UserWarning)  # two components are enough
        try:
            plane = embedding_2d(base)
        except (InputError, ConvergenceError):
            plane = np.zeros((len(base), 2))
    far = float(np.abs(plane).max(initial=0.0))
    plane = np.rint(plane / far * FINE) / FINE * START if far > 0 else plane
    # Documents at one place repel each other from there in no direction: a spiral far finer than the map.
    turn = np.arange(len(base)) * 2.399963
    return plane + 1e-3 * np.column_stack([np.cos(turn), np.sin(turn)]) * (np.arange(len(base)) % 97 / 97)[:, None]


def _neighbours(base: Gram, count: int) -> tuple[NDArray[np.intp], Array]:
    """Return the nearest documents of each and their distances; −1 and infinity where there are fewer."""
    own = base.diagonal().astype(np.float64)
    same = float(np.ptp(own[own > 0])) <= 1e-9 * float(own.max(initial=0.0)) if (own > 0).any() else True
    index, near = nearest_neighbors(base, count, by_distance=not same)
    squared = (own[:, None] - near) if not same else own[:, None] + own[index] - 2.0 * near
    missing = (index < 0) | (own[index] <= 0) | (own[:, None] <= 0) | ~np.isfinite(squared)
    return np.where(missing, -1, index), np.where(missing, np.inf, _distances(squared, own))


def _distances(squared: Array, own: Array) -> Array:
    scale = float(own.max(initial=0.0)) or 1.0
    return np.sqrt(np.maximum(np.rint(np.nan_to_num(squared, posinf=0.0) / scale * FINE) / FINE, 0.0))


def _memberships(distances: Array) -> Array:
    """Return how strongly each document is linked with its neighbours: 1 for the nearest, log₂ p in all.

    exp(−(d − d₁) / s), with s found by bisection for every document (McInnes et al. 2018, algorithm 3).
    """
    p = distances.shape[1]
    known = np.isfinite(distances)
    nearest_one = np.where(known, distances, np.inf).min(axis=1)
    excess = np.where(known, distances - np.where(known.any(axis=1), nearest_one, 0.0)[:, None], np.inf)
    wanted = np.minimum(np.log2(p + 1), 0.98 * known.sum(axis=1))
    low, high = np.zeros(len(distances)), np.full(len(distances), 4.0)
    for _ in range(40):
        middle = (low + high) / 2
        above = np.exp(-excess / np.maximum(middle, 1e-12)[:, None]).sum(axis=1) > wanted
        high, low = np.where(above, middle, high), np.where(above, low, middle)
    return np.exp(-excess / np.maximum(high, 1e-3)[:, None])


def _edges(index: NDArray[np.intp], distances: Array) -> Edges:
    """Return the links in both directions, w + w′ − w w′, by document."""
    n, p = index.shape
    weights = _memberships(distances)
    kept = (index >= 0) & (weights > 1e-4)
    rows = np.repeat(np.arange(n), p)[kept.ravel()]
    graph = sp.csr_array((weights[kept], (rows, index[kept])), shape=(n, n))
    both = (graph + graph.T - graph.multiply(graph.T)).tocsr()
    both.sort_indices()
    heads = np.repeat(np.arange(n, dtype=np.int32), np.diff(both.indptr))
    return heads, both.indices.astype(np.int32), np.clip(both.data, 0.0, 1.0).astype(np.float32)


def _begin_by_representatives(base: Gram) -> Callable[[], Array]:
    """Begin to lay out representatives, evenly spread over the canonical order, and then the others among them."""
    chosen = np.linspace(0, len(base) - 1, representatives(base)).astype(np.intp)
    others = np.setdiff1d(np.arange(len(base)), chosen)
    fixed = _begin(base.take(chosen))
    near = _nearest_of(base, others, chosen)
    return meanwhile(lambda: _beside(fixed(), *near, chosen, others))


def _beside(
    fixed: Array, index: NDArray[np.intp], distances: Array, chosen: NDArray[np.intp], others: NDArray[np.intp]
) -> Array:
    """Return the places of all documents: those of the chosen ones are fixed, the others lie beside the nearest."""
    n = len(chosen) + len(others)
    weights = _memberships(distances)
    shares = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-12)
    start = (shares[:, :, None] * fixed[index]).sum(axis=1)
    alone = weights.sum(axis=1) <= 0
    heads = np.repeat(np.arange(len(chosen), n, dtype=np.int32), NEAR)
    places = _native.lay_out(
        heads, index.ravel().astype(np.int32), np.clip(weights, 0, 1).ravel().astype(np.float32),
        np.concatenate([fixed, start]), len(chosen), FEWEST_EPOCHS // 10, 1, SEED,
    ).astype(np.float64)  # fmt: skip
    found = np.empty((n, 2))
    found[chosen], found[others] = places[: len(chosen)], places[len(chosen) :]
    lost = np.zeros(n, dtype=bool)
    lost[others] = alone
    return _turned(found, lost)


def _nearest_of(base: Gram, others: NDArray[np.intp], chosen: NDArray[np.intp]) -> tuple[NDArray[np.intp], Array]:
    """Return the nearest representatives of every other document and their distances, nearly always.

    Every r-th representative leads a cell of those nearest to it, with r² of them in all; a document is compared with
    the representatives of the `CELLS` nearest cells.
    """
    leaders = chosen[:: max(1, round(len(chosen) ** 0.5))]
    cells = min(CELLS, len(leaders))
    cell_of = _among(base, chosen, leaders, 1)[0][:, 0]
    near_cells = _among(base, others, leaders, cells)[0].ravel()
    order = np.argsort(near_cells, kind="stable")
    bounds = np.searchsorted(near_cells[order], np.arange(len(leaders) + 1))
    index = np.zeros((len(others), cells * NEAR), dtype=np.intp)
    distances = np.full((len(others), cells * NEAR), np.inf)

    def look(cell: int) -> None:
        inside = np.flatnonzero(cell_of == cell)
        rows, slots = np.divmod(order[bounds[cell] : bounds[cell + 1]], cells)
        if len(inside) == 0 or len(rows) == 0:
            return
        count = min(NEAR, len(inside))
        found, far = _among(base, others[rows], chosen[inside], count)
        columns = slots[:, None] * NEAR + np.arange(count)
        index[rows[:, None], columns], distances[rows[:, None], columns] = inside[found], far

    with blas_threads():  # for all cells: threads that set and restore the limit themselves would undo each other's
        list(results_in_threads(look, len(leaders)))
    best = np.sort(np.argpartition(distances, NEAR - 1, axis=1)[:, :NEAR], axis=1)
    return np.take_along_axis(index, best, axis=1), np.take_along_axis(distances, best, axis=1)


def _among(base: Gram, rows: NDArray[np.intp], columns: NDArray[np.intp], count: int) -> tuple[NDArray[np.intp], Array]:
    """Return the places in `columns` of the documents nearest to each row, and distances; infinite for empty ones."""
    own = base.diagonal().astype(np.float64)
    index, distances = np.empty((len(rows), count), dtype=np.intp), np.empty((len(rows), count))
    far = np.where(own[columns] > 0, own[columns], np.inf)
    with blas_threads():
        for part in tiles(len(rows), 32 * len(columns)):
            block = 2.0 * base._block(rows[part], columns).astype(np.float64, copy=False) - far
            index[part], values = nearest(block, count)
            squared = np.where(own[rows[part], None] > 0, own[rows[part], None] - values, np.inf)
            distances[part] = np.where(np.isfinite(squared), _distances(squared, own), np.inf)
    return index, distances


def _turned(places: Array, alone: NDArray[np.bool_]) -> Array:
    """Return places with the longer axis first, and documents without neighbours on a rim around the others."""
    inside = ~alone
    if inside.any():
        places = places - places[inside].mean(axis=0)
        _, vectors = symmetric_eigh(places[inside].T @ places[inside])
        axes = vectors[:, ::-1]
        axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
        places = places @ axes
    radius = float(np.linalg.norm(places[inside], axis=1).max(initial=0.0)) or 1.0
    turn = np.arange(int(alone.sum())) * 2.399963
    places[alone] = RIM * radius * np.column_stack([np.cos(turn), np.sin(turn)])
    return places
