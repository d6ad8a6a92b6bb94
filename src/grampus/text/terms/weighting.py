"""Term weights: those of TMG and two more, as tables.

A weighting is spelled with three letters: local, global, normalisation. The tables `LOCAL`, `GLOBAL` and
`NORMALISATION` hold the formula and function of every letter; `NAMED` names whole weightings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ...errors import InputError

Floats = NDArray[np.float64]


@dataclass
class Counts:
    """A matrix of counts, and the sums that global weights need."""

    matrix: sp.csr_matrix

    @cached_property
    def n(self) -> int:
        """Number of documents."""
        return int(self.matrix.shape[0])

    @property
    def width(self) -> int:
        """Number of terms."""
        return int(self.matrix.shape[1])

    @cached_property
    def frequency(self) -> Floats:
        """Documents each term is in: Σ_j χ_ij."""
        return np.bincount(self.matrix.indices, minlength=self.matrix.shape[1]).astype(np.float64)

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.intp], Floats, Floats]:
        """Terms and counts, sorted by count, so that sums do not depend on the order of rows.

        Most counts are 1; of whole numbers these are only counted, which is the third result.
        """
        counts, terms = self.matrix.data, self.matrix.indices
        small = counts.dtype.kind in "iu" and counts.max(initial=0) < 1 << 16
        if small:
            more = np.flatnonzero(counts > 1)
            counts, terms = counts[more].astype(np.uint16), terms[more]
        order = np.argsort(counts, kind="stable")  # of 16 bits: a radix sort
        once = self.frequency - np.bincount(terms, minlength=self.width)
        return terms[order], counts[order].astype(np.float64), once

    def sum(self, function: Callable[[Floats], Floats] = np.positive) -> Floats:
        """Sum a function of the counts over each term; of 1 it is a whole number."""
        term, count, once = self._sorted
        values = np.concatenate([once * function(np.ones(1)), function(count)])
        return np.bincount(np.concatenate([np.arange(self.width), term]), weights=values).astype(np.float64)


def _of_largest(f: Floats, matrix: sp.csr_matrix) -> Floats:
    """Divide counts by the largest count of their document."""
    lengths = np.diff(matrix.indptr)
    if not len(f):
        return f
    starts = matrix.indptr[:-1][lengths > 0]
    return np.asarray(f / np.repeat(np.maximum.reduceat(f, starts), lengths[lengths > 0]))


def _entropy(c: Counts) -> Floats:
    """1 + Σ_j p log₂ p / log₂ n, written as 1 + (Σ f log₂ f / F − log₂ F) / log₂ n, F the term's total."""
    total = c.sum()
    seen = np.where(total > 0, total, 1.0)
    if c.n == 1:
        return np.ones_like(total)
    spread = c.sum(lambda f: f * np.log2(f)) / seen - np.log2(seen)
    return np.asarray(1.0 + spread / np.log2(c.n))


class Weight(NamedTuple):
    """A row of a table.

    `function` takes, in `LOCAL`, counts f > 0 and their matrix (the weight of 0 is 0); in `GLOBAL`, the fitted counts,
    for one weight per term; in `NORMALISATION`, the weighted matrix.
    """

    meaning: str
    formula: str
    function: Callable[..., Any]


def to_unit_length(W: sp.csr_matrix) -> sp.csr_matrix:
    """Return a sparse matrix whose rows have unit length, in place of the one given; rows of zeros stay.

    The bits are those of ``sklearn.preprocessing.normalize``, which takes a while to import: squares have the precision
    of the values and are added up one by one in double precision.
    """
    squares = sp.csr_matrix(((W.data * W.data).astype(np.float64), W.indices, W.indptr), shape=W.shape)
    lengths = np.sqrt(squares @ np.ones(W.shape[1]))
    W.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(W.indptr))
    return W


LOCAL: dict[str, Weight] = {
    "t": Weight("term frequency", "f", lambda f, _: f),
    "b": Weight("binary", "χ", lambda f, _: np.ones_like(f)),
    "l": Weight("logarithmic", "log₂(1 + f)", lambda f, _: np.log2(1.0 + f)),
    "a": Weight("alternate logarithmic", "χ·(1 + log₂ f)", lambda f, _: 1.0 + np.log2(f)),
    "n": Weight("augmented", "(χ + f / max_i f_ij) / 2", lambda f, X: (1.0 + _of_largest(f, X)) / 2.0),
    "d": Weight("dominance", "χ·(1 + ln f)", lambda f, _: 1.0 + np.log(f)),
}

