"""Plain text: a document per line, paragraph, page or file, chosen by looking unless the caller says."""

from collections.abc import Iterator
from functools import partial
from itertools import chain, pairwise

from ..._config import format_size
from ...errors import CorpusError
from .decode import decode, first_pieces, is_noise, looks_binary
from .registry import BadRecord, Reader, Record, Source, Table

_LOOK = 1 << 16  # characters of a file that decide how it is split
_LONGEST_HEADING = 100
_SHORTEST_WRAPPED, _LONGEST_WRAPPED = 45, 120
_SENTENCE_ENDS = (".", "!", "?", ":", ";", "…", "。", '."', ".”")
UNITS = {"lines": "line", "paragraphs": "paragraph", "pages": "page", "file": "file"}
_TEXT = (
    ".txt", ".text", ".asc", ".me",
    ".py", ".pyi", ".r", ".jl", ".m", ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".cu", ".cs", ".java", ".kt", ".scala",
    ".go", ".rs", ".swift", ".js", ".mjs", ".jsx", ".ts", ".tsx", ".css", ".scss", ".php", ".pl", ".pm", ".rb", ".lua",
    ".sh", ".bash", ".zsh", ".ps1", ".bat", ".sql", ".f90", ".hs", ".ml", ".clj", ".ex", ".erl", ".el", ".lisp", ".vb",
    ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".diff", ".patch", ".bib",
)  # fmt: skip


def split_lines(pieces: Iterator[str], limit: int) -> Iterator[str | None]:
    """Split text at line feeds only; None stands for a line of more than `limit` characters."""
    start: list[str] = []
    length = 0
    for piece in pieces:
        *ends, rest = piece.split("\n")
        for end in ends:
            length += len(end)
            line = "".join([*start, end]) if start else end
            yield line if length <= limit else None
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
        yield _too_long(number, limit) if line is None else (number, line)


def _too_long(number: int, limit: int) -> BadRecord:
    return BadRecord(number, "record too long", f"is longer than {format_size(limit)} (max_document_bytes)")


def lines_table(pieces: Iterator[str], source: Source) -> Table:
    """Read a document per line."""
    records = (
        item if isinstance(item, BadRecord) else Record(item[0], {"text": item[1].removesuffix("\r")})
        for item in numbered_lines(pieces, source.limits.max_document_bytes)
    )
    return Table("line", ("text",), records)


def _blocks(pieces: Iterator[str], limit: int, *, pages: bool) -> Iterator[Record | BadRecord]:
    """Yield the paragraphs, which blank lines end, or the pages, which form feeds end."""
    block: list[str] = []
    number, length = 1, 0

    def taken() -> Iterator[Record | BadRecord]:
        nonlocal block, number, length
        text = "\n".join(block).strip("\n")
        if length > limit:
            yield _too_long(number, limit)
        elif text and not text.isspace():
            yield Record(number, {"text": text})
        else:
            return
        block, number, length = [], number + 1, 0

    for line in split_lines(pieces, limit):
        parts = [""] if line is None else line.removesuffix("\r").split("\f") if pages else [line.removesuffix("\r")]
        for at, part in enumerate(parts):
            if at or (not pages and line is not None and not part.strip()):
                yield from taken()
            length += limit + 1 if line is None else len(part) + 1
            if length <= limit:
                block.append(part)
    yield from taken()


def guess_split(text: str) -> str:
    """Return how a text is most likely divided into documents: ``lines``, ``paragraphs``, ``pages`` or ``file``.

    Form feeds are ends of pages. Blocks of several lines between blank lines are paragraphs. Lines of nearly the same
    length that go on in the next one, in lower case, are wrapped prose: one document. Everything else is a document per
    line.
    """
    if "\f" in text.strip():
        return "pages"
    lines = [line.strip() for line in text.strip().split("\n")]
    blocks = [len(block.split("\n")) for block in "\n".join(lines).split("\n\n") if block.strip()]
    several = sum(length > 1 for length in blocks)
    if len(blocks) > 1:
        return "paragraphs" if several * 3 >= len(blocks) else "lines"
    longest = max(map(len, lines))
    full = sum(len(line) >= 0.75 * longest for line in lines)
    going_on = sum(not line.endswith(_SENTENCE_ENDS) and next_line[:1].islower() for line, next_line in pairwise(lines))
    wrapped = _SHORTEST_WRAPPED <= longest <= _LONGEST_WRAPPED and 5 * min(going_on, full) >= 2 * len(lines)
    return "file" if wrapped and len(lines) > 2 else "lines"


