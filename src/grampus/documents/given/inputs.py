"""Convert input of any kind to distinct documents in canonical order."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ..._array import Array, is_sparse, take_rows
from ..._check import check_matrix, check_vectors
from ...errors import InputError
from ...gram import Collection, Gram
from ...kernels import Kernel
from ...kernels.base import DEFAULT_INPUTS
from ...text import Corpus, TermVectorizer, Texts
from ...text.inputs import InputMaker
from ...text.languages.table import find_language
from ...text.terms.prepare import Prepared
from ...text.terms.stopwords import AUTO


@dataclass(frozen=True)
class Inputs:
    """n documents, m of them distinct.

    Attributes
    ----------
    corpus : Corpus
        Ids and other data; texts are "" if the documents are not texts.
    has_texts : bool
    features : sparse or dense array of shape (m, …), list of m strings, or dict of these by input
        The distinct documents in the form the kernel takes, in canonical order. Documents are copies of each other if
        they are equal in every input that the kernel reads.
    group : array of shape (n,)
        Index of each document among the distinct ones.
    first : array of shape (m,)
        The first document with each distinct content.
    weights : array of shape (m,)
        Number of copies; 0 where there is nothing to compare, see ``Kernel.empty``.
    vectorizer : TermVectorizer or None
        Makes the features from texts.
    words : TermVectorizer or None
        Makes the terms that describe the clusters.
    described : sparse array of shape (m, terms) or None
        Weighted terms of the distinct documents, for describing clusters.
    names : list of str or None
        The terms.
    collection : Collection
        The names of the distinct documents by their content.
    makers : dict of str to InputMaker
        Fitted makers of inputs that are made from texts.
    prepared : Prepared or None
        The texts as they are counted: cleaned, each with its language.
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
    makers: Mapping[str, InputMaker] = field(default_factory=dict)
    prepared: Prepared | None = None

    def gram(self, kernel: Kernel) -> Gram:
        """Return the Gram of the distinct documents; raise where every similarity is 0."""
        gram = kernel.gram(self.features, self.collection)
        if kernel.reads_only_texts and not gram.split_shift()[0].diagonal().any():
            raise InputError(
                f"kernel '{kernel}' must find something in at least one document; every similarity is 0. Use shorter "
                "substrings."
            )
        return gram

    @property
    def n(self) -> int:
        """Number of documents, with copies."""
        return len(self.group)

    def empty(self, missing: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        """Return which distinct documents have nothing to compare, or no text in the rows that were given."""
        found = self.weights == 0
        if missing is not None:  # under a string kernel, a text without a character is one like any other
            found[self.group[missing]] = True
        return found if not found.all() else np.zeros(len(found), dtype=bool)

    @property
    def holds_terms(self) -> bool:
        """Whether the features are terms: those of texts, or the columns of a sparse matrix."""
        return self.vectorizer is not None or is_sparse(self.main)

    @property
    def main(self) -> Any:
        """The features of the input that the kernel is made for, or else of the first it reads."""
        if not isinstance(self.features, dict):
            return self.features
        return self.features.get("terms", next(iter(self.features.values())))

    def languages(self) -> dict[str, int]:
        """Return how many documents are in each language; nothing if that was not looked for."""
        return {} if self.prepared is None else self.prepared.counts()

    def notes(self) -> list[str]:
        """Return what was noted when the documents were read and prepared."""
        return [*self.corpus.notes, *([] if self.prepared is None else self.prepared.notes())]


@dataclass(frozen=True)
class CountedWords:
    """The weighted terms of n texts.

    Attributes
    ----------
    words : TermVectorizer
        Fitted.
    prepared : Prepared
        The texts as they were counted.
    described : sparse array of shape (n, terms)
    """

    words: TermVectorizer
    prepared: Prepared
    described: Any

    @property
    def languages(self) -> dict[str, int]:
        """How many documents are in each language, as was found or said; nothing if that is not known."""
        found = self.prepared.counts()
        if not found and isinstance(self.words.stemmer, str):
            with suppress(InputError):
                return {find_language(self.words.stemmer).code: self.described.shape[0]}
        return found


def count_words(corpus: Corpus, terms: TermVectorizer | None) -> CountedWords:
    """Count and weight the terms of texts; `terms` is how, or None for the default."""
    words = default_terms(len(corpus)) if terms is None else clone(terms)
    prepared = words.prepare(corpus)
    return CountedWords(words, prepared, _weighted(words, prepared, free=terms is None))


def collect(
    X: Any,
    kernel: Kernel,
    terms: TermVectorizer | None,
    corpus: Corpus | None = None,
    makers: Mapping[str, InputMaker] | None = None,
    counted: CountedWords | None = None,
) -> Inputs:
    """Check the input and convert it to the form that the kernel takes.

    Parameters
    ----------
    X : Corpus, sequence of str, or array or sparse array of shape (n, m)
    kernel : Kernel
    terms : TermVectorizer or None
        How texts become weighted terms; if None, the default for their number.
    corpus : Corpus, optional
        Texts, ids and titles of the rows of a matrix.
    makers : dict of str to InputMaker, optional
        Make inputs from the texts, where the kernel reads them and the corpus does not have them.
    counted : CountedWords, optional
        The terms of the texts, where they were counted before.
    """
    texts = as_corpus(X)
    corpus, has_texts, X = _documents(X, texts, kernel, corpus)
    words, described, prepared = None, None, None
    if has_texts and (kernel.parts or not kernel.reads_only_texts):  # else substrings describe the clusters
        counted = count_words(corpus, terms) if counted is None else counted
        words, described, prepared = counted.words, counted.described, counted.prepared
    reads = {name: maker for name, maker in (makers or {}).items() if name in {*kernel.inputs} - {*corpus.inputs}}
    made = {name: maker.fit_transform(corpus) for name, maker in reads.items()}
    given = {"terms": X if texts is None else described, "gram": X, **corpus.inputs, **made}
    if has_texts:
        given["text"] = list(corpus.texts) if "text" in kernel.inputs else corpus.texts
    features = _read(given, kernel)
    own = words if texts is not None and "terms" in kernel.inputs else None
    noted = _remarked(corpus, features, kernel, own)
    return replace(distinct(noted, has_texts, features, kernel, own, words, described, reads), prepared=prepared)


def _weighted(words: TermVectorizer, prepared: Prepared, free: bool) -> Any:
    """Count and weight terms; where documents share none and nobody asked for less, terms of one document count too."""
    try:
        return words.fit_transform(prepared)
    except InputError:
        if not free or words.min_df == 1:
            raise
        return words.set_params(min_df=1).fit_transform(prepared)


def _documents(X: Any, texts: Corpus | None, kernel: Kernel, corpus: Corpus | None) -> tuple[Corpus, bool, Any]:
    """Check what was given against what the kernel reads; return the corpus, whether it has texts, and the matrix."""
    if texts is not None:
        if corpus is not None:
            raise InputError("corpus describes the rows of a matrix; X contains texts already.")
        if "gram" in kernel.inputs:
            advice = "Name a kernel such as 'cosine|shift'"
            raise InputError(f"kernel 'precomputed' takes a Gram matrix; got texts. {advice}.")
        corpus, has_texts = texts, True
    elif kernel.reads_only_texts or ("text" in kernel.inputs and corpus is None):
        raise InputError(f"kernel '{kernel}' takes texts; got {type(X).__name__}.")
    else:
        if "gram" in kernel.inputs and not kernel.is_precomputed:
            raise InputError(f"kernel '{kernel}' combines a Gram matrix with other inputs; make its Gram by hand.")
        X = check_matrix(X) if kernel.is_precomputed else check_vectors(X)
        has_texts = corpus is not None
        corpus = Corpus([""] * X.shape[0]) if corpus is None else corpus
        if len(corpus) != X.shape[0]:
            raise InputError(f"corpus must have a document for each of the {X.shape[0]} rows of X; got {len(corpus)}.")
    if len(corpus) == 0:
        raise InputError("There must be at least one document; got none.")
    return corpus, has_texts, X


def _read(given: Mapping[str, Any], kernel: Kernel) -> Any:
    """Return the inputs that a kernel reads: one collection, or a dict where it names them."""
    for name in kernel.inputs:
        if name not in given:
            held = [repr(other) for other in given if other not in DEFAULT_INPUTS.values()]
            raise InputError(
                f"kernel '{kernel}' reads the input {name!r}; the corpus has {' and '.join(held) or 'no such inputs'}. "
                f"Add it with corpus.with_input({name!r}, rows)."
            )
    if not kernel.reads_names:
        return _checked(given[kernel.inputs[0]])
    exact = ((name, _checked(given[name])) for name in kernel.inputs)
    return {name: rows if isinstance(rows, list) else rows.astype(np.float64, copy=False) for name, rows in exact}


def _checked(rows: Any) -> Any:
    return rows if isinstance(rows, list | np.ndarray) else check_matrix(rows)


def _remarked(corpus: Corpus, features: Any, kernel: Kernel, own: TermVectorizer | None) -> Corpus:
    """Return the corpus with notes on counts without weights, and on inputs that the kernel does not read."""
    notes = []
    rows = features["terms"] if isinstance(features, dict) and "terms" in features else features
    if own is None and "terms" in kernel.inputs and holds_counts(rows):
        notes.append(
            "X holds whole numbers, such as counts of terms, without weights. Weighted counts usually make better "
            "clusters: grampus.text.Weighting('lec').fit_transform(X)."
        )
    unread = [name for name in corpus.inputs if name not in kernel.inputs]
    if unread:
        names = " and ".join(map(repr, unread))
        notes.append(f"The kernel '{kernel}' does not read {names}; name an input as in 'cosine@{unread[0]}'.")
    return replace(corpus, notes=(*corpus.notes, *notes)) if notes else corpus


def read_for(inputs: Inputs) -> NDArray[np.intp]:
    """Return the document to read for each distinct one: of several with the same terms, the alphabetically first."""
    shown, texts = inputs.first.copy(), inputs.corpus.texts
    for at in np.flatnonzero(np.bincount(inputs.group)[inputs.group] > 1).tolist():
        own = inputs.group[at]
        if texts[at] < texts[int(shown[own])]:
            shown[own] = at
    return shown


def empty_notes(inputs: Inputs, missing: NDArray[np.bool_] | None) -> Iterator[str]:
    """Yield notes on documents with nothing to compare: rows without a text, and others."""
    blank = 0 if missing is None else int(missing.sum())
    if blank:
        yield f"{blank:,} {'row has' if blank == 1 else 'rows have'} no text: in no cluster (label −1)."
    empty = inputs.empty(missing)[inputs.group]
    count = int(empty.sum() if missing is None else (empty & ~missing).sum())
    if count:
        one = count == 1
        verb = ("has" if one else "have") if inputs.holds_terms else "holds" if one else "hold"
        what = "no usable word" if inputs.holds_terms else "nothing but zeros"
        yield f"{count:,} document{'' if one else 's'} {verb} {what}: in no cluster (label −1)."


def holds_counts(rows: Any) -> bool:
    """Return whether a matrix looks like counts of terms: whole numbers, most of them 0, some above 1.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.documents.given.inputs import holds_counts
    >>> holds_counts(np.array([[2.0, 0, 0], [0, 1.0, 0]])), holds_counts(np.array([[0.5, 0, 0], [0, 1.0, 0]]))
    (True, False)
    """
    values = rows.data if is_sparse(rows) else rows[rows != 0]
    if not values.size or 2 * values.size > rows.shape[0] * rows.shape[1]:
        return False
    return bool(values.min() >= 0 and values.max() > 1 and not np.mod(values, 1).any())


def distinct(
    corpus: Corpus,
    has_texts: bool,
    features: Any,
    kernel: Kernel,
    own: TermVectorizer | None,
    words: Any,
    described: Any,
    makers: Mapping[str, InputMaker],
) -> Inputs:
    """Return the distinct documents in canonical order, with their copies as weights."""
    whole = Collection.unknown(len(corpus)) if kernel.is_precomputed else name_documents(features)
    group, first = whole.group, whole.first
    one = is_sparse(features) and is_sparse(described) and np.may_share_memory(features.data, described.data)
    if not kernel.is_precomputed:  # rows of a Gram matrix have no content of their own
        features = take_rows(features, first)
    weights = np.bincount(group, minlength=len(first)).astype(np.float64)
    empty = kernel.empty(features, from_texts=own is not None)
    if not empty.all():  # if all are empty, they are all equal
        weights[empty] = 0.0
    collection = whole.take(first)
    found = Inputs(corpus, has_texts, features, group, first, weights, own, words, None, None, collection, makers)
    if described is not None:
        described = features if one else check_matrix(described)[first]
        return replace(found, described=described, names=words.get_feature_names_out().tolist())
    if not kernel.is_precomputed and is_sparse(found.main):
        return replace(found, described=found.main, names=[f"#{column}" for column in range(found.main.shape[1])])
    return found


def name_documents(features: Any) -> Collection:
    """Name documents by the content of every input."""
    if isinstance(features, dict):
        return Collection.join([Collection.of(rows) for rows in features.values()])
    return Collection.of(features)


def as_corpus(X: Any) -> Corpus | None:
    """Return texts as a Corpus; None if X is to be read as a matrix."""
    if isinstance(X, Corpus):
        return X
    if isinstance(X, str | bytes):
        advice = "Use read_corpus to read a file"
        raise InputError(f"X must be a sequence of texts or a matrix; got a single string. {advice}.")
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

    Texts are cleaned; each document has the stop words and the stemmer of its language. Numbers are no terms: years,
    amounts and lists of 1, 2, 3 make documents alike that are about different things. Terms in fewer than 3 documents
    are left out (2 below 200 documents, 1 below 100). Weights are float64, so that rounding never decides the last move
    of a document.

    Parameters
    ----------
    n : int
        Number of texts.
    """
    least = min(3, 1 + n // 100)
    return TermVectorizer(
        WEIGHTING, stop_words=AUTO, stemmer=AUTO, numbers=False, clean=True, min_df=least, dtype=np.float64
    )


WEIGHTING = "lec"
