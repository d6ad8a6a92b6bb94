"""Spreadsheets, Excel and OpenDocument: a row is a document, or a sheet, or the file."""

import posixpath
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, islice

from ...errors import CorpusError
from .extract import Extract, document_table
from .guess import TITLE_ROWS, title_rows
from .log import quoted
from .office import ZIP, collect_attributes
from .package import Package, XmlHandler, parse_member, parse_xml, properties
from .registry import Reader, Record, Source, Table
from .streams import Expansion

_Row = dict[int, str]
_REFERENCE = re.compile(r"([A-Z]{1,3})\d+\Z")
_DATE_FORMATS = {*range(14, 23), *range(45, 48)}
_DATE_LETTERS = re.compile(r"[ymdhs]", re.IGNORECASE)
_NOT_LETTERS = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')
_WIDEST = 16_384
_LAST_DAY = 2_958_465  # 31 December 9999
_CELL_BYTES = 8  # counted for each cell, so that endless empty ones end, too


def _column(reference: str, after: int) -> int:
    match = _REFERENCE.match(reference)
    if match is None:
        return after
    number = 0
    for letter in match[1]:
        number = number * 26 + ord(letter) - 64
    return number - 1


def _name(column: int) -> str:
    name = ""
    while column >= 0:
        name = chr(65 + column % 26) + name
        column = column // 26 - 1
    return name


class _Strings(XmlHandler):
    """The shared strings of a workbook; phonetic readings are left out."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._parts: list[str] = []
        self._text = self._phonetic = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._text = name == "t"
        self._phonetic = self._phonetic or name == "rPh"

    def text(self, value: str) -> None:
        if self._text and not self._phonetic:
            self._parts.append(value)

    def end(self, name: str) -> None:
        self._text = False
        if name == "rPh":
            self._phonetic = False
        elif name == "si":
            self.found.append("".join(self._parts))
            self._parts = []


class _Styles(XmlHandler):
    """Which cell styles show a number as a date."""

    def __init__(self) -> None:
        self.dates: list[bool] = []
        self._formats: dict[str, bool] = {}
        self._cells = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "numFmt":
            code = _NOT_LETTERS.sub("", attributes.get("formatCode", "")[:200])
            self._formats[attributes.get("numFmtId", "")] = bool(_DATE_LETTERS.search(code))
        elif name == "cellXfs":
            self._cells = True
        elif name == "xf" and self._cells:
            number = attributes.get("numFmtId", "")
            known = number.isdigit() and len(number) < 6 and int(number) in _DATE_FORMATS
            self.dates.append(self._formats.get(number, known))

    def end(self, name: str) -> None:
        if name == "cellXfs":
            self._cells = False


class _XlsxSheet(XmlHandler):
    """The rows of one sheet."""

    def __init__(self, strings: list[str], dates: list[bool]) -> None:
        self.rows: list[_Row] = []
        self._strings, self._dates = strings, dates
        self._row: _Row = {}
        self._at, self._kind, self._style = -1, "", ""
        self._parts: list[str] = []
        self._value = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "row":
            self._row, self._at = {}, -1
        elif name == "c":
            self._at = _column(attributes.get("r", ""), self._at + 1)
            self._kind, self._style = attributes.get("t", "n"), attributes.get("s", "")
            self._parts = []
        self._value = name in ("v", "t")

    def text(self, value: str) -> None:
        if self._value:
            self._parts.append(value)

    def end(self, name: str) -> None:
        self._value = False
        if name == "row" and self._row:
            self.rows.append(self._row)
        elif name == "c" and self._parts and 0 <= self._at < _WIDEST:
            value = self._cell("".join(self._parts))
            if value:
                self._row[self._at] = value

    def _cell(self, value: str) -> str:
        if self._kind == "s":
            place = int(value) if value.isdecimal() and len(value) < 9 else -1
            return self._strings[place] if 0 <= place < len(self._strings) else ""
        if self._kind == "b":
            return "true" if value == "1" else "false"
        if self._kind != "n":
            return value
        style = int(self._style) if self._style.isdecimal() and len(self._style) < 6 else -1
        return _number(value, date=0 <= style < len(self._dates) and self._dates[style])


def _number(value: str, *, date: bool) -> str:
    try:
        number = float(value)
        if date and 0 < number <= _LAST_DAY:
            found = datetime(1899, 12, 30) + timedelta(days=round(number, 6))
            return (found.date() if number == int(number) else found.replace(microsecond=0)).isoformat()
        return str(int(number)) if number == int(number) and abs(number) < 1e15 else value
    except (ValueError, OverflowError):
        return value


def _xlsx_rows(package: Package) -> Iterator[tuple[str, _Row]]:
    strings, styles = _Strings(), _Styles()
    if "xl/sharedStrings.xml" in package:
        parse_member(package, "xl/sharedStrings.xml", strings, package.limits.max_total_bytes)
    if "xl/styles.xml" in package:
        parse_member(package, "xl/styles.xml", styles)
    targets = {
        link.get("Id"): posixpath.normpath(posixpath.join("/xl", link.get("Target", ""))).lstrip("/")
        for link in collect_attributes(package, "xl/_rels/workbook.xml.rels", "Relationship")["Relationship"]
    }
    for sheet in collect_attributes(package, "xl/workbook.xml", "sheet")["sheet"]:
        member = targets.get(sheet.get("id"), "")
        if member not in package or "worksheet" not in member:
            continue
        handler = _XlsxSheet(strings.found, styles.dates)
        pieces = package.chunks(member, package.limits.max_total_bytes)  # a row is a document, not the sheet
        for _ in parse_xml(pieces, handler, f"{package.name} ({quoted(member)})"):
            yield from ((sheet.get("name", ""), row) for row in handler.rows)
            handler.rows.clear()


class _OdsSheets(XmlHandler):
    """The rows of every sheet of an OpenDocument spreadsheet."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, _Row]] = []
        self._sheet = ""
        self._row: _Row = {}
        self._at = self._repeat = self._row_repeat = 0
        self._parts: list[str] = []
        self._value, self._depth, self._skipping = "", 0, 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self._skipping or name in ("annotation", "shapes", "tracked-changes"):
            self._skipping += 1
        elif name == "table":
            self._sheet = attributes.get("name", "")
        elif name == "table-row":
            self._row, self._at = {}, 0
            self._row_repeat = _repeats(attributes.get("number-rows-repeated"))
        elif name in ("table-cell", "covered-table-cell"):
            self._repeat = _repeats(attributes.get("number-columns-repeated"))
            self._value, self._parts = attributes.get("date-value", ""), []
        elif name == "p":
            if self._parts:
                self._parts.append("\n")
            self._depth += 1
        elif name in ("s", "tab", "line-break"):
            self._parts.append(" ")

    def text(self, value: str) -> None:
        if self._depth and not self._skipping:
            self._parts.append(value)

    def end(self, name: str) -> None:
        if self._skipping:
            self._skipping -= 1
        elif name == "p":
            self._depth -= 1
        elif name in ("table-cell", "covered-table-cell"):
            value = self._value or "".join(self._parts)
            if value and name == "table-cell":
                self._row.update((at, value) for at in range(self._at, min(self._at + self._repeat, _WIDEST)))
            self._at += self._repeat
        elif name == "table-row" and self._row:
            self.rows.extend([(self._sheet, self._row)] * min(self._row_repeat, 1000))