def first_heading(text: str) -> str:
    """Return the first line if it is short, stands alone and does not end like a sentence; else nothing."""
    heading, _, rest = text.lstrip("\ufeff \t\r\n")[: 4 * _LONGEST_HEADING].partition("\n")
    alone = heading and rest.lstrip(" \t\r").startswith("\n")
    heading = heading.strip()
    return heading if alone and len(heading) <= _LONGEST_HEADING and not heading.endswith(_SENTENCE_ENDS) else ""


def open_plain(source: Source, split: str = "auto") -> Table:
    """Read text by `ReadOptions.split`; by default a member of a folder is one document, a single file is looked at."""
    if source.options.split != "auto":
        split = source.options.split
    elif source.member:
        split = "file"
    if split == "file":
        return Table("file", ("text", "title"), _document(source), title="title")
    return plain_table(_readable(source), source, split)


def _readable(source: Source) -> Iterator[str]:
    """Yield the text of a file; refuse bytes that are none."""
    for number, piece in enumerate(source.text()):
        if not number and source.options.encoding is None and is_noise(piece[:_LOOK]):
            raise CorpusError(f"{source.name} must be text; it looks like binary data.")
        yield piece


def plain_table(pieces: Iterator[str], source: Source, split: str) -> Table:
    """Read a document per line, paragraph or page, or whichever the start of the text looks like."""
    if split == "auto":
        head = "".join(first_pieces(pieces, _LOOK))
        split = guess_split(head if len(head) < _LOOK else head[: head.rfind("\n", 0, _LOOK) + 1] or head[:_LOOK])
        pieces = chain([head], pieces)
        source.log.say(f"each {UNITS[split]} is a document (split= to change)", source.name)
    if split == "file":
        records = _joined(pieces, source.limits.max_document_bytes)
        return Table("file", ("text", "title"), records, title="title")
    if split == "lines":
        return lines_table(pieces, source)
    records = _blocks(pieces, source.limits.max_document_bytes, pages=split == "pages")
    return Table(UNITS[split], ("text",), records)


def _joined(pieces: Iterator[str], limit: int) -> Iterator[Record | BadRecord]:
    text = "".join(first_pieces(pieces, limit + 1))
    yield _too_long(1, limit) if len(text) > limit else Record(1, {"text": text, "title": first_heading(text)})


def _document(source: Source) -> Iterator[Record | BadRecord]:
    limit, encoding = source.limits.max_document_bytes, source.options.encoding
    data = bytearray()
    for piece in source.chunks():
        if not data and encoding is None and (what := looks_binary(piece[:8192])):
            yield BadRecord(1, f"not text ({what})", f"must be text; it looks like {what}")
            return
        data += piece
        if len(data) > limit:
            yield BadRecord.too_large(1, limit)
            return
    text = decode(bytes(data), source.name, encoding, source.log)
    # UTF-8 takes up to three times the bytes of another encoding.
    if 3 * len(data) > limit and len(text.encode("utf-8", "surrogatepass")) > limit:
        yield BadRecord.too_large(1, limit)
    else:
        yield Record(1, {"text": text, "title": first_heading(text)})


FORMATS = (
    Reader("lines", partial(open_plain, split="lines"), (".log",)),
    Reader("text", partial(open_plain, split="file"), in_folder=True),
    Reader("plain", open_plain, _TEXT, in_folder=True),
)
