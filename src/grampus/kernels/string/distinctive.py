"""Read the substrings back that tell a cluster from the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..._array import Array, inverse_root
from ..._check import check_integer, check_labels
from ...errors import InputError
from ...gram import Gram
from .substring_gram import SubstringGram

_CANDIDATES = 20  # sorted at first for every one that is asked for: most are parts of one another


class Telling(NamedTuple):
    """A substring and how much more of it a cluster has than the other documents.

    Examples
    --------
    >>> from grampus.kernels import Telling
    >>> Telling("beer", 0.5).substring
    'beer'
    """

    substring: str | bytes
    contrast: float


def telling_substrings(gram: Gram, labels: Any, *, top: int = 10) -> list[list[Telling]]:
    """Return, for each cluster, the substrings that set it apart.

    The contrast of a substring is its mean weighted count in the cluster minus that in all other documents, each
    document scaled to unit length. Substrings come in the order of their contrast times their spread: the share of the
    cluster's documents that have them minus the share of the others. Single letters and endings have a contrast too, as
    they are frequent; but they are everywhere, so their spread is near 0. A substring that contains a better one, is
    contained in it, or overlaps it by half is left out. Costs a pass over the features of the cluster, one cluster at a
    time.

    Parameters
    ----------
    gram : Gram
        What a substring kernel made, with or without transforms.
    labels : array of shape (n,)
        A cluster for every document.
    top : int, default=10
        At most so many for each cluster; fewer where no more have a positive contrast and spread.

    Returns
    -------
    list of lists of Telling
        In the order of the labels' values. Substrings in one document only never appear: they tell of no cluster.

    Examples
    --------
    >>> from grampus.kernels import Constant, telling_substrings
    >>> texts = ["red wine", "white wine", "dark beer", "pale beer"]
    >>> for cluster in telling_substrings(Constant().gram(texts), [0, 0, 1, 1], top=1):
    ...     print(cluster)
    [Telling(substring=' wine', contrast=0.29...)]
    [Telling(substring=' beer', contrast=0.28...)]
    """
    source = gram.source
    if not isinstance(source, SubstringGram):
        raise InputError(
            "telling_substrings needs the Gram of a substring kernel such as 'boundrange(5)|normalise'; got one of "
            f"{type(source).__name__}."
        )
    labels = check_labels(labels, len(source))
    top = check_integer(top, "top", low=1)
    scale = inverse_root(source.diagonal())
    sums = _Sums.of(source.features, scale)
    return [_tell(source, _compare(source.features, scale, labels == label, sums), top) for label in np.unique(labels)]


class _Sums(NamedTuple):
    """Of every feature: its scaled counts, and the documents that have it."""

    counts: Array
    documents: Array

    @classmethod
    def of(cls, features: Any, scale: Array) -> _Sums:
        documents = np.bincount(features.indices, minlength=features.shape[1])
        return cls(np.asarray(scale @ features), documents)


def _compare(features: Any, scale: Array, member: Array, all_: _Sums) -> tuple[Array, Array]:
    """Return the contrast of every feature for one cluster, and contrast times spread; 0 where one is not above 0.

    Only the cluster's own rows are read: what the others have is the rest of the sums.
    """
    own = _Sums.of(features[member], scale[member])
    inside, outside = np.count_nonzero(member), max(np.count_nonzero(~member), 1)
    contrast = own.counts / inside - (all_.counts - own.counts) / outside
    spread = own.documents / inside - (all_.documents - own.documents) / outside
    telling = (contrast > 0) & (spread > 0)
    return np.where(telling, contrast, 0.0), np.where(telling, contrast * spread, 0.0)


def _overlap(one: Any, other: Any) -> bool:
    """Say whether one string is in the other, or half of the shorter one ends the one and starts the other."""
    if one in other or other in one:
        return True
    shorter = min(len(one), len(other))
    return any(one.endswith(other[:size]) or other.endswith(one[:size]) for size in range((shorter + 1) // 2, shorter))


def _tell(source: SubstringGram, compared: tuple[Array, Array], top: int) -> list[Telling]:
    """Read the best substrings of one cluster, best first, longer before shorter where they are equal."""
    index = source.collection.index
    contrast, score = (values[: len(index.node)] for values in compared)
    chosen: list[Telling] = []
    for column in _best_first(score, index.tree.depth[index.node], top * _CANDIDATES):
        text = index.substring(column)
        if not any(_overlap(text, other.substring) for other in chosen):
            chosen.append(Telling(text, float(contrast[column])))
            if len(chosen) == top:
                break
    return chosen


def _best_first(score: Array, depth: Array, count: int) -> Iterator[int]:
    """Yield the columns of positive score, best first; `count` are sorted, and more only when they are asked for."""
    left = np.flatnonzero(score > 0)
    while len(left):
        cut = -np.partition(-score[left], count - 1)[count - 1] if count < len(left) else 0.0
        best, left = left[score[left] >= cut], left[score[left] < cut]  # equal ones together: length decides
        yield from best[np.lexsort((best, -depth[best], -score[best]))].tolist()
        count *= 4
