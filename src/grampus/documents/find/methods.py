"""The methods that cluster documents: one row each, with its own options.

A method receives the Gram of the distinct documents and returns labels. Everything after that (names, evidence,
stability, assignment of new documents) is computed the same way for all methods.
"""

import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._array import Array, is_sparse
from ..._check import check_integer
from ..._config import may_keep
from ..._parallel import MANY, spares_copies
from ..._progress import as_progress
from ...cluster import (
    bisecting_kernel_kmeans,
    confidence,
    consensus,
    kernel_kmeans,
    kernel_pca_kmeans,
    pddp,
    spectral_kmeans,
)
from ...cluster.kmeans.centroids import Centroids
from ...errors import InputError
from ...gram import Gram, at_rank, centre
from ...gram.graph import nearest_neighbors, remember_neighbors
from ...run import Apart, returned
from ..work import ITERATIONS, StageCost, Work, WorkUnits
from .graphs import FEWER, FEWEST, LESS, MOST_GRAPHED, Cuts, cuts_of, dominant_cut, neighbours_of, spectral_start
from .linked import linked_clusters
from .method import Found, Job, Method, step_name

CUTS = 200  # clusters: a cut into more takes as many eigenvectors, which costs more than all the rest
STARTS = ("auto", "spectral", "random", "k-means++", "pddp")


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

    def cost(self, work: Work) -> StageCost:
        """Return the cost of all starts, and of the graph."""
        n, k, starts, wide = work.n, work.k, work.effort.n_init, work.shape.width > 0
        # Without features all starts share a pass over the similarities; a start on a stored matrix reads it sometimes.
        passes = starts * k * ITERATIONS / 2 if wide else 6.0 * starts if work.matrix else 2.0 * ITERATIONS
        units, graph = work.multiply(passes), 0.0
        if self.init in ("auto", "spectral") and n <= MOST_GRAPHED:
            graph, units = 1200.0 * n, units + WorkUnits(products=30.0 * n * n)
        return StageCost(step_name(work), 40.0 * n, graph + work.bounds + work.engine + work.matrix, units)

    def _run(self, gram: Gram, job: Job, start: Any, n_init: int) -> Found:
        polish = job.polish and self.rule != "cosine"
        as_progress(job.progress)("clustering", 0, n_init)
        options: dict[str, Any] = {"sample_weight": job.weights, "random_state": job.seed, "progress": job.progress}
        found = kernel_kmeans(gram, job.k, rule=self.rule, polish=polish, init=start, n_init=n_init, **options)
        return Found(found.labels, str(found.outcome), polish, found)


