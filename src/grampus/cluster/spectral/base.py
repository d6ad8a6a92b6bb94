"""k-means on embedded documents: the result, and the base class of the estimators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..._array import Array
from ..._check import check_integer
from ..._draw import Shown
from ...errors import InputError
from ...gram import Collection, Gram, LinearGram
from ..base import KernelEstimator
from ..kmeans.kernel_kmeans import kernel_kmeans
from ..results import Clustering, Outcome
from .coordinates import KernelEmbedding
from .laplacian import SpectralEmbedding


@dataclass(frozen=True)
class EmbeddedClustering(Shown):
    """Documents embedded by eigenvectors and clustered by k-means.

    Attributes
    ----------
    labels : array of shape (n,)
        Cluster of every document, 0 … k−1.
    centres : array of shape (k, l)
        Mean coordinates of every cluster; infinite for an empty one.
    embedding : SpectralEmbedding or KernelEmbedding
        The coordinates, the eigenvalues, and how they were computed.
    kmeans : Clustering
        The runs of k-means.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.cluster import spectral_kmeans
    >>> from grampus.gram import LinearGram
    >>> result = spectral_kmeans(LinearGram(np.array([[3.0, 1], [2, 1], [1, 4], [1, 5]])), 2, random_state=0)
    >>> bool(result.labels[0] == result.labels[1] != result.labels[2]), result.embedding.method
    (True, 'lapack')
    """

    labels: NDArray[np.intp]
    centres: Array = field(repr=False)
    embedding: SpectralEmbedding | KernelEmbedding = field(repr=False)
    kmeans: Clustering = field(repr=False)

    def take(self, index: NDArray[np.intp]) -> EmbeddedClustering:
        """Return the documents in another order."""
        embedding, kmeans = self.embedding.take(index), self.kmeans.take(index)
        return replace(self, labels=self.labels[index], embedding=embedding, kmeans=kmeans)

    @property
    def objective(self) -> float:
        """The k-means objective of the coordinates."""
        return self.kmeans.objective

    @property
    def n_iter(self) -> int:
        """Iterations of the best run."""
        return self.kmeans.n_iter

    @property
    def outcome(self) -> Outcome:
        """How the best run ended."""
        return self.kmeans.outcome

    @property
    def sizes(self) -> NDArray[np.intp]:
        """The number of documents in every cluster."""
        return self.kmeans.sizes

    def assign(self, coordinates: Array) -> NDArray[np.intp]:
        """Return the cluster with the nearest centre; the lowest number in a tie."""
        finite = np.where(np.isfinite(self.centres), self.centres, 0.0)
        norms = np.where(np.isfinite(self.centres[:, 0]), np.einsum("ij,ij->i", finite, finite), np.inf)
        return (norms - 2.0 * coordinates @ finite.T).argmin(axis=1).astype(np.intp)


def check_fewer(n_clusters: Any, n: int) -> int:
    """Return k, which must be less than the number of documents."""
    if n < 2:
        raise InputError(f"There must be at least two documents to embed by eigenvectors; got {n} sample(s).")
    return check_integer(n_clusters, "n_clusters", low=1, high=n - 1, of=f" (fewer than the {n} sample(s))")


def cluster_embedded(
    embedding: SpectralEmbedding | KernelEmbedding, documents: Collection, k: int, weights: Array | None, **options: Any
) -> EmbeddedClustering:
    """Cluster the coordinates by k-means; documents of weight 0 join the nearest cluster."""
    coordinates = embedding.coordinates
    found = kernel_kmeans(LinearGram(coordinates).named(documents), k, sample_weight=weights, **options)
    mass = np.ones(len(coordinates)) if weights is None else weights
    sizes = np.bincount(found.labels, weights=mass, minlength=k)
    sums = np.array([np.bincount(found.labels, weights=mass * column, minlength=k) for column in coordinates.T]).T
    centres = np.full(sums.shape, np.inf)
    np.divide(sums, sizes[:, None], out=centres, where=sizes[:, None] > 0)
    return EmbeddedClustering(found.labels, centres, embedding, found)


def new_sums(gram: Gram, documents: Any, matrix: Array, edit: Callable[[Array], Array] | None = None) -> Array:
    """Return C M for the similarities C of new documents to the fitted ones, edited by `edit` if given.

    Where the Gram has explicit features and there is no `edit`, C is not formed.
    """
    explicit = None if edit is not None else gram.split_shift()[0].features()
    directions = None if explicit is None else explicit.project(matrix)
    parts = [np.empty((0, matrix.shape[1]))]
    for part in gram.compare(documents):
        if edit is None:
            parts.append(part.sums(matrix, directions))
        else:
            parts.append(edit(part.cross.astype(np.float64, copy=False)) @ matrix)
    return np.concatenate(parts)


class EmbeddedEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """Base of the estimators over an embedding."""

    result_: EmbeddedClustering

    def _settle(self, result: EmbeddedClustering) -> None:
        """Set the fitted attributes."""
        self.result_ = result
        self.labels_ = result.labels
        self.embedding_ = result.embedding.coordinates
        self.eigenvalues_ = result.embedding.eigenvalues
        self.cluster_centers_ = result.centres
        self.objective_ = self.inertia_ = result.objective
        self.n_iter_ = result.n_iter
        self._n_features_out = self.embedding_.shape[1]

    def _place(self, X: Any) -> Array:
        """Return the coordinates of new documents."""
        raise NotImplementedError

    def transform(self, X: Any) -> Array:
        """Return the coordinates of documents, (m, l), from their similarities to the fitted ones.

        For ``precomputed``, X contains these similarities, or is the pair (similarities, self-similarities) where a
        transform needs the latter.
        """
        return self._coordinates(X)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the cluster whose centre is nearest to a document's coordinates; the lowest number in a tie."""
        coordinates = self._coordinates(X)  # not transform, whose output set_output may turn into a frame
        return self.result_.assign(coordinates)

    def _coordinates(self, X: Any) -> Array:
        check_is_fitted(self, "result_")
        return self._place(self._new(X))
