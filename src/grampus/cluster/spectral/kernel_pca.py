"""Kernel-PCA k-means: k-means on the leading components of the Gram (`normalised`, §4.1)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ..._array import Array
from ..._check import check_flag, check_integer
from ..._parallel import limits_threads
from ...gram import Gram, require_gram
from ...gram import centre as centre_gram
from ...kernels import Kernel
from .base import EmbeddedClustering, EmbeddedEstimator, check_fewer, cluster_embedded, new_sums
from .coordinates import kernel_embedding


def kernel_pca_kmeans(
    gram: Gram,
    n_clusters: int,
    *,
    n_components: int | None = None,
    init: Any = "k-means++",
    n_init: int = 10,
    max_iter: int = 300,
    random_state: Any = None,
) -> EmbeddedClustering:
    """Cluster the documents of a Gram by k-means on its leading components.

    Parameters
    ----------
    gram : Gram
        Used as it is: ``centre`` it first for principal components about the mean.
    n_clusters : int
        k, fewer than the documents.
    n_components : int, optional
        Number of components; k − 1 by default, at least 1, as in `normalised`.
    init, n_init, max_iter, random_state
        Parameters of k-means on the coordinates; see ``kernel_kmeans``.

    Returns
    -------
    EmbeddedClustering

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.cluster import kernel_pca_kmeans
    >>> from grampus.gram import LinearGram
    >>> kernel_pca_kmeans(LinearGram(np.array([[0.0], [1.0], [9.0]])), 2, random_state=0).objective.__round__(6)
    0.5
    """
    n = len(require_gram(gram))
    k = check_fewer(n_clusters, n)
    if n_components is None:
        count = max(1, k - 1)
    else:
        count = check_integer(n_components, "n_components", low=1, high=n, of=" (the number of documents)")
    gram, order = gram.canonical()
    options = {"init": init, "n_init": n_init, "max_iter": max_iter, "random_state": random_state}
    clustering = cluster_embedded(kernel_embedding(gram, count), gram.documents(), k, None, **options)
    return clustering.take(np.argsort(order))


@dataclass(eq=False, repr=False)
class KernelPCAKMeans(EmbeddedEstimator):
    """k-means on the rows (√λ₁ v₁, …, √λ_l v_l) of the Gram's leading eigenpairs.

    Parameters
    ----------
    n_clusters : int
        k, fewer than the documents.
    kernel : str or Kernel
        A spelling such as ``"linear|normalise(1)"``, or ``"precomputed"``.
    n_components : int, optional
        l; k − 1 by default, at least 1. Components with negative eigenvalues are dropped, with a warning.
    centre : bool
        Centre the Gram first, as in kernel PCA proper; `normalised` does not.
    n_init : int
        Starts of k-means (greedy k-means++).
    max_iter : int
        Maximum number of iterations of a start.
    random_state : int, RandomState or None
        Seed of the starts. The eigenvectors do not depend on it.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    labels_ : array of shape (n,)
        Cluster of every document.
    embedding_ : array of shape (n, l)
        Coordinates of the fitted documents.
    eigenvalues_ : array of shape (l,)
        Largest first, all positive.
    dropped_ : array
        Requested eigenvalues that are negative or 0 and give no coordinate.
    cluster_centers_ : array of shape (k, l)
        Mean coordinates of every cluster.
    objective_ : float
        The k-means objective of the coordinates; ``inertia_`` is the same.
    n_iter_ : int
        Iterations of the best start of k-means.
    result_ : EmbeddedClustering
        Everything else.
    gram_, kernel_
        The fitted Gram (centred if ``centre``) and the parsed kernel.

    Notes
    -----
    ``transform`` returns Σ_i K(x, x_i) v_ij / √λ_j, the projection of a document on component j. For a fitted document
    this is its own coordinate √λ_j v_ij, unless the kernel contains ``selftuning``, ``shift`` or ``map``, which treat
    self-similarities differently.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus import KernelPCAKMeans
    >>> X = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.8]])
    >>> model = KernelPCAKMeans(2, n_components=2, random_state=0).fit(X)
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[2])
    True
    >>> bool(np.allclose(model.transform(X), model.embedding_))
    True
    """

    n_clusters: int = 8
    _: KW_ONLY
    kernel: str | Kernel = "linear|normalise(1)"
    n_components: int | None = None
    centre: bool = False
    n_init: int = 10
    max_iter: int = 300
    random_state: Any = None
    n_jobs: int | None = None

    @limits_threads
    def fit(self, X: Any, y: Any = None) -> KernelPCAKMeans:
        """Cluster the rows of X (strings for a string kernel, a Gram matrix for ``precomputed``).

        Parameters
        ----------
        X : array or sparse array of shape (n, m), or list of n strings
        y : ignored
        """
        centred = check_flag(self.centre, "centre")
        self._gram(X)
        if centred:
            self.gram_ = centre_gram(self.gram_)
        options = self._options("n_components", "n_init", "max_iter", "random_state")
        result = kernel_pca_kmeans(self.gram_, self.n_clusters, **options)
        self._settle(result)
        self.dropped_ = result.embedding.dropped  # type: ignore[union-attr]
        return self

    def _place(self, X: Any) -> Array:
        return new_sums(self.gram_, X, self.result_.embedding.coefficients)
