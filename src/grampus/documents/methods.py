"""The methods that cluster documents: one row each, with its own options.

A method receives the Gram of the distinct documents and returns labels. Everything after that (names, evidence,
stability, assignment of new documents) is computed the same way for all methods.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._array import Array
from .._progress import Progress
from ..cluster import bisecting_kernel_kmeans, kernel_kmeans, kernel_pca_kmeans, pddp, spectral_kmeans
from ..cluster.kmeans.centroids import Centroids
from ..errors import InputError, MemoryBudgetError
from ..gram import Gram, SparseGram, centre, neighbour_graph

STARTS = ("auto", "spectral", "random", "k-means++", "pddp")
NEIGHBOURS = 20  # of each document in the graph; this and LESS are chosen with the other defaults, see the guide
LESS = 1 / 3  # of the other cut: a cut must be smaller than this to be kept
FEWEST, MOST = 5 * NEIGHBOURS, 50_000  # documents: a graph of fewer is nearly complete, and of more costs its n²


@dataclass(frozen=True)
class Job:
    """The task of a method.

    Attributes
    ----------
    k : int
        Number of clusters.
    weights : array of shape (n,)
        Number of copies of each row; 0 where there is nothing to compare.
    n_init : int
        Number of starts, for methods that have them.
    polish : bool
        Whether kernel k-means is followed by single moves.
    seed : int
        Seed of all random steps.
    progress : callable, optional
        Called as ``progress("clustering", done, total)``, in starts.
    """

    k: int
    weights: Array
    n_init: int = 10
    polish: bool = True
    seed: int = 0
    progress: Progress | None = None


@dataclass(frozen=True)
class Found:
    """The result of a method.

    Attributes
    ----------
    labels : array of shape (n,)
        Cluster of every row; −1 for a document that belongs to none.
    outcome : str
        How the method stopped, such as "converged".
    polished : bool
        Whether single moves followed.
    result : object
        The result of the function of ``grampus.cluster``, if one was called.
    """

    labels: NDArray[np.intp]
    outcome: str = "converged"
    polished: bool = False
    result: Any = None


class Method(ABC):
    """A clustering method; a subclass is a frozen dataclass with a ``name``, its options, and ``cluster``."""

    name: ClassVar[str]

    @abstractmethod
    def cluster(self, gram: Gram, job: Job) -> Found:
        """Cluster the documents of a Gram."""

    def options(self) -> dict[str, Any]:
        """Return the name and the options as a dict."""
        return {"name": self.name, **vars(self)}


@dataclass(frozen=True)
class KernelKMeansMethod(Method):
    """Kernel k-means, from random partitions or from a cut of the neighbour graph.

    k-means favours clusters of similar size. ``init="auto"`` runs it from random partitions and once more from a cut of
    the graph of the nearest neighbours, and keeps the latter if its normalised cut is less than a third of the
    former's: then k-means has split a large group next to a small one. ``"spectral"`` uses the cut whenever there is
    one. With fewer than 100 documents, more than 50,000, or a graph in more than k pieces, both equal ``"random"``.

    Parameters
    ----------
    init : "auto", "spectral", "random", "k-means++" or "pddp"
        Initial partitions.
    rule : "plain", "adjusted" or "cosine"
        How documents are assigned; see ``kernel_kmeans``.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.documents import Job, KernelKMeansMethod
    >>> from grampus.gram import LinearGram
    >>> x = np.random.default_rng(0).random((120, 3)) + np.repeat([[9.0, 0, 0], [0, 9.0, 0]], [100, 20], axis=0)
    >>> found = KernelKMeansMethod().cluster(LinearGram(x), Job(2, np.ones(120)))
    >>> sorted(np.bincount(found.labels).tolist())
    [20, 100]
    """

    name: ClassVar[str] = "kernel-kmeans"
    init: str = "auto"
    rule: str = "plain"

    def __post_init__(self) -> None:
        if str(self.init) not in STARTS:
            raise InputError(
                f"init must be one of {', '.join(map(repr, STARTS))}, not an array: documents are reordered before "
                f"they start. Got {self.init!r}."
            )

    def cluster(self, gram: Gram, job: Job) -> Found:
        """Run kernel k-means from the initial partitions of ``init``."""
        if self.init not in ("auto", "spectral"):
            return self._run(gram, job, self.init, job.n_init)
        graph = neighbours_of(gram, job.weights) if job.k > 1 else None
        start = None if graph is None else spectral_start(graph, job.k, len(gram), job.n_init, job.seed)
        if graph is None or start is None:
            return self._run(gram, job, "random", job.n_init)
        if self.init == "spectral":
            return self._run(gram, job, start, 1)
        usual, other = self._run(gram, job, "random", job.n_init), self._run(gram, job, start, 1)
        return other if graph.cut(other.labels) < LESS * graph.cut(usual.labels) else usual

    def _run(self, gram: Gram, job: Job, start: Any, n_init: int) -> Found:
        polish = job.polish and self.rule != "cosine"
        found = kernel_kmeans(
            gram,
            job.k,
            rule=self.rule,
            polish=polish,
            init=start,
            n_init=n_init,
            sample_weight=job.weights,
            random_state=job.seed,
            progress=job.progress,
        )
        return Found(found.labels, str(found.outcome), polish, found)


class Unweighted(Method):
    """A method without weights: a subclass defines ``run``, which receives the documents of positive weight."""

    @abstractmethod
    def run(self, gram: Gram, job: Job) -> Any:
        """Return a result with ``labels``, such as a Tree or an EmbeddedClustering."""

    def cluster(self, gram: Gram, job: Job) -> Found:
        """Run on the documents of positive weight; the others join the nearest centroid."""
        heavy = np.flatnonzero(job.weights > 0)
        result = self.run(gram if len(heavy) == len(gram) else gram.take(heavy), job)
        labels = np.full(len(gram), -1, dtype=np.intp)
        labels[heavy] = result.labels
        if len(heavy) < len(gram):
            nearest = Centroids.of(gram, labels, int(labels.max()) + 1, job.weights).fitted().argmin(axis=1)
            labels = np.where(labels >= 0, labels, nearest)
        return Found(labels, str(getattr(result, "outcome", "converged")), result=result)


@dataclass(frozen=True)
class PDDPMethod(Unweighted):
    """The leaves of a PDDP tree; its options are those of ``PDDP``.

    Examples
    --------
    >>> from grampus.documents import PDDPMethod
    >>> PDDPMethod(cut="projection").options()["cut"]
    'projection'
    """

    name: ClassVar[str] = "pddp"
    n_components: int = 1
    cut: str = "zero"
    refine: bool = False
    choose: str = "scatter"

    def run(self, gram: Gram, job: Job) -> Any:
        """Grow the tree."""
        return pddp(gram, job.k, **vars(self))


@dataclass(frozen=True)
class BisectingMethod(Unweighted):
    """The leaves of a tree whose splits are kernel 2-means.

    Examples
    --------
    >>> from grampus.documents import BisectingMethod
    >>> BisectingMethod().options()
    {'name': 'bisecting', 'init': 'random', 'choose': 'scatter'}
    """

    name: ClassVar[str] = "bisecting"
    init: str = "random"
    choose: str = "scatter"

    def run(self, gram: Gram, job: Job) -> Any:
        """Grow the tree."""
        return bisecting_kernel_kmeans(gram, job.k, n_init=job.n_init, random_state=job.seed, **vars(self))


@dataclass(frozen=True)
class SpectralMethod(Unweighted):
    """Spectral clustering; its options are those of ``SpectralKMeans``.

    Examples
    --------
    >>> from grampus.documents import SpectralMethod
    >>> SpectralMethod(n_neighbors=10).n_neighbors
    10
    """

    name: ClassVar[str] = "spectral"
    laplacian: str = "random-walk"
    n_neighbors: int | None = None
    loops: bool = False

    def run(self, gram: Gram, job: Job) -> Any:
        """Cluster by eigenvectors of a Laplacian."""
        return spectral_kmeans(gram, job.k, n_init=job.n_init, random_state=job.seed, **vars(self))


@dataclass(frozen=True)
class KernelPCAMethod(Unweighted):
    """k-means on the leading components of the Gram; its options are those of ``KernelPCAKMeans``.

    Examples
    --------
    >>> from grampus.documents import KernelPCAMethod
    >>> KernelPCAMethod(centre=True).name
    'kernel-pca'
    """

    name: ClassVar[str] = "kernel-pca"
    n_components: int | None = None
    centre: bool = False

    def run(self, gram: Gram, job: Job) -> Any:
        """Cluster by coordinates."""
        options: dict[str, Any] = {"n_init": job.n_init, "random_state": job.seed}
        return kernel_pca_kmeans(
            centre(gram) if self.centre else gram, job.k, n_components=self.n_components, **options
        )


METHODS: dict[str, type[Method]] = {
    row.name: row for row in (KernelKMeansMethod, PDDPMethod, BisectingMethod, SpectralMethod, KernelPCAMethod)
}


def check_method(method: Any) -> Method:
    """Return a method, given by its name in the table or as an object."""
    if isinstance(method, Method):
        return method
    if isinstance(method, str) and method in METHODS:
        return METHODS[method]()
    raise InputError(f"method must be one of {', '.join(map(repr, METHODS))}, or a Method; got {method!r}.")


def restore_method(options: dict[str, Any]) -> Method:
    """Return the method with these ``options()``."""
    own = dict(options)
    return type(check_method(own.pop("name")))(**own)


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

    def cut(self, labels: NDArray[np.intp]) -> float:
        """Return the normalised cut Σ_c links(c, others) / links(c, all) of a partition (Shi & Malik 2000)."""
        _, own = np.unique(labels[self.documents], return_inverse=True)
        matrix = self.links.matrix
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        crossing = own[rows] != own[matrix.indices]
        every = np.bincount(own[rows], weights=matrix.data, minlength=own.max() + 1)
        leaving = np.bincount(own[rows[crossing]], weights=matrix.data[crossing], minlength=len(every))
        return float(np.divide(leaving, every, out=np.zeros_like(every), where=every > 0).sum())


def neighbours_of(gram: Gram, weights: Array) -> Graph | None:
    """Return the neighbour graph; None if there are too few or too many documents."""
    heavy = np.flatnonzero(weights > 0)
    if not FEWEST <= len(heavy) <= MOST:
        return None
    part = gram if len(heavy) == len(gram) else gram.take(heavy)
    try:
        return Graph(neighbour_graph(part, NEIGHBOURS), heavy)
    except MemoryBudgetError as error:  # not skipped silently: the result must not depend on the budget
        raise MemoryBudgetError(
            f"The neighbour graph of {len(heavy)} documents, a start of init='auto' and 'spectral', does not fit into "
            "the memory budget. Use init='random', or allow more with grampus.config(memory=…)."
        ) from error


def spectral_start(graph: Graph, k: int, n: int, n_init: int, seed: int) -> NDArray[np.intp] | None:
    """Return a partition of n documents by the graph's leading eigenvectors (Ng, Jordan & Weiss 2001).

    None if there is nothing to cut: no links, or more than k pieces already.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about components, which are counted below
            found = spectral_kmeans(graph.links, k, laplacian="symmetric", n_init=n_init, random_state=seed)
    except InputError:
        return None
    if getattr(found.embedding, "n_components", 1) > k:
        return None
    labels = np.zeros(n, dtype=np.intp)
    labels[graph.documents] = found.labels
    return labels
