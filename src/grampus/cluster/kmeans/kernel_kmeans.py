"""Kernel k-means (`dominance`, §2.1): a function on a Gram with a frozen result, and its estimator."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..._array import Array
from ..._check import check_flag, check_integer
from ..._parallel import limits_threads
from ..._progress import Progress, as_progress
from ..._random import generators
from ...errors import InputError
from ...gram import Gram, quick_rows, require_gram
from ...kernels import Kernel
from .._callbacks import CallbackSupportMixin, start_reporter, with_callbacks
from ..base import KernelEstimator
from ..results import Clustering, Runs
from .batch import Batch
from .centroids import Centroids
from .polish import polish_labels
from .seeding import given_starts, start_labels
from .state import TIE, Finished, Labels, check_rule, gather

logger = logging.getLogger(__name__)

_ROUNDING = {"float64": 1e-13, "float32": 4e-6}


def kernel_kmeans(
    gram: Gram,
    n_clusters: int,
    *,
    rule: str = "plain",
    polish: bool = False,
    init: Any = "random",
    n_init: int = 10,
    max_iter: int = 100,
    sample_weight: Any = None,
    random_state: Any = None,
    progress: Progress | None = None,
) -> Clustering:
    """Cluster the documents of a Gram into k groups; return the best of several starts.

    The loops are compiled. On a stored Gram, starts share each pass, and after the first iteration only documents that
    move cost anything; on a linear Gram each iteration is at most one pass over its stored entries. Labels depend on
    the seed and the documents alone: not on their order (where their content is known), the threads, the memory budget,
    or whether the Gram is stored.

    Parameters
    ----------
    gram : Gram
        Need not be positive semi-definite.
    n_clusters : int
        k, from 1 to the number of documents.
    rule : "plain", "adjusted" or "cosine"
        How documents are assigned: to the nearest centroid; by leave-one-out distances, so that self-similarity does
        not keep documents where they are (AA; `dominance`, Eqn 12); or to the centroid with the largest cosine
        (`validation`, §4).
    polish : bool
        After convergence, move single documents and chains of them while that lowers the objective.
    init : "random", "k-means++", "pddp", or array of shape (n,) or (n_init, n)
        Random partitions (as in the papers), greedy k-means++ in feature space, the leaves of a PDDP tree (one
        deterministic start), or given labels.
    n_init : int
        Number of starts; the one with the smallest unshifted objective is returned.
    max_iter : int
        Maximum number of iterations of a start.
    sample_weight : array of shape (n,), optional
        Weight of each document; at least 0.
    random_state : int, RandomState or None
        Seed of the starts.
    progress : callable, optional
        Called as ``progress("clustering", done, total)``, in starts.

    Returns
    -------
    Clustering

    Notes
    -----
    A cluster that becomes empty gets the document farthest from its centroid, so there are k clusters whenever there
    are k distinct documents; with fewer, a warning states how many were found.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.cluster import kernel_kmeans
    >>> from grampus.gram import LinearGram
    >>> points = np.array([[0.0, 0.1], [0.1, 0.0], [5.0, 5.1], [5.1, 5.0]])
    >>> kernel_kmeans(LinearGram(points), 2, random_state=0).sizes
    array([2, 2])
    """
    n = len(require_gram(gram))
    k = check_integer(n_clusters, "n_clusters", low=1, high=n, of=" (the number of documents)")
    n_init = check_integer(n_init, "n_init", low=1)
    max_iter = check_integer(max_iter, "max_iter", low=1)
    chosen, polish = check_rule(rule), check_flag(polish, "polish")
    if polish and (chosen.spherical or chosen.centroid != 1.0):
        raise InputError(f"polish lowers the k-means objective, which rule={rule!r} does not follow. Drop one of them.")
    weights = check_weights(sample_weight, n)
    rngs = generators(random_state, n_init)
    if isinstance(init, str) and init == "pddp":
        rngs = rngs[:1]  # always the same start
    starts = None if isinstance(init, str) else given_starts(init, n, k, n_init)

    ordered, order = gram.canonical()
    base, sigma = ordered.split_shift()
    weights, group = weights[order], ordered.documents().group
    total = len(rngs) if starts is None else len(starts)
    batch = Batch(base, replace(chosen, shift=sigma), [k], total, weights=weights, max_iter=max_iter)

    def draw(part: slice) -> Labels:
        if starts is not None:
            return starts[part][:, order]
        return start_labels(init, base, k, weights, rngs[part], group)

    runs = _run_all(batch, k, draw, total, as_progress(progress))
    best = int(batch.best(runs.objective))
    labels, gain = _polished(ordered, batch, k, runs.labels[best]) if polish else (runs.labels[best], 0.0)
    filled = len(np.unique(labels))
    if filled < k:
        warnings.warn(f"Only {filled} of {k} clusters: no more documents are distinct.", stacklevel=2)
    logger.debug("kernel k-means: %d starts, best objective %g", len(runs), runs.objective[best])
    clustering = Clustering(
        labels=labels,
        objective=float(runs.objective[best]) - gain,
        n_iter=int(runs.n_iter[best]),
        outcome=runs.outcomes[best],
        history=runs.histories[best],
        n_clusters=k,
        polish_gain=gain,
        runs=runs,
    )
    return clustering.take(np.argsort(order))


def _run_all(batch: Batch, k: int, draw: Callable[[slice], Labels], total: int, report: Progress) -> Runs:
    """Run every start, in batches that fit into a part of the memory budget."""
    step = batch.starts_at_once(k)
    finished: list[Finished] = []
    for first in range(0, total, step):
        starts = draw(slice(first, first + step))
        starts[:, batch.weights == 0] = -1
        for run in batch.run(k, starts):
            finished.append(_complete(run, first))
            report("clustering", len(finished), total)
    return gather(finished)


def _polished(gram: Gram, batch: Batch, k: int, labels: NDArray[np.intp]) -> tuple[NDArray[np.intp], float]:
    """Return the labels after single moves, and the decrease of the unshifted objective."""
    base, weights, diagonal = gram.split_shift()[0], batch.weights, batch.diagonal
    # A gain below the rounding of one document's distances may be undone by the next move, without end.
    sizes = weights * np.abs(diagonal)
    least = max(TIE * float(sizes.sum()), _ROUNDING[base.dtype.name] * float(sizes.max()))
    labels, gain = polish_labels(quick_rows(base, len(base) / 4), diagonal, labels, k, weights, least)
    if gain and weights.min() == 0:  # reassign documents without weight to the new centroids
        nearest = Centroids.of(gram, labels, k, weights).fitted().argmin(axis=1)
        labels = np.where(weights > 0, labels, nearest)
    return labels, gain


def _complete(run: Finished, start: int) -> Finished:
    """Assign documents without weight, and give the run its index among all starts."""
    labels = np.where(run.labels >= 0, run.labels, run.predicted).astype(np.int32)
    return replace(run, index=start + run.index, labels=labels)


def check_weights(sample_weight: Any, n: int) -> Array:
    """Return one weight for each document, 1 by default; at least 0 and not all 0."""
    if sample_weight is None:
        return np.ones(n)
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"sample_weight must be {n} numbers, one for each document.") from None
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise InputError(f"sample_weight must have {n} entries, one for each document; got shape {weights.shape}.")
    if not np.isfinite(weights).all() or weights.min() < 0 or not weights.sum() > 0:
        raise InputError("sample_weight must be finite, at least 0, and not zero for every document.")
    if weights.max() < 1e-100:
        raise InputError(f"sample_weight must reach 1e-100; the largest is {weights.max():g}. Scale the weights up.")
    return weights


@dataclass(eq=False, repr=False)
class KernelKMeans(CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """Kernel k-means, with remedies for a dominant diagonal.

    Parameters
    ----------
    n_clusters : int
        k.
    kernel : str or Kernel
        A spelling such as ``"cosine|shift"``, or ``"precomputed"`` if X is a Gram matrix.
    rule : "plain", "adjusted" or "cosine"
        How documents are assigned; ``"adjusted"`` compares leave-one-out distances (AA; `dominance`, Eqn 12).
    polish : bool
        Single moves after convergence, while they lower the objective.
    init : "random", "k-means++", "pddp" or array of labels
        Initial partitions; "pddp" is one deterministic start.
    n_init : int
        Number of starts; the best by the unshifted objective is kept.
    max_iter : int
        Maximum number of iterations of a start.
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
        The parsed kernel.

    Notes
    -----
    With scikit-learn 1.9, ``set_callbacks(sklearn.callback.ProgressBar())`` shows the progress of the starts.

    A fitted document given again as new may get another cluster under ``shift``, ``map`` or ``rule="adjusted"``: its
    self-similarity counts for a new document, but was changed or left out in fitting.

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

    n_clusters: int = 8
    _: KW_ONLY
    kernel: str | Kernel = "linear"
    rule: str = "plain"
    polish: bool = False
    init: Any = "random"
    n_init: int = 10
    max_iter: int = 100
    random_state: Any = None
    n_jobs: int | None = None

    @with_callbacks
    @limits_threads
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelKMeans:
        """Cluster the rows of X (strings for a string kernel, a Gram matrix for ``precomputed``).

        Parameters
        ----------
        X : array or sparse array of shape (n, m), or list of n strings
        y : ignored
        sample_weight : array of shape (n,), optional
            Weight of each document.
        """
        gram = self._gram(X)
        progress, finish = start_reporter(self, X, self.n_init)
        options = self._options("rule", "polish", "init", "n_init", "max_iter", "random_state")
        options |= {"sample_weight": sample_weight, "progress": progress}
        self.result_: Clustering = kernel_kmeans(gram, self.n_clusters, **options)
        self.labels_ = self.result_.labels
        self.objective_ = self.inertia_ = self.result_.objective
        self.n_iter_ = self.result_.n_iter
        weights = check_weights(sample_weight, len(gram))
        k = self.result_.n_clusters
        self.centroids_ = Centroids.of(gram, self.labels_, k, weights)
        self._n_features_out = k
        finish()
        return self

    def _squared(self, X: Any, unknown: str = "refused") -> Array:
        """Return the squared distances to every centroid, (m, k)."""
        check_is_fitted(self, "centroids_")
        parts = list(self.centroids_.new(self._new(X), unknown=unknown))
        return np.concatenate(parts) if parts else np.empty((0, self._n_features_out))

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the nearest cluster of new documents; the lowest number in a tie.

        With ``rule="cosine"`` it is the one whose centroid makes the smallest angle with the document.

        For ``precomputed``, X holds their similarities to the fitted documents, or is the pair (similarities,
        self-similarities) where a transform needs the latter.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, features), list of str, or array of shape (m, n)
            New documents, as in `fit`; with ``precomputed`` their similarities to the fitted ones.
        """
        if not check_rule(self.rule).spherical:
            return self._squared(X, "left out").argmin(axis=1)
        check_is_fitted(self, "centroids_")
        parts = [part.argmax(axis=1) for part in self.centroids_.cosines(self._new(X))]
        return np.concatenate([np.empty(0, dtype=np.intp), *parts])

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

        From precomputed similarities alone it lacks the sum of the self-similarities: use it to compare models on the
        same documents, not as an objective.

        Parameters
        ----------
        X : as in predict
            Documents.
        y : ignored
            Present for scikit-learn.
        """
        nearest = self._squared(X, "left out").min(axis=1)
        known = self.kernel_.knows_diagonal(X)
        return -float((np.maximum(nearest, 0.0) if known else nearest).sum())
