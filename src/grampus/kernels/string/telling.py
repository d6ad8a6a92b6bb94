"""Read the substrings back that tell a cluster from the others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..._array import Array, dot, scale_rows
from ..._check import check_integer, check_labels
from ...errors import InputError
from ...gram import Gram
from .gram import SubstringGram

_CANDIDATES = 20  # looked at for every one that is asked for: most are parts of one another


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
    document scaled to unit length. A substring that contains a better one, is contained in it, or overlaps it by half
    is left out.

    Parameters
    ----------
    gram : Gram
        What a substring kernel made, with or without transforms.
    labels : array of shape (n,)
        A cluster for every document.
    top : int, default=10
        At most so many for each cluster; fewer where no more have a positive contrast.

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
    length = np.sqrt(source.diagonal())
    scale = np.divide(1.0, length, out=np.zeros(len(length)), where=length > 0)
    features = scale_rows(scale, source.features)
    return [_tell(source, contrast, top) for contrast in _contrasts(features, labels)]


def _contrasts(features: Any, labels: Array) -> Array:
    """Return mean inside minus mean outside, shape (clusters, features)."""
    sizes = np.bincount(labels)
    members = sp.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))))
    inside = dot(members, features) if len(sizes) == 1 else np.asarray((members @ features).toarray())
    outside = inside.sum(axis=0) - inside
    others = np.maximum(len(labels) - sizes, 1)
    return np.asarray(inside / sizes[:, None] - outside / others[:, None])


def _overlap(one: Any, other: Any) -> bool:
    """Say whether one string is in the other, or half of the shorter one ends the one and starts the other."""
    if one in other or other in one:
        return True
    shorter = min(len(one), len(other))
    return any(one.endswith(other[:size]) or other.endswith(one[:size]) for size in range((shorter + 1) // 2, shorter))


def _tell(source: SubstringGram, contrast: Array, top: int) -> list[Telling]:
    """Read the best substrings of one cluster, best first, longer before shorter at equal contrast."""
    index = source.collection.index
    count = min(top * _CANDIDATES, len(index.node))
    best = np.argpartition(-contrast[: len(index.node)], count - 1)[:count] if count else np.zeros(0, dtype=np.intp)
    best = best[np.lexsort((best, -index.tree.depth[index.node[best]], -contrast[best]))]
    chosen: list[Telling] = []
    for column in best:
        if contrast[column] <= 0 or len(chosen) == top:
            break
        text = index.substring(int(column))
        if not any(_overlap(text, other.substring) for other in chosen):
            chosen.append(Telling(text, float(contrast[column])))
    return chosen
