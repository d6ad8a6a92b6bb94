"""Terms: from texts to a matrix of counts."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import Stemmer
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ...errors import InputError
from ..clean import Cleaning, as_cleaning
from ..corpus import Corpus
from ..languages.table import LANGUAGES, find_language, similar_language
from .count import WORDS, Analysis, Units, Written, tokeniser
from .forms import Forms
from .prepare import MAIN, Preparation, Prepared, count_apart, count_prepared, cut_texts, prepare
from .stopwords import AUTO, StopList, stop_words


def stemmers() -> list[str]:
    """Return the names of the stemmers: ``porter``, ``english`` and the other Snowball languages.

    Examples
    --------
    >>> from grampus.text import stemmers
    >>> {"porter", "english", "german"} <= set(stemmers())
    True
    """
    return sorted(Stemmer.algorithms())


@dataclass(frozen=True)
class Tokenizer:
    r"""How a text is split into tokens.

    Parameters
    ----------
    pattern : str or callable, default=r"\b\w\w+\b"
        A regular expression whose matches (or whose one group) are the tokens, or a function from a string to its
        tokens.
    lowercase : bool, default=True
        Whether to convert the text to lower case first.
    min_length, max_length : int, int or None, default=1 and None
        Fewest and most characters of a token, before stemming.

    Examples
    --------
    >>> from grampus.text import Terms, Tokenizer
    >>> long_words = Tokenizer(min_length=5)
    >>> Terms(tokenizer=long_words, stemmer=None).fit(["The whale sings"]).get_feature_names_out().tolist()
    ['sings', 'whale']
    """

    pattern: str | Callable[[str], Iterable[str]] = WORDS
    lowercase: bool = True
    min_length: int = 1
    max_length: int | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class Terms(TransformerMixin, BaseEstimator):
    r"""Turn texts into a sparse matrix of term counts, documents × terms.

    One pass over the texts; each distinct word is stemmed once. The steps, in this order:

    1. cleaning, if `clean`;
    2. lower case;
    3. tokens, by `tokenizer`, of allowed length;
    4. tokens in `stop_words` are removed (compared before stemming), and those of digits alone unless `numbers`;
    5. stemming;
    6. n-grams of the remaining tokens: a stop word leaves no gap;
    7. terms in fewer than `min_df` or more than `max_df` documents are removed, then all but the `max_features` most
       frequent.

    Columns are in alphabetical order, so the matrix of a shuffled corpus is the shuffled matrix. A term is its name:
    a token with a blank in it, from your own `tokenizer`, and an n-gram spelled the same are one column.

    Parameters
    ----------
    tokenizer : str, callable or Tokenizer, default=r"\b\w\w+\b"
        A regular expression whose matches (or whose one group) are the tokens, a function from a string to its
        tokens, or a `Tokenizer` with the rules for case and length. The default expression also finds the words of
        scripts without spaces, see `grampus.text.languages.separate_words`.
    stop_words : {"smart", "english", "auto"}, code, path, iterable of str or None, default="smart"
        See `grampus.text.stop_words`. ``"auto"`` is the list of each document's language, ``"de"`` that of German.
    stemmer : str or None, default="english"
        ``"porter"`` (the original), ``"english"`` (the later Snowball one), or another of `grampus.text.stemmers`;
        ``"auto"`` is that of each document's language, ``"de"`` that of German.
    numbers : bool, default=True
        Whether tokens of digits alone, such as 17 and 2026, are terms.
    clean : bool or Cleaning, default=False
        What to drop from texts before counting: mail headers, markup and the like, see `Cleaning`.
    ngram_range : (int, int), default=(1, 1)
        Fewest and most tokens in a term.
    min_df, max_df : int or float, default=1 and 1.0
        Fewest and most documents a term must be in: a count if an integer, a share of the documents if a float.
    max_features : int or None, default=None
        Keep this many terms of the highest total count; ties go to the alphabetically first.
    dtype : dtype, default=numpy.int32
        Of the counts.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        Term to column.
    n_documents_ : int
        Number of fitted documents.
    preparation_ : Preparation
        The languages of the documents, and the lines that many share.
    forms_ : Forms
        How often each term is written in which form.

    See Also
    --------
    Weighting : from counts to weights.
    TermVectorizer : both at once.

    Examples
    --------
    >>> from grampus.text import Terms
    >>> terms = Terms(stemmer="porter")
    >>> counts = terms.fit_transform(["The whale swims.", "Whales are swimming; the whale dives."])
    >>> terms.get_feature_names_out().tolist()
    ['dive', 'swim', 'whale']
    >>> counts.toarray().tolist()
    [[0, 1, 1], [1, 1, 2]]
    >>> terms.transform(["A diving whale"]).toarray().tolist()
    [[1, 0, 1]]
    """

    tokenizer: str | Callable[[str], Iterable[str]] | Tokenizer = WORDS
    stop_words: StopList = "smart"
    stemmer: str | None = "english"
    numbers: bool = True
    clean: bool | Cleaning = False
    ngram_range: tuple[int, int] = (1, 1)
    min_df: float = 1
    max_df: float = 1.0
    max_features: int | None = None
    dtype: Any = np.int32

    def fit(self, raw_documents: Iterable[str] | Corpus | Prepared, y: object = None) -> Self:
        """Learn the terms of a collection.

        Parameters
        ----------
        raw_documents : iterable of str, Corpus or Prepared
        y : ignored

        Returns
        -------
        self
        """
        self.fit_transform(raw_documents)
        return self

    def fit_transform(self, raw_documents: Iterable[str] | Corpus | Prepared, y: object = None) -> sp.csr_matrix:
        """Learn the terms of a collection and return its matrix, in one pass.

        Parameters
        ----------
        raw_documents : iterable of str, Corpus or Prepared
        y : ignored

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_documents, n_terms)
        """
        dtype = _number_type(self.dtype)
        return _as_type(self._learn_counts(raw_documents), dtype)

    def transform(self, raw_documents: Iterable[str] | Corpus | Prepared) -> sp.csr_matrix:
        """Return the matrix of texts in the learned terms; other words are ignored.

        Parameters
        ----------
        raw_documents : iterable of str, Corpus or Prepared

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_documents, n_terms)
            Without rows if there are no texts.
        """
        return _as_type(self._counts(raw_documents), _number_type(self.dtype))

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the terms in the order of the columns.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str objects
        """
        check_is_fitted(self, "vocabulary_")
        return np.array(list(self.vocabulary_), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def check_parameters(self) -> None:
        """Raise an `InputError` if a parameter breaks its rule, without a text."""
        self._analysis()
        _check_share("min_df", self.min_df)
        _check_share("max_df", self.max_df)
        if self.max_features is not None:
            _check_count("max_features", self.max_features, 1)

    def prepare(self, raw_documents: Iterable[str] | Corpus | Prepared) -> Prepared:
        """Clean texts and find their languages, as `fit_transform` does first; it also takes the result.

        Parameters
        ----------
        raw_documents : iterable of str, Corpus or Prepared

        Returns
        -------
        Prepared
        """
        if isinstance(raw_documents, Prepared):
            return raw_documents
        known = getattr(self, "preparation_", None)
        return prepare(_texts(raw_documents), as_cleaning(self.clean), detect=self.detects(), known=known)

    def stop_list(self) -> frozenset[str]:
        """Return the stop words of all languages of the fitted documents."""
        codes = getattr(self, "preparation_", Preparation()).languages or (MAIN,)
        return frozenset[str]().union(*(stop_words(self.stop_words, code) for code in codes))

    def detects(self) -> bool:
        """Return whether stop words or stems depend on each document's language."""
        return AUTO in (self.stop_words if isinstance(self.stop_words, str) else None, self.stemmer)

    def _count(self, prepared: Prepared, units: Units, written: Written | None = None) -> sp.csr_matrix:
        """Count units, piece by piece where the runner has several workers, into one numbering."""
        runner, pieces = cut_texts(prepared.texts)
        analyses = [self._analysis(code) for code in prepared.preparation.languages or (MAIN,)]
        if len(pieces) == 1:
            counts, forms = count_prepared(prepared, analyses, units, learning=written is not None)
            if written is not None:
                for one in forms:
                    written.add(one)
            return counts
        frozen = None if units.learning else Units(False, dict(units.tokens), dict(units.grams))
        blocks, numbers, forms_of = [], list[NDArray[np.int32]](), list[list[Written]]()
        for counts, names, forms in runner.map(count_apart, map(prepared.part, pieces), analyses, frozen):
            if names is not None:
                numbers.append(units.join(*names))
                forms_of.append(forms)
                index = numbers[-1][counts.indices]
                blocks.append(sp.csr_matrix((counts.data, index, counts.indptr), (counts.shape[0], units.size)))
            else:
                blocks.append(counts)
        if written is not None:
            for language in zip(*forms_of, strict=True):
                written.add(Written.join(language, numbers))
        for block in blocks:
            block.resize(block.shape[0], units.size)
        return sp.csr_matrix(sp.vstack(blocks, format="csr"))

    def _learn_counts(self, raw_documents: Iterable[str] | Corpus | Prepared) -> sp.csr_matrix:
        """Learn the terms and return their int32 counts."""
        self.check_parameters()  # before the expensive work
        if hasattr(self, "preparation_"):  # of an earlier fit
            del self.preparation_
        units, written, prepared = Units(), Written(), self.prepare(raw_documents)
        self.preparation_: Preparation = prepared.preparation
        counts, names, namesake = self.count_named(prepared, units, written)
        if not counts.shape[0]:
            raise InputError("a collection must have at least one document; got none.")
        frequency = np.bincount(counts.indices, minlength=units.size)
        totals = np.bincount(counts.indices, weights=counts.data, minlength=units.size)
        chosen = self.choose_terms(counts.shape[0], frequency, totals, names)
        column = np.full(units.size, -1, np.int32)
        column[chosen] = np.arange(len(chosen), dtype=np.int32)
        if namesake is not None:
            column = column[namesake]
        self.vocabulary_ = {names[unit]: number for number, unit in enumerate(chosen.tolist())}
        self.n_documents_ = counts.shape[0]
        self._units, self._column = units.keep(column)
        self.forms_ = Forms.of(written, names, self._units)
        del units, names
        return _select_columns(counts, column, len(chosen))

    def count_named(
        self, prepared: Prepared, units: Units, written: Written | None = None
    ) -> tuple[sp.csr_matrix, list[str], NDArray[np.int32] | None]:
        """Count units; return the counts, the name of every unit, and the first unit of each name if some share one."""
        counts = self._count(prepared, units, written)
        names = units.names()
        namesake = units.namesakes(names)
        if namesake is not None:
            index = namesake[counts.indices].astype(counts.indices.dtype, copy=False)
            counts = sp.csr_matrix((counts.data, index, counts.indptr), shape=counts.shape)
            counts.sum_duplicates()
        return counts, names, namesake

    def _counts(self, raw_documents: Iterable[str] | Corpus | Prepared) -> sp.csr_matrix:
        """Return the int32 counts of the learned terms."""
        check_is_fitted(self, "vocabulary_")
        counts = self._count(self.prepare(raw_documents), self._units)
        return _select_columns(counts, self._column, len(self.vocabulary_))

    def remembering(self) -> Self:
        """Return the same for counting the same words many times: it remembers what each of them is."""
        check_is_fitted(self, "vocabulary_")
        same = copy(self)
        same._units = replace(self._units, known=defaultdict(list))
        return same

    def _analysis(self, language: str = MAIN) -> Analysis:
        """Check the parameters that turn a text of a language into terms."""
        tokens = self.tokenizer if isinstance(self.tokenizer, Tokenizer) else Tokenizer(self.tokenizer)
        _check_count("min_length", tokens.min_length, 1)
        if tokens.max_length is not None:
            _check_count("max_length", tokens.max_length, tokens.min_length)
        if not isinstance(self.numbers, bool):
            raise InputError(f"numbers must be True or False; got {self.numbers!r}.")
        if not isinstance(self.clean, bool | Cleaning):
            raise InputError(f"clean must be True, False or a Cleaning; got {self.clean!r}.")
        try:
            low, high = self.ngram_range
        except (TypeError, ValueError):
            low, high = 0, 0
        if not (_is_count(low) and _is_count(high) and 1 <= low <= high):
            raise InputError(f"ngram_range must be two integers, 1 <= smallest <= largest; got {self.ngram_range!r}.")
        if isinstance(self.stop_words, Iterator):
            raise InputError(
                "stop_words must be words that can be read more than once, such as a list or a set; got "
                f"{type(self.stop_words).__name__}, which one fit would use up."
            )
        stops = stop_words(self.stop_words, language)
        if tokens.lowercase:
            stops = frozenset(word.lower() for word in stops)
        # The default expression needs two characters; its fast implementation leaves that to the length rule.
        least = max(tokens.min_length, 2) if tokens.pattern == WORDS else tokens.min_length
        return Analysis(
            tokenise=tokeniser(tokens.pattern, lowercase=tokens.lowercase),
            stops=stops,
            stemmer=stemmer_of(self.stemmer, language),
            min_length=least,
            max_length=tokens.max_length,
            numbers=self.numbers,
            ngrams=(int(low), int(high)),
            folds=tokens.lowercase and tokens.pattern == WORDS,
        )

    def choose_terms(self, n: int, frequency: Any, totals: Any, names: list[str]) -> NDArray[np.intp]:
        """Return the units to keep, in alphabetical order of their names.

        Parameters
        ----------
        n : int
            Number of documents.
        frequency, totals : arrays of shape (units,)
            Documents that each unit is in, and how often it occurs in all.
        names : list of str
        """
        low, high = (df if _is_count(df) else df * n for df in (self.min_df, self.max_df))
        chosen = np.flatnonzero((frequency >= max(low, 1)) & (frequency <= high))
        if not len(chosen):
            if not frequency.any():
                check = "stop_words" if self.numbers else "stop_words and numbers"
                raise InputError(f"at least one term must remain; no document has a usable word. Check {check}.")
            raise InputError(
                f"at least one term must remain; none of {np.count_nonzero(frequency)} is in {low:g} to "
                f"{high:g} of the {n} documents. Lower min_df, raise max_df, or check stop_words and tokenizer."
            )
        order = np.fromiter(sorted(chosen.tolist(), key=names.__getitem__), np.intp, len(chosen))
        if self.max_features is None or self.max_features >= len(order):
            return order
        most = np.argsort(-totals[order], kind="stable")[: self.max_features]
        return order[np.sort(most)]


def stemmer_of(name: str | None, language: str = MAIN) -> str | None:
    """Return the Snowball stemmer that a name, a language's code or "auto" stands for."""
    if name is None or name in Stemmer.algorithms():
        return name
    try:
        found = LANGUAGES[language] if name == AUTO else find_language(name)
    except (InputError, AttributeError):
        hint = similar_language(name, stemmers()) or f" Known are {', '.join(stemmers())}."
        kinds = "None, 'auto', a language such as 'de' or 'german', or 'porter'"
        raise InputError(f"stemmer must be {kinds}; got {name!r}.{hint}") from None
    return found.stemmer or (None if found.latin else LANGUAGES[MAIN].stemmer)  # for Latin words in such texts


def _texts(raw: Iterable[str] | Corpus) -> Iterable[str]:
    if isinstance(raw, Corpus):
        return raw.texts
    if isinstance(raw, str | bytes) or not isinstance(raw, Iterable):
        raise InputError(f"documents must be a Corpus or an iterable of strings; got {type(raw).__name__}.")
    return raw


def _select_columns(counts: sp.csr_matrix, column: NDArray[np.int32], width: int) -> sp.csr_matrix:
    """Rename and select columns of `counts`, which may be destroyed; columns of one name are summed."""
    index = column[counts.indices]
    keep = index >= 0
    running = np.concatenate([[0], np.cumsum(keep)])
    indptr = running[counts.indptr].astype(counts.indptr.dtype)
    del running
    index = index[keep].astype(counts.indices.dtype, copy=False)
    chosen = sp.csr_matrix((counts.data[keep], index, indptr), shape=(counts.shape[0], width))
    chosen.sum_duplicates()
    return chosen


def _as_type(counts: sp.csr_matrix, dtype: np.dtype[Any]) -> sp.csr_matrix:
    if dtype.kind in "iu" and (most := int(counts.data.max(initial=0))) > np.iinfo(dtype).max:
        raise InputError(f"dtype must hold the largest count, {most}; {dtype} does not. Use int32.")
    return counts.astype(dtype, copy=False)


def _number_type(dtype: Any) -> np.dtype[Any]:
    try:
        given: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        given = np.dtype(object)
    if given.kind not in "iuf" or given == np.float16:
        raise InputError(f"dtype must be an integer or float32 or float64 type; got {dtype!r}.")
    return given


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _check_count(name: str, value: Any, least: int) -> None:
    if not _is_count(value) or value < least:
        raise InputError(f"{name} must be an integer, at least {least}; got {value!r}.")


def _check_share(name: str, value: Any) -> None:
    count = _is_count(value) and value >= 1
    share = isinstance(value, Real) and not isinstance(value, Integral) and 0 <= float(value) <= 1
    if not (count or share):
        raise InputError(f"{name} must be an integer, at least 1, or a share from 0.0 to 1.0; got {value!r}.")
