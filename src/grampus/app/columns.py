"""Columns to filter by that a run does not hold: those of the table that its documents came from, read again."""

from __future__ import annotations

import os
import re
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GrampusError
from ..persist import Run
from ..report.island import packed
from ..report.page import UNKNOWN_DAY, days_of, readable
from ..text import Corpus, ReadLimits, ReadOptions
from ..text.readers.assemble import assemble
from ..text.readers.dates import normalise_dates, to_iso
from ..text.readers.guess import Columns, find_columns, named_columns
from ..text.readers.log import Log
from ..text.readers.read import open_table
from ..text.readers.registry import BadRecord, Reader, Record, Table, find_reader

MOST_BYTES, MOST_ROWS = 256 * 10**6, 10**6  # of a table
MOST_LOOKED_AT, MOST_KEPT = 100, 2 * 10**6  # columns of a table, and different values of all of them
MOST_COLUMNS, MOST_VALUES = 12, 300  # columns that are offered, and different values of a category
LONGEST = 100  # characters of a value; a longer one is free text
FEW = 10  # different numbers up to which each has a bar of its own
NEARLY_ALL, MANY = 0.95, 0.5  # known values that make a column one of numbers; different ones that make it free text
EVERY, FIRST, SOME = 10_000, 2_000, 200  # records between two looks at the columns, before the first; values looked at
ROW = "grampus_row"  # a column of our own: the record that a document was made from
OTHERS = ("xlsx", "ods", "sqlite")  # tables that a folder does not read row by row
MISSING = {"", "-", "?", "n/a", "na", "nan", "none", "null"}  # among numbers and dates
_NUMBER = re.compile(r"[-+]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?", re.ASCII)  # 0042 is a code
_ID = re.compile(r"(?:^|[\W_])[iI][dD]$|[a-z]I[dD]$")
_REMOTE = re.compile(r"[\\/]{2}")  # Windows would ask another computer


class _TooLargeError(Exception):
    """The table is too large."""


def table_columns(run: Run, place: Path) -> tuple[list[dict[str, Any]], str]:
    """Return the columns of the source that are worth filtering by, and a sentence where it cannot be used any more.

    A document gets the values of the record with its id and its text. Where that is not certain there are no columns.

    Parameters
    ----------
    run : Run
    place : Path
        The folder of the run. A source that was named from another folder may lie next to it.
    """
    given = Path(run.provenance.source)
    reader = find_reader(given.name, b"")
    if reader is None or not (reader.tabular or reader.name in OTHERS) or run.documents.texts is None:
        return [], ""
    if _REMOTE.match(run.provenance.source) or os.path.isdir(given):
        return [], ""
    problem = "was not found"
    for path in dict.fromkeys(map(os.path.abspath, (given, place.parent / given.name))):
        if os.path.isfile(path):
            columns, problem = _columns_of_file(run, path, reader)
            if not problem:
                return columns, ""
    return [], f"{readable(given.name)} {problem}, so its other columns are not among the filters."


def _columns_of_file(run: Run, path: str, reader: Reader) -> tuple[list[dict[str, Any]], str]:
    """Return the columns of a file, and what is wrong with it."""
    try:
        if os.path.getsize(path) > MOST_BYTES:
            raise _TooLargeError
        corpus, numbered, columns = _read(path, reader, run.provenance.columns)
    except (_TooLargeError, MemoryError):
        return [], "is too large to be read again"
    except (GrampusError, OSError):
        return [], "could not be read again"
    rows = _match(run, corpus, numbered)
    if rows is None:
        return [], "no longer matches these documents"
    offered = (_described(*column, rows) for column in columns.items())
    return list(islice(filter(None, offered), MOST_COLUMNS)), ""


def _read(path: str, reader: Reader, named: Mapping[str, str]) -> tuple[Corpus, bool, dict[str, _Values]]:
    """Return the documents of a table, whether their ids are record numbers, and the values of its other columns."""
    options = ReadOptions(on_error="skip", numbers=(ROW,), limits=ReadLimits(max_total_bytes=MOST_BYTES))
    with ExitStack() as cleanup:
        table, source = open_table(path, reader, Columns(), None, options, Log(), cleanup)
        text = named.get("text", "")
        texts = [text] if text in (table.columns or ()) else [one for one in text.split("+") if one]
        asked = named_columns(texts or None, **{role: named.get(role) for role in ("id", "label", "title", "date")})
        columns, table = find_columns(table, asked, source)
        kept: defaultdict[str, _Values] = defaultdict(_Values)
        records = _keep(table, kept, {"", ROW, *columns.named()})
        corpus = assemble(replace(table, records=records), asked, source)
    return corpus, columns.id is None, kept


@dataclass
class _Values:
    """A column: its different values, and which of them each record has; −1 for none. The last ones may be left off."""

    different: dict[str, int] = field(default_factory=dict)
    codes: array[int] = field(default_factory=lambda: array("i"))

    def add(self, given: object, number: int) -> bool:
        """Take in the value of a record; return whether it can be filtered by."""
        code = self.different.get(given) if type(given) is str else None
        if code is None:
            value = given.strip() if type(given) is str and len(given) <= LONGEST else _as_text(given)
            if not value:
                return value is not None
            code = self.different.setdefault(value, len(self.different))
        if len(self.codes) < number:
            self.codes.extend([-1] * (number - len(self.codes)))
        self.codes.append(code)
        return True


