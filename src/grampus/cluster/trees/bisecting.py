"""Bisecting kernel k-means: a tree whose nodes are divided by 2-means from several random starts."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ..._check import check_integer
from ..._parallel import limits_threads
from ..._random import Source, random_source, seed_words
from ...gram import Gram, shift
from ...kernels import Kernel
from ..kmeans.kernel_kmeans import kernel_kmeans
from .base import TreeEstimator, warn_if_incomplete
from .grow import Proposal, by_centroids, check_clusters, grow
from .node import Part
from .tree import Tree


@dataclass(frozen=True)
class Halving:
    """Division by kernel 2-means, the best of several starts."""

    sigma: float
    options: dict[str, Any]
    source: Source

    def __call__(self, node: Part, n_components: int) -> Proposal | None:
        """Divide a node in two."""
        gram = shift(node.gram, self.sigma) if self.sigma else node.gram
        seed = seed_words(self.source, 1)[0]
        parts = kernel_kmeans(gram, 2, random_state=seed, **self.options).labels
        if len(np.unique(parts)) < 2:
            return None
        return Proposal(parts, by_centroids(node, parts, None))


def bisecting_kernel_kmeans(
    gram: Gram,
    n_clusters: int,
    *,
    init: str = "random",
    n_init: int = 10,
    max_iter: int = 100,
    choose: str = "scatter",
    random_state: Any = None,
) -> Tree:
    """Divide the documents of a Gram repeatedly by kernel 2-means (`pddp`, §4).

    Parameters
    ----------
    gram : Gram
    n_clusters : int
        k, from 1 to the number of documents.
    init, n_init, max_iter
        Parameters of the 2-means at each node; see ``kernel_kmeans``.
    choose : "scatter", "size" or "gain"
        Which leaf is divided next.
    random_state : int, RandomState or None
        Seed of the starts.

    Returns
    -------
    Tree

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.cluster import bisecting_kernel_kmeans
    >>> from grampus.gram import LinearGram
    >>> tree = bisecting_kernel_kmeans(LinearGram(np.array([[0.0], [1.0], [9.0]])), 2, random_state=0)
    >>> bool(tree.labels[0] == tree.labels[1] != tree.labels[2])
    True
    """
    k = check_clusters(n_clusters, len(gram))
    n_init, max_iter = check_integer(n_init, "n_init", low=1), check_integer(max_iter, "max_iter", low=1)
    options, source = {"init": init, "n_init": n_init, "max_iter": max_iter}, random_source(random_state)
    base, sigma = gram.split_shift()
    return warn_if_incomplete(grow(Part.of(base), k, Halving(sigma, options, source), choose))


@dataclass(eq=False, repr=False)
class BisectingKernelKMeans(TreeEstimator):
    """Bisecting k-means with any kernel: a tree whose every split is the best of several kernel 2-means.

    Parameters
    ----------
    n_clusters : int
        The number of leaves.
    kernel : str or Kernel
        A spelling such as ``"cosine|shift"``, or ``"precomputed"``.
    init : "random", "k-means++" or "pddp"
        Initial partitions of 2-means.
    n_init : int
        Starts at each node.
    max_iter : int
        Maximum number of iterations of a start.
    choose : "scatter", "size" or "gain"
        Which leaf is divided next.
    random_state : int, RandomState or None
        Seed of the starts.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    tree_, labels_, objective_, n_iter_, gram_, kernel_
        As in ``PDDP``.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus import BisectingKernelKMeans
    >>> X = np.array([[0.0], [1.0], [9.0], [10.0], [20.0]])
    >>> model = BisectingKernelKMeans(3, random_state=0).fit(X)
    >>> [leaf.members.tolist() for leaf in sorted(model.tree_.leaves, key=lambda leaf: leaf.members[0])]
    [[0, 1], [2, 3], [4]]
    """

    n_clusters: int = 8
    _: KW_ONLY
    kernel: str | Kernel = "linear"
    init: str = "random"
    n_init: int = 10
    max_iter: int = 100
    choose: str = "scatter"
    random_state: Any = None
    n_jobs: int | None = None

    @limits_threads
    def fit(self, X: Any, y: Any = None) -> BisectingKernelKMeans:
        """Grow the tree of the rows of X (strings for a string kernel, a Gram matrix for ``precomputed``).

        Parameters
        ----------
        X : array or sparse array of shape (n, m), or list of n strings
        y : ignored
        """
        gram = self._gram(X)
        options = self._options("init", "n_init", "max_iter", "choose", "random_state")
        self.tree_ = bisecting_kernel_kmeans(gram, self.n_clusters, **options)
        self._set_fitted(gram)
        return self
