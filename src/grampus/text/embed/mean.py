"""Documents as the mean vector of their words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..._array import unit_rows
from ..._check import check_integer
from ..._parallel import blas_threads
from ...errors import InputError
from ...gram import Collection
from ..corpus import Corpus
from ..inputs import register_maker
from ..store import Texts
from ..terms.count import WORDS, Units
from ..terms.persist import plain_parameters
from ..terms.stopwords import StopList
from ..terms.terms import Terms, Tokenizer
from ..terms.vectorizer import TermVectorizer
from .word_vectors import look_up_vectors

Floats = NDArray[np.float64]
_COLUMNS = 64  # dimensions that are averaged at a time, in float64
_PIECE = 4096  # rows
_LEAST = 1e-9  # length of a row that is left when the first component is removed; below it is rounding


@dataclass(frozen=True)
class Coverage:
    """How much of a collection has vectors.

    Attributes
    ----------
    words, known_words : int
        Different words, stop words left out.
    occurrences, known_occurrences : int
        Of these words in the texts.
    documents, unknown_documents : int
        Documents, and those without a single known word.

    Examples
    --------
    >>> from grampus.text.embed.mean import Coverage
    >>> Coverage(4, 3, 100, 75, 10, 1).missing
    0.25
    """

    words: int
    known_words: int
    occurrences: int
    known_occurrences: int
    documents: int
    unknown_documents: int

    @property
    def missing(self) -> float:
        """Share of the occurrences of words that have no vector."""
        return 1 - self.known_occurrences / max(self.occurrences, 1)

    def note(self, name: str, sha256: str) -> str:
        """Return what a reader of the result should know, in one sentence."""
        share = 1 - self.known_words / max(self.words, 1)
        none = f"; {self.unknown_documents} of {self.documents} documents have none" if self.unknown_documents else ""
        return (
            f"Vectors '{name}' (SHA-256 {sha256[:12]}…): {self.missing:.1%} of the words of the texts ({share:.1%} of "
            f"the different ones) have no vector{none}."
        )


@register_maker
@dataclass(eq=False, repr=False)
class MeanVectors(TransformerMixin, BaseEstimator):
    r"""Turn texts into the mean vectors of their words, n × d.

    Every word counts as it stands in the text, unstemmed, weighted by log₂(1 + f) · (1 + ln((1 + n) / (1 + df))). The
    rows are scaled to unit length, their first principal component is removed, as in smooth inverse frequency (Arora,
    Liang & Ma 2017), and they are scaled again. A document without any known word is a row of zeros. New documents use
    the words of the fitted ones, so that a saved model needs no file of vectors.

    Parameters
    ----------
    vectors : path
        A text file with a word and its numbers in every line, as GloVe, word2vec and fastText (``.vec``) have them.
    tokenizer, stop_words
        See `Terms`.
    remove : int, default=1
        How many leading components to remove.

    Attributes
    ----------
    coverage_ : Coverage
        How many words and documents have vectors.
    name_, sha256_ : str
        The set that was used.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from grampus.text import MeanVectors
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "tiny.txt").write_text("whale 1 0\nwhales 1 0.1\nbird 0 1\n")
    ...     vectors = MeanVectors(f"{folder}/tiny.txt", remove=0)
    ...     rows = vectors.fit_transform(["a whale", "the whales", "a bird", "xyz"])
    >>> rows.round(2).tolist()
    [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.0, 0.0]]
    >>> vectors.coverage_.unknown_documents
    1
    """

    kind: ClassVar[str] = "vectors"
    word_weight: ClassVar[float] = 0.7  # of terms in the default kernel: means of word vectors blur topics of one field

    vectors: str | PathLike[str]
    _: KW_ONLY
    tokenizer: str | Callable[[str], Iterable[str]] | Tokenizer = WORDS
    stop_words: StopList = "smart"
    remove: int = 1

    def fit(self, raw_documents: Iterable[str] | Corpus, y: object = None) -> Self:
        """Learn the words of a collection and their vectors.

        Parameters
        ----------
        raw_documents : iterable of str or Corpus
        y : ignored
        """
        self.fit_transform(raw_documents)
        return self

    def fit_transform(self, raw_documents: Iterable[str] | Corpus, y: object = None) -> Floats:
        """Learn the words of a collection and return its mean vectors.

        Parameters
        ----------
        raw_documents : iterable of str or Corpus
        y : ignored

        Returns
        -------
        float64 array of shape (n, dimensions)
        """
        check_integer(self.remove, "remove", low=0)
        name, terms = Path(self.vectors).name, self._terms()
        counts = terms.fit_transform(raw_documents)
        names = terms.get_feature_names_out()
        found = look_up_vectors(self.vectors, names.tolist())
        known = found.known
        if not known.any():
            none = f"it has none of their {len(names)}"
            raise InputError(f"{name} must know words of the texts; {none}. Are they in its language?")
        n, occurrences = counts.shape[0], int(counts.sum())
        frequency = np.bincount(counts.indices, minlength=len(names))
        counts = sp.csr_matrix(counts[:, np.flatnonzero(known)])
        without = int((np.diff(counts.indptr) == 0).sum())
        self.coverage_ = Coverage(len(names), int(known.sum()), occurrences, int(counts.sum()), n, without)
        self.name_, self.sha256_ = str(self.vectors), found.sha256
        self.words_, self.rows_ = names[known].tolist(), found.rows
        self.weights_ = 1 + np.log((1 + n) / (1 + frequency[known]))
        means = self._means(counts)
        self.components_ = leading(means, self.remove)
        return self._finish(means)

    def transform(self, raw_documents: Iterable[str] | Corpus) -> Floats:
        """Return the mean vectors of texts; words that the fitted texts do not hold are ignored.

        Parameters
        ----------
        raw_documents : iterable of str or Corpus

        Returns
        -------
        float64 array of shape (m, dimensions)
        """
        check_is_fitted(self, "rows_")
        terms = self._terms()
        terms.vocabulary_ = {word: number for number, word in enumerate(self.words_)}
        terms._units, terms._column = Units(False, terms.vocabulary_), np.arange(len(self.words_), dtype=np.int32)
        return self._finish(self._means(terms.transform(raw_documents)))

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the parameters as JSON values, and what was learned as arrays and Texts."""
        words = plain_parameters(TermVectorizer(tokenizer=self.tokenizer, stop_words=self.stop_words, stemmer=None))
        parameters = {"words": words, "remove": self.remove, **self.record()}
        arrays = {"weights": self.weights_, "rows": self.rows_, "components": self.components_}
        return parameters, {"words": Texts(self.words_), **arrays}

    @classmethod
    def unpack(cls, parameters: dict[str, Any], learned: dict[str, Any]) -> MeanVectors:
        """Return the fitted mean vectors of what ``pack`` returned; ValueError if it does not fit together."""
        words = parameters["words"]
        tokens = Tokenizer(words["tokenizer"], words["lowercase"], words["min_length"], words["max_length"])
        made = cls(parameters["name"], tokenizer=tokens, stop_words=words["stop_words"], remove=parameters["remove"])
        made.name_, made.sha256_ = str(parameters["name"]), str(parameters["sha256"])
        made.words_, made.weights_ = list(learned["words"]), np.asarray(learned["weights"], np.float64)
        made.rows_, made.components_ = np.asarray(learned["rows"]), np.asarray(learned["components"], np.float64)
        arrays = (made.rows_, made.weights_, made.components_)
        n, d = made.rows_.shape
        fits = made.weights_.shape == (n,) and len(made.words_) == n and made.components_.shape[1:] == (d,)
        if not fits or made.rows_.dtype.kind != "f" or not all(np.isfinite(array).all() for array in arrays):
            raise ValueError("vectors")
        return made

    def record(self) -> dict[str, Any]:
        """Return which set was used, for the run: its name and digest."""
        return {"name": self.name_, "kind": self.kind, "sha256": self.sha256_}

    def remarks(self) -> list[str]:
        """Return what a reader of the result should know: how many words have no vector."""
        return [self.coverage_.note(self.name_, self.sha256_)]

    def _terms(self) -> Terms:
        return Terms(tokenizer=self.tokenizer, stop_words=self.stop_words, stemmer=None)

    def _means(self, counts: sp.csr_matrix) -> Floats:
        """Return the weighted sums of the words' vectors, of unit length; the length makes them means."""
        weights = sp.csr_matrix((np.log2(1.0 + counts.data), counts.indices, counts.indptr), shape=counts.shape)
        weights = weights.multiply(self.weights_).tocsr()
        rows: Any = self.rows_
        means = np.empty((counts.shape[0], rows.shape[1]))
        for start in range(0, rows.shape[1], _COLUMNS):
            part = slice(start, start + _COLUMNS)
            means[:, part] = weights @ rows[:, part].astype(np.float64)
        return unit_rows(means)

    def _finish(self, means: Floats) -> Floats:
        if not len(self.components_):
            return means
        with blas_threads():
            means = means - (means @ self.components_.T) @ self.components_
        return unit_rows(means, _LEAST)


def leading(rows: Floats, count: int) -> Floats:
    """Return the leading right singular vectors of unit rows, the same for every order of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.text.embed.mean import leading
    >>> abs(leading(np.array([[3.0, 4.0], [3.0, 4.0]]), 1)).round(3).tolist()
    [[0.6, 0.8]]
    """
    width = rows.shape[1]
    products = np.zeros((width, width))
    order = Collection.of(rows).order  # sums in one order are equal to the last bit
    with blas_threads():
        for start in range(0, len(rows), _PIECE):
            part = rows[order[start : start + _PIECE]]
            products += part.T @ part
    return np.ascontiguousarray(np.linalg.eigh(products)[1][:, ::-1][:, :count].T)
