"""Assign new documents: the fitted model, in memory and in a folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._array import Array, is_sparse, take_rows
from ..._check import check_matrix
from ..._frame import data_frame
from ...cluster.kmeans.centroids import Centroids, margins
from ...errors import InputError, RunError
from ...gram import Gram
from ...kernels import Kernel
from ...text import Corpus, TermVectorizer, Texts
from ...text.components import ComponentsInput  # noqa: F401  (runs that 0.2 made in parts)
from ...text.inputs import InputMaker, unpack_maker
from ...text.terms.persist import pack_vectorizer, unpack_vectorizer
from ..given.inputs import Inputs, as_corpus, name_documents
from .membership import MembershipRule, membership_rules
from .outliers import NEW, Familiarity, known_words, references


@dataclass(frozen=True)
class Prediction:
    """The clusters of new documents.

    Attributes
    ----------
    labels : array of shape (m,)
        The nearest cluster; −1 for a row of a data frame without a text, and where nothing is known.
    second : array of shape (m,)
        The next nearest; −1 if there is only one cluster.
    margin : array of shape (m,)
        1 − d₁²/d₂², clipped to [0, 1]: 0 on the border, 1 on the centroid. NaN for a precomputed kernel without
        self-similarities.
    known : array of shape (m,)
        False if nothing in the document is known to the model. Meaning knows every text.
    index : pandas.Index, list or None
        Of the data frame that was given; the keys of a mapping.
    names : tuple of str
        Names of the clusters.
    likeness : array of shape (m,) or None
        Share of the fitted documents that resemble the others no more than this document resembles them: small for a
        document unlike anything seen. NaN where self-similarities are unknown.
    library : str
        Whose frames ``to_frame`` returns: that of the data frame that was given.

    memberships : array of shape (m, k) or None
        The probability of every cluster: that of a refit putting the document there. Rows sum to 1; a document that
        fits nothing has them too, see `fits`.

    Examples
    --------
    >>> from grampus import DocumentClusterer
    >>> texts = ["whale song", "whales sing a song", "bird nest", "a nest of birds"]
    >>> model = DocumentClusterer(2, embed=None).fit(texts)
    >>> model.assign(["the nest", "xyz"]).known.tolist()
    [True, False]
    """

    labels: NDArray[np.intp]
    second: NDArray[np.intp]
    margin: Array
    known: NDArray[np.bool_]
    index: Any = None
    names: tuple[str, ...] = ()
    likeness: Array | None = None
    library: str = "pandas"
    memberships: Array | None = None

    @property
    def probability(self) -> Array:
        """The probability of the nearest cluster; NaN where it is not known."""
        return self._share(self.labels)

    @property
    def second_probability(self) -> Array:
        """The probability of the second choice; NaN where there is none."""
        return self._share(self.second)

    @property
    def fits(self) -> NDArray[np.bool_]:
        """Which documents fit a cluster at all: something in them is known, and they are like what was seen."""
        return self.known & ~self.unlike

    def _share(self, clusters: NDArray[np.intp]) -> Array:
        found, rows = np.full(len(clusters), np.nan), np.flatnonzero(clusters >= 0)
        if self.memberships is not None:
            found[rows] = self.memberships[rows, clusters[rows]]
        return found

    @property
    def unlike(self) -> NDArray[np.bool_]:
        """Which documents are unlike anything seen: less familiar than all but 1 % of the fitted ones."""
        if self.likeness is None:
            return np.zeros(len(self.labels), dtype=bool)
        return np.asarray(self.likeness <= NEW)

    def to_frame(self) -> Any:
        """Return a data frame with a row per document: cluster, name, second, margin, known, likeness, probabilities.

        It is of the library whose frame was given, else of pandas, which needs ``pip install 'grampus[frames]'``; its
        index is that of the frame, else the position.
        """
        names = [self.names[label] if 0 <= label < len(self.names) else None for label in self.labels.tolist()]
        columns = {"cluster": self.labels, "name": names, "second": self.second, "margin": self.margin}
        likeness = np.full(len(names), np.nan) if self.likeness is None else self.likeness
        columns |= {"known": self.known, "likeness": likeness, "probability": self.probability}
        columns |= {"second_probability": self.second_probability}
        return data_frame(columns, self.index, None, self.library)


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
    makers: Mapping[str, InputMaker] = field(default_factory=dict)
    known_words: Array | None = None  # of the documents that new ones are compared with

    @classmethod
    def of(
        cls, kernel: Kernel, gram: Gram, features: Any, labels: NDArray[np.intp], weights: Array,
        vectorizer: TermVectorizer | None, polished: bool, makers: Mapping[str, InputMaker] | None = None,
    ) -> Predictor:  # fmt: skip
        """Return the predictor of a partition of the documents of a Gram."""
        seen = gram.split_shift()[0] if polished else gram
        centroids = Centroids.of(seen, labels, int(labels.max()) + 1, weights)
        return cls(kernel, gram, centroids, features, labels, weights, vectorizer, polished, makers or {})

    def objective(self) -> float:
        """Return the k-means objective of the fitted partition, without the shift (`dominance`, Eqn 3)."""
        base, inside = self.gram.split_shift()[0], np.flatnonzero(self.labels >= 0)
        own = self.centroids.similarities[inside, self.labels[inside]]
        return float(self.weights[inside] @ (base.diagonal()[inside].astype(np.float64) - own))

    def predict(self, X: Any, *, likeness: bool = True) -> Prediction:
        """Assign documents given in the form that ``fit`` takes; their likeness costs more than all the rest."""
        new = self.features_of(X)
        found = self.predict_features(new, memberships=likeness)
        return replace(found, likeness=self._likeness(X, new, len(found.labels))) if likeness else found

    @cached_property
    def _rules(self) -> tuple[MembershipRule, MembershipRule]:
        return membership_rules(self.centroids.gram, self.labels, self.weights)

    def memberships(self) -> Array:
        """Return the probability of every cluster for the fitted documents, (m, k); rows sum to 1."""
        return self._rules[0].apply(self.centroids.fitted(), self.labels)

    @cached_property
    def _familiarity(self) -> Familiarity:
        return Familiarity.of(self.kernel, self.features, self.weights, self._known())

    def _known(self) -> Array | None:
        """Return the shares of known words; None where they are not known, or documents have gone since."""
        found = self.known_words
        return None if found is None or len(found) != len(references(self.kernel, self.weights)) else found

    def _likeness(self, X: Any, new: Any, count: int) -> Array:
        """Return how far new documents resemble the fitted ones; compared with at most 2,500 of these."""
        if not count or not self.kernel.knows_diagonal(new):
            return np.full(count, np.nan)
        corpus = None if self._known() is None else as_corpus(X)
        terms = new["terms"] if isinstance(new, dict) and corpus is not None else new
        try:
            return self._familiarity.rank(new, None if corpus is None else known_words(terms, corpus.texts))
        except InputError:  # a kernel that cannot be normalised
            return np.full(count, np.nan)

    def predict_features(self, new: Any, *, memberships: bool = False) -> Prediction:
        """Assign documents given in the form that the kernel takes; with `memberships`, also their probabilities."""
        parts = list(self.centroids.new(new, unknown="left out"))
        k = len(self.centroids.norms)
        squared = np.concatenate(parts) if parts else np.empty((0, k))
        labels, second, margin = margins(squared)
        known = np.ones(len(labels), dtype=bool)
        if len(labels):
            known = ~self.kernel.empty(new, from_texts=self.vectorizer is not None)
        if k > 1 and not self.kernel.knows_diagonal(new):
            margin = np.full(len(labels), np.nan)
        shares = self._rules[1].apply(squared) if memberships else None
        return Prediction(labels, second, margin, known, memberships=shares)

    def features_of(self, X: Any) -> Any:
        """Return new documents in the form that the kernel takes."""
        corpus = None if self.kernel.is_precomputed else as_corpus(X)
        if isinstance(self.features, dict):
            return self._named(X, corpus)
        if self.kernel.reads_only_texts:
            if corpus is None and len(X):
                raise InputError(f"kernel '{self.kernel}' takes texts; got {type(X).__name__}.")
            return list(corpus.texts) if corpus else []
        if corpus is not None:
            if self.vectorizer is None:
                raise InputError("New documents must be rows of a matrix, as the fitted ones were; got texts.")
            return self._terms(corpus)
        if self.vectorizer is not None:
            raise InputError(f"New documents must be texts, as the fitted ones were; got {type(X).__name__}.")
        return X if isinstance(X, tuple) else check_matrix(X, "new documents", rows=0)

    def _terms(self, corpus: Corpus) -> Any:
        """Return the terms of new texts."""
        assert self.vectorizer is not None
        if not len(corpus):
            return take_rows(self.features, np.arange(0))
        return check_matrix(self.vectorizer.transform(corpus), "new documents", rows=0)

    def _named(self, X: Any, corpus: Corpus | None) -> dict[str, Any]:
        """Return every input of new documents that the kernel reads."""
        if corpus is None:
            raise InputError(
                f"New documents must be a Corpus with {' and '.join(map(repr, self.features))}, which kernel "
                f"'{self.kernel}' reads; got {type(X).__name__}."
            )
        if not len(corpus):
            return take_rows(self.features, np.arange(0))
        return {name: self._input(name, corpus) for name in self.features}

    def _input(self, name: str, corpus: Corpus) -> Any:
        if name == "text":
            return list(corpus.texts)
        if name == "terms" and self.vectorizer is not None:
            return self._terms(corpus)
        if name == "terms":
            raise InputError(
                f"kernel '{self.kernel}' was fitted to rows of a matrix and other inputs; such a run cannot assign new "
                "documents. Fit it to a corpus, with the matrix as one of its inputs."
            )
        return named_input(name, corpus, self.makers, self.features[name].shape[1])

    # -- to a folder and back

    def arrays(self) -> dict[str, Any]:
        """Return the model as arrays and Texts; nothing for a precomputed kernel."""
        if self.kernel.is_precomputed:
            return {}
        kept: dict[str, Any] = {"labels": self.labels.astype(np.int32), "weights": self.weights}
        kept |= _pack(self.features)
        kept |= {} if self.known_words is None else {"known_words": self.known_words}
        if self.vectorizer is not None:
            kept |= {f"words.{name}": value for name, value in pack_vectorizer(self.vectorizer).items()}
        for name, maker in self.makers.items():
            parameters, learned = maker.pack()
            kept[f"maker.{name}"] = Texts([json.dumps({"kind": maker.kind, "parameters": parameters})])
            kept |= {f"maker.{name}.{part}": value for part, value in learned.items()}
        return kept

    @classmethod
    def restore(cls, kernel: Kernel, arrays: Any, parameters: dict[str, Any] | None, polished: bool) -> Predictor:
        """Return the predictor of saved arrays."""
        with restoring():
            labels, weights = np.asarray(arrays["labels"], dtype=np.intp), np.asarray(arrays["weights"])
            features = unpack(arrays)
            words = {name.removeprefix("words."): arrays[name] for name in arrays if name.startswith("words.")}
            vectorizer = unpack_vectorizer(parameters, words) if words and parameters else None
            makers = saved_makers(arrays)
            known = _of_kind(arrays["known_words"], "f", 1) if "known_words" in arrays else None
            parts = features.values() if isinstance(features, dict) else [features]
            whole = {len(labels)} == {len(weights)} == {_rows(rows) for rows in parts}
            if labels.min(initial=-1) < -1 or labels.max(initial=-1) < 0 or not whole:
                raise ValueError("labels")
        gram = kernel.gram(features, name_documents(features) if isinstance(features, dict) else None)
        found = cls.of(kernel, gram, features, labels, weights, vectorizer, polished, makers)
        return replace(found, known_words=known)


def named_input(name: str, corpus: Corpus, makers: Mapping[str, InputMaker], width: int = 0) -> Any:
    """Return an input of new documents: the rows that came with them, or those that its maker makes.

    Where no text holds anything, a maker knows no `width`; the rows are 0 then.
    """
    if name in corpus.inputs:
        return corpus.inputs[name].astype(np.float64, copy=False)
    if name in makers:
        rows = makers[name].transform(corpus)
        rows = rows if rows.shape[1] else np.zeros((len(corpus), width))
        return check_matrix(rows, f"the input {name!r}", rows=0)
    raise InputError(
        f"New documents must have the input {name!r}, as the fitted ones had: add it with "
        f"corpus.with_input({name!r}, rows)."
    )


def stacked(rows: Any, more: Any) -> Any:
    """Return rows of numbers below each other, dense or sparse."""
    if is_sparse(rows) or is_sparse(more):
        return check_matrix(sp.vstack([rows, more], format="csr"))
    return np.vstack([rows, more])


def share_of_known_words(kernel: Kernel, inputs: Inputs, shown: NDArray[np.intp]) -> Array | None:
    """Return which share of the words of fitted texts are terms, of those that new documents are compared with.

    Parameters
    ----------
    kernel : Kernel
    inputs : Inputs
    shown : array of shape (m,)
        The document whose text is read for each distinct one.
    """
    if inputs.vectorizer is None or not inputs.has_texts:
        return None
    at = references(kernel, inputs.weights)
    texts = inputs.corpus.texts
    return known_words(take_rows(inputs.main, at), [texts[int(i)] for i in shown[at]]).astype(np.float32)


@contextmanager
def restoring() -> Iterator[None]:
    """Turn what goes wrong while a saved model is put together into a RunError."""
    try:
        yield
    except RunError:
        raise
    except (LookupError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise RunError(f"The model of the run does not fit together ({error}). Recreate the run.") from None


def saved_confidence(model: Mapping[str, Any]) -> Array | None:
    """Return the confidence of every document of a saved model, NaN where there is none; None for a model without."""
    if "confidence" not in model or "group" not in model:
        return None
    with restoring():
        found = np.asarray(model["confidence"])
        _of_kind(np.where(np.isnan(found), 0.0, found), "f", 1)
        return np.asarray(found[_of_kind(np.asarray(model["group"]), "iu", 1)])


def saved_rows(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rows of every document of a saved model, copies included, by input; one without a name is terms."""
    found, group = unpack(model), _of_kind(np.asarray(model["group"]), "iu", 1)
    named = found if isinstance(found, dict) else {"terms": found}
    if not all(((group >= 0) & (group < _rows(rows))).all() for rows in named.values()):
        raise ValueError("group")
    return {name: take_rows(rows, group) for name, rows in named.items()}


