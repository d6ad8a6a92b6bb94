"""Cluster documents under a guide, with any method and kernel.

Linked documents are clustered as one, their mean in feature space. Known documents are the first centroids (seeded
k-means: Basu, Banerjee & Mooney 2002). Then the clusters are named after their known documents, those of one name
become one where enough documents say so, and documents that belong apart are separated.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._array import Array
from ..._random import generators
from ...cluster.kmeans.centroids import Centroids
from ...errors import InputError
from ...gram import Gram, shift
from ...gram.merged import merge
from ..given.guide import Told
from .method import Found, Job, Method

SUPPORT = 3  # known documents of a cluster that make it one with another of their name
STARTS = 3  # seeded starts, if some clusters have no known document


@dataclass(frozen=True)
class LinkedUnits:
    """What is clustered: documents, or groups of linked ones.

    Attributes
    ----------
    gram : Gram
    weights : array of shape (u,)
    known, seeded : array of shape (u,)
        Topics, −1 for none.
    """

    gram: Gram
    weights: Array
    known: NDArray[np.intp]
    seeded: NDArray[np.intp]


def cluster_guided(gram: Gram, method: Method, job: Job, told: Told) -> tuple[Found, dict[int, str], list[str]]:
    """Cluster the documents of a Gram as they are told; return the names of clusters and what could not be followed.

    There may be fewer than k clusters, as those with one name may become one.

    Parameters
    ----------
    gram : Gram
    method : Method
        Kernel k-means starts from the known documents, and so does the consensus if most topics have ten; the
        others start as they always do.
    job : Job
    told : Told
    """
    if job.k < len(told.names):
        raise InputError(
            f"n_clusters must be at least {len(told.names)}, the number of topics that the guide names; got {job.k}."
        )
    units = _units(gram, job, told)
    present = int((units.weights > 0).sum())
    if job.k > present:
        raise InputError(f"n_clusters must be at most {present}, the documents once linked ones are one; got {job.k}.")
    starts = np.array(list(_starts(units, job)), dtype=np.int32) if (units.seeded >= 0).any() else None
    seeds = int(np.median(np.bincount(units.seeded[units.seeded >= 0], minlength=1)))
    found = method.cluster(units.gram, replace(job, weights=units.weights, starts=starts, seeds=seeds))
    labels, names, lost = _named(found.labels, units, told)
    labels, stuck = _separated(units, labels, told)
    labels, names = _counted(labels, names)
    confidence = None if found.confidence is None else found.confidence[told.linked]
    given = {cluster: told.names[name] for cluster, name in names.items()}
    return replace(found, labels=labels[told.linked], confidence=confidence), given, [*lost, *stuck]


def _units(gram: Gram, job: Job, told: Told) -> LinkedUnits:
    _, first = np.unique(told.linked, return_index=True)
    if len(first) == len(told.linked):
        return LinkedUnits(gram, job.weights, told.known, told.seeded)
    base, sigma = gram.split_shift()
    joined = merge(base, told.linked, job.weights)
    seeded = np.full(len(first), -1, dtype=np.intp)
    inside = np.flatnonzero(told.seeded >= 0)[::-1]
    seeded[told.linked[inside]] = told.seeded[inside]  # the first document decides
    known = told.known[first]
    return LinkedUnits(
        shift(joined) if sigma else joined,
        np.bincount(told.linked, weights=job.weights),
        known,
        np.where(known >= 0, known, seeded),
    )


def _starts(units: LinkedUnits, job: Job) -> Iterator[NDArray[np.intp]]:
    """Yield partitions by the nearest of k points: the means of the known documents, and others far from them."""
    topics, codes = np.unique(units.seeded, return_inverse=True)
    codes = codes.reshape(-1) - int(topics[0] < 0)
    count = int(codes.max()) + 1
    base = units.gram.split_shift()[0]
    weights = np.where(units.weights > 0, units.weights, 0.0)
    near = Centroids.of(base, codes, count, np.maximum(weights, 1e-9)).fitted()
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


def _named(
    labels: NDArray[np.intp], units: LinkedUnits, told: Told
) -> tuple[NDArray[np.intp], dict[int, int], list[str]]:
    """Name each cluster after most of its known documents; clusters of one name become one, if that is well founded.

    It is if three known documents of a cluster say so, or the topic is expected to be as large as its clusters.
    """
    k, topics = int(labels.max()) + 1, len(told.names)
    labels = labels.copy()
    votes = np.zeros((k, topics))
    for given, weight in ((units.known, 1.0), (units.seeded, 1e-6)):  # words of a topic decide where nothing else does
        inside = (given >= 0) & (labels >= 0)
        np.add.at(votes, (labels[inside], given[inside]), weight)
    sizes, expected = _sizes(labels, units, topics)
    names: dict[int, int] = {}
    taken: dict[int, int] = {}
    for cluster in np.argsort(-votes.max(axis=1, initial=0.0), kind="stable").tolist():
        if not topics or 2.0 * votes[cluster].max() <= votes[cluster].sum():
            continue
        name = int(votes[cluster].argmax())
        home = taken.setdefault(name, cluster)
        names[home] = name
        enough = votes[cluster, name] >= SUPPORT or sizes[home] + sizes[cluster] <= expected[name]
        if home != cluster and enough:
            labels[labels == cluster] = home
            sizes[home] += sizes[cluster]
    lost = [name for name in range(topics) if name not in taken]
    if told.fixed:
        for name in lost:
            taken[name] = k + name
            names[k + name] = name
        labels = np.where(
            units.known >= 0, np.array([*(taken[name] for name in range(topics)), -1])[units.known], labels
        )
        names = {cluster: name for cluster, name in names.items() if (labels == cluster).any()}
        lost = [name for name in range(topics) if name not in names.values()]
    listed = ", ".join(repr(told.names[name]) for name in lost[:3]) + ("" if len(lost) <= 3 else ", …")
    notes = [f"{len(lost)} of {topics} topics of the guide have no cluster of their own: {listed}."] if lost else []
    return labels, names, notes


def _sizes(labels: NDArray[np.intp], units: LinkedUnits, topics: int) -> tuple[Array, Array]:
    """Return the size of each cluster, and the size that a topic has at least by its share of the known documents.

    Few labels say little: a standard error is subtracted from their number.
    """
    inside = labels >= 0
    sizes = np.bincount(labels[inside], weights=units.weights[inside])
    known = np.bincount(units.known[units.known >= 0], minlength=topics).astype(np.float64)
    least = np.maximum(known - np.sqrt(known), 0.0) / max(known.sum(), 1.0)
    return sizes, least * units.weights.sum()


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
    note = f"{stuck} documents could not be separated from all that they belong apart from: there are {k} clusters."
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
        raise InputError(
            f"method must return {len(gram)} labels, whole numbers from −1 on, not all −1; {method!r} did not."
        )
    return replace(found, labels=labels.astype(np.intp)), named, notes
