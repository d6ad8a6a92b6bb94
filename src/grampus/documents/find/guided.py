"""Cluster documents under a guide, with any method and kernel.

What is known becomes evidence on documents: how well they fit what is said of a topic, and the labels of some of them.
k-means starts from the documents with most evidence (seeded k-means: Basu, Banerjee & Mooney 2002) and is bound by it:
a document goes where its distance, less its evidence, is smallest. The neighbours of each document vote. Documents that
fit no topic are clustered as always. Linked documents are clustered as one, their mean in feature space, and
documents that belong apart are separated at the end.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import optimize

from ..._array import Array
from ..._names import number_of
from ..._random import generators
from ...cluster.kmeans.centroids import Centroids
from ...errors import InputError
from ...gram import Gram, shift
from ...gram.merged import merge
from ..given.guide import Told
from .graphs import neighbours_of
from .method import Found, Job, Method

BOUND = ("consensus", "kernel-kmeans")  # methods that evidence binds
SHARP, STEPS = 4.0, 10  # of the votes of neighbours: how much a distance counts, and how far they go
OVERLAP = 0.9  # correlation of the evidence of two topics that mean the same
FEW = 3  # documents of a topic: from fewer, clusters are also found without them, and then named
STARTS = 3  # starts, if some clusters have no known document


@dataclass(frozen=True)
class GuideSettings:
    """How evidence binds; chosen on the choosing sets, see the lab's rows of guides.

    Attributes
    ----------
    pull : float
        What a standard deviation of evidence is worth, as a part of the mean distance between clusters.
    known : float
        Standard deviations that a label counts for its document.
    nothing : float
        Standard deviations that a document must have for a topic to be drawn to it rather than to other clusters.
    rounds : int
        Rounds of bound k-means.
    spread : float
        Share of a document's evidence, and of its cluster, that comes from its neighbours.
    fits : float
        Standard deviations of evidence that the documents of a topic must have in the mean, and twice the skewness
        of that of all documents with it, or the topic has none: few documents stand out for a topic that is there.
    joins : float
        A cluster whose mean evidence is this part of a topic's own joins it.
    """

    pull: float = 0.15
    known: float = 4.0
    nothing: float = 0.5
    rounds: int = 20
    spread: float = 0.7
    fits: float = 3.0
    joins: float = 0.75


SETTINGS = GuideSettings()


@dataclass(frozen=True)
class LinkedUnits:
    """What is clustered: documents, or groups of linked ones.

    Attributes
    ----------
    gram : Gram
    weights : array of shape (u,)
    known, seeded : array of shape (u,)
        Topics, −1 for none.
    evidence : array of shape (u, topics)
    """

    gram: Gram
    weights: Array
    known: NDArray[np.intp]
    seeded: NDArray[np.intp]
    evidence: Array


def cluster_guided(gram: Gram, method: Method, job: Job, told: Told) -> tuple[Found, dict[int, str], list[str]]:
    """Cluster the documents of a Gram as they are told; return the names of clusters and what could not be followed.

    There may be fewer than k clusters, as a topic may have no documents.

    Parameters
    ----------
    gram : Gram
    method : Method
        Where topics are known, the consensus and kernel k-means are bound by what is known of them; other methods
        cluster as they always do, and their clusters get the names of the topics.
    job : Job
    told : Told
    """
    if job.k < len(told.names):
        least = f"{len(told.names)}, the number of topics that the guide names"
        raise InputError(f"n_clusters must be at least {least}; got {job.k}.")
    units = _units(gram, job, told)
    present = int((units.weights > 0).sum())
    if job.k > present:
        raise InputError(f"n_clusters must be at most {present}, the documents once linked ones are one; got {job.k}.")
    job = replace(job, weights=units.weights)
    if (units.seeded >= 0).any() and method.name in BOUND:
        found, names = _bound(units, method, job, told)
    else:
        found = method.cluster(units.gram, job)
        names = _named(found.labels, units, told)
    labels, names = _held(found.labels, names, units, told)
    labels, stuck = _separated(units, labels, told)
    if told.only:
        labels = np.where(np.isin(labels, list(names)), labels, -1)
        if (labels < 0).all():
            raise InputError(f"topics must be those of some documents; no document fits {_listed(told.names)}.")
    notes = [*stuck, *_remarks(labels, names, units, told)]
    labels, names = _counted(labels, names)
    confidence = None if found.confidence is None else found.confidence[told.linked]
    given = {cluster: told.names[name] for cluster, name in names.items()}
    return replace(found, labels=labels[told.linked], confidence=confidence), given, notes


def _units(gram: Gram, job: Job, told: Told) -> LinkedUnits:
    _, first = np.unique(told.linked, return_index=True)
    if len(first) == len(told.linked):
        return LinkedUnits(gram, job.weights, told.known, told.seeded, told.evidence)
    base, sigma = gram.split_shift()
    joined = merge(base, told.linked, job.weights)
    seeded = np.full(len(first), -1, dtype=np.intp)
    inside = np.flatnonzero(told.seeded >= 0)[::-1]
    seeded[told.linked[inside]] = told.seeded[inside]  # the first document decides
    known = told.known[first]
    evidence = np.zeros((len(first), told.evidence.shape[1]))
    np.add.at(evidence, told.linked, told.evidence)
    return LinkedUnits(
        shift(joined) if sigma else joined,
        np.bincount(told.linked, weights=job.weights),
        known,
        np.where(known >= 0, known, seeded),
        evidence / np.bincount(told.linked)[:, None],
    )


def _starts(units: LinkedUnits, job: Job) -> Iterator[NDArray[np.intp]]:
    """Yield partitions by the nearest of k points: the means of the known documents, and others far from them."""
    count, base = units.evidence.shape[1], units.gram.split_shift()[0]
    weights = np.where(units.weights > 0, units.weights, 0.0)
    near = Centroids.of(base, units.seeded, count, np.maximum(weights, 1e-9)).fitted()  # infinite without documents
    own = base.diagonal().astype(np.float64)
    for rng in generators(job.seed, STARTS if job.k > count else 1):
        labels, nearest = near.argmin(axis=1), np.maximum(near.min(axis=1), 0.0)
        for cluster in range(count, job.k):
            pull = np.cumsum(weights * nearest)
            if not pull[-1] > 0:
                break
            drawn = np.minimum(np.searchsorted(pull, rng.random(2 + int(np.log(job.k))) * pull[-1]), len(pull) - 1)
            to = np.maximum(own[drawn, None] + own - 2.0 * base.block(drawn).astype(np.float64), 0.0)
            best = int((np.minimum(to, nearest) @ weights).argmin())
            labels = np.where(to[best] < nearest, cluster, labels)
            nearest = np.minimum(to[best], nearest)
        yield labels


def _matched(labels: NDArray[np.intp], evidence: Array, weights: Array, k: int) -> NDArray[np.intp]:
    """Return clusters numbered so that the first are the topics that the evidence in them is for."""
    sizes = np.bincount(labels, weights=weights, minlength=k)
    worth = np.zeros((k, evidence.shape[1]))
    np.add.at(worth, labels, weights[:, None] * evidence)
    worth /= np.sqrt(np.where(sizes > 0, sizes, 1.0))[:, None]
    rows, columns = optimize.linear_sum_assignment(worth, maximize=True)
    number = np.full(k, -1)
    number[rows] = columns
    number[number < 0] = np.arange(evidence.shape[1], k)
    return number[labels]


def _bound(units: LinkedUnits, method: Method, job: Job, told: Told) -> tuple[Found, dict[int, int]]:
    """Return clusters by k-means that evidence binds: first the topics; documents that fit none find their own."""
    topics, walk = len(told.names), _walk(units)
    evidence = _evidence(units)
    starts = list(_starts(units, job))
    if job.k > topics or np.median(np.bincount(units.seeded[units.seeded >= 0], minlength=topics)) < FEW:
        starts.append(_matched(method.cluster(units.gram, job).labels, evidence, units.weights, job.k))
    labels = _smoothed(_pulled(units, job, evidence, starts), walk).argmax(axis=1)
    labels = _fitting(labels, units, evidence, job.k > topics)
    names = {topic: topic for topic in range(topics) if (labels == topic).any()}
    rest = np.flatnonzero(labels < 0)
    heavy = int((units.weights[rest] > 0).sum())
    share = heavy / max(int((units.weights > 0).sum()), 1)
    k = min(max(round((job.k - topics) * share) if told.free else job.k - len(names), 1), heavy)
    if k < 1 or told.only:
        return Found(labels), names
    part = replace(job, k=k, weights=units.weights[rest], progress=None)
    other = method.cluster(units.gram.take(rest), part) if k > 1 else None
    labels[rest] = topics + (0 if other is None else other.labels)
    return Found(labels), names


def _pulled(units: LinkedUnits, job: Job, evidence: Array, starts: Sequence[NDArray[np.intp]]) -> Array:
    """Return how well documents fit clusters: the topics, and others around them, from the best of some starts.

    Evidence counts the same from every start, or their objectives could not be compared.
    """
    weights, base = np.maximum(units.weights, 1e-9), units.gram.split_shift()[0]
    pull = np.full((len(weights), job.k), SETTINGS.nothing)
    pull[:, : evidence.shape[1]] = evidence

    def distances(labels: NDArray[np.intp]) -> Array:
        squared = Centroids.of(base, labels, job.k, weights).fitted()
        squared[np.isinf(squared)] = squared[np.isfinite(squared)].max()
        return squared

    apart = [float(np.mean(squared.mean(axis=1) - squared.min(axis=1))) for squared in map(distances, starts)]
    best, least, scale = np.zeros_like(pull), np.inf, max(apart) or 1.0
    for start in starts:
        labels = start
        for _ in range(SETTINGS.rounds):
            bound = distances(labels) - SETTINGS.pull * scale * pull
            moved = bound.argmin(axis=1)
            if (moved == labels).all():
                break
            labels = moved
        worth = float(weights @ bound.min(axis=1))
        if worth < least:
            best, least = -bound / scale, worth
    return best


def _fitting(labels: NDArray[np.intp], units: LinkedUnits, evidence: Array, others: bool) -> NDArray[np.intp]:
    """Return the topic of each document, −1 for those of clusters that fit none.

    A topic whose documents hardly fit it has none, if there are other clusters; a cluster that fits a topic as well as
    the topic's own documents joins it.
    """
    topics, weights = evidence.shape[1], units.weights
    k = max(int(labels.max()) + 1, topics)
    sizes = np.bincount(labels, weights=weights, minlength=k)
    means = np.zeros((k, topics))
    np.add.at(means, labels, weights[:, None] * evidence)
    means /= np.where(sizes > 0, sizes, 1.0)[:, None]
    own, home = means[np.arange(topics), np.arange(topics)], np.full(k, -1, dtype=np.intp)
    there = own + 2.0 * _skewness(evidence, weights) >= _needed(sizes[:topics] / weights.sum())
    there[units.known[units.known >= 0]] = True
    home[:topics] = np.where(there | (not others), np.arange(topics), -1)
    for cluster in range(topics, k):
        best = int(means[cluster].argmax())
        if home[best] == best and means[cluster, best] >= max(SETTINGS.joins * own[best], 1.0):
            home[cluster] = best
    return home[labels]


def _needed(share: Array) -> Array:
    """Return the evidence that a topic with this share of the documents needs to be there.

    Nothing but 0 and 1 in a share p of the documents has the mean √((1 − p)/p) there, and a skewness of
    (1 − 2p)/√(p(1 − p)): half of that is enough.
    """
    p = np.clip(share, 1e-9, 1.0 - 1e-9)
    clear = np.sqrt((1.0 - p) / p) + 2.0 * (1.0 - 2.0 * p) / np.sqrt(p * (1.0 - p))
    return np.minimum(SETTINGS.fits, 0.5 * clear)


def _skewness(values: Array, weights: Array) -> Array:
    """Return the skewness of every column."""
    middle = values - np.average(values, axis=0, weights=weights)
    second, third = (np.average(middle**power, axis=0, weights=weights) for power in (2, 3))
    return np.divide(third, second**1.5, out=np.zeros(len(second)), where=second > 0)


def _walk(units: LinkedUnits) -> Any:
    """Return the random walk on the neighbour graph; None if there is none."""
    graph = neighbours_of(units.gram, units.weights)
    if graph is None:
        return None
    matrix = sp.csr_array(graph.links.matrix)
    degree = np.asarray(matrix.sum(axis=1)).reshape(-1)
    rows = sp.diags_array(1.0 / np.where(degree > 0, degree, 1.0)) @ matrix
    m = len(graph.documents)
    pick = sp.csr_array((np.ones(m), (graph.documents, np.arange(m))), shape=(len(units.weights), m))
    return sp.csr_array(pick @ rows @ pick.T)


def _evidence(units: LinkedUnits) -> Array:
    """Return the evidence for every topic: what is said of it, and the labels."""
    found, known = units.evidence.copy(), np.flatnonzero(units.known >= 0)
    found[known, units.known[known]] += SETTINGS.known
    return found


def _smoothed(fit: Array, walk: Any) -> Array:
    """Return the shares of the clusters in each document, after its neighbours have voted."""
    shares = np.exp(SHARP * (fit - fit.max(axis=1, keepdims=True)))
    shares /= shares.sum(axis=1, keepdims=True)
    found = shares
    for _ in range(STEPS if walk is not None else 0):
        found = (1.0 - SETTINGS.spread) * shares + SETTINGS.spread * (walk @ found)
    return np.asarray(found)


def _named(labels: NDArray[np.intp], units: LinkedUnits, told: Told) -> dict[int, int]:
    """Name clusters after topics, each at most once: the cluster that most evidence for a topic is in."""
    k, topics = int(labels.max()) + 1, len(told.names)
    votes = np.zeros((k, topics))
    for given, weight in ((units.known, 1.0), (units.seeded, 1e-6)):  # what is said decides where nothing is known
        inside = (given >= 0) & (labels >= 0)
        np.add.at(votes, (labels[inside], given[inside]), weight)
    rows, columns = optimize.linear_sum_assignment(votes, maximize=True)
    return {int(row): int(column) for row, column in zip(rows, columns, strict=True) if votes[row, column] > 0}


def _remarks(labels: NDArray[np.intp], names: dict[int, int], units: LinkedUnits, told: Told) -> Iterator[str]:
    """Yield which topics found nothing, which are hardly told apart, and how many documents contradict their label."""
    empty = [name for at, name in enumerate(told.names) if at not in names.values()]
    if empty:
        yield f"No documents fit {_listed(empty)}: {'this topic has' if len(empty) == 1 else 'these topics have'} none."
    for one, other in zip(*np.triu(_overlap(units.evidence), 1).nonzero(), strict=True):
        yield f"{told.names[one]!r} and {told.names[other]!r} mean nearly the same documents."
    given = np.array([names.get(cluster, -1) for cluster in range(int(labels.max(initial=-1)) + 1)] + [-1])[labels]
    wrong = int(((units.known >= 0) & (given != units.known) & (units.weights > 0)).sum())
    if wrong:
        known = int((units.known >= 0).sum())
        yield f"{wrong:,} of {known:,} documents with a known topic are in another cluster, which they resemble more."


def _overlap(evidence: Array) -> NDArray[np.bool_]:
    """Return which topics have evidence for the same documents."""
    live = evidence.std(axis=0) > 0
    both = np.zeros((len(live), len(live)), dtype=bool)
    if live.sum() > 1:
        both[np.ix_(live, live)] = np.corrcoef(evidence[:, live], rowvar=False) > OVERLAP
    return both


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:3])) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _held(
    labels: NDArray[np.intp], names: dict[int, int], units: LinkedUnits, told: Told
) -> tuple[NDArray[np.intp], dict[int, int]]:
    """Put documents whose labels are fixed into the clusters of their names."""
    if not told.fixed or not (units.known >= 0).any():
        return labels, names
    home = {name: cluster for cluster, name in names.items()}
    for name in range(len(told.names)):
        home.setdefault(name, int(labels.max()) + 1 + name)
    place = np.array([*(home[name] for name in range(len(told.names))), -1])
    return np.where(units.known >= 0, place[units.known], labels), {cluster: name for name, cluster in home.items()}


def _separated(units: LinkedUnits, labels: NDArray[np.intp], told: Told) -> tuple[NDArray[np.intp], list[str]]:
    """Move documents out of clusters with documents that they belong apart from, the least certain first."""
    apart, labels = told.apart, labels.copy()
    violated = apart[labels[apart[:, 0]] == labels[apart[:, 1]]] if len(apart) else apart
    if not len(violated):
        return labels, []
    count, k = len(labels), int(labels.max()) + 1
    both = np.concatenate([apart, apart[:, ::-1]])
    others = sp.coo_array((np.ones(len(both), dtype=bool), (both[:, 0], both[:, 1])), shape=(count, count)).tocsr()
    base = units.gram.split_shift()[0]
    squared = Centroids.of(base, labels, k, np.maximum(units.weights, 1e-9)).fitted()
    moving = np.unique(violated)
    margin = np.partition(squared[moving], min(1, k - 1), axis=1)[:, min(1, k - 1)] - squared[moving].min(axis=1)
    kept = told.fixed & (units.known[moving] >= 0)
    stuck = 0
    for unit in moving[np.lexsort((moving, margin, kept))].tolist():
        around = labels[others.indices[others.indptr[unit] : others.indptr[unit + 1]]]
        if labels[unit] < 0 or not (around == labels[unit]).any():
            continue
        free = np.setdiff1d(np.arange(k), around)
        if not len(free) or (told.fixed and units.known[unit] >= 0):
            stuck += 1
            continue
        labels[unit] = free[squared[unit, free].argmin()]
    many = number_of(stuck, "document")
    note = f"{many} could not be separated from all that they belong apart from: there are {k} clusters."
    return labels, [note] if stuck else []


def _counted(labels: NDArray[np.intp], names: dict[int, int]) -> tuple[NDArray[np.intp], dict[int, Any]]:
    """Return the labels with the clusters that are left numbered from 0 on; −1 stays."""
    left = np.unique(labels[labels >= 0])
    number = {int(cluster): at for at, cluster in enumerate(left)}
    counted = np.where(labels >= 0, np.searchsorted(left, labels), -1)
    return counted, {number[cluster]: name for cluster, name in names.items() if cluster in number}


def run_method(gram: Gram, method: Method, job: Job, told: Told | None) -> tuple[Found, dict[int, str], list[str]]:
    """Run the method; return its result, names of clusters by a guide, and notes, its warnings among them."""
    named: dict[int, str] = {}
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if told is None:
            found = method.cluster(gram, job)
        else:
            found, named, notes = cluster_guided(gram, method, job, told)
    notes += [str(warning.message) for warning in caught]
    labels = np.asarray(found.labels)
    if labels.shape != (len(gram),) or labels.dtype.kind not in "iu" or labels.min() < -1 or labels.max() < 0:
        expected = f"{len(gram)} labels, whole numbers from −1 on, not all −1"
        raise InputError(f"method must return {expected}; {method!r} did not.")
    return replace(found, labels=labels.astype(np.intp)), named, notes
