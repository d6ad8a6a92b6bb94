"""Neighbour graphs of the documents: their normalised cuts, as starts and as views."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._array import Array
from ...cluster import EmbeddedClustering, kernel_kmeans, spectral_kmeans
from ...errors import InputError, MemoryBudgetError
from ...gram import Gram, LinearGram, SparseGram, neighbour_graph
from ...metrics import ari

NEIGHBOURS = 20  # of each document in the graph; this and LESS are chosen with the other defaults, see the guide
LESS = 1 / 3  # of the other cut: a cut must be smaller than this to be kept
FEWER = r"Only \d+ of \d+ clusters"  # the warning about clusters that are missing, as a pattern
# Documents: a graph of fewer is nearly complete, one of more costs n².
FEWEST, MOST_GRAPHED = 5 * NEIGHBOURS, 50_000
STEADY, MAJORITY = 0.85, 2 / 3  # a cut that replaces a consensus: its ARI with its twin, its largest part


@dataclass(frozen=True)
class Graph:
    """The neighbour graph of the documents of positive weight.

    Attributes
    ----------
    links : SparseGram
    documents : array of int
        Indices of its documents.
    """

    links: SparseGram
    documents: NDArray[np.intp]

    def spread(self, labels: NDArray[np.intp], n: int) -> NDArray[np.intp]:
        """Return labels (…, documents of the graph) for all n documents, −1 for those outside the graph."""
        whole = np.full((*labels.shape[:-1], n), -1, dtype=np.intp)
        whole[..., self.documents] = labels
        return whole

    def cut(self, labels: NDArray[np.intp]) -> float:
        """Return the normalised cut Σ_c links(c, others) / links(c, all) of a partition (Shi & Malik 2000)."""
        _, own = np.unique(labels[self.documents], return_inverse=True)
        matrix = self.links.matrix
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        crossing = own[rows] != own[matrix.indices]
        every = np.bincount(own[rows], weights=matrix.data, minlength=own.max() + 1)
        leaving = np.bincount(own[rows[crossing]], weights=matrix.data[crossing], minlength=len(every))
        return float(np.divide(leaving, every, out=np.zeros_like(every), where=every > 0).sum())


def neighbours_of(gram: Gram, weights: Array, n_neighbors: int = NEIGHBOURS) -> Graph | None:
    """Return the neighbour graph; None if there are too few or too many documents."""
    heavy = np.flatnonzero(weights > 0)
    if not FEWEST <= len(heavy) <= MOST_GRAPHED:
        return None
    count = min(n_neighbors, len(heavy) // 5)
    try:
        if len(heavy) < len(gram) and not gram.diagonal()[weights <= 0].any():  # nothing is linked with empty documents
            return Graph(SparseGram(neighbour_graph(gram, count).matrix[heavy][:, heavy]), heavy)
        return Graph(neighbour_graph(gram if len(heavy) == len(gram) else gram.take(heavy), count), heavy)
    except MemoryBudgetError as error:  # not skipped silently: the result must not depend on the budget
        raise MemoryBudgetError(
            f"The neighbour graph of {len(heavy)} documents does not fit into the memory budget. Use init='random' "
            "(kernel-kmeans) or graphs=() (consensus), or allow more with grampus.config(memory=…)."
        ) from error


def graph_cut(graph: Graph, k: int, n_init: int, seed: int) -> EmbeddedClustering | None:
    """Return the clusters of the graph's leading eigenvectors, rows of unit length (Ng, Jordan & Weiss 2001).

    None if there is nothing to cut: no links, or more than k pieces already.
    """
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", rf"The graph has|{FEWER}", UserWarning)  # components are counted below
            found = spectral_kmeans(graph.links, k, laplacian="symmetric", n_init=n_init, random_state=seed)
    except InputError:
        return None
    return None if getattr(found.embedding, "n_components", 1) > k else found


def spectral_start(graph: Graph, k: int, n: int, n_init: int, seed: int) -> NDArray[np.intp] | None:
    """Return a partition of n documents by a cut of the graph; None if there is nothing to cut."""
    found = graph_cut(graph, k, n_init, seed)
    return None if found is None else np.maximum(graph.spread(found.labels, n), 0)


@dataclass(frozen=True)
class Cuts:
    """The cuts of one neighbour graph into k parts.

    Attributes
    ----------
    graph : Graph
    found : EmbeddedClustering
        Its leading eigenvectors, and k-means on them.
    """

    graph: Graph
    found: EmbeddedClustering

    def partitions(self, n: int) -> NDArray[np.intp]:
        """Return every start of k-means, (starts, n)."""
        return self.graph.spread(self.found.kmeans.runs.labels, n)

    def random_walk(self, k: int, n_init: int, seed: int) -> NDArray[np.intp]:
        """Return the clusters of the same eigenvectors without normalised rows (Shi & Malik 2000)."""
        rows = self.found.embedding.coefficients
        linked = rows.any(axis=1).astype(np.float64)
        gram = LinearGram(rows).named(self.graph.links.documents())
        return kernel_kmeans(gram, k, init="k-means++", n_init=n_init, sample_weight=linked, random_state=seed).labels


def cuts_of(gram: Gram, weights: Array, n_neighbors: int, k: int, n_init: int, seed: int) -> Cuts | None:
    """Return the cuts of the neighbour graph of a Gram; None if there is no graph, or nothing to cut."""
    graph = neighbours_of(gram, weights, n_neighbors)
    found = None if graph is None else graph_cut(graph, k, n_init, seed)
    return None if graph is None or found is None else Cuts(graph, found)


def dominant_cut(
    cuts: Cuts, wider: Callable[[], Cuts | None], labels: NDArray[np.intp], k: int, n_init: int, seed: int
) -> NDArray[np.intp] | None:
    """Return the random-walk cut of a neighbour graph where one class dominates; None where none does.

    k-means splits a dominant class. A cut that does not must be far smaller than that of `labels`, and must stay the
    same in the graph of twice as many neighbours, `wider`: small pieces that are cut off by accident do not. A part
    with more than two thirds of the documents is no class, but what is left when pieces are cut off. Documents outside
    the graph get label −1.
    """
    found = cuts.random_walk(k, n_init, seed)
    whole = cuts.graph.spread(found, len(labels))
    if np.bincount(found).max() > MAJORITY * len(found) or not cuts.graph.cut(whole) < LESS * cuts.graph.cut(labels):
        return None
    twin = wider()
    return whole if twin is not None and ari(found, twin.random_walk(k, n_init, seed)) >= STEADY else None
