"""Texts to weighted terms in one step."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..corpus import Corpus
from .prepare import Prepared
from .terms import Terms
from .weighting import Weighting


@dataclass(eq=False, repr=False)
class TermVectorizer(Terms):
    r"""Turn texts into a sparse matrix of weighted terms: `Terms`, then `Weighting`.

    Weights are stored as float32 by default and computed in float64. New documents are weighted with the global
    weights of the fitted ones.

    Parameters
    ----------
    weighting : str, default="lfc"
        See `Weighting`.
    tokenizer, stop_words, stemmer, numbers, clean, ngram_range, min_df, max_df, max_features
        See `Terms`.
    dtype : {float32, float64}, default=numpy.float32
        Of the weights.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        Term to column.
    n_documents_ : int
        Number of fitted documents.
    weighting_ : Weighting
        With the global weights.

    Examples
    --------
    >>> from grampus.text import TermVectorizer
    >>> vectorizer = TermVectorizer("txx", min_df=2)
    >>> vectorizer.fit_transform(["whale song", "whales, whales", "a bird's song"]).toarray().tolist()
    [[1.0, 1.0], [0.0, 2.0], [1.0, 0.0]]
    >>> vectorizer.get_feature_names_out().tolist()
    ['song', 'whale']
    """

    weighting: str = "lfc"
    dtype: Any = field(default=np.float32, kw_only=True)

    def check_parameters(self) -> None:
        """Raise an `InputError` if a parameter breaks its rule, without a text."""
        super().check_parameters()
        Weighting(self.weighting, dtype=self.dtype).check_parameters()

    def fit_transform(self, raw_documents: Iterable[str] | Corpus | Prepared, y: object = None) -> sp.csr_matrix:
        """Learn the terms and weights of a collection and return its weighted matrix.

        Parameters
        ----------
        raw_documents : iterable of str, Corpus or Prepared
        y : ignored

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_documents, n_terms)
        """
        weighting = Weighting(self.weighting, dtype=self.dtype)
        weighted = weighting.fit_transform(self._learn_counts(raw_documents))
        self.weighting_ = weighting
        return weighted

    def transform(self, raw_documents: Iterable[str] | Corpus | Prepared) -> sp.csr_matrix:
        """Return the weighted matrix of texts in the learned terms.

        Parameters
        ----------
        raw_documents : iterable of str, Corpus or Prepared

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_documents, n_terms)
            Without rows if there are no texts.
        """
        counts = self._counts(raw_documents)
        if counts.shape[0] == 0:  # refused by Weighting, which follows scikit-learn's convention for matrices
            return counts.astype(self.dtype)
        return self.weighting_.transform(counts)
