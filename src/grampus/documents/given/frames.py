"""What `fit` was given: lists, mappings and frames; the rows without a text, and what results join back on."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isnan
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...text import Corpus, ReadOptions
from ...text.frame import column_names, frame_library, from_frame, is_frame, text_column

_EVERY_ROW = ReadOptions(empty="keep")


@dataclass(frozen=True)
class Rows:
    """Documents as they were given.

    Attributes
    ----------
    X : Corpus, array or sequence
        A data frame of texts as a corpus, one of numbers as an array, anything else unchanged.
    text : str or None
        The column of the texts, where it has a name.
    index : pandas.Index, list or None
        Of a pandas frame or column; the keys of a mapping.
    missing : array of bool, shape (n,), or None
        Rows of a frame, or places of a list, without a text.
    library : str
        Whose frames the results are: that of the frame that was given.
    features : list of str or None
        What the columns of a matrix are called, where they have names.
    """

    X: Any
    text: str | None = None
    index: Any = None
    missing: NDArray[np.bool_] | None = None
    library: str = "pandas"
    features: list[str] | None = None

    def outside(self, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which documents are in no cluster: nothing in them is known, or they have no text."""
        return ~known if self.missing is None else ~known | self.missing

    @property
    def columns(self) -> dict[str, str]:
        """The columns that were read from a data frame."""
        return {} if self.text is None else {"text": self.text}


def read_rows(X: Any, text: str | None = None, fitted: str | None = None) -> Rows:
    """Return documents, with a document for every row of a data frame.

    Parameters
    ----------
    X : data frame, column, or anything that ``fit`` takes
    text : str, optional
        The column of the texts; guessed by default.
    fitted : str, optional
        The column that was fitted, which is taken before guessing.
    """
    if not is_frame(X):
        if text is not None:
            raise InputError(f"text must name a column of a data frame; X is of type {type(X).__name__}.")
        return _read_listed(X)
    index = X.index if hasattr(X, "iloc") else None  # pandas
    folded = {name.casefold(): name for name in column_names(X)}
    if text is None and fitted is not None:
        text = folded.get(fitted.casefold())
    found = text_column(X) if text is None else text
    if found is None:  # numbers
        return Rows(np.asarray(X), None, index, library=frame_library(X))
    corpus = from_frame(X, text=text, options=_EVERY_ROW)
    missing = np.array([not value or value.isspace() for value in corpus.texts], dtype=bool)
    if missing.all():
        raise InputError(f"the frame must have a text in some row; all {len(corpus)} are missing or empty.")
    name = getattr(X, "name", found) if list(folded) == ["text"] else found  # a single column may have a name
    return Rows(corpus, name if isinstance(name, str) and name else None, index, missing, frame_library(X))


def _read_listed(X: Any) -> Rows:
    """Return documents that are in no frame; a place without a text (None, NaN, blank) is a row without one."""
    _refuse_unreadable(X)
    keys = list(X) if isinstance(X, Mapping) else None
    if keys is not None:
        X = list(X.values())
    elif isinstance(X, Iterator):
        X = list(X)  # it is read more than once
    elif isinstance(X, np.ndarray) and X.dtype.kind in "OUT":
        X = X.ravel().tolist() if X.ndim == 1 or X.shape[1:] == (1,) else X
    if isinstance(X, list | tuple) and any(isinstance(text, str) for text in X):
        X = ["" if _is_missing(text) else text for text in X]
        _refuse_kinds(X)
        blank = np.array([isinstance(text, str) and (not text or text.isspace()) for text in X], dtype=bool)
        missing = blank if blank.any() and not blank.all() else None
        return Rows(X if keys is None else Corpus(X, [str(key) for key in keys]), None, keys, missing)
    if isinstance(X, list | tuple):
        _refuse_kinds(X)
    if keys is not None or (isinstance(X, list | tuple) and X and all(map(_is_missing, X))):
        raise InputError("X must have a text for some document; got none.")
    return Rows(X)


def _is_missing(value: Any) -> bool:
    """Return whether a value stands for a text that is not there: None, NaN or pandas.NA."""
    return value is None or (isinstance(value, float) and isnan(value)) or type(value).__name__ == "NAType"


def _refuse_unreadable(X: Any) -> None:
    """Raise for what has documents in it, but not as texts in an order, and for what has none."""
    if X is None or isinstance(X, int | float):
        raise InputError(f"X must be texts, a data frame or rows of numbers; got {X!r}.")
    if isinstance(X, PathLike):
        raise InputError("X must be texts; got a path. Read the file or folder first: grampus.read_corpus(path).")
    if type(X).__name__ == "LazyFrame":
        raise InputError("X must be a data frame; got a LazyFrame, which holds no rows yet. Give X.collect().")
    if isinstance(X, set | frozenset):
        raise InputError("X must have an order, that of the labels; got a set. Give sorted(X) and keep it.")
    if isinstance(X, np.ndarray) and X.dtype.kind == "S":
        _refuse_kinds(X.ravel().tolist())
    if isinstance(X, np.ndarray) and X.dtype.kind in "UT" and X.ndim > 1 and X.shape[1:] != (1,):
        raise InputError(f"X must have one text for each document; got texts of shape {X.shape}. Give one column.")


def _refuse_kinds(values: Iterable[Any]) -> None:
    """Raise for bytes, paths and lists of words among texts."""
    for number, value in enumerate(values):
        if isinstance(value, list | tuple) and any(isinstance(word, str) for word in value):
            raise InputError(f"X must be texts; number {number} is a list. Join its words first: ' '.join(words).")
        if isinstance(value, bytes | bytearray):
            raise InputError(f"X must be texts; number {number} is bytes. Decode them first: text.decode('utf-8').")
        if isinstance(value, PathLike):
            advice = "Read the files first: grampus.read_corpus(folder)"
            raise InputError(f"X must be texts; number {number} is a path. {advice}.")


def corpus_of_rows(corpus: Any, text: str | None = None) -> tuple[Corpus, Any, str | None]:
    """Return the texts that describe the rows of a matrix as a corpus, their index, and the library of their frame.

    Parameters
    ----------
    corpus : Corpus, data frame, column, or sequence of str
    text : str, optional
        The column of the texts, for a data frame.
    """
    if isinstance(corpus, Corpus):
        if text is not None:
            raise InputError("text must name a column of a data frame; corpus is a Corpus.")
        return corpus, None, None
    if is_frame(corpus):
        index = corpus.index if hasattr(corpus, "iloc") else None
        return from_frame(corpus, text=text, options=_EVERY_ROW), index, frame_library(corpus)
    rows = _read_listed(corpus)
    return rows.X if isinstance(rows.X, Corpus) else Corpus(rows.X), rows.index, None
