"""Records from text: plain lines, JSON lines and JSON, read as a stream."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from grampus.errors import CorpusError
from grampus.text._options import ReadOptions
from grampus.text._report import said, size

__all__ = ["Bad", "Row", "Table", "json_table", "jsonl_table", "lines", "lines_table", "sniff"]


class Row(NamedTuple):
    """A record: its place in the source and its values by column."""

    place: int
    values: Mapping[str, object]


class Bad(NamedTuple):
    """A record that cannot be used: the reason it is counted under, and what to say of it."""

    place: int
    kind: str
    reason: str


@dataclass
class Table:
    """Records of one source; `columns` is None where each record has its own."""

    name: str
    unit: str
    columns: tuple[str, ...] | None
    rows: Iterator[Row | Bad]


_SPACE = re.compile(r"[ \t\n\r]*")
_LONG = "is longer than {} (max_document_bytes)"


def lines(pieces: Iterator[str], limit: int) -> Iterator[str | None]:
    """Split text at line feeds and nowhere else; None stands for a line longer than `limit` characters."""
    held: list[str] = []
    length = 0
    for piece in pieces:
        parts = piece.split("\n")
        for part in parts[:-1]:
            length += len(part)
            if length > limit:
                yield None
            elif held:
                yield "".join([*held, part])
            else:
                yield part
            if held:
                held = []
            length = 0
        length += len(parts[-1])
        if length > limit:
            held = []  # forget it, and go on to the line's end
        elif parts[-1]:
            held.append(parts[-1])
    if length > limit:
        yield None
    elif held:
        yield "".join(held)


def lines_table(pieces: Iterator[str], name: str, options: ReadOptions) -> Table:
    """One document a line."""

    def rows() -> Iterator[Row | Bad]:
        for place, line in enumerate(lines(pieces, options.max_document_bytes), 1):
            if line is None:
                yield Bad(place, "record too long", _LONG.format(size(options.max_document_bytes)))
            else:
                yield Row(place, {"text": line.removesuffix("\r")})

    return Table(name, "line", ("text",), rows())


def jsonl_table(pieces: Iterator[str], name: str, options: ReadOptions) -> Table:
    """One JSON object, or string, a line; blank lines are left out."""

    def rows() -> Iterator[Row | Bad]:
        for place, line in enumerate(lines(pieces, options.max_document_bytes), 1):
            if line is None:
                yield Bad(place, "record too long", _LONG.format(size(options.max_document_bytes)))
            elif line and not line.isspace():
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError) as error:
                    yield Bad(place, "not JSON", f"is not JSON ({_why(error)})")
                else:
                    yield _record(place, value)

    return Table(name, "line", None, rows())


def _why(error: BaseException) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.colno}"
    return "nested too deeply" if isinstance(error, RecursionError) else said(error)


def _record(place: int, value: object, key: str | None = None) -> Row | Bad:
    """Turn a JSON value into a row; `key` is its id in a top-level object."""
    if isinstance(value, str):
        values: dict[str, object] = {"text": value}
    elif isinstance(value, dict):
        values = value
    else:
        kind = {list: "an array", type(None): "null"}.get(type(value), "a number or boolean")
        return Bad(place, "not an object or string", f"must be an object or a string; it is {kind}")
    if key is not None:
        values = {"id": key, **values}
    return Row(place, values)


def sniff(pieces: Iterator[str], limit: int, one: str) -> tuple[str, Iterator[str]]:
    """Tell ``json``, ``jsonl`` and ``lines`` apart by the beginning; give the stream back whole.

    `one` is the answer for a single object on a single line. Where the first line is broken, the second one tells
    whether it is a line of many or the beginning of one large object.
    """
    held: list[str] = []
    length, opening = 0, ""
    for piece in pieces:
        held.append(piece)
        length += len(piece)
        opening = opening or piece.lstrip()[:1]
        if (opening and opening != "{") or length > limit:
            break
        if opening and "\n" in piece and piece.strip() and len(_first_lines("".join(held))) == 3:
            break
    head = "".join(held)
    kind = {"[": "json", "{": "jsonl"}.get(opening, "lines")
    if kind == "jsonl":
        first, second = (*_first_lines(head), "")[:2]
        if _is_json(first):
            kind = "jsonl" if second else one
        elif not (second.startswith("{") and _is_json(second)) or first.endswith(("{", "[", ",", ":")):
            kind = "json"
    return kind, _again(head, pieces)


def _first_lines(text: str) -> list[str]:
    """Return the first two lines that are not blank, and one more part if the second has ended."""
    first, _, rest = text.lstrip().partition("\n")
    second, end, _ = rest.lstrip().partition("\n")
    return [first.rstrip(), second.rstrip(), *([""] if end else [])]


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _again(head: str, rest: Iterator[str]) -> Iterator[str]:
    yield head
    yield from rest


def json_table(pieces: Iterator[str], name: str, options: ReadOptions) -> Table:
    """Read a JSON array of records, or an object of them by id, one record at a time.

    Several objects one after the other, as in JSON lines, are read as such.
    """
    kind, pieces = sniff(pieces, options.max_document_bytes, one="json")
    if kind == "jsonl":
        return jsonl_table(pieces, name, options)
    scanner = _Scanner(pieces, name, options.max_document_bytes)
    opening = scanner.peek()
    if opening not in ("[", "{"):
        raise CorpusError(f"{name} must hold a JSON array or object; it begins with {said(opening)!r}.")
    return Table(name, "record", None, scanner.items(opening))


class _Scanner:
    """Read the parts of one JSON array or object from a stream, holding one part at a time."""

    def __init__(self, pieces: Iterator[str], name: str, limit: int) -> None:
        self.pieces, self.name, self.limit = pieces, name, limit
        self.text, self.at, self.ended = "", 0, False
        self.decode = json.JSONDecoder().raw_decode

    def more(self) -> bool:
        """Read on until what is held has doubled; say whether anything came."""
        held = self.text[self.at :]
        if len(held) > self.limit:
            raise CorpusError(
                f"{self.name} must have records of at most {size(self.limit)} (max_document_bytes); one is longer."
            )
        parts, wanted = [held], max(len(held), 1)
        while wanted > 0 and not self.ended:
            piece = next(self.pieces, None)
            if piece is None:
                self.ended = True
            else:
                parts.append(piece)
                wanted -= len(piece)
        self.text, self.at = "".join(parts), 0
        return len(self.text) > len(held)

    def peek(self) -> str:
        """Skip white space and return the next character, or the empty string at the end."""
        while True:
            self.at = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""

    def expect(self, characters: str, place: int) -> str:
        found = self.peek()
        if not found or found not in characters:
            wanted = " or ".join(repr(c) for c in characters)
            got = repr(said(found)) if found else "the end of the file"
            raise CorpusError(f"{self.name} must be valid JSON; at record {place}: {wanted} expected, {got} found.")
        self.at += 1
        return found

    def value(self, place: int) -> Any:
        self.peek()
        while True:
            try:
                value, end = self.decode(self.text, self.at)
            except json.JSONDecodeError as error:
                cut = error.msg.startswith("Unterminated") or error.pos > len(self.text) - 16
                if cut and not self.ended and self.more():
                    continue
                raise self.broken(error, place) from error
            except (ValueError, RecursionError) as error:
                raise self.broken(error, place) from error
            if end == len(self.text) and not self.ended:  # a number may go on
                self.more()
                continue
            self.at = end
            return value

    def broken(self, error: Exception, place: int) -> CorpusError:
        why = error.msg if isinstance(error, json.JSONDecodeError) else _why(error)
        return CorpusError(f"{self.name} must be valid JSON; at record {place}: {why}.")

    def items(self, opening: str) -> Iterator[Row | Bad]:
        """Yield the records of the array or object, then check that nothing follows."""
        closing = "]" if opening == "[" else "}"
        self.at += 1
        place, going = 0, self.peek() != closing
        if not going:
            self.at += 1
        while going:
            place += 1
            key = None
            if opening == "{":
                if self.peek() != '"':
                    self.expect('"', place)
                key = self.value(place)
                self.expect(":", place)
            yield _record(place, self.value(place), key)
            going = self.expect("," + closing, place) == ","
        if self.peek():
            raise CorpusError(f"{self.name} must be one JSON value; more follows after record {place}.")
