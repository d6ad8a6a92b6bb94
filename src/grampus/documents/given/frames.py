"""Data frames as input: the column of the texts, the rows without one, and the index that results join back on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...text import Corpus, ReadOptions
from ...text.frame import column_names, from_frame, is_frame, text_column

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
    index : pandas.Index or None
        Of a pandas frame or column.
    missing : array of bool, shape (n,), or None
        Rows of a frame, or places of a list, without a text.
    """

    X: Any
    text: str | None = None
    index: Any = None
    missing: NDArray[np.bool_] | None = None

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
        X = list(X) if isinstance(X, Iterator) else X  # it is read more than once
        return Rows(X, missing=_blank(X))
    index = X.index if hasattr(X, "iloc") else None  # pandas
    folded = {name.casefold(): name for name in column_names(X)}
    if text is None and fitted is not None:
        text = folded.get(fitted.casefold())
    found = text_column(X) if text is None else text
    if found is None:  # numbers
        return Rows(np.asarray(X), None, index)
    corpus = from_frame(X, text=text, options=_EVERY_ROW)
    missing = np.array([not value or value.isspace() for value in corpus.texts], dtype=bool)
    if missing.all():
        raise InputError(f"the frame must have a text in some row; all {len(corpus)} are missing or empty.")
    name = getattr(X, "name", found) if list(folded) == ["text"] else found  # a single column may have a name
    return Rows(corpus, name if isinstance(name, str) and name else None, index, missing)


def _blank(X: Any) -> NDArray[np.bool_] | None:
    """Return which texts of a list are blank; None where none or all are."""
    if not isinstance(X, list | tuple) and not (isinstance(X, np.ndarray) and X.dtype.kind in "OU"):
        return None
    blank = np.array([isinstance(text, str) and (not text or text.isspace()) for text in X], dtype=bool)
    return blank if blank.any() and not blank.all() else None


def corpus_of_rows(corpus: Any, text: str | None = None) -> tuple[Corpus, Any]:
    """Return the texts that describe the rows of a matrix as a corpus, and their index.

    Parameters
    ----------
    corpus : Corpus, data frame, column, or sequence of str
    text : str, optional
        The column of the texts, for a data frame.
    """
    if isinstance(corpus, Corpus):
        if text is not None:
            raise InputError("text must name a column of a data frame; corpus is a Corpus.")
        return corpus, None
    if is_frame(corpus):
        index = corpus.index if hasattr(corpus, "iloc") else None
        return from_frame(corpus, text=text, options=_EVERY_ROW), index
    return Corpus(corpus), None
