"""Stability of the clusters and documents of a final clustering."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array
from .._check import check_labels
from .._parallel import thread_count
from .._random import seed_words
from ..cluster.kmeans import Rule
from ..errors import InputError
from ..gram import Gram, require_gram
from .halves import Splitter
from .splits import Splits, check_splits
from .strength import tables


@dataclass(frozen=True)
class Stability:
    """How often companions stay together when only half of the collection is clustered.

    Attributes
    ----------
    documents : array of shape (n,)
        For each document, the mean share of its companions (the others of its cluster) that are in the same cluster
        as it is, over the clusterings of all halves, extended to all documents. NaN for a document without companions.
    clusters : array of shape (k,)
        The mean over the cluster's documents; NaN for a cluster of one. Clusters are in the order of their labels.
    expected : array of shape (k,)
        The same if documents were shuffled: what large clusters get by chance.
    n_splits : int

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram
    >>> from grampus.select import stability
    >>> points = np.repeat([[0.0], [9.0]], 20, axis=0) + np.random.default_rng(0).normal(size=(40, 1))
    >>> stability(LinearGram(points), np.repeat([0, 1], 20), random_state=0).clusters
    array([1., 1.])
    """

    documents: Array
    clusters: Array
    expected: Array
    n_splits: int

    def beyond_chance(self, labels: NDArray[np.intp]) -> Stability:
        """Return what is left without chance: 0 is what shuffled documents get in clusters of these sizes, 1 is always.

        Parameters
        ----------
        labels : array of shape (n,)
            The clustering that was measured, 0 … k−1.
        """
        room = np.maximum(1.0 - self.expected, 1e-9)
        documents = np.clip((self.documents - self.expected[labels]) / room[labels], -1.0, 1.0)
        clusters = np.clip((self.clusters - self.expected) / room, -1.0, 1.0)
        return replace(self, documents=documents, clusters=clusters, expected=np.zeros_like(self.expected))


def stability(
    gram: Gram,
    labels: Any,
    *,
    splits: Splits = Splits(50),  # noqa: B008  (frozen)
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Stability:
    """Measure the stability of a clustering on splits into halves.

    Each half of each split is clustered into as many clusters and predicts the other half, which makes 2 · splits
    partitions of all documents. The same seed gives the splits of ``choose_k`` on these documents. Costs O(n) for each
    partition beyond the clustering itself.

    Parameters
    ----------
    gram : Gram
        With its shift, as the final clustering used it.
    labels : array of shape (n,)
        The final clustering; any labels.
    splits : Splits
        How many splits there are, and how their halves start; nothing is reduced.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Threads.

    Returns
    -------
    Stability

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram
    >>> from grampus.select import stability
    >>> points = np.array([[0.0], [0.2], [0.1], [0.3], [5.0], [9.0], [9.2], [9.1], [9.3], [9.4]])
    >>> found = stability(LinearGram(points), [0] * 5 + [1] * 5, random_state=0)
    >>> int(found.documents.argmin())
    4
    """
    n = len(require_gram(gram))
    final = check_labels(labels, n)
    k = int(final.max()) + 1
    if check_splits(splits).reduced:
        raise InputError("Options of prototypes belong to RED-S; stability uses every document. Leave them out.")
    if n < 2 * k:
        raise InputError(f"Each half must hold {k} documents for {k} clusters: at least {2 * k} are needed; got {n}.")
    base, sigma = gram.split_shift()
    base, order = base.canonical()
    final = final[order]
    splitter = Splitter.of(base, Rule(shift=sigma), [k], splits, tuple(seed_words(random_state)))
    sizes = np.bincount(final, minlength=k).astype(np.float64)
    together, by_chance = np.zeros(n), np.zeros(k)
    step = splitter.at_once(k)
    for first in range(0, splits.n, step):
        halves = splitter.halves(k, range(first, min(first + step, splits.n)), thread_count(n_jobs))
        everyone = np.where(halves.labels >= 0, halves.labels, halves.predicted)
        counts = tables(np.broadcast_to(final, everyone.shape), everyone, k)
        for run, table in zip(everyone, counts, strict=True):
            together += table[final, run] - 1.0
        parts = counts.sum(axis=1).astype(np.float64)
        by_chance += float((parts * (parts - 1.0)).sum() / (n * (n - 1.0)))
    runs = 2.0 * splits.n
    company = sizes[final] - 1.0
    documents = np.divide(together, company * runs, out=np.full(n, np.nan), where=company > 0)
    clusters = np.array([documents[final == c].mean() for c in range(k)])
    restored = np.empty(n)
    restored[order] = documents
    return Stability(restored, clusters, by_chance / runs, splits.n)
