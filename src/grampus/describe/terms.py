"""What a cluster is about: the terms that set it apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._array import dot
from .._check import check_integer, check_labels, check_matrix
from ..errors import InputError
from ..gram import indicator

__all__ = ["keywords"]


def keywords(weights: Any, labels: Any, terms: Sequence[str], top: int = 8) -> list[list[str]]:
    """Return the terms whose mean weight in a cluster exceeds that outside it the most, for every cluster.

    Parameters
    ----------
    weights : array or sparse array of shape (n, m)
        Weighted terms of the documents; they should have unit length, or long documents speak for the cluster.
    labels : array of shape (n,)
        Any labels; clusters come back in the order of their values.
    terms : sequence of m strings
    top : int
        How many terms for each cluster; fewer where fewer are more frequent inside than outside.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.describe import keywords
    >>> keywords(np.array([[1.0, 0.0, 0.4], [0.0, 1.0, 0.5]]), [0, 1], ["whale", "bird", "song"], top=2)
    [['whale'], ['bird', 'song']]
    """
    x = check_matrix(weights, "weights")
    clusters = check_labels(labels, x.shape[0])
    top = check_integer(top, "top", low=1)
    if len(terms) != x.shape[1]:
        raise InputError(f"terms must name each of the {x.shape[1]} columns of weights; got {len(terms)}.")
    members = indicator(clusters)
    sizes = np.bincount(clusters)
    sums = dot(x.T, members).T
    inside = sums / sizes[:, None]
    outside = (sums.sum(axis=0) - sums) / np.maximum(x.shape[0] - sizes, 1)[:, None]
    contrast = inside - outside
    order = np.argsort(-contrast, axis=1, kind="stable")[:, :top]
    return [[terms[t] for t in row if contrast[c, t] > 0] for c, row in enumerate(order)]
