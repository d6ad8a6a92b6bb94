"""Numbers that describe a Gram, and a partition of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._array import Array
from .._check import check_labels
from ..errors import InputError
from .base import Gram


def dominance_ratio(gram: Gram) -> float:
    """Return the mean self-similarity over the mean similarity of two different documents (`dominance`, §2).

    Large values (above 10 or so) mean that documents resemble hardly anything but themselves, and that kernel k-means
    will hardly move from its start: see ``shift``. Costs one product. It is infinite when the others sum to 0.

    Parameters
    ----------
    gram : Gram
        Similarities of the collection.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import DenseGram, dominance_ratio
    >>> dominance_ratio(DenseGram(np.array([[1.0, 0.25], [0.25, 1.0]])))
    4.0
    """
    n = len(gram)
    if n < 2:
        raise InputError("dominance_ratio compares documents with each other: it needs at least 2; got 1.")
    trace = gram.trace()
    total = float((gram @ np.ones(n)).sum(dtype=np.float64))
    others = (total - trace) / (n * (n - 1))
    if others == 0:
        return np.inf if trace else np.nan
    return trace / n / others


def indicator(labels: Array, k: int | None = None) -> sp.csr_array:
    """Return the n × k membership matrix of a partition numbered from 0, sparse.

    Parameters
    ----------
    labels : array of shape (n,)
        Clusters.
    k : int
        Number of clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import indicator
    >>> indicator(np.array([0, 1, 0])).toarray()
    array([[1., 0.],
           [0., 1.],
           [1., 0.]])
    """
    n = len(labels)
    k = int(labels.max()) + 1 if k is None else k
    return sp.csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, k))


def objective(gram: Gram, labels: Any) -> float:
    """Return the k-means objective of a partition: the squared distances to the centroids in feature space.

    Σ_i K_ii − Σ_c Σ_{i,j∈c} K_ij / n_c (`dominance`, Eqn 3). Costs one product. For a positive semi-definite Gram
    it is at least 0.

    Parameters
    ----------
    gram : Gram
    labels : array of shape (n,)
        Any labels; equal labels make a cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram, objective
    >>> objective(LinearGram(np.array([[0.0], [2.0], [9.0]])), ["a", "a", "b"])
    2.0
    """
    clusters = check_labels(labels, len(gram))
    members = indicator(clusters)
    sums = gram @ members
    within = np.bincount(clusters, weights=sums[np.arange(len(gram)), clusters])
    return gram.trace() - float((within / np.bincount(clusters)).sum())
