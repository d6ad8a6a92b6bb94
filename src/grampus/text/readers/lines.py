"""Plain text: a document per line, or a file as one document."""

from __future__ import annotations

from collections.abc import Iterator

from ..._config import format_size
from .decode import decode, looks_binary
from .registry import BadRecord, Reader, Record, Source, Table


def split_lines(pieces: Iterator[str], limit: int) -> Iterator[str | None]:
    """Split text at line feeds only; None stands for a line of more than `limit` characters."""
    start: list[str] = []
    length = 0
    for piece in pieces:
        *ends, rest = piece.split("\n")
        for end in ends:
            length += len(end)
            yield "".join([*start, end]) if length <= limit else None
            start, length = [], 0
        length += len(rest)
        if length > limit:
            start = []  # drop it, and go on to the end of the line
        elif rest:
            start.append(rest)
    if length:
        yield "".join(start) if length <= limit else None


def numbered_lines(pieces: Iterator[str], limit: int) -> Iterator[tuple[int, str] | BadRecord]:
    """Yield lines with their numbers, and a bad record for each that is too long."""
    for number, line in enumerate(split_lines(pieces, limit), 1):
        if line is None:
            yield BadRecord(number, "record too long", f"is longer than {format_size(limit)} (max_document_bytes)")
        else:
            yield number, line


def lines_table(pieces: Iterator[str], source: Source) -> Table:
    """Read a document per line."""
    records = (
        item if isinstance(item, BadRecord) else Record(item[0], {"text": item[1].removesuffix("\r")})
        for item in numbered_lines(pieces, source.limits.max_document_bytes)
    )
    return Table("line", ("text",), records)


def open_text(source: Source) -> Table:
    """Read a file as one document."""
    return Table("file", ("text",), _document(source))


def _document(source: Source) -> Iterator[Record | BadRecord]:
    limit, encoding = source.limits.max_document_bytes, source.options.encoding
    reason = f"larger than {format_size(limit)} (max_document_bytes)"
    too_large = BadRecord(1, reason, f"is {reason}")
    data = bytearray()
    for piece in source.chunks():
        if not data and encoding is None and (what := looks_binary(piece[:8192])):
            yield BadRecord(1, f"not text ({what})", f"must be text; it looks like {what}")
            return
        data += piece
        if len(data) > limit:
            yield too_large
            return
    text = decode(bytes(data), source.name, encoding, source.log)
    # UTF-8 takes up to three times the bytes of another encoding.
    if 3 * len(data) > limit and len(text.encode("utf-8", "surrogatepass")) > limit:
        yield too_large
    else:
        yield Record(1, {"text": text})


FORMATS = (
    Reader("lines", lambda source: lines_table(source.text(), source), (".txt",)),
    Reader("text", open_text, one_document=True),
)
