"""Find the columns: by name without regard to case, by a hint for a typo, and the text by looking at the values."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import chain

from ...errors import CorpusError, InputError
from .log import quoted
from .options import MB
from .registry import BadRecord, Record, Source, Table

_SAMPLE = 200  # records that are looked at
TITLE_ROWS = 3  # rows above the names of the columns, at most
_NUMBER = re.compile(r"[-+]?[\d.,:/ -]*\d[\d.,:/ %-]*")
_SAMPLE_BYTES = 4 * MB
TITLES = ("title", "subject", "headline", "heading")
DATES = ("date", "datetime", "published", "published_at", "created_at", "timestamp", "datum")


@dataclass(frozen=True)
class Columns:
    """Which columns hold what. No text is to be guessed; an id of None is the record's number."""

    text: tuple[str, ...] = ()
    id: str | None = None
    label: str | None = None
    title: str | None = None
    date: str | None = None

    def optional(self) -> tuple[str | None, str | None, str | None]:
        """Return the columns that a record may lack: label, title and date."""
        return self.label, self.title, self.date

    def named(self) -> list[str]:
        """Return every column that was asked for."""
        return [*self.text, *(column for column in (self.id, *self.optional()) if column is not None)]


def named_columns(text: str | Sequence[str] | None, **others: str | None) -> Columns:
    """Check the names of columns that a caller gives."""
    texts = () if text is None else (text,) if isinstance(text, str) or not isinstance(text, Iterable) else text
    texts = tuple(texts)
    if (text is not None and not texts) or not all(isinstance(column, str) for column in texts):
        raise InputError(f"text must be a column's name or several; got {text!r}.")
    for name, column in others.items():
        if column is not None and not isinstance(column, str):
            raise InputError(f"{name} must be a column's name; got {column!r}.")
    return Columns(texts, **others)


def suggest(name: str, columns: Iterable[object]) -> str:
    """Return a hint at the column that was most likely meant, to be put after a message; else nothing."""
    by_fold = {str(column).casefold(): str(column) for column in columns}
    close = get_close_matches(name.casefold(), by_fold, 1, 0.6)
    return f" Did you mean {quoted(by_fold[close[0]])!r}?" if close else ""


def find_columns(table: Table, asked: Columns, source: Source) -> tuple[Columns, Table]:
    """Return the columns to use, and the table with the records that were looked at."""
    sample, records = _look(table.records)
    table = replace(table, records=records)
    known = list(table.columns if table.columns is not None else dict.fromkeys(c for r in sample for c in r.values))
    first = known if table.columns is not None else list(sample[0].values) if sample else []
    inside = [name for name in asked.text if table.of_files and name not in known]
    text = tuple(_match(name, known, table, source) for name in asked.text if name not in inside)
    if not text:
        same = [name for name in known if name.casefold() == "text"]
        text = (("text" if "text" in known else same[0]) if same else _guess_text(known, sample, source),)
    label, title, date = (c and _match(c, known, table, source) for c in asked.optional())
    identity = asked.id and _match(asked.id, known, table, source)
    identity = identity or table.id or _named(("id",), first)
    title = title or table.title or _named(TITLES, known, text)
    date = date or table.date or _named(DATES, known, text)
    return Columns(text, identity, label, title, date), table


def _look(records: Iterator[Record | BadRecord]) -> tuple[list[Record], Iterator[Record | BadRecord]]:
    taken: list[Record | BadRecord] = []
    size = 0
    for item in records:
        taken.append(item)
        if isinstance(item, Record):
            size += sum(len(value) for value in item.values.values() if isinstance(value, str | bytes))
        if len(taken) >= _SAMPLE or size > _SAMPLE_BYTES:
            break
    return [item for item in taken if isinstance(item, Record)], chain(taken, records)


def title_rows(rows: Sequence[Sequence[str]]) -> int:
    """Return how many of the first rows are a title above the names of the columns.

    A title is a single cell of several words, the first of its row. Below it stands a row of names: two or more,
    different, none of them a number.

    Examples
    --------
    >>> from grampus.text.readers.guess import title_rows
    >>> title_rows([["Survey of open science", "", ""], ["Country", "Year", "Answer"], ["DE", "2020", "More time"]])
    1
    >>> title_rows([["Answer to question 1"], ["More time"], ["More money"]])
    0
    """
    for above, row in enumerate(rows):
        cells = [cell.strip() for cell in row if cell.strip()]
        if len(cells) > 1:
            names = len(set(cells)) == len(cells) and not any(map(_NUMBER.fullmatch, cells))
            return above if names and len(rows) > above + 1 else 0
        if not cells or not row[0].strip() or len(cells[0].split()) < 2:
            return 0
    return 0


def _match(name: str, known: Sequence[str], table: Table, source: Source) -> str:
    """Return the column of this name, in another case if need be, or the only one whose name holds it as a word.

    Fail if a table with fixed columns has none.
    """
    if name in known:
        return name
    same = [column for column in known if str(column).casefold() == name.casefold()]
    if len(same) == 1:
        return same[0]
    if table.columns is not None:
        asked = re.compile(rf"(?<![^\W_]){re.escape(name.casefold())}(?![^\W_])")
        inside = [column for column in table.columns if asked.search(column.casefold())] if name.strip() else []
        if len(inside) == 1:
            source.log.say(f"{quoted(name)!r} is the column {quoted(inside[0])!r}")
            return inside[0]
        have = quoted(", ".join(table.columns), 300)
        hint = suggest(name, table.columns)
        raise CorpusError(f"{source.name} must have a column {quoted(name)!r}; its columns are: {have}.{hint}")
    return name  # records may have it later on


def _named(names: Iterable[str], known: Sequence[str], taken: Sequence[str] = ()) -> str | None:
    """Return the first column with one of these names, in any case."""
    by_fold = {str(column).casefold(): column for column in reversed(known) if column not in taken}
    return next((by_fold[name] for name in names if name in by_fold), None)


def _guess_text(known: Sequence[str], sample: Sequence[Record], source: Source) -> str:
    """Return the column with the longest and most varied texts, and say so."""
    if not sample:
        return "text"  # what is wrong is said when the records are read
    columns = [column for column in known if str(column).casefold() != "id"] or known
    rich = {column: _richness([record.values.get(column) for record in sample]) for column in columns}
    best = max(rich, key=lambda column: rich[column], default="")
    if not rich.get(best):
        have = quoted(", ".join(map(str, known)), 300) or "none"
        raise CorpusError(f"{source.name} must have a column of texts; its columns are: {have}.")
    source.log.note(f"reading the column {quoted(best)!r} (text=NAME for another)")
    return best


def _richness(values: Sequence[object]) -> float:
    """Return the mean number of words of the different values; characters count where there are no spaces.

    Values without a letter, such as numbers and dates, count nothing.
    """
    texts = {value if isinstance(value, str) else value.decode("utf-8", "replace")
             for value in values if isinstance(value, str | bytes)}  # fmt: skip
    words = [text for text in texts if any(map(str.isalpha, text))]
    return sum(max(len(text.split()) - 1, 0) + len(text.strip()) / 1000 for text in words) / max(len(values), 1)
