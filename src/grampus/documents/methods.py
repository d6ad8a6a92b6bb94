"""Where the clustering of documents starts: from random partitions, and from a cut of their neighbour graph."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array
from .._progress import Progress
from ..cluster import Clustering, kernel_kmeans, spectral_kmeans
from ..errors import InputError, MemoryBudgetError
from ..gram import Gram, SparseGram, neighbour_graph

STARTS = ("auto", "spectral", "random", "k-means++", "pddp")
NEIGHBOURS = 20  # of each document in the graph; this and LESS are chosen with the other defaults, see the guide
LESS = 1 / 3  # of the other's cut: so small must a cut be to win
FEWEST, MOST = 5 * NEIGHBOURS, 50_000  # documents: a graph of fewer is nearly complete, and of more costs its n²


@dataclass(frozen=True)
class Graph:
    """The neighbour graph of the documents that have weight.

    Attributes
    ----------
    links : SparseGram
    documents : array of the numbers of its documents
    """

    links: SparseGram
    documents: NDArray[np.intp]

    def cut(self, labels: NDArray[np.intp]) -> float:
        """Return the normalised cut Σ_c links(c, others) / links(c, all) of a partition (Shi & Malik 2000)."""
        _, own = np.unique(labels[self.documents], return_inverse=True)
        matrix = self.links.matrix
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        crossing = own[rows] != own[matrix.indices]
        every = np.bincount(own[rows], weights=matrix.data, minlength=own.max() + 1)
        leaving = np.bincount(own[rows[crossing]], weights=matrix.data[crossing], minlength=len(every))
        return float(np.divide(leaving, every, out=np.zeros_like(every), where=every > 0).sum())


def neighbours_of(gram: Gram, weights: Array, n_jobs: int | None) -> Graph | None:
    """Return the neighbour graph; None for too few or too many documents."""
    heavy = np.flatnonzero(weights > 0)
    if not FEWEST <= len(heavy) <= MOST:
        return None
    part = gram if len(heavy) == len(gram) else gram.take(heavy)
    try:
        return Graph(neighbour_graph(part, NEIGHBOURS, n_jobs=n_jobs), heavy)
    except MemoryBudgetError as error:  # no way out by itself: the result must not depend on the budget
        raise MemoryBudgetError(
            f"The neighbour graph of {len(heavy)} documents, a start of init='auto' and 'spectral', does not fit into "
            "the memory budget. Use init='random', or allow more with grampus.config(memory=…)."
        ) from error


def spectral_start(graph: Graph, k: int, n: int, **options: Any) -> NDArray[np.intp] | None:
    """Return a partition of n documents by the graph's leading eigenvectors (Ng, Jordan & Weiss 2001).

    None where there is nothing to cut: no links, or more pieces than k already.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of pieces, which are counted below
            found = spectral_kmeans(graph.links, k, laplacian="symmetric", **options)
    except InputError:
        return None
    if getattr(found.embedding, "n_components", 1) > k:
        return None
    labels = np.zeros(n, dtype=np.intp)
    labels[graph.documents] = found.labels
    return labels


def cluster_from(
    gram: Gram,
    k: int,
    weights: Array,
    *,
    init: str,
    n_init: int,
    polish: bool,
    seed: int,
    n_jobs: int | None,
    progress: Progress | None = None,
) -> Clustering:
    """Cluster by kernel k-means from where `init` says.

    k-means favours clusters of like size. ``"auto"`` runs it from random partitions and once more from a cut of the
    graph of the nearest neighbours, and keeps the latter if its normalised cut is less than a third of the former's:
    then k-means has torn a large group apart beside a small one. ``"spectral"`` takes the cut whenever there is one.

    Parameters
    ----------
    gram, k, weights, n_init, polish, seed, n_jobs, progress
        See ``kernel_kmeans``.
    init : one of STARTS

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.documents.starts import cluster_from
    >>> from grampus.gram import LinearGram
    >>> x = np.random.default_rng(0).random((120, 3)) + np.repeat([[9.0, 0, 0], [0, 9.0, 0]], [100, 20], axis=0)
    >>> found = cluster_from(LinearGram(x), 2, np.ones(120), init="auto", n_init=10, polish=True, seed=0, n_jobs=1)
    >>> sorted(np.bincount(found.labels).tolist())
    [20, 100]
    """
    options: dict[str, Any] = {"random_state": seed}

    def run(start: Any, count: int) -> Clustering:
        return kernel_kmeans(
            gram, k, polish=polish, init=start, n_init=count, sample_weight=weights, progress=progress, **options
        )

    if init not in ("auto", "spectral"):
        return run(init, n_init)
    graph = neighbours_of(gram, weights, n_jobs) if k > 1 else None
    start = None if graph is None else spectral_start(graph, k, len(gram), n_init=n_init, **options)
    if graph is None or start is None:
        return run("random", n_init)
    if init == "spectral":
        return run(start, 1)
    usual, other = run("random", n_init), run(start, 1)
    return other if graph.cut(other.labels) < LESS * graph.cut(usual.labels) else usual
