"""How stable the clusters of a final clustering are, and which of their documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._array import Array
from .._check import check_integer, check_labels
from .._parallel import thread_count
from .._random import seed_words
from ..cluster.kmeans.state import Rule
from ..errors import InputError
from ..gram import Gram
from .halves import Splitter
from .splits import Starts
from .strength import tables


@dataclass(frozen=True)
class Stability:
    """How often companions stay together when only half of the collection is clustered.

    Attributes
    ----------
    documents : array of shape (n,)
        For each document, the mean share of its companions (the others of its cluster) that are in the same cluster
        as it is, over the clusterings of all halves extended to everyone. NaN for a document without companions.
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


def stability(
    gram: Gram,
    labels: Any,
    *,
    n_splits: int = 50,
    init: str = "auto",
    n_init: int = 3,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Stability:
    """Measure the stability of a clustering on splits into halves.

    Each half of each split is clustered into as many clusters and predicts the other half, which makes 2 · splits
    partitions of everyone. The same seed gives the splits of ``choose_k`` on these documents. Costs O(n) for each
    partition beyond the clustering itself.

    Parameters
    ----------
    gram : Gram
        With its shift, as the final clustering used it.
    labels : array of shape (n,)
        The final clustering; any labels.
    n_splits : int
    init, n_init
        As in ``choose_k``.
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
    if not isinstance(gram, Gram):
        raise InputError(f"gram must be a Gram; got {type(gram).__name__}. Make one with kernel.gram(X).")
    n = len(gram)
    final = check_labels(labels, n)
    k = int(final.max()) + 1
    n_splits = check_integer(n_splits, "n_splits", low=1)
    if n < 2 * k:
        raise InputError(f"Each half must hold {k} documents for {k} clusters: at least {2 * k} are needed; got {n}.")
    base, sigma = gram.split_shift()
    base, order = base.canonical()
    final = final[order]
    rule, entropy = Rule(shift=sigma), tuple(seed_words(random_state))
    splitter = Splitter.of(base, rule, [k], n_splits, starts=Starts(init, n_init))
    sizes = np.bincount(final, minlength=k).astype(np.float64)
    together, by_chance = np.zeros(n), np.zeros(k)
    step = splitter.splits_at_once(k)
    for first in range(0, n_splits, step):
        splits = range(first, min(first + step, n_splits))
        found = splitter.halves(k, splits, entropy, thread_count(n_jobs))
        everyone = np.where(found.labels >= 0, found.labels, found.predicted)
        counts = tables(np.broadcast_to(final, everyone.shape), everyone, k)
        for run, table in zip(everyone, counts, strict=True):
            together += table[final, run] - 1.0
        parts = counts.sum(axis=1).astype(np.float64)
        by_chance += float((parts * (parts - 1.0)).sum() / (n * (n - 1.0)))
    runs = 2.0 * n_splits
    company = sizes[final] - 1.0
    documents = np.divide(together, company * runs, out=np.full(n, np.nan), where=company > 0)
    clusters = np.array([documents[final == c].mean() for c in range(k)])
    restored = np.empty(n)
    restored[order] = documents
    return Stability(restored, clusters, by_chance / runs, n_splits)
