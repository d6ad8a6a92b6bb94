"""Records from CSV and TSV."""

from __future__ import annotations

import csv
import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from io import IncrementalNewlineDecoder

from grampus.errors import CorpusError
from grampus.text._options import ReadOptions
from grampus.text._report import said, size
from grampus.text._rows import Bad, Row, Table

__all__ = ["csv_table", "wide_fields"]

_LONGEST = 2**31 - 1  # what the csv module takes on every system
_LINE_END = re.compile(r"\r\n?|\n")

# The csv module has one limit for the whole process. It is raised while a file is read and put back when the
# last reader is done.
_lock = threading.Lock()
_readers = 0
_before = 0


@contextmanager
def wide_fields(limit: float) -> Iterator[None]:
    """Let the csv module read fields of up to `limit` characters."""
    global _readers, _before  # noqa: PLW0603
    with _lock:
        if not _readers:
            _before = csv.field_size_limit()
        _readers += 1
        csv.field_size_limit(max(int(min(limit, _LONGEST)), csv.field_size_limit()))
    try:
        yield
    finally:
        with _lock:
            _readers -= 1
            if not _readers:
                csv.field_size_limit(_before)


class _Lines:
    """Lines with their ends, at any of the three kinds of line end; knows when it has run out."""

    def __init__(self, pieces: Iterator[str], limit: int, name: str) -> None:
        self.pieces, self.limit, self.name = pieces, limit, name
        self.ended = False
        self.lines = self._split()

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = next(self.lines, None)
        if line is None:
            self.ended = True
            raise StopIteration
        return line

    def _split(self) -> Iterator[str]:
        whole = IncrementalNewlineDecoder(None, translate=False)  # keeps \r\n together
        held: list[str] = []
        length = 0
        for piece in self.pieces:
            text = whole.decode(piece)
            start = 0
            for match in _LINE_END.finditer(text):
                line = text[start : match.end()]
                yield "".join([*held, line]) if held else line
                held, length, start = [], 0, match.end()
            if start < len(text):
                held.append(text[start:])
                length += len(text) - start
            if length > self.limit:
                raise CorpusError(
                    f"{self.name} must have lines of at most {size(self.limit)} (max_document_bytes); one is longer."
                )
        held.append(whole.decode("", final=True))
        last = "".join(held)
        if last:
            yield last


def _delimiter(line: str) -> str:
    """Choose the comma, or what the first line has most of if it has none."""
    counts = Counter(c for c in line if c in ",;\t|")
    return "," if not counts or counts[","] else counts.most_common(1)[0][0]


def csv_table(pieces: Iterator[str], name: str, options: ReadOptions, delimiter: str | None) -> Table:
    """One record a row. Rows must have as many fields as the header; blank lines are left out."""
    source = _Lines(pieces, options.max_document_bytes, name)
    first = next(source, "")
    while first and not first.strip():
        first = next(source, "")
    if not first:
        raise CorpusError(f"{name} must have at least one row; it is empty.")
    comma = options.delimiter or delimiter or _delimiter(first)
    source.lines = _prepend(first, source.lines)
    reader = csv.reader(source, delimiter=comma)
    records = _records(reader, source, name, options)
    start = next(records)
    if isinstance(start, Bad):
        raise CorpusError(f"{name} line {start.place} {start.reason}.")
    line, fields = start
    if not options.header:
        columns = tuple(str(number) for number in range(len(fields)))
        return Table(name, "line", columns, _rows(_both((line, fields), records), columns))
    columns = tuple(field.strip() for field in fields)
    repeated = [column for column, times in Counter(columns).items() if times > 1 and column]
    if repeated:
        raise CorpusError(f"{name} must have different column names; {said(repeated[0])!r} occurs more than once.")
    return Table(name, "line", columns, _rows(records, columns))


def _prepend(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _both(
    first: tuple[int, list[str]], rest: Iterator[tuple[int, list[str]] | Bad]
) -> Iterator[tuple[int, list[str]] | Bad]:
    yield first
    yield from rest


def _records(
    reader: Iterator[list[str]], source: _Lines, name: str, options: ReadOptions
) -> Iterator[tuple[int, list[str]] | Bad]:
    """Yield line numbers and fields; a quote left open at the end of the file is an error."""
    line = 1
    while True:
        line = reader.line_num + 1  # type: ignore[attr-defined]
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            why = said(error)
            if "field larger" in why:
                why = f"a field is longer than {size(options.max_document_bytes)}; is a quote left open?"
            yield Bad(line, "not valid CSV", f"is not valid CSV ({why})")
            continue
        if source.ended:
            raise CorpusError(f"{name} line {line} opens a quote that is not closed before the end of the file.")
        if fields:
            yield line, fields


def _rows(records: Iterator[tuple[int, list[str]] | Bad], columns: tuple[str, ...]) -> Iterator[Row | Bad]:
    for record in records:
        if isinstance(record, Bad):
            yield record
            continue
        line, fields = record
        if len(fields) != len(columns):
            yield Bad(
                line, "wrong number of fields", f"must have {len(columns)} fields, as the header; it has {len(fields)}"
            )
        else:
            yield Row(line, dict(zip(columns, fields, strict=True)))
