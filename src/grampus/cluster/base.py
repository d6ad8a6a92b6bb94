"""Estimators in scikit-learn's conventions over the functions on a Gram."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._array import Array
from .._check import FLOATS, check_integer
from .._content import content_names
from .._parallel import limits_threads
from ..errors import InputError
from ..gram import Gram
from ..kernels import Kernel, parse_kernel
from ._callbacks import CallbackSupportMixin, start_reporter, with_callbacks
from .kmeans.centroids import Centroids, margins
from .kmeans.kernel_kmeans import check_weights, kernel_kmeans
from .results import Clustering


class KernelEstimator(ClusterMixin, BaseEstimator):
    """What every estimator over a kernel shares: a parameter ``kernel``, and how it meets the data."""

    kernel: str | Kernel

    def _gram(self, X: Any) -> Gram:
        """Read the kernel, check the data in scikit-learn's way, and return the fitted Gram."""
        self.kernel_ = parse_kernel(self.kernel)
        if self.kernel_.source.takes != "strings":
            X = self._validated(X, reset=True)
        self.gram_ = self.kernel_.gram(X)
        return self.gram_

    def _identity(self, X: Any) -> Array | None:
        """Return what each document is, so that equal ones start together and their order does not matter."""
        takes = self.kernel_.source.takes
        if takes == "gram":
            return None
        return content_names(X if takes == "strings" else self.kernel_.source._collect(X))

    def _validated(self, X: Any, *, reset: bool) -> Any:
        if isinstance(X, tuple) and self.kernel_.source.takes == "gram":
            return X  # similarities and self-similarities of new documents
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=list(FLOATS))

    def _new(self, X: Any) -> Any:
        return X if self.kernel_.source.takes == "strings" else self._validated(X, reset=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            takes = parse_kernel(self.kernel).source.takes
        except InputError:
            takes = "vectors"  # a misspelt kernel is an error of fit, not of asking for tags
        tags.input_tags.sparse = takes != "strings"
        tags.input_tags.pairwise = takes == "gram"
        tags.input_tags.string = takes == "strings"
        tags.input_tags.two_d_array = takes != "strings"
        tags.input_tags.one_d_array = takes == "strings"
        return tags


@dataclass(frozen=True)
class Membership:
    """How much documents belong to their nearest clusters.

    Attributes
    ----------
    clusters : array of shape (n, max(top, 2))
        The nearest clusters, nearest first; at least two, so that there is a second choice.
    weights : array of shape (n, top)
        Shares in proportion to 1/d²; each row sums to 1.
    margin : array of shape (n,)
        1 − d₁²/d₂² for the two nearest: 0 on the border, 1 on a centroid.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus import KernelKMeans
    >>> model = KernelKMeans(2, random_state=0).fit(np.array([[0.0], [1.0], [9.0], [10.0]]))
    >>> model.membership(np.array([[5.0]])).margin.round(3)
    array([0.])
    """

    clusters: NDArray[np.intp]
    weights: Array
    margin: Array

    @property
    def second(self) -> NDArray[np.intp]:
        """The second choice of every document."""
        return self.clusters[:, 1]


@dataclass(frozen=True)
class Representatives:
    """Documents that stand for a cluster.

    Attributes
    ----------
    central : tuple of arrays
        For each cluster, the documents nearest to its centroid, nearest first.
    borderline : tuple of arrays
        For each cluster, its documents with the smallest margin to another cluster, smallest first.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus import KernelKMeans
    >>> model = KernelKMeans(2, random_state=0).fit(np.array([[0.0], [1.0], [2.5], [9.0], [10.0], [11.0]]))
    >>> sorted(int(documents[0]) for documents in model.representatives(1).borderline)
    [2, 3]
    """

    central: tuple[NDArray[np.intp], ...]
    borderline: tuple[NDArray[np.intp], ...]


class KernelKMeans(CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """Kernel k-means, with the remedies for a dominant diagonal.

    Parameters
    ----------
    n_clusters : int
        k.
    kernel : str or Kernel
        A spelling such as ``"cosine|shift"``, or ``"precomputed"`` for a Gram matrix in place of X.
    adjusted : bool
        Leave-one-out distances (`dominance`, Eqn 12).
    polish : bool
        Single moves after convergence, while they lower the objective.
    centroid_weight : float
        How much a centroid's ‖μ_c‖² counts in a distance: 1 is `dominance`, Eqn 4, and ½ counts every pair of a cluster
        once, which comes nearer to that paper's figures. See `kernel_kmeans`.
    init : "random", "k-means++", "pddp" or array of labels
        Where to start; "pddp" is one start, always the same.
    n_init : int
        Number of starts; the best by the unshifted objective is kept.
    max_iter : int
        Iterations a start may take.
    random_state : int, RandomState or None
        Seed of the starts.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    labels_ : array of shape (n,)
        Cluster of every document.
    objective_ : float
        The objective without the shift; ``inertia_`` is the same.
    n_iter_ : int
        Iterations of the best start.
    result_ : Clustering
        Everything else: outcome, history, all starts.
    gram_ : Gram
        The fitted Gram.
    kernel_ : Kernel
        The kernel that was read.

    Notes
    -----
    With scikit-learn 1.9, ``set_callbacks(sklearn.callback.ProgressBar())`` shows a bar of the starts.

    A fitted document shown again as new may get another cluster under ``shift``, ``map`` or ``adjusted``: its
    self-similarity is among the similarities of a new document, but was changed or left out in fitting.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus import KernelKMeans
    >>> X = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.8]])
    >>> model = KernelKMeans(2, kernel="cosine|shift", random_state=0).fit(X)
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[2])
    True
    >>> model.predict(np.array([[0.0, 3.0]])) == model.labels_[2]
    array([ True])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: str | Kernel = "linear",
        adjusted: bool = False,
        polish: bool = False,
        centroid_weight: float = 1.0,
        init: Any = "random",
        n_init: int = 10,
        max_iter: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.adjusted = adjusted
        self.polish = polish
        self.centroid_weight = centroid_weight
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    @with_callbacks
    @limits_threads
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelKMeans:
        """Cluster the rows of X (strings for a string kernel, a Gram matrix for ``precomputed``).

        Parameters
        ----------
        X : array or sparse array of shape (n, m), or list of n strings
        y : ignored
        sample_weight : array of shape (n,), optional
            How much each document counts.
        """
        gram = self._gram(X)
        progress, finish = start_reporter(self, X, self.n_init)
        self.result_: Clustering = kernel_kmeans(
            gram,
            self.n_clusters,
            adjusted=self.adjusted,
            polish=self.polish,
            centroid_weight=self.centroid_weight,
            init=self.init,
            n_init=self.n_init,
            max_iter=self.max_iter,
            sample_weight=sample_weight,
            random_state=self.random_state,
            identity=self._identity(X),
            n_jobs=self.n_jobs,
            progress=progress,
        )
        self.labels_ = self.result_.labels
        self.objective_ = self.inertia_ = self.result_.objective
        self.n_iter_ = self.result_.n_iter
        weights = check_weights(sample_weight, len(gram))
        k = self.result_.n_clusters
        self.centroids_ = Centroids.of(gram, self.labels_, k, weights, float(self.centroid_weight))
        self._n_features_out = k
        finish()
        return self

    def _squared(self, X: Any, unknown: str = "refused") -> Array:
        """Return the squared distances to every centroid, (m, k)."""
        check_is_fitted(self, "centroids_")
        parts = list(self.centroids_.new(self.kernel_, self._new(X), unknown=unknown))
        return np.concatenate(parts) if parts else np.empty((0, self._n_features_out))

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the nearest cluster of new documents; the lowest number in a tie.

        For ``precomputed``, X holds their similarities to the fitted documents, or is the pair (similarities,
        self-similarities) where a transform needs the latter.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, features), list of str, or array of shape (m, n)
            New documents, as in `fit`; with ``precomputed`` their similarities to the fitted ones.
        """
        squared = self._squared(X, "left out")
        return self.centroids_.nearest(squared)

    def transform(self, X: Any) -> Array:
        """Return the distances of documents to every centroid in feature space, (m, k).

        With ``precomputed``, give the pair (similarities, self-similarities). From similarities alone the squared
        distances are relative, with 0 for the nearest centroid. Where a shift makes one negative, 0 is returned.

        Parameters
        ----------
        X : as in predict
            New documents.
        """
        return np.sqrt(np.maximum(self._squared(X, "relative"), 0.0))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the negated sum of squared distances of documents to their nearest centroid.

        From precomputed similarities alone it lacks the sum of the self-similarities: good to compare models on the
        same documents, not an objective.

        Parameters
        ----------
        X : as in predict
            Documents.
        y : ignored
            There for scikit-learn.
        """
        nearest = self._squared(X, "left out").min(axis=1)
        known = self.kernel_.source.takes != "gram" or isinstance(X, tuple)
        return -float((np.maximum(nearest, 0.0) if known else nearest).sum())

    def membership(self, X: Any = None, top: int = 3) -> Membership:
        """Return soft membership in the `top` nearest clusters, of new documents or (by default) the fitted ones.

        A document's share in a cluster is in proportion to 1/d², as in fuzzy c-means with exponent 2. Distances are
        plain: with a `centroid_weight` below 1 the nearest cluster need not be the one of ``labels_``.

        Parameters
        ----------
        X : as in predict, optional
            New documents; the fitted ones by default.
        top : int
            Clusters to give for each document.
        """
        check_is_fitted(self, "centroids_")
        if self._n_features_out < 2:
            raise InputError("membership compares clusters: it needs n_clusters of at least 2; got 1.")
        top = min(check_integer(top, "top", low=1), self._n_features_out)
        squared = np.maximum(self.centroids_.fitted() if X is None else self._squared(X), 0.0)
        order = np.argsort(squared, axis=1, kind="stable")
        nearest = np.take_along_axis(squared, order, axis=1)
        floor = np.finfo(np.float64).tiny ** 0.5
        shares = 1.0 / np.maximum(nearest[:, :top], floor)
        shares /= shares.sum(axis=1, keepdims=True)
        return Membership(order[:, : max(top, 2)], shares, margins(squared).margin)

    def representatives(self, n: int = 3) -> Representatives:
        """Return the `n` most central and the `n` most borderline fitted documents of every cluster.

        Parameters
        ----------
        n : int
            Documents of each kind for each cluster.
        """
        check_is_fitted(self, "centroids_")
        n = check_integer(n, "n", low=1)
        squared = self.centroids_.fitted()
        own = squared[np.arange(len(squared)), self.labels_]
        others = squared.copy()
        others[np.arange(len(squared)), self.labels_] = np.inf
        gap = others.min(axis=1) - own
        central, borderline = [], []
        for cluster in range(self._n_features_out):
            members = np.flatnonzero(self.labels_ == cluster)
            central.append(members[np.argsort(own[members], kind="stable")[:n]])
            borderline.append(members[np.argsort(gap[members], kind="stable")[:n]])
        return Representatives(tuple(central), tuple(borderline))
