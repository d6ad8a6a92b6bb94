"""Heaps of what is left over: clusters whose documents are hardly more alike than documents of different clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._array import Array, sum_rows
from ..gram import Gram
from .ward import Labels

MIXED, FAR_LESS = 0.1, 0.2  # cohesion beyond chance of a heap: at most, and as a share of the others' median
SOME = 0.02  # median cohesion beyond chance below which no cluster is a group


def between_clusters(total: Array, sizes: Array) -> float:
    """Return the mean similarity of two documents of different clusters; 0 if there is one.

    Parameters
    ----------
    total : array of shape (k, k)
        Sums of the similarities of documents of two clusters.
    sizes : array of shape (k,)
    """
    pairs = float(sizes.sum() ** 2 - (sizes**2).sum())
    return float(total.sum() - np.trace(total)) / pairs if pairs else 0.0


def cohesion_beyond(cohesion: Array, chance: float, own: Array, sizes: Array) -> Array:
    """Return cohesion beyond chance as a share of what is possible, (c − e)/(m − e); NaN for a single document.

    Parameters
    ----------
    cohesion : array of shape (k,)
        Mean similarity of two different documents of each cluster.
    chance : float
        That of two documents of different clusters.
    own : array of shape (k,)
        That of a document to itself: the largest cohesion that there can be.
    sizes : array of shape (k,)
    """
    found = np.clip((cohesion - chance) / np.maximum(own - chance, 1e-9), -1.0, 1.0)
    return np.where((sizes > 1) & (len(sizes) > 1), found, np.nan)


def heaps(alike: Array) -> NDArray[np.bool_]:
    """Tell which clusters are heaps: hardly alike, and far less than the others, by cohesion beyond chance.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.select.leftover import heaps
    >>> heaps(np.array([0.02, 0.3, 0.4])).tolist(), heaps(np.array([0.01, 0.02, 0.02])).tolist()
    ([True, False, False], [False, False, False])
    """
    known = np.flatnonzero(~np.isnan(alike))
    found = np.zeros(len(alike), dtype=bool)
    for cluster in known.tolist():
        others = alike[known[known != cluster]]
        usual = float(np.median(others)) if len(others) else 0.0
        found[cluster] = usual >= SOME and alike[cluster] < min(MIXED, FAR_LESS * usual)
    return found


def share_left_over(gram: Gram, labels: Labels) -> float:
    """Return the share of the documents in clusters that are heaps."""
    clusters = np.unique(labels, return_inverse=True)[1]
    sizes, own = np.bincount(clusters).astype(np.float64), np.bincount(clusters, gram.diagonal())
    total = sum_rows(gram.sum_by(clusters, len(sizes)), clusters, len(sizes), np.ones(len(clusters)))
    cohesion = (np.diag(total) - own) / np.maximum(sizes * (sizes - 1.0), 1.0)
    alike = cohesion_beyond(cohesion, between_clusters(total, sizes), own / sizes, sizes)
    return float(sizes[heaps(alike)].sum() / sizes.sum())
