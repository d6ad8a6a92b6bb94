"""The consensus of several partitions of the same documents: kernel k-means on their co-association."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from .._array import Array
from .._check import check_integer, encode_partitions
from .._progress import Progress
from ..errors import InputError
from ..gram import Gram, LinearGram, normalise
from ..metrics import nmi
from .kmeans.kernel_kmeans import check_weights, kernel_kmeans
from .results import Clustering

Partitions = ArrayLike | Sequence[ArrayLike]
_LARGEST = 2**62  # of a key in int64


@dataclass(frozen=True)
class Consensus(Clustering):
    """What several partitions agree on.

    Attributes
    ----------
    confidence : array of shape (n,)
        How much more often the views put a document with the others of its cluster than with those of the next best
        cluster: 1 if all views agree, 0 if it could as well be elsewhere. NaN for a cluster of one, and for a document
        that no view has clustered.
    agreement : array of shape (views,)
        The normalised mutual information of every view with the consensus.

    Examples
    --------
    >>> from grampus import consensus
    >>> found = consensus([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]], 2)
    >>> found.confidence.round(2).tolist()
    [0.83, 0.83, 0.33, 0.89, 0.89, 0.89]
    """

    confidence: Array = field(repr=False)
    agreement: Array = field(repr=False)

    @property
    def sizes(self) -> NDArray[np.intp]:
        """The number of documents in every cluster; those that no view has clustered are in none."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.n_clusters).astype(np.intp)


def coassociation(partitions: Partitions, *, view_weight: Any = None) -> Gram:
    """Return the co-association of partitions as a Gram: the share of them that put two documents together.

    Its features are the memberships of all partitions side by side, one entry for each document and view, so that
    nothing of size n × n is formed.

    Parameters
    ----------
    partitions : array of shape (views, n), or sequence of label sequences
        One partition a row; any labels. −1 marks a document that the view has not clustered.
    view_weight : array of shape (views,), optional
        How much each partition counts; 1 by default.

    Returns
    -------
    LinearGram

    Examples
    --------
    >>> from grampus.cluster import coassociation
    >>> coassociation([[0, 0, 1], [0, 1, 1]]).dense()
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    codes = _codes(partitions)
    return _memberships(codes, _view_weights(view_weight, codes.shape[1]))


def consensus(
    partitions: Partitions,
    n_clusters: int,
    *,
    view_weight: Any = None,
    sample_weight: Any = None,
    n_init: int = 30,
    random_state: Any = 0,
    progress: Progress | None = None,
) -> Consensus:
    """Return the partition into k clusters that agrees best with several given ones.

    It minimises the k-means objective of the co-association Gram (``coassociation``): documents are together that most
    views put together. Documents that all views treat alike are clustered as one, so the cost follows the number of
    different rows, and the order of the documents does not matter.

    Parameters
    ----------
    partitions : array of shape (views, n), or sequence of label sequences
        One partition a row, of any number of clusters; −1 marks a document that the view has not clustered.
    n_clusters : int
        k.
    view_weight : array of shape (views,), optional
        How much each partition counts; 1 by default.
    sample_weight : array of shape (n,), optional
        Weight of each document: a weight of 2 equals two copies.
    n_init : int
        Starts (greedy k-means++).
    random_state : int, RandomState or None
        Seed of the starts.
    progress : callable, optional
        Called as ``progress("clustering", done, total)``, in starts.

    Returns
    -------
    Consensus
        A Clustering with a confidence for every document. A document that no view has clustered has label −1.

    Notes
    -----
    The sum over views of the k-means objective of memberships is the quadratic mutual information of Topchy, Jain &
    Punch (2005). Where some views leave documents out, rows are normalised to unit length.

    Examples
    --------
    >>> from grampus import consensus
    >>> consensus([[0, 0, 1, 1], ["b", "b", "a", "a"], [0, 0, 0, 1]], 2).sizes
    array([2, 2])
    """
    codes = _codes(partitions)
    n, views = codes.shape
    k = check_integer(n_clusters, "n_clusters", low=1, high=n, of=" (the number of documents)")
    scale, weights = _view_weights(view_weight, views), check_weights(sample_weight, n)
    clustered = (codes >= 0).any(axis=1)
    rows, group = _distinct(codes)
    mass = np.bincount(group, weights=np.where(clustered, weights, 0.0), minlength=len(rows))
    if not mass.sum() > 0:
        raise InputError("partitions must cluster at least one document of positive weight; all labels are −1.")
    gram: Gram = _memberships(rows, scale)
    if (rows < 0).any():
        gram = normalise(gram)
    distinct = int((mass > 0).sum())
    if distinct < k:
        why = "all views treat the other documents like one of these"
        warnings.warn(f"Only {distinct} of {k} clusters: {why}.", stacklevel=2)
    starts: Any = {"init": "k-means++", "n_init": n_init, "random_state": random_state}
    clustering = kernel_kmeans(gram, min(k, distinct), sample_weight=mass, progress=progress, **starts)
    apart = np.where((rows >= 0).any(axis=1), clustering.labels, -1)
    sure = _confidence(_memberships(rows, scale), (rows >= 0) @ scale, apart, mass)
    whole = clustering.take(group)
    labels = apart[group]
    values = {each.name: getattr(whole, each.name) for each in fields(Clustering)} | {"labels": labels, "n_clusters": k}
    agreement = np.array([nmi(labels[view >= 0], view[view >= 0]) if (view >= 0).any() else np.nan for view in codes.T])
    return Consensus(**values, confidence=sure[group], agreement=agreement)


def _codes(partitions: Partitions) -> NDArray[np.intp]:
    """Return the partitions as columns of codes (n, views): −1 for none, the others from 0 on."""
    encoded = encode_partitions(partitions)
    none = [values.dtype.kind in "if" and bool(values[0] == -1) for values, _ in encoded]
    return np.stack([codes for _, codes in encoded], axis=1) - np.array(none)


def _distinct(codes: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the distinct rows of codes from −1 on, in lexicographic order, and for each row which of them it is.

    As `numpy.unique` with axis=0, which compares rows as strings: columns are folded into one whole number instead.
    """
    key, most = np.zeros(len(codes), dtype=np.int64), 1  # keys are below `most`
    for column in codes.T:
        base = int(column.max(initial=-1)) + 2
        if most * base > _LARGEST:
            found, key = np.unique(key, return_inverse=True)
            most = len(found)
        key, most = key * base + (column + 1), most * base
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    return codes[first], group


