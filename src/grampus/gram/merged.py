"""Documents that are taken as one: each group of them becomes its mean in feature space."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._array import Array, Index, dot, is_sparse, scale_rows, tiles
from .answers import Cost
from .base import Gram, require_gram
from .sources import LinearGram


class Merged(Gram):
    """A K Aᵀ for averages A of groups of documents, where these have no features; made by ``merge``."""

    def __init__(self, base: Gram, group: NDArray[np.intp], shares: Array) -> None:
        count = int(group.max()) + 1
        super().__init__(count, base.dtype)
        self.base, self.group, self.shares = base, group, shares
        self.average = sp.csr_array((shares, (group, np.arange(len(group)))), shape=(count, len(base)))

    def _block(self, rows: Index, cols: Index) -> Array:
        left, right = (self.average[part] for part in (rows, cols))
        own, others = np.unique(left.indices), np.unique(right.indices)
        out = np.zeros((left.shape[0], right.shape[0]))
        for part in tiles(len(own), 8 * max(len(others), 1)):
            block = self.base._block(own[part], others)
            out += left[:, own[part]] @ np.asarray(right[:, others] @ block.T).T
        return out.astype(self.dtype, copy=False)

    def _diagonal(self) -> Array:
        sizes = np.bincount(self.group, minlength=len(self))
        out = np.bincount(self.group, weights=self.shares**2 * self.base._diagonal(), minlength=len(self))
        for one in np.flatnonzero(sizes > 1).tolist():
            out[one] = float(self._block(np.array([one]), np.array([one]))[0, 0])
        return out.astype(self.dtype, copy=False)

    def _matmul(self, v: Any) -> Array:
        spread = self.average.T @ (v.toarray() if is_sparse(v) else v)
        return np.asarray(self.average @ self.base._matmul(np.asarray(spread)))

    def _sum_by(self, labels: NDArray[np.intp], k: int, weights: Array) -> Array:
        sums = self.base._sum_by(labels[self.group], k, weights[self.group] * self.shares)
        return np.asarray(self.average @ sums)

    def cost(self) -> Cost:
        """Return the cost of the base, and of the averages of a matrix."""
        return self.base.cost().filling(len(self))

    def non_negative(self) -> bool | None:
        """Return what is known of the base: means of similarities keep their sign."""
        return self.base.non_negative()


def merge(gram: Gram, group: NDArray[np.intp], weights: Array) -> Gram:
    """Return the Gram of groups of documents, each taken as its weighted mean in feature space.

    Parameters
    ----------
    gram : Gram
        Without a trailing shift.
    group : array of shape (n,)
        The group of every document, 0 … m−1, none of them empty.
    weights : array of shape (n,)
        How much each document counts; in a group without any weight all count alike.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram
    >>> from grampus.gram.merged import merge
    >>> merge(LinearGram(np.array([[1.0], [3.0], [5.0]])), np.array([0, 0, 1]), np.ones(3)).dense()
    array([[ 4., 10.],
           [10., 25.]])
    """
    mass, count = np.bincount(group, weights=weights), np.bincount(group)
    shares = np.where(mass[group] > 0, weights / np.where(mass[group] > 0, mass[group], 1.0), 1.0 / count[group])
    found = require_gram(gram).features()
    if found is None:
        return Merged(gram, group, shares)
    average = sp.csr_array((shares, (group, np.arange(len(group)))), shape=(len(count), len(group)))
    rows = dot(average, scale_rows(found.scale, found.rows))
    return LinearGram.trusted(sp.csr_array(rows) if is_sparse(rows) else rows)
