"""Assign new documents: the fitted model, in memory and in a folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._array import Array, is_sparse
from .._check import check_matrix
from .._frame import data_frame
from ..cluster.kmeans.centroids import Centroids, margins
from ..errors import InputError, RunError
from ..gram import Gram
from ..kernels import Kernel
from ..text import TermVectorizer, Texts
from ..text.terms.persist import pack_vectorizer, unpack_vectorizer
from .inputs import as_corpus, is_empty


@dataclass(frozen=True)
class Prediction:
    """The clusters of new documents.

    Attributes
    ----------
    labels : array of shape (m,)
        The nearest cluster; −1 for a row of a data frame without a text.
    second : array of shape (m,)
        The next nearest; −1 if there is only one cluster.
    margin : array of shape (m,)
        1 − d₁²/d₂², clipped to [0, 1]: 0 on the border, 1 on the centroid. NaN for a precomputed kernel without
        self-similarities.
    known : array of shape (m,)
        False if nothing in the document is known to the model: it is assigned, but without any known term.
    index : pandas.Index or None
        Of the data frame that was given.
    names : tuple of str
        Names of the clusters.

    Examples
    --------
    >>> from grampus import DocumentClusterer
    >>> model = DocumentClusterer(2).fit(["whale song", "whales sing a song", "bird nest", "a nest of birds"])
    >>> model.assign(["the nest", "xyz"]).known.tolist()
    [True, False]
    """

    labels: NDArray[np.intp]
    second: NDArray[np.intp]
    margin: Array
    known: NDArray[np.bool_]
    index: Any = None
    names: tuple[str, ...] = ()

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row per document: cluster, cluster_name, second, margin, known.

        Its index is that of the data frame that was given, else the position. Needs ``pip install 'grampus[frames]'``.
        """
        names = [self.names[label] if 0 <= label < len(self.names) else None for label in self.labels.tolist()]
        columns = {"cluster": self.labels, "cluster_name": names, "second": self.second, "margin": self.margin}
        return data_frame(columns | {"known": self.known}, self.index)


@dataclass(frozen=True)
class Predictor:
    """Centroids in feature space, and everything needed to compare new documents with them.

    A polished partition is a local optimum of the objective without the shift, so new documents go to the nearest
    centroid without it; otherwise the distances are those of fitting. Either way a fitted document given again gets its
    own label if fitting has converged and no transform makes a fitted document differ from a new one (``map``).
    """

    kernel: Kernel
    gram: Gram
    centroids: Centroids
    features: Any
    labels: NDArray[np.intp]
    weights: Array
    vectorizer: TermVectorizer | None
    polished: bool

    @classmethod
    def of(
        cls, kernel: Kernel, gram: Gram, features: Any, labels: NDArray[np.intp], weights: Array,
        vectorizer: TermVectorizer | None, polished: bool,
    ) -> Predictor:  # fmt: skip
        """Return the predictor of a partition of the documents of a Gram."""
        seen = gram.split_shift()[0] if polished else gram
        centroids = Centroids.of(seen, labels, int(labels.max()) + 1, weights)
        return cls(kernel, gram, centroids, features, labels, weights, vectorizer, polished)

    def objective(self) -> float:
        """Return the k-means objective of the fitted partition, without the shift (`dominance`, Eqn 3)."""
        base, inside = self.gram.split_shift()[0], np.flatnonzero(self.labels >= 0)
        own = self.centroids.similarities[inside, self.labels[inside]]
        return float(self.weights[inside] @ (base.diagonal()[inside].astype(np.float64) - own))

    def predict(self, X: Any) -> Prediction:
        """Assign documents given in the form that ``fit`` takes."""
        new = self._features(X)
        return self.predict_features(new)

    def predict_features(self, new: Any) -> Prediction:
        """Assign documents given in the form that the kernel takes."""
        parts = list(self.centroids.new(new, unknown="left out"))
        k = len(self.centroids.norms)
        squared = np.concatenate(parts) if parts else np.empty((0, k))
        labels, second, margin = margins(squared)
        known = np.ones(len(labels), dtype=bool)
        if len(labels):
            known = ~is_empty(new, self.kernel, from_texts=self.vectorizer is not None)
        if k > 1 and self.kernel.source.takes == "gram" and not isinstance(new, tuple):
            margin = np.full(len(labels), np.nan)
        return Prediction(labels, second, margin, known)

    def _features(self, X: Any) -> Any:
        takes = self.kernel.source.takes
        corpus = None if takes == "gram" else as_corpus(X)
        if takes == "strings":
            if corpus is None and len(X):
                raise InputError(f"kernel '{self.kernel}' takes texts; got {type(X).__name__}.")
            return list(corpus.texts) if corpus else []
        if corpus is not None:
            if self.vectorizer is None:
                raise InputError("New documents must be rows of a matrix, as the fitted ones were; got texts.")
            if not len(corpus):
                return self.features[:0]
            return check_matrix(self.vectorizer.transform(corpus), "new documents", rows=0)
        if self.vectorizer is not None:
            raise InputError(f"New documents must be texts, as the fitted ones were; got {type(X).__name__}.")
        return X if isinstance(X, tuple) else check_matrix(X, "new documents", rows=0)

    # -- to a folder and back

    def arrays(self) -> dict[str, Any]:
        """Return the model as arrays and Texts; nothing for a precomputed kernel."""
        takes = self.kernel.source.takes
        if takes == "gram":
            return {}
        kept: dict[str, Any] = {"labels": self.labels.astype(np.int32), "weights": self.weights}
        if takes == "strings":
            kept["texts"] = Texts(self.features)
        elif is_sparse(self.features):
            x = self.features
            kept |= {"data": x.data, "indices": x.indices, "indptr": x.indptr, "shape": np.array(x.shape)}
        else:
            kept["rows"] = self.features
        if self.vectorizer is not None:
            kept |= {f"words.{name}": value for name, value in pack_vectorizer(self.vectorizer).items()}
        return kept

    @classmethod
    def restore(cls, kernel: Kernel, arrays: Any, parameters: dict[str, Any] | None, polished: bool) -> Predictor:
        """Return the predictor of saved arrays."""
        try:
            labels, weights = np.asarray(arrays["labels"], dtype=np.intp), np.asarray(arrays["weights"])
            if "texts" in arrays:
                features: Any = list(arrays["texts"])
            elif "rows" in arrays:
                features = arrays["rows"]
            else:
                parts = (arrays["data"], arrays["indices"], arrays["indptr"])
                features = sp.csr_array(parts, shape=tuple(arrays["shape"].tolist()))
                features.check_format(full_check=True)
            words = {name.removeprefix("words."): arrays[name] for name in arrays if name.startswith("words.")}
            vectorizer = unpack_vectorizer(parameters, words) if words and parameters else None
            if (
                labels.min(initial=-1) < -1
                or labels.max(initial=-1) < 0
                or not len(labels) == len(weights) == _rows(features)
            ):
                raise ValueError("labels")
        except (LookupError, ValueError, TypeError) as error:
            raise RunError(f"The model of the run does not fit together ({error}). Recreate the run.") from None
        return cls.of(kernel, kernel.gram(features), features, labels, weights, vectorizer, polished)


def _rows(features: Any) -> int:
    return features.shape[0] if hasattr(features, "shape") else len(features)
