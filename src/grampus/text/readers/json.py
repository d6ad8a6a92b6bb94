"""JSON lines, and JSON arrays and objects read one record at a time."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any

from ..._config import format_size
from ...errors import CorpusError
from .decode import first_pieces
from .lines import numbered_lines, plain_table
from .log import quoted
from .registry import BadRecord, Reader, Record, Source, Table

_decode = json.JSONDecoder().raw_decode
_SPACE = re.compile(r"[ \t\n\r]*")


def jsonl_table(pieces: Iterator[str], source: Source) -> Table:
    """Read a JSON object or string per line; blank lines are ignored."""
    return Table("line", None, _jsonl_records(pieces, source.limits.max_document_bytes))


def _jsonl_records(pieces: Iterator[str], limit: int) -> Iterator[Record | BadRecord]:
    for item in numbered_lines(pieces, limit):
        if isinstance(item, BadRecord):
            yield item
            continue
        number, line = item
        if line and not line.isspace():
            try:
                value = _loads(line)
            except (ValueError, RecursionError) as error:
                yield BadRecord(number, "not JSON", f"is not JSON ({_reason(error, column=True)})")
            else:
                yield _record(number, value)


def _loads(line: str) -> Any:
    """Return what `json.loads` returns, sooner for an object and nothing else."""
    if line.startswith("{"):
        value, end = _decode(line)
        if end == len(line):
            return value
    return json.loads(line)


def _reason(error: BaseException, *, column: bool = False) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.colno}" if column else error.msg
    return "nested too deeply" if isinstance(error, RecursionError) else quoted(error)


def _record(number: int, value: object, key: str | None = None) -> Record | BadRecord:
    """Turn a JSON value into a record; `key` is its key in a top-level object, and its id unless it has one."""
    if isinstance(value, str):
        values: dict[str, object] = {"text": value}
    elif isinstance(value, dict):
        values = value
    else:
        kind = {list: "an array", type(None): "null"}.get(type(value), "a number or boolean")
        return BadRecord(number, "not an object or string", f"must be an object or a string; it is {kind}")
    if key is not None:
        values = {"id": key, **values}
    return Record(number, values)


def detect(pieces: Iterator[str], limit: int, single: str) -> tuple[str, Iterator[str]]:
    """Tell ``json``, ``jsonl`` and ``lines`` apart by their start; return the name and the whole stream.

    `single` is the answer for one object on one line. Where the first line is not valid JSON, the second decides
    whether it is a broken line of JSONL or the start of one large object.
    """
    start: list[str] = []
    length, opening = 0, ""
    for piece in pieces:
        start.append(piece)
        length += len(piece)
        opening = opening or piece.lstrip()[:1]
        if (opening and opening != "{") or length > limit:
            break
        if opening and "\n" in piece and piece.strip() and len(_first_lines("".join(start))) == 3:
            break
    head = "".join(start)
    kind = {"[": "json", "{": "jsonl"}.get(opening, "lines")
    if kind == "jsonl":
        first, second = (*_first_lines(head), "")[:2]
        if _is_json(first):
            kind = "jsonl" if second else single
        elif not (second.startswith("{") and _is_json(second)) or first.endswith(("{", "[", ",", ":")):
            kind = "json"
    return kind, chain([head], pieces)


def _first_lines(text: str) -> list[str]:
    """Return the first two lines that are not blank, and a third item if the second line is complete."""
    first, _, rest = text.lstrip().partition("\n")
    second, end, _ = rest.lstrip().partition("\n")
    return [first.rstrip(), second.rstrip(), *([""] if end else [])]


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def open_detected(source: Source) -> Table:
    """Read a stream of JSON, JSON lines or plain lines, whichever it is."""
    kind, pieces = detect(source.text(), source.limits.max_document_bytes, single="jsonl")
    if kind == "json":
        return json_table(pieces, source)
    return jsonl_table(pieces, source) if kind == "jsonl" else plain_table(pieces, source, source.options.split)


def json_table(pieces: Iterator[str], source: Source) -> Table:
    """Read the records of a JSON array or object one at a time; several objects in a row are read as JSON lines."""
    limit = source.limits.max_document_bytes
    kind, pieces = detect(pieces, limit, single="json")
    if kind == "jsonl":
        return jsonl_table(pieces, source)
    scanner = _Scanner(pieces, source.name, limit)
    opening = scanner.peek()
    if opening not in ("[", "{"):
        raise CorpusError(f"{source.name} must hold a JSON array or object; it begins with {quoted(opening)!r}.")
    return Table("record", None, scanner.records(opening))


class _Scanner:
    """Read the items of one JSON array or object from a stream, holding one at a time."""

    def __init__(self, pieces: Iterator[str], name: str, limit: int) -> None:
        self.pieces, self.name, self.limit = pieces, name, limit
        self.text, self.at, self.ended = "", 0, False

    def read_more(self) -> bool:
        """Read on until the unread text has doubled; return whether there was more."""
        rest = self.text[self.at :]
        if len(rest) > self.limit:
            limit = format_size(self.limit)
            raise CorpusError(f"{self.name} must have records of at most {limit} (max_document_bytes); one is longer.")
        parts, missing = [rest], max(len(rest), 1)
        while missing > 0 and not self.ended:
            piece = next(self.pieces, None)
            if piece is None:
                self.ended = True
            else:
                parts.append(piece)
                missing -= len(piece)
        self.text, self.at = "".join(parts), 0
        return len(self.text) > len(rest)

    def peek(self) -> str:
        """Skip white space and return the next character, or the empty string at the end."""
        while True:
            self.at = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.read_more():
                return ""

    def expect(self, characters: str, number: int) -> str:
        found = self.peek()
        if not found or found not in characters:
            expected = " or ".join(repr(c) for c in characters)
            got = repr(quoted(found)) if found else "the end of the file"
            raise self.invalid(number, f"{expected} expected, {got} found")
        self.at += 1
        return found

    def value(self, number: int) -> Any:
        self.peek()
        while True:
            try:
                value, end = _decode(self.text, self.at)
            except (ValueError, RecursionError) as error:
                if isinstance(error, json.JSONDecodeError):
                    cut = error.msg.startswith("Unterminated") or error.pos > len(self.text) - 16
                    if cut and not self.ended and self.read_more():
                        continue
                raise self.invalid(number, _reason(error)) from error
            if end == len(self.text) and not self.ended:  # a number may go on
                self.read_more()
                continue
            self.at = end
            return value

    def invalid(self, number: int, reason: str) -> CorpusError:
        return CorpusError(f"{self.name} must be valid JSON; at record {number}: {reason}.")

    def records(self, opening: str) -> Iterator[Record | BadRecord]:
        """Yield the items of the array or object, then check that nothing follows."""
        closing = "]" if opening == "[" else "}"
        self.at += 1
        number, more = 0, self.peek() != closing
        if not more:
            self.at += 1
        while more:
            number += 1
            key = None
            if opening == "{":
                if self.peek() != '"':
                    self.expect('"', number)
                key = self.value(number)
                self.expect(":", number)
            yield _record(number, self.value(number), key)
            more = self.expect("," + closing, number) == ","
        if self.peek():
            raise CorpusError(f"{self.name} must be one JSON value; more follows after record {number}.")


def open_json(source: Source) -> Table:
    """Read a JSON file; one of a folder that holds a single object, not an object of objects, is one record."""
    pieces = source.text()
    if not source.member:
        return json_table(pieces, source)
    first = next((piece for piece in pieces if piece.strip()), "")
    if not first.lstrip().startswith("{"):
        return json_table(chain([first], pieces), source)
    whole = [first, *first_pieces(pieces, source.limits.max_document_bytes + 1 - len(first))]
    with suppress(ValueError, RecursionError):  # several objects in a row, damaged, or too long
        value = json.loads("".join(whole))
        if not all(isinstance(item, dict) for item in value.values()):
            return Table("record", None, iter([_record(1, value)]))
    return json_table(chain(whole, pieces), source)


_row = partial(Reader, in_folder=True, tabular=True)
FORMATS = (
    _row("json", open_json, (".json",)),
    _row("jsonl", lambda source: jsonl_table(source.text(), source), (".jsonl", ".ndjson")),
)