GLOBAL: dict[str, Weight] = {
    "x": Weight("none", "1", lambda c: np.ones(c.width)),
    "e": Weight("entropy", "1 + Σ_j p_ij log₂ p_ij / log₂ n", _entropy),
    "f": Weight("inverse document frequency", "log₂(n / Σ_j χ_ij)", lambda c: np.log2(c.n / c.frequency)),
    "g": Weight("gfidf", "Σ_j f_ij / Σ_j χ_ij", lambda c: c.sum() / c.frequency),
    "n": Weight("normal", "1 / √(Σ_j f_ij²)", lambda c: 1.0 / np.sqrt(c.sum(np.square))),
    "p": Weight(
        "probabilistic inverse", "log₂((n − Σ_j χ_ij) / Σ_j χ_ij)", lambda c: np.log2((c.n - c.frequency) / c.frequency)
    ),
    "d": Weight("dominance", "1 + ln(n / Σ_j χ_ij)", lambda c: 1.0 + np.log(c.n / c.frequency)),
    "s": Weight(
        "scikit-learn's smooth idf",
        "1 + ln((1 + n) / (1 + Σ_j χ_ij))",
        lambda c: 1.0 + np.log((1.0 + c.n) / (1.0 + c.frequency)),
    ),
}

NORMALISATION: dict[str, Weight] = {
    "x": Weight("none", "1", lambda W: W),
    "c": Weight("unit Euclidean length", "1 / √(Σ_i w_ij²)", to_unit_length),
}

NAMED: dict[str, str] = {"dominance": "ddx", "tfidf": "tsc"}


def _letters(spelling: object) -> tuple[Weight, Weight, Weight]:
    """Look up a weighting in the tables."""
    code = NAMED.get(spelling, spelling) if isinstance(spelling, str) else ""
    if len(code) == 3 and code[0] in LOCAL and code[1] in GLOBAL and code[2] in NORMALISATION:
        return LOCAL[code[0]], GLOBAL[code[1]], NORMALISATION[code[2]]
    raise InputError(
        f"weighting must be three letters, a local one of {' '.join(LOCAL)}, a global one of "
        f"{' '.join(GLOBAL)} and a normalisation of {' '.join(NORMALISATION)} (such as 'lfc'), or "
        f"{' or '.join(NAMED)}; got {spelling!r}."
    )


