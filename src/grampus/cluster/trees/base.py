"""The base class of the estimators that grow a tree."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..._array import Array
from ..._check import check_integer
from ...gram import Gram
from ..base import KernelEstimator
from .node import InputCentred
from .predict import Router
from .tree import Tree


def warn_if_incomplete(tree: Tree) -> Tree:
    """Warn if a tree stopped early, and return it."""
    if not tree.complete:
        found = f"Only {len(tree.leaves)} of {tree.n_clusters} clusters"
        warnings.warn(f"{found}: no leaf contains documents that differ.", stacklevel=3)
    return tree


class TreeEstimator(KernelEstimator):
    """Base of the estimators that grow a tree."""

    tree_: Tree

    def _set_fitted(self, gram: Gram, inputs: InputCentred | None = None) -> None:
        """Set labels and objective from the fitted tree, and prepare to route new documents."""
        self.labels_ = self.tree_.labels
        self.objective_ = self.inertia_ = self.tree_.objective
        self.n_iter_ = max(1, len(self.tree_.splits))
        self.router_ = Router(self.tree_, gram, inputs)

    def direction(self, node: int = 0) -> Array:
        """Return what divides a node as vectors over the columns of X, (m, c); for linear and cosine kernels.

        Principal directions of unit length if the node was cut, centroids if it was divided by 2-means. Large entries
        belong to the terms that distinguish the parts.

        Parameters
        ----------
        node : int
            Its index in ``tree_.nodes``; the root by default.
        """
        check_is_fitted(self)
        return self.router_.direction(self.tree_.nodes[check_integer(node, "node", low=0, high=len(self.tree_) - 1)])

    def predict(self, X: Any, n_clusters: int | None = None) -> NDArray[np.intp]:
        """Return the leaf that new documents reach, going down the tree.

        Parameters
        ----------
        X : documents
            For ``precomputed``, their similarities to the fitted ones, or the pair (similarities, self-similarities).
        n_clusters : int, optional
            Stop at the parts of a coarser cut, as in ``tree_.cut``.
        """
        check_is_fitted(self)
        parts = None if n_clusters is None else self.tree_.parts(n_clusters)
        return self.router_.predict(self._new(X), parts)
