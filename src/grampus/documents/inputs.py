"""Convert input of any kind to distinct documents in canonical order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._array import Array, is_sparse, row_squares, take_rows
from .._check import check_matrix
from ..errors import InputError
from ..gram import Collection
from ..kernels import Kernel, Map, Normalise, Nystrom, Power, Principal
from ..text import Corpus, TermVectorizer, Texts
from ..text.terms.prepare import Prepared
from ..text.terms.stopwords import AUTO


@dataclass(frozen=True)
class Inputs:
    """n documents, m of them distinct.

    Attributes
    ----------
    corpus : Corpus
        Ids and other data; texts are "" if the documents are not texts.
    has_texts : bool
    features : sparse or dense array of shape (m, …), or list of m strings
        The distinct documents in the form the kernel takes, in canonical order.
    group : array of shape (n,)
        Index of each document among the distinct ones.
    first : array of shape (m,)
        The first document with each distinct content.
    weights : array of shape (m,)
        Number of copies; 0 where there is nothing to compare, see ``is_empty``.
    vectorizer : TermVectorizer or None
        Makes the features from texts.
    words : TermVectorizer or None
        Makes the terms that describe the clusters.
    described : sparse array of shape (m, terms) or None
        Weighted terms of the distinct documents, for describing clusters.
    names : list of str or None
        The terms.
    prepared : Prepared or None
        The texts as they are counted: cleaned, each with its language.
    collection : Collection
        The names of the distinct documents by their content.
    """

    corpus: Corpus
    has_texts: bool
    features: Any
    group: NDArray[np.intp]
    first: NDArray[np.intp]
    weights: Array
    vectorizer: TermVectorizer | None
    words: TermVectorizer | None
    described: Any
    names: list[str] | None
    collection: Collection
    prepared: Prepared | None = None

    @property
    def n(self) -> int:
        """Number of documents, with copies."""
        return len(self.group)

    @property
    def empty(self) -> int:
        """Number of documents with nothing to compare."""
        return int(np.isin(self.group, np.flatnonzero(self.weights == 0)).sum())

    @property
    def holds_terms(self) -> bool:
        """Whether the features are terms: those of texts, or the columns of a sparse matrix."""
        return self.vectorizer is not None or is_sparse(self.features)

    def texts(self) -> list[str] | None:
        """Return the distinct documents as the texts that are counted, or None if they are not texts."""
        texts = self.corpus.texts if self.prepared is None else self.prepared.texts
        return [texts[int(i)] for i in self.first] if self.has_texts else None

    def languages(self) -> dict[str, int]:
        """Return how many documents are in each language; nothing if that was not looked for."""
        return {} if self.prepared is None else self.prepared.counts()

    def notes(self) -> list[str]:
        """Return what was noted when the documents were read and prepared."""
        return [*self.corpus.notes, *([] if self.prepared is None else self.prepared.notes())]


def collect(X: Any, kernel: Kernel, terms: TermVectorizer | None, corpus: Corpus | None = None) -> Inputs:
    """Check the input and convert it to the form that the kernel takes.

    Parameters
    ----------
    X : Corpus, sequence of str, or array or sparse array of shape (n, m)
    kernel : Kernel
    terms : TermVectorizer or None
        How texts become weighted terms; if None, the default for their number.
    corpus : Corpus, optional
        Texts, ids and titles of the rows of a matrix.
    """
    takes = kernel.source.takes
    texts = as_corpus(X)
    if texts is not None:
        if corpus is not None:
            raise InputError("corpus describes the rows of a matrix; X contains texts already.")
        if takes == "gram":
            raise InputError(
                "kernel 'precomputed' takes a Gram matrix; got texts. Name a kernel such as 'cosine|shift'."
            )
        corpus, has_texts = texts, True
    elif takes == "strings":
        raise InputError(f"kernel '{kernel}' takes texts; got {type(X).__name__}.")
    else:
        X = check_matrix(X)
        has_texts = corpus is not None
        corpus = Corpus([""] * X.shape[0]) if corpus is None else corpus
        if len(corpus) != X.shape[0]:
            raise InputError(f"corpus must have a document for each of the {X.shape[0]} rows of X; got {len(corpus)}.")
    if len(corpus) == 0:
        raise InputError("There must be at least one document; got none.")
    words, described, prepared = None, None, None
    if has_texts and takes != "strings":
        words = default_terms(len(corpus)) if terms is None else clone(terms)
        prepared = words.prepare(corpus)
        described = words.fit_transform(prepared)
    features = list(corpus.texts) if takes == "strings" else described if texts is not None else X
    if not (takes == "strings" or isinstance(features, np.ndarray)):
        features = check_matrix(features)
    own = words if texts is not None else None
    return replace(_distinct(corpus, has_texts, features, kernel, own, words, described), prepared=prepared)


def _distinct(
    corpus: Corpus,
    has_texts: bool,
    features: Any,
    kernel: Kernel,
    own: TermVectorizer | None,
    words: Any,
    described: Any,
) -> Inputs:
    n, takes = len(corpus), kernel.source.takes
    whole = Collection.unknown(n) if takes == "gram" else Collection.of(features)
    group, first = whole.group, whole.first
    if takes != "gram":  # rows of a Gram matrix have no content of their own
        features = take_rows(features, first)
    weights = np.bincount(group, minlength=len(first)).astype(np.float64)
    empty = is_empty(features, kernel, from_texts=own is not None)
    if not empty.all():  # if all are empty, they are all equal
        weights[empty] = 0.0
    names = None
    if described is not None:
        described, names = check_matrix(described)[first], words.get_feature_names_out().tolist()
    elif takes == "vectors" and is_sparse(features):
        described, names = features, [f"#{column}" for column in range(features.shape[1])]
    return Inputs(corpus, has_texts, features, group, first, weights, own, words, described, names, whole.take(first))


def is_empty(features: Any, kernel: Kernel, *, from_texts: bool) -> NDArray[np.bool_]:
    """Return which documents have nothing to compare: rows of zeros, if zeros mean that.

    They do for terms of texts, and under a kernel that compares directions (``cosine``). Elsewhere, as for embeddings
    under ``gaussian`` or ``linear``, the origin is a point like any other.
    """
    count = features.shape[0] if hasattr(features, "shape") else len(features)
    none = np.zeros(count, dtype=bool)
    if kernel.source.takes != "vectors" or count == 0:
        return none
    zero = row_squares(features) == 0
    return zero if zero.any() and (from_texts or _divides_by_zero(kernel, features[np.flatnonzero(zero)[:1]])) else none


def _divides_by_zero(kernel: Kernel, row: Any) -> bool:
    """Return whether the kernel normalises rows at a point where this row of zeros has K(x, x) = 0."""
    if kernel.source.diagonal(row)[0] != 0:
        return False
    for transform in kernel.transforms:
        if isinstance(transform, Normalise | Map):
            return True
        if not isinstance(transform, Power | Principal | Nystrom):  # which leave 0 unchanged
            return False
    return False


def as_corpus(X: Any) -> Corpus | None:
    """Return texts as a Corpus; None if X is to be read as a matrix."""
    if isinstance(X, Corpus):
        return X
    if isinstance(X, str | bytes):
        raise InputError(
            "X must be a sequence of texts or a matrix; got a single string. Use read_corpus to read a file."
        )
    if isinstance(X, Texts):
        return Corpus(X)
    if is_sparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind not in "OUS") or hasattr(X, "columns"):
        return None
    values = list(X) if isinstance(X, Iterable) else None
    if values is None or (values and not any(isinstance(value, str) for value in values)):
        return None
    return Corpus(values)  # reports the first value that is not a string


def default_terms(n: int) -> TermVectorizer:
    """Return the default vectorizer for n texts, chosen by measurement; see the guide.

    Texts are cleaned; each document has the stop words and the stemmer of its language. Terms in fewer than 3 documents
    are left out (2 below 200 documents, 1 below 100). Weights are float64, so that rounding never decides the last move
    of a document.

    Parameters
    ----------
    n : int
        Number of texts.
    """
    return TermVectorizer(
        WEIGHTING, stop_words=AUTO, stemmer=AUTO, clean=True, min_df=min(3, 1 + n // 100), dtype=np.float64
    )


WEIGHTING = "lec"
