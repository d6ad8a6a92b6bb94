"""Data frames of pandas, polars and pyarrow as corpora. None of them is imported here to be recognised."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from .readers.assemble import assemble
from .readers.guess import DATES, TITLES, Columns, find_columns, named_columns
from .readers.log import Log
from .readers.options import ReadOptions
from .readers.registry import Record, Source, Table

if TYPE_CHECKING:
    from .corpus import Corpus

_INDEX = "\0index"  # no column can be called that
_SAMPLE = 200  # values of a column that are looked at


_TABLES = {"pandas.DataFrame", "polars.DataFrame", "pyarrow.Table", "pyarrow.RecordBatch"}
_COLUMNS = {"pandas.Series", "polars.Series", "pyarrow.ChunkedArray", "pyarrow.Array"}


def _kind(value: object) -> Any:
    """Return the library of a data frame or column, and whether it is a column; None if it is neither."""
    names = [f"{base.__module__.partition('.')[0]}.{base.__name__}" for base in type(value).__mro__]
    found = next((name for name in names if name in _TABLES or name in _COLUMNS), None)
    return None if found is None else (found.partition(".")[0], found in _COLUMNS)


def is_frame(value: object) -> bool:
    """Return whether a value is a table or a column of pandas, polars or pyarrow.

    Examples
    --------
    >>> import pandas
    >>> from grampus.text.frame import is_frame
    >>> is_frame(pandas.DataFrame({"text": ["whale"]})), is_frame(["whale"])
    (True, False)
    """
    return _kind(value) is not None


def frame_library(frame: Any) -> str:
    """Return the library of a data frame or column: "pandas", "polars" or "pyarrow"."""
    return str(_kind(frame)[0])


def from_frame(
    frame: Any,
    *,
    text: str | Sequence[str] | None = None,
    id: str | None = None,  # noqa: A002
    label: str | None = None,
    title: str | None = None,
    date: str | None = None,
    options: ReadOptions | None = None,
) -> Corpus:
    """Return the texts of a data frame or a column as a corpus.

    Parameters
    ----------
    frame : DataFrame or Series of pandas or polars, Table, RecordBatch or Array of pyarrow
    text, id, label, title, date : str, optional
        Which columns hold what; what is not named is guessed as for a file. Without a column ``id``, the ids are the
        index of a pandas frame, so that results join back on it.
    options : ReadOptions, optional
        ``empty="keep"`` keeps a document per row. Missing texts (NaN, None, NA) are counted in a note.

    Returns
    -------
    Corpus

    Examples
    --------
    >>> import pandas
    >>> from grampus.text.frame import from_frame
    >>> corpus = from_frame(pandas.Series(["whale song", None], index=["w", "b"], name="body"))
    >>> corpus.ids == ["w"], corpus.notes
    (True, ('1 of 2 texts are missing (null).',))
    """
    kind = _kind(frame)
    if kind is None:
        raise InputError(f"frame must be a data frame of pandas, polars or pyarrow; got {type(frame).__name__}.")
    asked = named_columns(text, id=id, label=label, title=title, date=date)
    names = _names(frame, *kind)
    log = Log()
    source = Source(f"the {type(frame).__name__}", options=options or ReadOptions(), log=log)
    guess = None if asked.text else text_column(frame)
    texts = asked.text or (names if guess is None else [guess])  # where there is none, a message will name them all
    wanted = {name.casefold() for name in (*asked.named(), *texts, "id", *TITLES, *DATES)}
    wanted.update(name.casefold() for name in source.options.numbers)
    read = [at for at, name in enumerate(names) if name.casefold() in wanted]
    columns = [_values(_column(frame, at, *kind), kind[0]) for at in read]
    indexed = kind[0] == "pandas" and id is None and "id" not in names
    index = [str(value) for value in frame.index.tolist()] if indexed else None
    records = _records([names[at] for at in read], columns, index)
    table = Table("row", tuple(names), records, id=None if index is None else _INDEX)
    corpus = assemble(table, asked, source)
    log.warn(stacklevel=3)
    return corpus


def text_column(frame: Any) -> str | None:
    """Return the column that would be read as the text; None where no column holds strings. A single column is.

    Parameters
    ----------
    frame : as for `from_frame`

    Examples
    --------
    >>> import pandas
    >>> from grampus.text.frame import text_column
    >>> text_column(pandas.DataFrame({"n": [1, 2], "Body": ["whale song", "bird song"]}))
    'Body'
    >>> text_column(pandas.DataFrame({"x": [0.1, 0.2]})) is None
    True
    """
    table = _sample(frame, *_kind(frame))
    if table is None:
        return "text" if _kind(frame)[1] else None
    return find_columns(table, Columns(), Source(f"the {type(frame).__name__}"))[0].text[0]


def column_names(frame: Any) -> list[str]:
    """Return the names of the columns of a data frame.

    Parameters
    ----------
    frame : as for `from_frame`
        A single column is called ``"text"``.
    """
    return _names(frame, *_kind(frame))


def _sample(frame: Any, library: str, single: bool) -> Table | None:
    """Return the first values of every column as a table; None where none of them is a string."""
    names = _names(frame, library, single)
    gone = {"pandas": "dropna", "polars": "drop_nulls", "pyarrow": "drop_null"}[library]
    columns = []
    for at in range(len(names)):
        column = getattr(_column(frame, at, library, single), gone)()
        columns.append(_values(column.slice(0, _SAMPLE) if library == "pyarrow" else column.head(_SAMPLE), library))
    if not any(isinstance(value, str) for column in columns for value in column):
        return None
    rows = zip_longest(*columns)
    return Table("row", tuple(names), (Record(n, dict(zip(names, row, strict=True))) for n, row in enumerate(rows, 1)))


def _names(frame: Any, library: str, single: bool) -> list[str]:
    """Return the names of the columns; a single one is the text."""
    if single:
        return ["text"]
    names = [str(name) for name in (frame.schema.names if library == "pyarrow" else frame.columns)]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise InputError(f"the frame must have different column names; {repeated!r} occurs more than once.")
    return names


def _column(frame: Any, at: int, library: str, single: bool) -> Any:
    if single:
        return frame
    if library == "pandas":
        return frame.iloc[:, at]
    return frame.to_series(at) if library == "polars" else frame.column(at)


def _values(column: Any, library: str) -> Sequence[Any]:
    """Return a column as Python values, with None where they are missing."""
    if library == "pandas":
        return [None if gone else value for value, gone in zip(column.tolist(), column.isna().tolist(), strict=True)]
    return column.to_pylist() if library == "pyarrow" else column.to_list()


def _records(names: list[str], columns: list[Sequence[Any]], index: list[str] | None) -> Iterator[Record]:
    for number, row in enumerate(zip(*columns, strict=True)):
        values = dict(zip(names, row, strict=True))
        if index is not None:
            values[_INDEX] = index[number]
        yield Record(number + 1, values)
