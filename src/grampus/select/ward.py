"""A tree of points by Ward's rule or average linkage, cut at any number of clusters in one pass."""

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from .._array import Array
from .._native import centres, nearest_centres, tree_joins

Labels = NDArray[np.intp]
KEPT = 32  # trees that are kept: all that tell the number of groups


class WardTree:
    """Ward's tree (1963) of points; a cluster of a cut is a run of leaves between two of its last joins.

    Parameters
    ----------
    points : array of shape (n, d)
    rule : "ward" or "average"
        Which two clusters are joined: those whose union has the least scatter more, or the least mean distance (Sokal
        & Michener 1958), which lets sizes differ.
    apart : bool
        Whether the distances of all pairs (n, n) are given instead of points.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.select.ward import WardTree
    >>> WardTree(np.array([[0.0], [9.0], [1.0], [20.0]])).cut(3).tolist()
    [2, 1, 2, 0]
    """

    def __init__(self, points: Array, rule: str = "ward", *, apart: bool = False) -> None:
        joins = tree_joins(points, rule == "ward", apart).tolist()
        n = len(joins) + 1
        sizes = [1] * n
        for one, other in joins:
            sizes.append(sizes[one] + sizes[other])
        start, parted = [0] * (2 * n - 1), np.zeros(n, dtype=np.intp)
        for step in range(n - 2, -1, -1):  # where the leaves of each node begin, from the root down
            one, other = joins[step]
            start[one] = start[n + step]
            start[other] = start[n + step] + sizes[one]
            parted[start[other]] = step
        self._place, self._parted = np.array(start[:n], dtype=np.intp), parted

    def cut(self, k: int) -> Labels:
        """Return the partition into k clusters."""
        bounds = self._parted >= len(self._parted) - k
        bounds[0] = False
        return np.asarray(np.cumsum(bounds, dtype=np.intp)[self._place])


_grown = dict[tuple[str, tuple[int, ...], bytes], WardTree]()


def tree_of(points: Array, rule: str) -> WardTree:
    """Return the tree of points; the one that has been grown where that was one of the last.

    The number of groups and, after it, the clusters are looked for in the same halves of the documents.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.select.ward import tree_of
    >>> points = np.array([[0.0], [9.0], [1.0]])
    >>> tree_of(points, "ward") is tree_of(points.copy(), "ward"), tree_of(points, "ward") is tree_of(points, "average")
    (True, False)
    """
    key = rule, points.shape, blake2b(np.ascontiguousarray(points).data, digest_size=16).digest()
    tree = _grown.get(key)
    if tree is None:
        tree = _grown[key] = WardTree(points, rule)
        for old in [*_grown][:-KEPT]:  # other threads add and drop trees meanwhile
            _grown.pop(old, None)
    return tree


def polish(points: Array, labels: Labels, k: int, rounds: int) -> tuple[Labels, Array]:
    """Move points to their nearest centre, so many times at most; return the partition and the centres."""
    middles = centres(points, labels, k)
    for _ in range(rounds):
        moved = nearest_centres(points, middles)
        if (moved == labels).all():
            break
        labels, middles = moved, centres(points, moved, k)
    return labels, middles