def _view_weights(view_weight: Any, views: int) -> Array:
    weights = np.ones(views) if view_weight is None else np.asarray(view_weight, dtype=np.float64)
    if weights.shape != (views,) or not np.isfinite(weights).all() or weights.min() < 0 or not weights.sum() > 0:
        rule = "finite numbers of at least 0, not all 0, one for each partition"
        raise InputError(f"view_weight must be {views} {rule}.")
    return weights / weights.sum()


def _memberships(codes: NDArray[np.intp], scale: Array) -> LinearGram:
    """Return the linear Gram of the memberships side by side, each times the root of its view's weight."""
    counts = codes.max(axis=0) + 1
    first = np.concatenate([[0], np.cumsum(counts)])
    member = codes >= 0
    pointers = np.concatenate([[0], np.cumsum(member.sum(axis=1))])
    columns = (codes + first[:-1])[member]
    values = np.broadcast_to(np.sqrt(scale), codes.shape)[member]
    return LinearGram(sp.csr_array((values, columns, pointers), shape=(len(codes), max(int(first[-1]), 1))))


def confidence(partitions: Partitions, labels: Any, *, view_weight: Any = None, sample_weight: Any = None) -> Array:
    """Return how far several partitions agree with the cluster of each document, from 0 to 1.

    The share of the views that put a document with the others of its cluster, less the same share for the next best
    cluster; at least 0. Random views give about 0.

    Parameters
    ----------
    partitions : array of shape (views, n), or sequence of label sequences
        One partition a row; −1 marks a document that the view has not clustered, which then does not count for it.
    labels : array of shape (n,)
        The clusters to be judged, 0 … k−1; −1 for none.
    view_weight, sample_weight : as in ``consensus``

    Returns
    -------
    array of shape (n,)
        NaN for a cluster of one, and for a document that nothing has clustered.

    Examples
    --------
    >>> from grampus.cluster import confidence
    >>> confidence([[0, 0, 1, 1], [0, 1, 1, 1]], [0, 0, 1, 1]).round(2).tolist()
    [0.5, 0.0, 0.75, 0.75]
    """
    codes = _codes(partitions)
    labels = np.asarray(labels, dtype=np.intp)
    mass = check_weights(sample_weight, len(codes))
    if labels.shape != (len(codes),):
        raise InputError(f"labels must have {len(codes)} entries, one for each document; got shape {labels.shape}.")
    scale = _view_weights(view_weight, codes.shape[1])
    return _confidence(_memberships(codes, scale), (codes >= 0) @ scale, labels, mass)


def _confidence(gram: Gram, share: Array, labels: NDArray[np.intp], mass: Array) -> Array:
    """Return the mean co-association with the own cluster less that with the next best, in [0, 1].

    Rows are distinct rows of codes with the mass of their documents; the document itself, of weight 1, is left out of
    its own cluster. `share` is the weight of the views that have clustered a row.
    """
    k = int(labels.max()) + 1
    inside = labels >= 0
    sizes = np.bincount(labels[inside], weights=mass[inside], minlength=k)
    sums = gram.sum_by(labels, k, mass)
    label = np.maximum(labels, 0)
    rows = np.arange(len(labels))
    itself = np.where(mass > 0, 1.0, 0.0)
    company = sizes[label] - itself
    mean = np.divide(sums[rows, label] - itself * share, company, out=np.full(len(rows), np.nan), where=company > 0)
    others = np.divide(sums, sizes, out=np.zeros_like(sums), where=sizes > 0)
    others[rows, label] = 0.0
    scaled = np.divide(mean - others.max(axis=1), share, out=np.full(len(rows), np.nan), where=share > 0)
    return np.where(inside, scaled.clip(0.0, 1.0), np.nan)