def _rows(features: Any) -> int:
    return features.shape[0] if hasattr(features, "shape") else len(features)


def _pack(features: Any) -> dict[str, Any]:
    """Return documents as arrays and Texts; those of a named input as ``input.name.part``."""
    if isinstance(features, dict):
        packed = {name: _pack(_single(rows)) for name, rows in features.items()}
        return {f"input.{name}.{part}": value for name, parts in packed.items() for part, value in parts.items()}
    if isinstance(features, list):
        return {"texts": Texts(features)}
    if is_sparse(features):
        x = features
        return {"data": x.data, "indices": x.indices, "indptr": x.indptr, "shape": np.array(x.shape)}
    return {"rows": features}


def _single(rows: Any) -> Any:
    """Return a matrix in single precision if that loses nothing, as for embeddings: half the space."""
    if not isinstance(rows, np.ndarray):
        return rows
    with np.errstate(over="ignore"):
        single = rows.astype(np.float32)
    return single if np.array_equal(single, rows) else rows


def unpack(arrays: Mapping[str, Any]) -> Any:
    """Return the documents that ``_pack`` packed; LookupError or ValueError if they do not fit together."""
    named = dict.fromkeys(name.split(".")[1] for name in arrays if name.startswith("input."))
    if named:
        found = {name: unpack(under(f"input.{name}.", arrays)) for name in named}
        return {name: rows if isinstance(rows, list) else rows.astype(np.float64) for name, rows in found.items()}
    if "texts" in arrays:
        return list(arrays["texts"])
    if "rows" in arrays:
        return _of_kind(arrays["rows"], "f", 2)
    parts = (_of_kind(arrays["data"], "f", 1), *(_of_kind(arrays[name], "iu", 1) for name in ("indices", "indptr")))
    features = sp.csr_array(parts, shape=tuple(_of_kind(arrays["shape"], "iu", 1).tolist()))
    features.check_format(full_check=True)
    return features


def _of_kind(values: Any, kinds: str, dimensions: int) -> Any:
    """Return an array of a kind, a number of dimensions, and nothing but finite numbers; raise ValueError if not."""
    if values.dtype.kind not in kinds or values.ndim != dimensions or not np.isfinite(values).all():
        raise ValueError(f"{values.dtype} of shape {values.shape}")
    return values


def saved_makers(arrays: Mapping[str, Any]) -> dict[str, InputMaker]:
    """Return the makers that were saved."""
    found = {}
    for name in [key.removeprefix("maker.") for key in arrays if key.startswith("maker.") and key.count(".") == 1]:
        saved = json.loads(arrays[f"maker.{name}"][0])
        found[name] = unpack_maker(saved["kind"], saved["parameters"], under(f"maker.{name}.", arrays))
    return found


def under(prefix: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays whose names start with a prefix, without it."""
    return {name.removeprefix(prefix): arrays[name] for name in arrays if name.startswith(prefix)}
