"""Find the substrings that distinguish a cluster from the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..._array import Array, inverse_root
from ..._check import check_integer, check_labels
from ...errors import InputError
from ...gram import Gram

_CANDIDATES = 20  # sorted at first for each substring asked for: most of them overlap


class DistinctiveSubstring(NamedTuple):
    """A substring, and how much more often it occurs in a cluster than in the other documents.

    Examples
    --------
    >>> from grampus.kernels import DistinctiveSubstring
    >>> DistinctiveSubstring("beer", 0.5).substring
    'beer'
    """

    substring: str | bytes
    contrast: float


def distinctive_substrings(gram: Gram, labels: Any, *, top: int = 10) -> list[list[DistinctiveSubstring]]:
    """Return the substrings that distinguish each cluster from the other documents.

    The contrast of a substring is its mean weighted count in the cluster minus that in all other documents, with each
    document scaled to unit length. Substrings are ordered by contrast times spread: the share of the cluster's
    documents that contain them minus the share of the others. Single letters and endings are frequent, so their
    contrast is large, but they occur everywhere, so their spread is near 0. A substring that contains a better one, is
    contained in it, or overlaps it by half is left out. Costs one pass over the features, one cluster at a time.

    Parameters
    ----------
    gram : Gram
        The Gram of a substring kernel, with or without transforms.
    labels : array of shape (n,)
        A cluster for every document.
    top : int, default=10
        The largest number for each cluster; fewer where no more have a positive contrast and spread.

    Returns
    -------
    list of lists of DistinctiveSubstring
        In the order of the labels' values. Substrings of a single document never appear.

    Examples
    --------
    >>> from grampus.kernels import Constant, distinctive_substrings
    >>> texts = ["red wine", "white wine", "dark beer", "pale beer"]
    >>> for cluster in distinctive_substrings(Constant().gram(texts), [0, 0, 1, 1], top=1):
    ...     print(cluster)
    [DistinctiveSubstring(substring=' wine', contrast=0.29...)]
    [DistinctiveSubstring(substring=' beer', contrast=0.28...)]
    """
    source: Any = gram.source
    if source.vocabulary is None:
        raise InputError(
            "distinctive_substrings needs the Gram of a substring kernel such as 'boundrange(5)|normalise'; got one of "
            f"{type(source).__name__}."
        )
    labels = check_labels(labels, len(source))
    top = check_integer(top, "top", low=1)
    scale = inverse_root(source.diagonal())
    sums = _Sums.of(source.rows, scale)
    clusters = (labels == label for label in np.unique(labels) if label != -1)
    return [_best(source, _compare(source.rows, scale, member, sums), top) for member in clusters]


class _Sums(NamedTuple):
    """For every feature, the sum of its scaled counts and the number of documents that contain it."""

    counts: Array
    documents: Array

    @classmethod
    def of(cls, features: Any, scale: Array) -> _Sums:
        documents = np.bincount(features.indices, minlength=features.shape[1])
        return cls(np.asarray(scale @ features), documents)


def _compare(features: Any, scale: Array, member: Array, all_: _Sums) -> tuple[Array, Array]:
    """Return the contrast of every feature for one cluster, and contrast times spread; 0 unless both are positive.

    Only the cluster's own rows are read: the other documents are the rest of the sums.
    """
    own = _Sums.of(features[member], scale[member])
    inside, outside = np.count_nonzero(member), max(np.count_nonzero(~member), 1)
    contrast = own.counts / inside - (all_.counts - own.counts) / outside
    spread = own.documents / inside - (all_.documents - own.documents) / outside
    distinctive = (contrast > 0) & (spread > 0)
    return np.where(distinctive, contrast, 0.0), np.where(distinctive, contrast * spread, 0.0)


def _overlap(one: Any, other: Any) -> bool:
    """Return whether one string contains the other, or half of the shorter ends one and starts the other."""
    if one in other or other in one:
        return True
    shorter = min(len(one), len(other))
    return any(one.endswith(other[:size]) or other.endswith(one[:size]) for size in range((shorter + 1) // 2, shorter))


def _best(source: Any, compared: tuple[Array, Array], top: int) -> list[DistinctiveSubstring]:
    """Return the substrings of one cluster, best first, the longer one first in a tie."""
    index = source.collection.index
    contrast, score = (values[: len(index.node)] for values in compared)
    chosen: list[DistinctiveSubstring] = []
    for column in _best_first(score, index.tree.depth[index.node], top * _CANDIDATES):
        text = index.substring(column)
        if not any(_overlap(text, other.substring) for other in chosen):
            chosen.append(DistinctiveSubstring(text, float(contrast[column])))
            if len(chosen) == top:
                break
    return chosen


def _best_first(score: Array, depth: Array, count: int) -> Iterator[int]:
    """Yield the columns of positive score, best first; `count` are sorted at once, and more only when needed."""
    left = np.flatnonzero(score > 0)
    while len(left):
        cut = -np.partition(-score[left], count - 1)[count - 1] if count < len(left) else 0.0
        best, left = left[score[left] >= cut], left[score[left] < cut]  # equal scores stay together: length decides
        yield from best[np.lexsort((best, -depth[best], -score[best]))].tolist()
        count *= 4
