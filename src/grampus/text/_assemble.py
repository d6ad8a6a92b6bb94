"""From records to a corpus: columns, ids, empty texts, and what to say about them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from functools import partial

from grampus.errors import CorpusError
from grampus.text._decode import Values
from grampus.text._options import ReadOptions
from grampus.text._report import Log, said, size
from grampus.text._rows import Bad, Row, Table
from grampus.text._store import Texts, mend
from grampus.text.corpus import Corpus

__all__ = ["Columns", "assemble"]

# Chinese, Japanese, Thai, Lao, Tibetan, Burmese and Khmer; Korean has spaces.
_UNSPACED = re.compile("[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")  # fmt: skip  # noqa: E501
_LOOK = 1000


@dataclass(frozen=True)
class Columns:
    """Which columns hold what; an id of None is a column ``id`` if there is one, else the record's number."""

    text: tuple[str, ...]
    id: str | None
    label: str | None
    title: str | None
    date: str | None

    def extras(self) -> tuple[str | None, str | None, str | None]:
        """Return the columns that a record may lack: label, title and date."""
        return self.label, self.title, self.date

    def named(self) -> list[str]:
        """Return every column that was asked for."""
        return [*self.text, *(column for column in (self.id, *self.extras()) if column is not None)]


class _UnusableError(Exception):
    """A record breaks a rule: the reason it is counted under, and what to say of it."""


@dataclass
class _Builder:
    """The corpus while it grows."""

    table: Table
    columns: Columns
    options: ReadOptions
    values: Values
    log: Log
    texts: Texts = field(default_factory=Texts)
    ids: Texts = field(default_factory=Texts)
    labels: list[str] = field(default_factory=list)
    titles: Texts = field(default_factory=Texts)
    dates: Texts = field(default_factory=Texts)
    seen: set[str] = field(default_factory=set)
    met: set[str] = field(default_factory=set)
    numbers: dict[str, int] = field(default_factory=dict)
    interned: dict[str, str] = field(default_factory=dict)
    id_column: str | None = None
    started: bool = False
    records: int = 0
    unlabelled: int = 0
    unspaced: int = 0

    def add(self, row: Row) -> None:
        """Take a record in, or leave it out by a stated rule; raise `_UnusableError` if it breaks one."""
        self.records += 1
        if not self.started:
            self.id_column = self.columns.id or ("id" if "id" in row.values else None)
            self.started = True
        text = self._text(row)
        if len(self.columns.text) > 1:
            self._fitting(text)
        if not text or text.isspace():
            if self.options.empty == "error":
                raise _UnusableError("empty text", "has an empty text (empty='skip' leaves such documents out)")
            if self.options.empty == "skip":
                self.log.skip("empty text")
                return
        label, title, when = map(partial(self._extra, row), self.columns.extras())
        identity = self._identity(row)
        if identity is None:
            return
        self._keep(text, identity, label, title, when)

    def _keep(self, text: str, identity: str, label: str | None, title: str | None, when: str | None) -> None:
        self.texts._append(text)
        if self.texts.nbytes > self.options.max_total_bytes:
            limit = self.options.max_total_bytes
            raise CorpusError(f"{self.table.name} must hold at most {size(limit)} of text (max_total_bytes).")
        self.ids._append(identity)
        if self.columns.label is not None:
            self.unlabelled += not label
            self.labels.append(self.interned.setdefault(label or "", label or ""))
        if self.columns.title is not None:
            self.titles._append(title or "")
        if self.columns.date is not None:
            self.dates._append(when or "")
        if not text.isascii():
            self._look(text[:_LOOK])

    def _look(self, text: str) -> None:
        """Count texts in a script without spaces, and replaced surrogates."""
        letters = sum(map(str.isalpha, text))
        self.unspaced += len(_UNSPACED.findall(text)) * 10 > letters * 3

    def _extra(self, row: Row, column: str | None) -> str | None:
        """Return a label, title or date; None where the record does not have it, as where it is null."""
        if column is None or column not in row.values:
            return None
        self.met.add(column)
        return self._value(row, column)

    def _text(self, row: Row) -> str:
        parts = [self._value(row, column, text=True) or "" for column in self.columns.text]
        return parts[0] if len(parts) == 1 else "\n\n".join(part for part in parts if part)

    def _value(self, row: Row, column: str | None, *, text: bool = False) -> str | None:
        if column is None:
            return None
        if column not in row.values:
            raise _UnusableError("missing column", f"has no column {said(column)!r}; it has {_listed(row.values)}")
        value = row.values[column]
        if isinstance(value, str):
            found: str | None = value
        elif isinstance(value, bytes):
            place = f"{self.table.name} {self.table.unit} {row.place}"
            found = self.values.decode(value, place)
        else:
            found = _spelled(value, column, text)
        return None if found is None else self._fitting(found)

    def _fitting(self, value: str) -> str:
        """Return a value that has a UTF-8 form of at most `max_document_bytes`."""
        length = len(value)
        if not value.isascii():
            try:
                length = len(value.encode("utf-8"))
            except UnicodeEncodeError:
                self.log.note("lone surrogates, which are not characters, became U+FFFD", self.table.name)
                value = mend(value)
                length = len(value.encode("utf-8"))
        if length > self.options.max_document_bytes:
            raise _UnusableError(
                "record too long", f"is longer than {size(self.options.max_document_bytes)} (max_document_bytes)"
            )
        return value

    def _identity(self, row: Row) -> str | None:
        """Return the document's id, or None if it is to be left out."""
        if self.id_column is None:
            return str(self.records)
        identity = self._value(row, self.id_column)
        if not identity:
            raise _UnusableError("no id", f"has no id in column {said(self.id_column)!r}")
        if identity in self.seen:
            if self.options.duplicate_ids == "skip":
                self.log.skip("id seen before")
                return None
            if self.options.duplicate_ids == "error":
                raise _UnusableError(
                    "id seen before",
                    f"has the id {said(identity)!r}, which was seen before; choose another column with "
                    "id=, or duplicate_ids='number' or 'skip' in ReadOptions",
                )
            identity = self._numbered(identity)
        self.seen.add(identity)
        return identity

    def _numbered(self, identity: str) -> str:
        number = self.numbers.get(identity, 1)
        while True:
            number += 1
            candidate = f"{identity}#{number}"
            if candidate not in self.seen:
                self.numbers[identity] = number
                return candidate

    def corpus(self, source: str) -> Corpus:
        """Close the books: notes, and the corpus itself."""
        log = self.log
        if not len(self.texts):
            left = ", ".join(f"{count} × {said(reason)}" for reason, count in log.skipped.items())
            raise CorpusError(
                f"{source} must hold at least one document; none was found (left out: {left or 'nothing'})."
            )
        absent = next((c for c in self.columns.extras() if c is not None and c not in self.met), None)
        if absent is not None:
            raise CorpusError(f"{source} must have a column {said(absent)!r}; no record has it.")
        if self.unlabelled:
            log.note(f"{self.unlabelled} documents have no label; theirs is the empty string")
        if self.unspaced * 10 >= len(self.texts):
            log.note(
                f"{self.unspaced} of {len(self.texts)} documents are in a script written without "
                "spaces, where words cannot be told apart; use a string kernel such as 'spectrum(3)' on the "
                "texts, not terms"
            )
        self.seen.clear()
        self.ids._distinct = True
        return Corpus(
            texts=self.texts,
            ids=self.ids,
            labels=None if self.columns.label is None else tuple(self.labels),
            titles=None if self.columns.title is None else self.titles,
            dates=None if self.columns.date is None else self.dates,
            source=source,
            skipped=dict(log.skipped),
            notes=tuple(log.notes()),
        )


def _spelled(value: object, column: str, text: bool) -> str | None:
    """Return a value that is not a string as one; None if it is missing."""
    if value is None or value != value:  # NaN  # noqa: PLR0124
        return None
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, bool) and not text:
        return "true" if value else "false"
    if isinstance(value, int | float | Decimal) and not text:
        return str(value)
    kind = "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else type(value).__name__
    raise _UnusableError("not a string", f"must have a string in column {said(column)!r}; it has {kind}")


def _listed(names: Mapping[str, object]) -> str:
    return said(", ".join(map(str, names))) or "none"


def assemble(
    table: Table, columns: Columns, options: ReadOptions, *, encoding: str | None, on_error: str, log: Log
) -> Corpus:
    """Read a table to its end and return the corpus."""
    if table.columns is not None:
        for column in columns.named():
            if column not in table.columns:
                have = said(", ".join(table.columns), 300)
                raise CorpusError(f"{table.name} must have a column {said(column)!r}; its columns are: {have}.")
    builder = _Builder(table, columns, options, Values(encoding, log), log)
    for item in table.rows:
        bad = item if isinstance(item, Bad) else None
        if isinstance(item, Row):
            try:
                builder.add(item)
            except _UnusableError as problem:
                bad = Bad(item.place, *problem.args)
        if bad is not None:
            if on_error == "raise":
                advice = "" if "ReadOptions" in bad.reason else "; on_error='skip' leaves such records out"
                raise CorpusError(f"{table.name} {table.unit} {bad.place} {bad.reason}{advice}.")
            log.skip(bad.kind)
        if not len(builder.texts) & 255:
            log.tell(len(builder.texts))
    log.tell(len(builder.texts), last=True)
    return builder.corpus(table.name)