@dataclass(eq=False, repr=False)
class Weighting(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Weight a matrix of counts, documents × terms.

    With f the count of term i in document j, χ its indicator, p\ :sub:`ij` = f\ :sub:`ij` / Σ\ :sub:`j`
    f\ :sub:`ij` and n the number of fitted documents, a weighting is a local weight times a global one,
    then a normalisation:

    ===== =================== ====== ========================== ==== =====================
    local weight              global weight                     norm weight
    ===== =================== ====== ========================== ==== =====================
    t     f                   x      1                          x    1
    b     χ                   e      1 + Σ p log₂ p / log₂ n    c    unit Euclidean length
    l     log₂(1 + f)         f      log₂(n / Σχ)
    a     χ·(1 + log₂ f)      g      Σf / Σχ
    n     (χ + f / max f) / 2 n      1 / √(Σf²)
    d     χ·(1 + ln f)        p      log₂((n − Σχ) / Σχ)
    ..                        d      1 + ln(n / Σχ)
    ..                        s      1 + ln((1 + n) / (1 + Σχ))
    ===== =================== ====== ========================== ==== =====================

    Global weights are learned by `fit` and applied to new documents by `transform`. They do not depend on the order of
    the documents, bit for bit.

    Parameters
    ----------
    weighting : str, default="lfc"
        Three letters of the table, ``"dominance"`` for ``"ddx"``, or ``"tfidf"`` for ``"tsc"``, scikit-learn's default.
    dtype : {float32, float64} or None, default=None
        Of the weights. None is that of the counts if they are floats, else float64. Weights are computed in float64 in
        any case.

    Attributes
    ----------
    global_weights_ : ndarray of shape (n_terms,)
    document_frequency_ : ndarray of shape (n_terms,)
        Number of fitted documents that contain each term.
    n_documents_ : int
        Number of fitted documents.

    Notes
    -----
    A global weight that is not finite becomes 0: a term of every document under p, a term of no fitted
    document under f, g, n, p and d. The entropy weight of a single document is 1. Under p a term in more than
    half of the documents has a negative weight, as its formula says. An empty document stays a row of zeros.
    Entries that become 0 are not stored.

    References
    ----------
    D. Zeimpekis and E. Gallopoulos, TMG: a MATLAB toolbox for generating term-document matrices, 2006;
    T. G. Kolda, Limited-memory matrix methods with applications, 1997; M. W. Berry and M. Browne,
    Understanding search engines, 1999. The letters d: D. Greene and P. Cunningham, Practical solutions to the
    problem of diagonal dominance in kernel document clustering, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.text import Weighting
    >>> counts = np.array([[3, 1, 0], [0, 1, 0], [1, 1, 0], [0, 1, 1]])
    >>> Weighting("lfx").fit_transform(counts).toarray().tolist()
    [[2.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]]
    >>> Weighting("lfc").fit(counts).transform([[0, 2, 5]]).toarray().tolist()
    [[0.0, 0.0, 1.0]]
    """

    weighting: str = "lfc"
    dtype: Any = field(default=None, kw_only=True)

    def fit(self, X: Any, y: object = None) -> Weighting:
        """Learn the global weights.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_documents, n_terms)
            Counts: finite and not negative.
        y : ignored

        Returns
        -------
        Weighting
        """
        self.check_parameters()
        self.learn(Counts(self._check(X, reset=True)))
        return self

    def fit_transform(self, X: Any, y: object = None) -> sp.csr_matrix:
        """Learn the global weights and weight the same counts.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_documents, n_terms)
        y : ignored

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_documents, n_terms)
        """
        self.check_parameters()
        counts = self._check(X, reset=True)
        self.learn(Counts(counts))
        return self._weigh(counts)

    def transform(self, X: Any) -> sp.csr_matrix:
        """Weight counts with the learned global weights.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_documents, n_terms)

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_documents, n_terms)
        """
        check_is_fitted(self, "global_weights_")
        return self._weigh(self._check(X, reset=False))

    def check_parameters(self) -> None:
        """Raise an `InputError` if a parameter breaks its rule, without data."""
        _letters(self.weighting)
        _float_type(self.dtype, np.dtype(np.float64))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check(self, X: Any, *, reset: bool) -> sp.csr_matrix:
        """Return the counts as CSR without stored zeros; the caller's matrix is never changed."""
        checked = validate_data(self, X, reset=reset, accept_sparse="csr", accept_large_sparse=True)
        counts = sp.csr_matrix(checked)
        if not counts.has_canonical_format or not counts.data.all():
            if counts.dtype.kind in "biu":
                counts = counts.astype(np.int64)  # sums of small integers would wrap around
            elif counts is X or sp.issparse(checked):
                counts = counts.copy()
            counts.sum_duplicates()
            counts.eliminate_zeros()
        if counts.nnz and counts.data.min() < 0:
            rule = "counts must be 0 or more"
            raise InputError(f"Negative values in data passed to Weighting: {rule}; got {counts.data.min():g}.")
        return counts

    def learn(self, counts: Counts) -> None:
        """Learn the global weights from counts."""
        _, weight, _ = _letters(self.weighting)
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = np.asarray(weight.function(counts), dtype=np.float64)
        self.global_weights_ = np.where(np.isfinite(weights), weights, 0.0)
        self.document_frequency_ = counts.frequency.astype(np.int64)
        self.n_documents_ = counts.n

    def _weigh(self, counts: sp.csr_matrix) -> sp.csr_matrix:
        local, _, normalisation = _letters(self.weighting)
        weights = local.function(counts.data.astype(np.float64), counts)
        weights = weights * self.global_weights_[counts.indices]
        weights = weights.astype(_float_type(self.dtype, counts.dtype), copy=False)
        weighted = sp.csr_matrix((weights, counts.indices.copy(), counts.indptr.copy()), shape=counts.shape)
        weighted.eliminate_zeros()
        return normalisation.function(weighted)


def _float_type(dtype: Any, given: np.dtype[Any]) -> np.dtype[Any]:
    if dtype is None:
        return given if given in (np.float32, np.float64) else np.dtype(np.float64)
    try:
        wanted: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        wanted = np.dtype(object)
    if wanted not in (np.float32, np.float64):
        raise InputError(f"dtype must be float32, float64 or None; got {dtype!r}.")
    return wanted