@dataclass(frozen=True)
class ConsensusMethod(Method):
    """What several views of the documents agree on.

    The views are the leading components of the kernel at several ranks, clustered by kernel k-means, and the cuts of
    neighbour graphs of some of them (Ng, Jordan & Weiss 2001): the former find groups of similar size, the latter
    groups of any size. ``grampus.consensus`` combines them, and kernel k-means runs on from there in the kernel itself,
    so that a document shown again gets its own label. The heaviest part of a sum of kernels is looked at alone, too:
    what is added to it cannot outvote it where it does not help. If one class dominates, k-means splits it in most
    views, and each in its own way: where the k-means views do not agree, the random-walk cut of the first graph is far
    smaller than the consensus's normalised cut, and it hardly changes with twice as many neighbours, it is the answer.
    Where halves of the documents agree clearly more on the clusters of average linkage, whose sizes may differ, than on
    clusters of similar size, these are the answer.
    Above 50,000 documents, and for more than 200 clusters, there are no graphs. Fewer than 100 documents are clustered
    by kernel k-means, whose starts are the views: they have too little to look at from several sides.

    Parameters
    ----------
    ranks : tuple of int
        Numbers of components; one decomposition serves all.
    graphs : tuple of pairs of int
        The neighbour graphs: number of components, and neighbours of each document (at most a fifth of all). None if
        empty.
    n_init : int
        Starts of each view, half as many again of a graph; every start is a partition of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.documents import ConsensusMethod, Job
    >>> from grampus.gram import LinearGram
    >>> x = np.random.default_rng(0).random((120, 3)) + np.repeat([[9.0, 0, 0], [0, 9.0, 0]], [100, 20], axis=0)
    >>> found = ConsensusMethod().cluster(LinearGram(x), Job(2, np.ones(120)))
    >>> sorted(np.bincount(found.labels).tolist()), round(float(found.confidence.min()), 2)
    ([20, 100], 1.0)
    """

    name: ClassVar[str] = "consensus"
    ranks: tuple[int, ...] = (15, 30, 45)
    graphs: tuple[tuple[int, int], ...] = ((30, 20),)
    n_init: int = 4

    def __post_init__(self) -> None:
        ranks = tuple(check_integer(rank, "ranks", low=1) for rank in self.ranks)
        graphs = tuple((check_integer(a, "graphs", low=1), check_integer(b, "graphs", low=1)) for a, b in self.graphs)
        if not ranks:
            raise InputError("ranks must name at least one number of components; it is empty.")
        checked = {"ranks": ranks, "graphs": graphs, "n_init": check_integer(self.n_init, "n_init", low=1)}
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def components(self) -> int:
        """Return the largest number of components."""
        return max(*self.ranks, *(rank for rank, _ in self.graphs), 0)

    def cost(self, work: Work) -> StageCost:
        """Return the cost of the views, of the graphs, and of how often every two documents are together."""
        n, k, shape = work.n, work.k, work.shape
        ranks, starts = {*self.ranks, *(rank for rank, _ in self.graphs)}, self.n_init * len(self.ranks)
        rank = min(shape.width or n, self.components())
        # Features and maps of every view; the largest in single precision; labels of every start.
        views = 16.0 * n * sum(ranks) + 4.0 * n * max(ranks) + 16.0 * n * starts
        units = WorkUnits(passes=starts * ITERATIONS * n * k * rank / 2.5, python=80.0 * n)
        graphs = 0.0
        if n <= MOST_GRAPHED and self.graphs:  # links in both directions, and Lanczos's basis
            graphs = n * (sum(24.0 * count for _, count in self.graphs) + 8.0 * (2 * self.components() + 1))
            units += WorkUnits(products=float(n * n * sum(rank for rank, _ in self.graphs)))
        if not shape.rank or shape.landmarks:  # components of a kernel that has none of its own
            units += work.decompose(rank, work.multiply(1)) + WorkUnits(functions=shape.whole * (work.matrix > 0))
        # `gram.plan` stores how often every two documents are together for many clusters.
        partitions = starts + (1.5 * self.n_init * len(self.graphs) if n <= MOST_GRAPHED and k <= CUTS else 0.0)
        stored, passed = (2.0 * partitions + 6.0 * work.effort.n_init) * n, 15.0 * k * work.effort.n_init * partitions
        together = 8.0 * n * n + work.bounds if stored < passed and may_keep(8.0 * n * n) else 0.0
        beside = max(views + graphs + work.bounds + work.engine + work.matrix, together)
        return StageCost(step_name(work), 680.0 * n, beside, units)  # the partitions, as labels and as columns

    def begin(self, gram: Gram, weights: Array) -> Callable[[], list[Any]] | None:
        """Begin to look for the neighbours of the graphs in a copy of this process, where that pays."""
        heavy = int(np.count_nonzero(weights > 0))
        if not self.graphs or heavy > MOST_GRAPHED or not spares_copies(heavy):
            return None

        def neighbours() -> list[Any]:
            views = self._views(gram)
            return [nearest_neighbors(views[rank], min(count, heavy // 5)) for rank, count in self.graphs]

        return Apart(lambda: returned(neighbours()))

    def cluster(self, gram: Gram, job: Job) -> Found:
        """Cluster every view, and return the consensus."""
        if np.count_nonzero(job.weights > 0) < FEWEST:
            return _starts(gram, job)
        options: dict[str, Any] = {"sample_weight": job.weights, "random_state": job.seed}
        main, pays = gram.split_shift()[0]._main_part(), len(gram) >= MANY
        more = None if main is None else Apart(partial(self._alone, main, job, options), pays)
        views = self._views(gram)
        if job.begun is not None and 1 < job.k <= CUTS:
            for (rank, _), found in zip(self.graphs, job.begun(), strict=True):
                remember_neighbors(views[rank], *found)
        with warnings.catch_warnings():  # here, for a thread's own filters would be everybody's
            warnings.filterwarnings("ignore", FEWER, UserWarning)  # the consensus counts its own
            ranked = self._begin_ranked(views, job, options, pays)
            linked = Apart(lambda: returned(linked_clusters(gram, job.weights, job.k, job.seed)), pays, compiled=True)
            cuts = self._cuts(views, job)
            others, pieces = ([], []) if more is None else more()
            cut = [each.partitions(len(gram)) for each in cuts if each is not None]
            given = np.concatenate([*(labels for each in ranked for labels in each()), *others, *cut, *pieces])
        found = consensus(given, job.k, n_init=job.n_init, progress=job.progress, **options)
        labels, outcome = None, found.outcome
        if cuts and cuts[0] is not None:
            rank, n_neighbors = self.graphs[0]
            wider = partial(self._cut, views[rank], job, 2 * n_neighbors)
            labels = dominant_cut(cuts[0], wider, found.labels, job.k, job.n_init, job.seed)
        if labels is None:
            labels = linked()
        if labels is None:
            last = kernel_kmeans(gram, job.k, init=_completed(gram, found.labels, job.weights), n_init=1, **options)
            labels, outcome = last.labels, last.outcome
        labels = _completed(gram, labels, job.weights)
        found = replace(found, labels=labels, confidence=confidence(given, labels, sample_weight=job.weights))
        return Found(labels, str(outcome), result=found, confidence=found.confidence)

    def _views(self, gram: Gram) -> dict[int, Gram]:
        return _views(gram, {*self.ranks, *(rank for rank, _ in self.graphs)})

    def _distinct(self, views: dict[int, Gram], n_init: int) -> tuple[list[Gram], int]:
        """Return the views of different ranks, and the starts of each: as many partitions where ranks coincide."""
        ranked = list({id(views[rank]): views[rank] for rank in self.ranks}.values())
        return ranked, -(-n_init * len(self.ranks) // len(ranked))

    def _begin_ranked(
        self, views: dict[int, Gram], job: Job, options: dict[str, Any], pays: bool
    ) -> list[Callable[[], list[Any]]]:
        """Begin the partitions of every rank; of many documents, each rank in a copy of its own."""
        ranked, n_init = self._distinct(views, self.n_init)
        apart = len(ranked[0]) > MOST_GRAPHED and spares_copies(len(ranked[0]))
        pieces = [[view] for view in ranked] if apart else [ranked]
        return [Apart(partial(_partitions, some, job.k, n_init, options), pays, compiled=True) for some in pieces]

    def _ranked(self, views: dict[int, Gram], job: Job, n_init: int, options: dict[str, Any]) -> list[Any]:
        """Return the partitions of every rank, starts by documents."""
        ranked, n_init = self._distinct(views, n_init)
        return _partitions(ranked, job.k, n_init, options)()

    def _cuts(self, views: dict[int, Gram], job: Job) -> list[Cuts | None]:
        """Return the cuts of the graphs."""
        return [self._cut(views[rank], job, count) for rank, count in self.graphs if 1 < job.k <= CUTS]

    def _alone(self, main: Gram, job: Job, options: dict[str, Any]) -> Callable[[], tuple[list[Any], list[Any]]]:
        """Return what returns partitions of the main part of a Gram, of every rank and of the graphs."""
        views = self._views(main)
        ranked = self._ranked(views, job, -(-self.n_init // 2), options)
        return returned((ranked, [each.partitions(len(main)) for each in self._cuts(views, job) if each is not None]))

    def _cut(self, view: Gram, job: Job, n_neighbors: int) -> Cuts | None:
        return cuts_of(view, job.weights, n_neighbors, job.k, 3 * self.n_init // 2, job.seed)


def _partitions(views: list[Gram], k: int, n_init: int, options: dict[str, Any]) -> Callable[[], list[Any]]:
    """Return what returns the labels of every start of every view."""
    return returned([kernel_kmeans(view, k, n_init=n_init, **options).runs.labels for view in views])


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
        labels = _completed(gram, labels, job.weights)
        return Found(labels, str(getattr(result, "outcome", "converged")), result=result)


class TreeMethod(Unweighted):
    """A method that divides clusters in two until there are enough."""

    def vectors(self, k: int) -> int:
        """Return how many vectors a split holds, whatever k is."""
        return 65


@dataclass(frozen=True)
class PDDPMethod(TreeMethod):
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
class BisectingMethod(TreeMethod):
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
        seen, options = centre(gram) if self.centre else gram, {"n_init": job.n_init, "random_state": job.seed}
        return kernel_pca_kmeans(seen, job.k, n_components=self.n_components, **options)


METHODS: dict[str, type[Method]] = {
    row.name: row
    for row in (ConsensusMethod, KernelKMeansMethod, PDDPMethod, BisectingMethod, SpectralMethod, KernelPCAMethod)
}


def check_method(method: Any) -> Method:
    """Return a method, given by its name in the table or as an object."""
    if isinstance(method, Method):
        return method
    if isinstance(method, str) and method in METHODS:
        return METHODS[method]()
    raise InputError(f"method must be one of {', '.join(map(repr, METHODS))}, or a Method; got {method!r}.")


class SavedMethod(Method):
    """A method of one's own, as a saved run knows it: by its name and options. It cannot cluster.

    Parameters
    ----------
    options : dict
        What ``options()`` of the method returned.
    """

    name: ClassVar[str] = "saved"

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = dict(options)

    def __repr__(self) -> str:
        return f"SavedMethod({self._options!r})"

    def cluster(self, gram: Gram, job: Job) -> Found:
        """Refuse: the code of the method is not in the run."""
        raise InputError(
            f"The run was clustered by a method of your own, {str(self._options['name'])[:60]!r}, whose code a run "
            "does not hold. Fit a DocumentClusterer with it to old and new documents."
        )

    def options(self) -> dict[str, Any]:
        """Return the name and the options that were saved."""
        return dict(self._options)


def restore_method(options: dict[str, Any]) -> Method:
    """Return the method with these ``options()``."""
    own = dict(options)
    row = METHODS.get(str(own.pop("name")))
    return SavedMethod(options) if row is None else row(**own)


def _starts(gram: Gram, job: Job) -> Found:
    """Return kernel k-means with the agreement of its starts as confidence."""
    found = KernelKMeansMethod("random").cluster(gram, job)
    sure = confidence(found.result.runs.labels, found.labels, sample_weight=job.weights)
    return replace(found, polished=False, confidence=sure)


def _views(gram: Gram, ranks: set[int]) -> dict[int, Gram]:
    """Return the Gram at several ranks, from one decomposition; the same object where it has no more components.

    At its own rank it is the Gram itself, whose neighbours the map needs, too.
    """
    base = gram.split_shift()[0]
    largest = at_rank(gram, max(ranks))
    explicit = largest.features()
    most = max(ranks) if explicit is None else explicit.rows.shape[1]
    own = base.features()
    views = {rank: largest if rank >= most else at_rank(largest, rank) for rank in ranks}
    if own is not None and not is_sparse(own.rows) and own.rows.shape[1] < most:
        views.update({rank: base for rank in ranks if rank == own.rows.shape[1]})
    return views


def _completed(gram: Gram, labels: NDArray[np.intp], weights: Array) -> NDArray[np.intp]:
    """Assign the documents without a label to the nearest centroid."""
    if labels.min() >= 0:
        return labels
    nearest = Centroids.of(gram, labels, int(labels.max()) + 1, weights).fitted().argmin(axis=1)
    return np.where(labels >= 0, labels, nearest)