def _repeats(value: str | None) -> int:
    return int(value) if value and value.isdecimal() and len(value) < 9 else 1


def _ods_rows(package: Package) -> Iterator[tuple[str, _Row]]:
    handler = _OdsSheets()
    pieces = package.chunks("content.xml", package.limits.max_total_bytes)
    for _ in parse_xml(pieces, handler, f"{package.name} (content.xml)"):
        yield from handler.rows
        handler.rows.clear()


def _within(rows: Iterator[tuple[str, _Row]], guard: Expansion) -> Iterator[tuple[str, _Row]]:
    """Count what the cells hold: one string may stand in a million of them."""
    for sheet, row in rows:
        guard.add(sum(_CELL_BYTES + len(value) for value in row.values()))
        yield sheet, row


def open_spreadsheet(source: Source, kind: str) -> Table:
    """Read a spreadsheet: a single file by row, a member of a folder as one document, or by `ReadOptions.split`."""
    package = Package(source)
    rows = _within(_xlsx_rows(package) if kind == "xlsx" else _ods_rows(package), package.expansion)
    split = source.options.split
    if split in ("lines", "paragraphs") or (split == "auto" and not source.member):
        return _row_table(rows, source)
    title, date = properties(package, "docProps/core.xml" if kind == "xlsx" else "meta.xml")
    sheets: dict[str, list[str]] = {}
    for sheet, row in rows:
        sheets.setdefault(sheet, []).append("\t".join(row[at] for at in sorted(row)))
    return document_table(Extract(tuple("\n".join(lines) for lines in sheets.values()), title, date), source)


def _row_table(rows: Iterator[tuple[str, _Row]], source: Source) -> Table:
    """Return a record per row. The first row holds the columns' names; other sheets count if theirs are the same."""
    head = list(islice(rows, TITLE_ROWS + 2))
    if not head:
        raise CorpusError(f"{source.name} must have at least one row; it is empty.")
    cells = [[row.get(at, "") for at in range(max(row) + 1)] for _, row in head]
    above = title_rows(cells) if source.options.header else 0
    if above:
        source.log.say("a title above the names of the columns was left out", quoted(cells[0][0].strip()))
    first, rows = head[above], chain(head[above + 1 :], rows)
    header = first[1]
    names = [header.get(at, "") or _name(at) for at in range(max(header) + 1)]
    if not source.options.header or len(set(names)) < len(names):
        names = [_name(at) for at in range(len(names))]
        rows = chain([first], rows)
        header = {}
    return Table("row", (*names, "sheet"), _records(first[0], header, rows, names, source))


def _records(
    sheet: str, header: _Row, rows: Iterator[tuple[str, _Row]], names: list[str], source: Source
) -> Iterator[Record]:
    used, other = {sheet}, dict[str, bool]()
    for number, (name, row) in enumerate(rows, 2 if header else 1):
        if name not in used and header:
            if row == header:
                used.add(name)
            elif name not in other:
                other[name] = True
                source.log.note("sheets with other columns were left out (split='pages' reads them)", quoted(name))
            continue
        yield Record(number, {**{column: row.get(at, "") for at, column in enumerate(names)}, "sheet": name})


FORMATS = (
    Reader("xlsx", partial(open_spreadsheet, kind="xlsx"), (".xlsx", ".xlsm"), ZIP, in_folder=True),
    Reader("ods", partial(open_spreadsheet, kind="ods"), (".ods",), ZIP, in_folder=True),
)
