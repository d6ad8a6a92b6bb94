"""Terms of a cluster: those that distinguish it and those that describe it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._array import Array, sum_rows
from .._check import check_integer, check_matrix, check_partition
from ..errors import InputError
from .cluster import Term

SLAB = 2**20  # entries, clusters × terms, that are ranked at a time


def keywords(weights: Any, labels: Any, terms: Sequence[str], top: int = 8) -> list[list[str]]:
    """Return the terms whose mean weight in a cluster exceeds that outside it the most, for every cluster.

    Parameters
    ----------
    weights : array or sparse array of shape (n, m)
        Weighted terms of the documents; they should have unit length, or long documents dominate.
    labels : array of shape (n,)
        Any labels; clusters are returned in the order of their values.
    terms : sequence of m strings
    top : int
        The largest number of terms for each cluster; only terms with more weight inside than outside count.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.describe import keywords
    >>> keywords(np.array([[1.0, 0.0, 0.4], [0.0, 1.0, 0.5]]), [0, 1], ["whale", "bird", "song"], top=2)
    [['whale'], ['bird', 'song']]
    """
    return [[term.text for term in cluster] for cluster in distinguishing_terms(weights, labels, terms, top)]


def distinguishing_terms(
    weights: Any, labels: Any, terms: Sequence[str], top: int = 8, counts: Any = None
) -> list[list[Term]]:
    """Return the terms that distinguish every cluster, with their contrast, best first.

    The contrast of a term is its mean weight in the cluster minus that in all other documents, μ_t − ν_t. Its square
    is the term's share of the distance between the two means, which is how CLUTO orders discriminating features (its
    manual, Karypis 2003); only terms with more weight inside are returned.

    Parameters
    ----------
    weights, labels, terms, top
        As of ``keywords``.
    counts : array of shape (n,), optional
        The number of documents that each row represents.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.describe import distinguishing_terms
    >>> distinguishing_terms(np.array([[1.0, 0.0], [0.0, 1.0]]), [0, 1], ["whale", "bird"])[0]
    [Term(text='whale', score=1.0)]
    """
    inside, outside = _means(weights, labels, terms, counts)
    return _best(inside - outside, terms, top)


def describing_terms(
    weights: Any, labels: Any, terms: Sequence[str], top: int = 8, counts: Any = None
) -> list[list[Term]]:
    """Return the terms with the largest share of every cluster's mean, with that share, largest first.

    The share of a term is μ_t² / ‖μ‖², its part in the squared length of the cluster's mean: the descriptive features
    of CLUTO (its manual, Karypis 2003). Terms that are frequent everywhere can be among them.

    Parameters
    ----------
    weights, labels, terms, top, counts
        As of ``distinguishing_terms``.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.describe import describing_terms
    >>> describing_terms(np.array([[0.8, 0.6], [0.0, 1.0]]), [0, 0], ["whale", "song"])
    [[Term(text='song', score=0.8), Term(text='whale', score=0.2)]]
    """
    sums, sizes = _sums(weights, labels, terms, counts)
    found = []
    for first in range(0, len(sums), step := max(1, SLAB // max(sums.shape[1], 1))):
        inside = sums[first : first + step] / sizes[first : first + step, None]
        length = np.square(inside).sum(axis=1, keepdims=True)
        found += _best(np.square(inside) / np.where(length > 0, length, 1.0), terms, top)
    return found


def _means(weights: Any, labels: Any, terms: Sequence[str], counts: Any) -> tuple[Array, Array]:
    """Return the mean weight of every term inside and outside every cluster, both (k, m)."""
    sums, sizes = _sums(weights, labels, terms, counts)
    counts = np.ones(len(labels)) if counts is None else np.asarray(counts, dtype=np.float64)
    everything = sum_rows(check_matrix(weights, "weights"), np.zeros(len(labels), dtype=np.intp), 1, counts)
    others = counts.sum() - sizes
    outside = (everything - sums) / np.where(others > 0, others, 1.0)[:, None]
    return sums / sizes[:, None], outside


def _sums(weights: Any, labels: Any, terms: Sequence[str], counts: Any) -> tuple[Array, Array]:
    """Return the weight of every term inside every cluster, (k, m), and the number of documents in each."""
    x = check_matrix(weights, "weights")
    clusters = check_partition(labels, x.shape[0])
    if len(terms) != x.shape[1]:
        raise InputError(f"terms must name each of the {x.shape[1]} columns of weights; got {len(terms)}.")
    counts = np.ones(x.shape[0]) if counts is None else np.asarray(counts, dtype=np.float64)
    inside = clusters >= 0
    sizes = np.bincount(clusters[inside], weights=counts[inside])
    return sum_rows(x, clusters, len(sizes), counts).astype(np.float64, copy=False), sizes


def _best(scores: Array, terms: Sequence[str], top: int) -> list[list[Term]]:
    """Return the terms with the largest positive scores of every row; the first in a tie."""
    top = check_integer(top, "top", low=1)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :top]
    return [
        [Term(str(terms[t]), round(float(scores[c, t]), 6)) for t in row if scores[c, t] > 0]
        for c, row in enumerate(order)
    ]
