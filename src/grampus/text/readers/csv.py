"""CSV and TSV: a record per row."""

import csv
import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from io import IncrementalNewlineDecoder
from itertools import chain, dropwhile, islice

from ..._config import format_size
from ...errors import CorpusError
from .guess import TITLE_ROWS, title_rows
from .log import quoted
from .registry import BadRecord, Reader, Record, Source, Table

_LARGEST_LIMIT = 2**31 - 1  # accepted by the csv module on every system
_Row = tuple[int, list[str]]
_LINE_END = re.compile(r"\r\n?|\n")

# The csv module has one limit for the whole process. It is raised while files are read and restored after the last.
_lock = threading.Lock()
_readers = 0
_limit_before = 0


@contextmanager
def field_limit(limit: float) -> Iterator[None]:
    """Let the csv module read fields of up to `limit` characters."""
    global _readers, _limit_before  # noqa: PLW0603
    with _lock:
        if not _readers:
            _limit_before = csv.field_size_limit()
        _readers += 1
        csv.field_size_limit(max(int(min(limit, _LARGEST_LIMIT)), csv.field_size_limit()))
    try:
        yield
    finally:
        with _lock:
            _readers -= 1
            if not _readers:
                csv.field_size_limit(_limit_before)


def _split_lines(pieces: Iterator[str], limit: int, name: str) -> Iterator[str]:
    """Yield lines with their ends, of any of the three kinds."""
    decoder = IncrementalNewlineDecoder(None, translate=False)  # keeps \r\n together
    line_start: list[str] = []
    length = 0
    for piece in pieces:
        text = decoder.decode(piece)
        start = 0
        for match in _LINE_END.finditer(text):
            line = text[start : match.end()]
            yield "".join([*line_start, line]) if line_start else line
            line_start, length, start = [], 0, match.end()
        if start < len(text):
            line_start.append(text[start:])
            length += len(text) - start
        if length > limit:
            longest = format_size(limit)
            raise CorpusError(f"{name} must have lines of at most {longest} (max_document_bytes); one is longer.")
    line_start.append(decoder.decode("", final=True))
    last = "".join(line_start)
    if last:
        yield last


def _end(ended: list[bool]) -> Iterator[str]:
    """Yield nothing; fill `ended` when asked for a line after the last."""
    ended.append(True)
    yield from ()


def _guess_delimiter(line: str) -> str:
    """Return the comma, or the most frequent other delimiter if the line has no comma."""
    counts = Counter(c for c in line if c in ",;\t|")
    return "," if not counts or counts[","] else counts.most_common(1)[0][0]


def open_csv(source: Source, delimiter: str | None = None) -> Table:
    """Read a record per row. Rows must have as many fields as the header; blank lines are ignored."""
    options, name, limit = source.options, source.name, source.limits.max_document_bytes
    source.cleanup.enter_context(field_limit(limit))
    ended: list[bool] = []
    lines = _split_lines(source.text(), limit, name)
    head = list(islice(dropwhile(lambda line: not line.strip(), lines), 2 * TITLE_ROWS + 2))
    if not head:
        raise CorpusError(f"{name} must have at least one row; it is empty.")
    delimiter = options.delimiter or delimiter
    above = _titles(head, delimiter) if options.header else 0
    if above:
        title = " ".join(head[0].split()).strip(',;|"')
        source.log.say("a title above the names of the columns was left out", quoted(title))
    delimiter = delimiter or _guess_delimiter(head[above])
    lines = chain(["\n"] * above, head[above:], lines, _end(ended))
    rows = _rows(csv.reader(lines, delimiter=delimiter), ended, limit)
    start = next(rows)
    if isinstance(start, BadRecord):
        raise CorpusError(f"{name} line {start.number} {start.reason}.")
    if not options.header:
        columns = tuple(str(number) for number in range(len(start[1])))
        return Table("line", columns, _records(chain([start], rows), columns))
    columns = tuple(field.strip() for field in start[1])
    repeated = [column for column, times in Counter(columns).items() if times > 1 and column]
    if repeated:
        raise CorpusError(f"{name} must have different column names; {quoted(repeated[0])!r} occurs more than once.")
    return Table("line", columns, _records(rows, columns))


def _titles(lines: list[str], delimiter: str | None) -> int:
    """Return how many of the first lines belong to a title; each is looked at by itself, blank ones are none."""
    filled = [at for at, line in enumerate(lines) if line.strip()]
    rows = [next(csv.reader([lines[at]], delimiter=delimiter or _guess_delimiter(lines[at])), []) for at in filled]
    return filled[title_rows(rows)]


def _rows(reader: Iterator[list[str]], ended: list[bool], limit: int) -> Iterator[_Row | BadRecord]:
    """Yield line numbers and fields; a quote that is never closed makes a bad record of all that follows it."""
    while True:
        number = reader.line_num + 1  # type: ignore[attr-defined]
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            reason = quoted(error)
            if "field larger" in reason:
                reason = f"a field is longer than {format_size(limit)}; is a quote left open?"
            yield BadRecord(number, "not valid CSV", f"is not valid CSV ({reason})")
            continue
        if ended:
            lines = reader.line_num + 1 - number  # type: ignore[attr-defined]
            lost = f"a quote that is never closed ({lines:,} line{'' if lines == 1 else 's'})"
            yield BadRecord(number, lost, "opens a quote that is not closed before the end of the file")
            return
        if fields:
            yield number, fields


def _records(rows: Iterator[_Row | BadRecord], columns: tuple[str, ...]) -> Iterator[Record | BadRecord]:
    for row in rows:
        if isinstance(row, BadRecord):
            yield row
            continue
        number, fields = row
        if len(fields) != len(columns):
            reason = f"must have {len(columns)} fields, as the header; it has {len(fields)}"
            yield BadRecord(number, "wrong number of fields", reason)
        else:
            yield Record(number, dict(zip(columns, fields, strict=True)))


FORMATS = (
    Reader("csv", open_csv, (".csv",), in_folder=True, tabular=True),
    Reader("tsv", partial(open_csv, delimiter="\t"), (".tsv", ".tab"), in_folder=True, tabular=True),
)
