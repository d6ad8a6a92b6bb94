"""Text to weighted terms in one step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from grampus.text._count import WORDS
from grampus.text.corpus import Corpus
from grampus.text.stopwords import StopList
from grampus.text.tokens import Terms
from grampus.text.weighting import Weighting

__all__ = ["TermVectorizer"]


class TermVectorizer(TransformerMixin, BaseEstimator):
    r"""Turn texts into a sparse matrix of weighted terms: `Terms`, then `Weighting`.

    Storage is float32 unless asked otherwise; sums are float64. New documents are weighted with the global
    weights of the fitted ones.

    Parameters
    ----------
    weighting : str, default="lfc"
        See `Weighting`.
    tokenizer, lowercase, stop_words, stemmer, ngram_range, min_df, max_df
        See `Terms`.
    min_length, max_length, max_features
        See `Terms`.
    dtype : {float32, float64}, default=numpy.float32
        Of the weights.

    Attributes
    ----------
    terms_ : Terms
    weighting_ : Weighting
    vocabulary_ : dict of str to int
        Term to column.

    Examples
    --------
    >>> from grampus.text import TermVectorizer
    >>> vectorizer = TermVectorizer("txx", min_df=2)
    >>> vectorizer.fit_transform(["whale song", "whales, whales", "a bird's song"]).toarray().tolist()
    [[1.0, 1.0], [0.0, 2.0], [1.0, 0.0]]
    >>> vectorizer.get_feature_names_out().tolist()
    ['song', 'whale']
    """

    def __init__(
        self,
        weighting: str = "lfc",
        *,
        tokenizer: str | Callable[[str], Iterable[str]] = WORDS,
        lowercase: bool = True,
        stop_words: StopList = "smart",
        stemmer: str | None = "english",
        ngram_range: tuple[int, int] = (1, 1),
        min_df: float = 1,
        max_df: float = 1.0,
        min_length: int = 1,
        max_length: int | None = None,
        max_features: int | None = None,
        dtype: Any = np.float32,
    ) -> None:
        self.weighting = weighting
        self.tokenizer = tokenizer
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.stemmer = stemmer
        self.ngram_range = ngram_range
        self.min_df = min_df
        self.max_df = max_df
        self.min_length = min_length
        self.max_length = max_length
        self.max_features = max_features
        self.dtype = dtype

    def fit(self, raw_documents: Iterable[str] | Corpus, y: object = None) -> TermVectorizer:
        """Learn the terms and the global weights of a collection.

        Parameters
        ----------
        raw_documents : iterable of str or Corpus
        y : ignored

        Returns
        -------
        TermVectorizer
        """
        self.fit_transform(raw_documents)
        return self

    def fit_transform(self, raw_documents: Iterable[str] | Corpus, y: object = None) -> sp.csr_matrix:
        """Learn the terms and weights of a collection and return its weighted matrix.

        Parameters
        ----------
        raw_documents : iterable of str or Corpus
        y : ignored

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_documents, n_terms)
        """
        parameters = self.get_params(deep=False)
        weighting = Weighting(parameters.pop("weighting"), dtype=parameters.pop("dtype"))
        weighting.check_parameters()  # before the long part
        terms = Terms(**parameters)
        weighted = weighting.fit_transform(terms.fit_transform(raw_documents))
        self.terms_, self.weighting_ = terms, weighting
        return weighted

    def transform(self, raw_documents: Iterable[str] | Corpus) -> sp.csr_matrix:
        """Weight the learned terms in texts.

        Parameters
        ----------
        raw_documents : iterable of str or Corpus

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_documents, n_terms)
            Without rows if there are no texts.
        """
        check_is_fitted(self, "terms_")
        counts = self.terms_.transform(raw_documents)
        if counts.shape[0] == 0:  # which scikit-learn's convention for matrices, that Weighting keeps to, refuses
            return counts.astype(self.dtype)
        return self.weighting_.transform(counts)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the terms in the order of the columns.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str objects
        """
        check_is_fitted(self, "terms_")
        return self.terms_.get_feature_names_out()

    @property
    def vocabulary_(self) -> dict[str, int]:
        """Return the column of each term."""
        check_is_fitted(self, "terms_")
        return self.terms_.vocabulary_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags
