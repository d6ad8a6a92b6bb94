"""What readers of documents share: pages, a title and a date become one record or several."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .lines import UNITS
from .registry import BadRecord, Record, Source, Table

_COLUMNS = ("text", "title", "date")
_PARAGRAPHS = re.compile(r"\n[ \t\r]*\n+")
_SPACES = re.compile(r"[ \t\xa0]+")
_BLANK_LINES = re.compile(r"\n{3,}")
_LONGEST_TITLE = 300


@dataclass(frozen=True)
class Extract:
    """The text of a document, by page, slide, sheet or chapter, and what is known about it."""

    pages: tuple[str, ...]
    title: str = ""
    date: str = ""


def tidy(text: str) -> str:
    """Return text with single spaces, no spaces around line ends and at most one blank line in a row."""
    lines = (_SPACES.sub(" ", line).strip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()


def one_line(text: str) -> str:
    """Return a title: one line, single spaces, not long."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_TITLE else line[: _LONGEST_TITLE - 1] + "…"


def choose_split(extract: Extract, source: Source) -> str:
    """Return how to split a document: by option, as one for a member, else pages or paragraphs if there are several."""
    if source.options.split != "auto":
        return source.options.split
    if source.member:
        return "file"
    several = sum(bool(page.strip()) for page in extract.pages) > 1
    split = "pages" if several else "paragraphs" if len(_parts(extract, "paragraphs")) > 1 else "file"
    source.log.say(f"each {UNITS[split]} is a document (split= to change)", source.name)
    return split


def _parts(extract: Extract, split: str) -> list[tuple[int, str]]:
    """Return the parts of a document: the number of each, from 1, and its text."""
    if split == "file":
        return [(1, "\n\n".join(page for page in extract.pages if page))]
    if split == "pages":
        texts: Iterable[str] = extract.pages
    else:
        separator = _PARAGRAPHS if split == "paragraphs" else re.compile("\n")
        texts = (part for page in extract.pages for part in separator.split(page))
    return [(number, text.strip()) for number, text in enumerate(texts, 1)]


def document_table(extract: Extract, source: Source) -> Table:
    """Return the records of one document."""
    split = choose_split(extract, source)
    return Table(UNITS[split], _COLUMNS, _records(extract, split, source), title="title", date="date")


def _records(extract: Extract, split: str, source: Source) -> Iterator[Record | BadRecord]:
    limit, title = source.limits.max_document_bytes, one_line(extract.title)
    for number, text in _parts(extract, split):
        if len(text) > limit:
            yield BadRecord.too_large(number, limit)
            continue
        if not text and split != "file":
            continue
        name = f"{title}, page {number}" if title and split == "pages" else title if split == "file" else ""
        yield Record(number, {"text": text, "title": name, "date": extract.date})


def bad_table(kind: str) -> Table:
    """Return the table of a file that holds no document, for a stated reason."""
    return Table("file", _COLUMNS, iter([BadRecord(1, kind, f"cannot be used: {kind}")]))