def _keep(table: Table, columns: defaultdict[str, _Values], left_out: set[str]) -> Iterator[Record | BadRecord]:
    """Yield the records of a table, numbered in the column `ROW`, and keep the values of columns to filter by."""
    number = 0
    for item in table.records:
        if isinstance(item, BadRecord):
            yield item
            continue
        if number == MOST_ROWS:
            raise _TooLargeError
        for name, value in item.values.items():
            if name not in left_out and not columns[name].add(value, number):
                left_out.add(name)
                del columns[name]
        while len(columns) > MOST_LOOKED_AT:
            left_out.add(columns.popitem()[0])
        yield Record(item.number, {**item.values, ROW: number})
        number += 1
        if number % EVERY == FIRST:
            _drop_hopeless(columns, left_out)


def _drop_hopeless(columns: dict[str, _Values], left_out: set[str]) -> None:
    """Drop columns with too many values for a category, most of them neither numbers nor dates; then the longest."""
    room = MOST_KEPT
    for name, values in sorted(columns.items(), key=lambda column: len(column[1].different)):
        room -= len(values.different)
        some = list(islice(reversed(values.different), SOME))
        usable = sum(bool(_NUMBER.fullmatch(value)) or to_iso(value, True) is not None for value in some)
        if room < 0 or (len(values.different) > MOST_VALUES and usable < MANY * len(some)):
            left_out.add(name)
            del columns[name]


def _as_text(value: object) -> str | None:
    """Return a value as a short text, "" where it is missing; None for free text and for what is no plain value."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, bool):
        value = "true" if value else "false"
    elif isinstance(value, date):  # and the time of the day
        value = value.isoformat()
    elif value is None or value != value:  # NaN  # noqa: PLR0124
        return ""
    text = str(value).strip() if isinstance(value, str | int | float | Decimal) else None
    return text if text is None or len(text) <= LONGEST else None


def _match(run: Run, corpus: Corpus, numbered: bool) -> NDArray[np.intp] | None:
    """Return the record of every document, −1 for none; None where the documents that were read are others.

    A number of a record, or an id that occurs several times, tells which record it is only in a table that has the same
    documents in the same order.
    """
    found = (run if run.original is None else run.original).documents
    ids, places = list(found.ids), {one: at for at, one in enumerate(corpus.ids)}
    either = places.keys() | set(ids)
    repeated = any("#" in one and one.rpartition("#")[0] in either for one in either)
    if found.texts is None or ((numbered or repeated) and list(places) != ids):
        return None
    shared = [(row, places[one]) for row, one in enumerate(ids) if one in places]
    differ = found.texts != corpus.texts and any(found.texts[row] != corpus.texts[at] for row, at in shared)
    if differ or len(shared) < MANY * len(ids):
        return None
    records = corpus.inputs[ROW][:, 0].astype(np.intp)
    return np.array([records[places[one]] if one in places else -1 for one in run.documents.ids], dtype=np.intp)


def _described(name: str, column: _Values, rows: NDArray[np.intp]) -> dict[str, Any] | None:
    """Return a column for the page; None if it is not worth filtering by."""
    codes = np.full(max(len(column.codes), int(rows.max()) + 1) + 1, -1, dtype=np.intp)  # the last is of no record
    codes[: len(column.codes)] = column.codes
    codes, values = codes[rows], list(column.different)
    sizes = np.bincount(codes[codes >= 0], minlength=len(values))
    if (sizes > 0).sum() < 2:
        return None
    known = sizes[[value.casefold() not in MISSING for value in values]].sum()
    shown = {"name": readable(name)[:LONGEST]}
    days = _days(values)
    if days is not None and sizes[days != UNKNOWN_DAY].sum() >= NEARLY_ALL * known:
        return {**shown, "kind": "date", "numbers": packed(np.append(days, UNKNOWN_DAY)[codes], np.int32)}
    numbers = np.array([float(value) if _NUMBER.fullmatch(value) else np.nan for value in values] + [np.nan])[codes]
    numbers[np.isinf(numbers)] = np.nan
    different = np.unique(numbers[~np.isnan(numbers)])
    if np.isnan(numbers).sum() > len(rows) - NEARLY_ALL * known or len(different) <= min(FEW, MANY * known):
        return _category(shown, values, codes, sizes)
    ids = _are_ids(name, different, known)
    return None if ids else {**shown, "kind": "number", "numbers": packed(numbers, np.float64)}


def _days(values: list[str]) -> NDArray[np.int32] | None:
    """Return the days of dates; None where the first values show that these are none. Bare years are numbers."""
    some = [value for value in values[:SOME] if value.casefold() not in MISSING]
    dates = sum(to_iso(value, True) is not None and not re.fullmatch(r"\d{4}", value) for value in some)
    if dates < MANY * len(some) or not some:
        return None
    return days_of(normalise_dates(values, None)[0])


def _are_ids(name: str, different: NDArray[np.float64], known: int) -> bool:
    """Return whether whole numbers, each of one document, count or name the documents."""
    if len(different) < known or (different % 1).any():
        return False
    return bool(_ID.search(name)) or different[-1] - different[0] == len(different) - 1


def _category(
    shown: dict[str, str], values: list[str], codes: NDArray[np.intp], sizes: NDArray[np.intp]
) -> dict[str, Any] | None:
    """Return a column of categories; None if there are too many different values, or nearly as many as documents."""
    used = np.flatnonzero(sizes)
    if len(used) > min(MOST_VALUES, MANY * sizes.sum()):
        return None
    names = [readable(values[code]) for code in used]
    if (codes < 0).any() and "unknown" not in names:
        names.append("unknown")
    places = np.full(len(values) + 1, names.index("unknown") if (codes < 0).any() else 0)
    places[used] = np.arange(len(used))
    return {**shown, "kind": "category", "values": names, "codes": packed(places[codes])}
