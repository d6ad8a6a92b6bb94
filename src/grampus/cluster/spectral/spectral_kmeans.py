"""Spectral clustering: k-means on the eigenvectors of a graph Laplacian (`strings`, "Spectral clustering")."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from ..._array import Array, is_sparse, unit_rows
from ..._parallel import limits_threads
from ...gram import Gram, require_gram
from ...kernels import Kernel
from .base import EmbeddedClustering, EmbeddedEstimator, check_fewer, cluster_embedded, new_sums
from .laplacian import SpectralEmbedding, spectral_embedding

_ROUNDING = {"float64": 1e-9, "float32": 1e-5}  # of ‖Σ f_i φ(x_i)‖² against Σ ‖f_i φ(x_i)‖²


def spectral_kmeans(
    gram: Gram,
    n_clusters: int,
    *,
    laplacian: str = "random-walk",
    n_neighbors: int | None = None,
    loops: bool = False,
    init: Any = "k-means++",
    n_init: int = 10,
    max_iter: int = 300,
    random_state: Any = None,
) -> EmbeddedClustering:
    """Cut the graph of the similarities into k parts.

    Parameters
    ----------
    gram : Gram
        Similarities; negative ones count as 0.
    n_clusters : int
        k, fewer than the documents; also the number of eigenvectors.
    laplacian, n_neighbors, loops
        See ``spectral_embedding``.
    init, n_init, max_iter, random_state
        Parameters of k-means on the coordinates; see ``kernel_kmeans``.

    Returns
    -------
    EmbeddedClustering

    Notes
    -----
    Documents without links have no coordinates: they lie at 0, do not influence k-means, and join the cluster nearest
    to 0. Eigenvectors that only separate copies get coordinates 0, except with ``n_neighbors``: copies stay together,
    and where k exceeds the number of distinct documents a warning states how many clusters there are.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.cluster import spectral_kmeans
    >>> from grampus.gram import LinearGram
    >>> x = np.array([[3.0, 1.0, 0.0], [2.0, 1.0, 0.0], [0.0, 1.0, 4.0], [0.0, 1.0, 5.0]])
    >>> spectral_kmeans(LinearGram(x), 2, random_state=0).sizes
    array([2, 2])
    """
    k = check_fewer(n_clusters, len(require_gram(gram)))
    gram, order = gram.canonical()
    placed = spectral_embedding(gram, k, laplacian=laplacian, n_neighbors=n_neighbors, loops=loops)
    weights = (placed.degrees > 0).astype(np.float64) if len(placed.isolated) else None
    options = {"init": init, "n_init": n_init, "max_iter": max_iter, "random_state": random_state}
    clustering = cluster_embedded(_without_blind(placed, gram, loops), gram.documents(), k, weights, **options)
    return clustering.take(np.argsort(order))


def _without_blind(placed: SpectralEmbedding, gram: Gram, loops: bool) -> SpectralEmbedding:
    """Set the coordinates of eigenvectors that only separate copies to 0.

    Such an f has Σ f_i φ(x_i) = 0, so Σ f_i K(x, x_i) = 0 for any x: every document given as new, even a fitted one,
    lies at 0 there. Its length follows from fᵀKf = fᵀWf + Σ f_i² K_ii where W has no loops, and
    fᵀWf = (1 − λ) fᵀDf, or fᵀDf − λ fᵀf for the unnormalised Laplacian.
    """
    if placed.n_neighbors is not None:  # the graph is not the Gram
        return placed
    squares = placed.coefficients**2
    apart = np.maximum((gram if loops else gram.split_shift()[0]).diagonal(), 0.0) @ squares  # Σ ‖f_i φ(x_i)‖²
    weight = placed.degrees @ squares
    links = weight - placed.eigenvalues * (squares.sum(axis=0) if placed.laplacian == "unnormalised" else weight)
    blind = np.abs(links if loops else links + apart) < _ROUNDING[gram.dtype.name] * apart
    if not blind.any():
        return placed
    coefficients = np.where(blind, 0.0, placed.coefficients)
    coordinates = unit_rows(coefficients) if placed.laplacian == "symmetric" else coefficients
    return replace(placed, coordinates=coordinates, coefficients=coefficients)


@dataclass(eq=False, repr=False)
class SpectralKMeans(EmbeddedEstimator):
    """Spectral clustering that can also predict new documents.

    On terms (non-negative features, kernels ``linear`` and ``cosine``) nothing of size n × n is formed: the degrees
    cost one product, and so does each step of the eigenvalue solver.

    Parameters
    ----------
    n_clusters : int
        k, fewer than the documents; also the number of eigenvectors.
    kernel : str or Kernel
        Similarities: a spelling such as ``"cosine"``, or ``"precomputed"``. Negative ones count as 0.
    laplacian : "random-walk", "symmetric" or "unnormalised"
        D⁻¹L, D^−½ L D^−½ with rows normalised to unit length, or L = D − W.
    n_neighbors : int, optional
        Keep the similarities of each document to its nearest neighbours only.
    loops : bool
        Whether self-similarities count as links of a document to itself.
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
    embedding_ : array of shape (n, k)
        Coordinates of the fitted documents.
    eigenvalues_ : array of shape (k,)
        Of the Laplacian, smallest first.
    cluster_centers_ : array of shape (k, k)
        Mean coordinates of every cluster.
    objective_ : float
        The k-means objective of the coordinates; ``inertia_`` is the same.
    n_iter_ : int
        Iterations of the best start of k-means.
    result_ : EmbeddedClustering
        Everything else: ``result_.embedding`` has degrees, components, isolated documents and the method.
    gram_, kernel_
        The fitted Gram and the parsed kernel.

    Notes
    -----
    ``transform`` is the Nyström extension: with similarities w_i of a new document to the fitted ones that have links
    and d = Σ w_i, the coordinate of eigenvector v_j with eigenvalue λ_j is Σ w_i v_ij / (d (1 − λ_j)) for
    ``random-walk``, and Σ w_i v_ij / (d − λ_j) for ``unnormalised``, or the plain mean where d ≤ λ_j. A fitted document
    given as new gets its own coordinates back if its self-similarity is part of the graph (``loops=True``) or is given
    as 0; not with ``n_neighbors``, nor under ``selftuning``, ``shift`` or ``map``.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus import SpectralKMeans
    >>> X = np.array([[3.0, 1.0, 0.0], [2.0, 1.0, 0.0], [0.0, 1.0, 4.0], [0.0, 1.0, 5.0]])
    >>> model = SpectralKMeans(2, random_state=0).fit(X)
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[2])
    True
    >>> model.predict(np.array([[0.0, 0.0, 2.0]])) == model.labels_[3]
    array([ True])
    """

    n_clusters: int = 8
    _: KW_ONLY
    kernel: str | Kernel = "cosine"
    laplacian: str = "random-walk"
    n_neighbors: int | None = None
    loops: bool = False
    n_init: int = 10
    max_iter: int = 300
    random_state: Any = None
    n_jobs: int | None = None

    @limits_threads
    def fit(self, X: Any, y: Any = None) -> SpectralKMeans:
        """Cluster the rows of X (strings for a string kernel, a matrix of similarities for ``precomputed``).

        Parameters
        ----------
        X : array or sparse array of shape (n, m), or list of n strings
        y : ignored
        """
        options = self._options("laplacian", "n_neighbors", "loops", "n_init", "max_iter", "random_state")
        self._settle(spectral_kmeans(self._gram(X), self.n_clusters, **options))
        return self

    def _place(self, X: Any) -> Array:
        placed = self.result_.embedding
        assert isinstance(placed, SpectralEmbedding)
        linked = (placed.degrees > 0).astype(np.float64)  # documents without links do not count
        matrix = np.concatenate([placed.coefficients, linked[:, None]], axis=1)
        # If no similarity can be negative, or negative ones are kept, the sums need no block of similarities.
        plain = self.gram_.approximate or (bool(self.gram_.non_negative()) and _no_negatives(X))
        plain = plain and placed.n_neighbors is None
        return placed.place(new_sums(self.gram_, X, matrix, None if plain else placed.edit))


def _no_negatives(X: Any) -> bool:
    values = X.data if is_sparse(X) else X
    return isinstance(values, np.ndarray) and (values.size == 0 or bool(values.min() >= 0))
