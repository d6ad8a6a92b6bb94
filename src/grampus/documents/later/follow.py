"""What became of the clusters of a run in an update: which survive, how they changed, and how far they drifted."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._array import sum_rows
from ...persist import Change, Run, Update
from ..answer import Answer

SAME = 0.5  # of the documents of two clusters, to be one and the same
LARGER = 1.1  # ratio of shares from which a cluster has grown, or shrunken


def _table(old: Run, labels: NDArray[Any], came_from: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return how many of the documents that stay are in each old and each new cluster."""
    was = np.flatnonzero(came_from >= 0)
    a, b = old.evidence.labels[came_from[was]], labels[was]
    both = (a >= 0) & (b >= 0)
    counts = np.zeros((old.n_clusters, int(labels.max()) + 1), dtype=np.int64)
    np.add.at(counts, (a[both], b[both]), 1)
    return counts


def alike(counts: NDArray[Any]) -> NDArray[np.float64]:
    """Return for every two clusters the documents that they share, over those that one of them has.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.documents.later.follow import alike
    >>> alike(np.array([[2, 0], [1, 1]])).round(2).tolist()
    [[0.67, 0.0], [0.25, 0.5]]
    """
    either = counts.sum(axis=1, keepdims=True) + counts.sum(axis=0, keepdims=True) - counts
    return np.asarray(np.divide(counts, either, out=np.zeros(counts.shape), where=either > 0))


def same_clusters(shares: NDArray[np.float64]) -> dict[int, int]:
    """Return which clusters are the same, one of them in each row and column; the first where two are half of it."""
    found: dict[int, int] = {}
    for before, after in enumerate(shares.argmax(axis=1).tolist() if shares.shape[1] else ()):
        if shares[before, after] >= SAME and after not in found.values():
            found[before] = after
    return found


def followed(old: Run, labels: NDArray[Any], came_from: NDArray[np.intp]) -> dict[int, int]:
    """Return the new number of each old cluster that survives."""
    return same_clusters(alike(_table(old, labels, came_from)))


def entry(
    old: Run, new: Run, answer: Answer, came_from: NDArray[np.intp], deleted: int, became: dict[int, int]
) -> Update:
    """Return the entry of the history: what became of every cluster."""
    counts = _table(old, new.evidence.labels, came_from)
    drift = _drift(answer, came_from)
    rows = counts.sum(axis=1)
    old_of = {after: before for before, after in became.items()}
    changes = []
    for cluster in new.evidence.clusters:
        taken = [b for b in range(old.n_clusters) if rows[b] and counts[b, cluster.number] > SAME * rows[b]]
        before = old_of.get(cluster.number)
        size = 0 if before is None else old.evidence.clusters[before].size
        if len(taken) > 1:
            kind = "merged"
        elif before is None:
            most = int(counts[:, cluster.number].max(initial=0))
            kind = "split" if most > SAME * max(1, counts[:, cluster.number].sum()) else "new"
        else:
            kind = _grown(size, cluster.size, cluster.size / len(new) * len(old) / size)
        changes.append(Change(cluster.number, cluster.name, kind, size, cluster.size, drift[cluster.number]))
    lost = [cluster for cluster in old.evidence.clusters if cluster.number not in became]
    changes += [Change(cluster.number, cluster.name, "dead", cluster.size, 0) for cluster in lost]
    was = np.flatnonzero(came_from >= 0)
    a, b = old.evidence.labels[came_from[was]], new.evidence.labels[was]
    follows = np.array([*(became.get(c, -2) for c in range(old.n_clusters)), -1])
    when, added, moved = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", int((came_from < 0).sum()), follows[a] != b
    return Update(when, len(new), added, deleted, int(moved.sum()), tuple(changes))


def _grown(before: int, after: int, ratio: float) -> str:
    """Return what became of a cluster: a smaller share of more documents is no loss, a larger one of fewer no gain.

    Examples
    --------
    >>> from grampus.documents.later.follow import _grown
    >>> _grown(50, 80, 1.3), _grown(67, 74, 0.8), _grown(50, 30, 0.7), _grown(50, 45, 1.3)
    ('grown', 'kept', 'shrunken', 'kept')
    """
    if ratio > LARGER and after > before:
        return "grown"
    return "shrunken" if ratio < 1 / LARGER and after < before else "kept"


def _drift(answer: Answer, came_from: NDArray[np.intp]) -> list[float | None]:
    """Return 1 − cosine of the centroids of the added documents and of those before, for every cluster."""
    inputs, labels = answer.inputs, answer.labels
    k, base = int(labels.max()) + 1, answer.gram.split_shift()[0]
    added = np.zeros(len(labels), dtype=bool)
    added[inputs.group[came_from < 0]] = True
    added[inputs.group[came_from >= 0]] = False
    parts = np.where(labels < 0, -1, labels + k * added)
    weights = np.maximum(inputs.weights, 0.0)
    sums = base.sum_by(parts, 2 * k, weights)
    total = sum_rows(sums, parts, 2 * k, weights)
    found: list[float | None] = []
    for cluster in range(k):
        norms = total[cluster, cluster] * total[k + cluster, k + cluster]
        known = norms > 0
        found.append(round(float(1 - total[cluster, k + cluster] / norms**0.5), 6) if known else None)
    return found
