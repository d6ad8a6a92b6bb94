"""From records to a corpus: columns, ids, empty texts, and notes about them."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from ..._config import format_size
from ..._names import number_of
from ...errors import CorpusError
from ..corpus import Corpus
from ..store import Texts, replace_surrogates
from .dates import normalise_dates
from .decode import ValueDecoder
from .guess import Columns, find_columns, suggest
from .log import quoted
from .registry import BadRecord, Record, Source, Table


class _RecordError(Exception):
    """A record breaks a rule: the kind of problem, and the reason."""


class DistinctIds:
    """The ids of a collection, as they come.

    Examples
    --------
    >>> from grampus.text.readers.assemble import DistinctIds
    >>> ids = DistinctIds()
    >>> [ids.add(one) for one in ("x", "x#2", "x", "y")]
    ['x', 'x#2', 'x#3', 'y']
    """

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._last: dict[str, int] = {}

    def __contains__(self, identity: str) -> bool:
        return identity in self._seen

    def add(self, identity: str) -> str:
        """Return an id that was not seen before: this one, or with the next free number."""
        found = identity
        if found in self._seen:
            number = self._last.get(identity, 1)
            while found in self._seen:
                number += 1
                found = f"{identity}#{number}"
            self._last[identity] = number
        self._seen.add(found)
        return found


@dataclass
class _Builder:
    """A corpus under construction."""

    source: Source
    table: Table
    asked: Columns
    columns: Columns
    values: ValueDecoder
    texts: Texts = field(default_factory=Texts)
    ids: Texts = field(default_factory=Texts)
    labels: list[str] = field(default_factory=list)
    titles: Texts = field(default_factory=Texts)
    dates: Texts = field(default_factory=Texts)
    numbers: dict[str, list[Any]] = field(default_factory=dict)
    distinct: DistinctIds = field(default_factory=DistinctIds)
    columns_seen: set[str] = field(default_factory=set)
    interned: dict[str, str] = field(default_factory=dict)
    records: int = 0
    size: int = 0  # of all texts, in bytes
    missing: int = 0
    renamed: int = 0
    unlabelled: int = 0

    def __post_init__(self) -> None:
        self.limits, self.optional = self.source.limits, self.columns.optional()

    def add(self, record: Record) -> None:
        """Take a record in, or skip it by a stated rule; raise `_RecordError` if it breaks one."""
        self.records += 1
        text = self._text(record)
        if not text or text.isspace():
            empty = self.source.options.empty
            if empty == "error":
                raise _RecordError("empty text", "has an empty text (empty='skip' leaves such documents out)")
            if empty == "skip":
                self.source.log.skip("empty text")
                return
        label, title, when = [None if column is None else self._optional(record, column) for column in self.optional]
        numbers = {column: self._numbers(record, column) for column in self.source.options.numbers}
        identity = self._id(record)
        if identity is None:
            return
        for column, value in numbers.items():
            self.numbers.setdefault(column, []).append(value)
        self.size += self.texts._append(text)
        if self.size > self.limits.max_total_bytes:
            limit = format_size(self.limits.max_total_bytes)
            raise CorpusError(f"{self.source.name} must hold at most {limit} of text (max_total_bytes).")
        self.ids._append(identity)
        if self.columns.label is not None:
            self.unlabelled += not label
            self.labels.append(self.interned.setdefault(label or "", label or ""))
        if self.columns.title is not None:
            self.titles._append(title or "")
        if self.columns.date is not None:
            self.dates._append(when or "")

    def _text(self, record: Record) -> str:
        if len(self.columns.text) == 1:
            return self._value(record, self.columns.text[0], text=True) or ""
        parts = [self._value(record, column, text=True) or "" for column in self.columns.text]
        return self._checked("\n\n".join(part for part in parts if part))

    def _optional(self, record: Record, column: str) -> str | None:
        """Return a label, title or date; None where the record lacks it, as where it is null."""
        if column not in record.values:
            return None
        self.columns_seen.add(column)
        return self._value(record, column)

    def _numbers(self, record: Record, column: str) -> float | list[float]:
        """Return a finite number, or a list of as many of them as the records before have."""
        given = self._held(record, column)
        try:
            value = [float(each) for each in given] if isinstance(given, list | tuple) else float(given)
        except (TypeError, ValueError, OverflowError):
            value = math.nan
        values = value if isinstance(value, list) else [value]
        if not values or not all(map(math.isfinite, values)):
            raise _RecordError("not a number", f"must have a finite number in column {quoted(column)!r}")
        first = self.numbers.get(column, [value])[0]
        if (len(first) if isinstance(first, list) else 1) != len(values):
            raise _RecordError("not a number", f"must have as many numbers as the others in column {quoted(column)!r}")
        return value

    def _held(self, record: Record, column: str) -> Any:
        """Return the value of a column that the record must have."""
        if column not in record.values:
            have = quoted(", ".join(map(str, record.values))) or "none"
            hint = suggest(column, record.values).replace("Did", "did", 1).removesuffix("?")
            question = f" ({hint.strip()}?)" if hint else ""
            raise _RecordError("missing column", f"has no column {quoted(column)!r}{question}; it has {have}")
        return record.values[column]

    def _value(self, record: Record, column: str, *, text: bool = False) -> str | None:
        value = self._held(record, column)
        if isinstance(value, str):
            return self._checked(value)
        self.missing += text and value is None
        if isinstance(value, bytes):
            found: str | None = self.values.decode(value, f"{self.source.name} {self.table.unit} {record.number}")
        else:
            found = _as_string(value, column, text)
        return None if found is None else self._checked(found)

    def _checked(self, value: str) -> str:
        """Return a value that has a UTF-8 form of at most `max_document_bytes`."""
        length = len(value)
        if not value.isascii():
            try:
                length = len(value.encode("utf-8"))
            except UnicodeEncodeError:
                self.source.log.note("lone surrogates, which are not characters, became U+FFFD", self.source.name)
                value = replace_surrogates(value)
                length = len(value.encode("utf-8"))
        limit = self.limits.max_document_bytes
        if length > limit:
            raise _RecordError("record too long", f"is longer than {format_size(limit)} (max_document_bytes)")
        return value

    def _id(self, record: Record) -> str | None:
        """Return the document's id, or None if it is to be left out."""
        column = self.columns.id
        if column is None:
            return str(self.records)
        identity = self._value(record, column)
        if not identity:
            raise _RecordError("no id", f"has no id in column {quoted(column)!r}")
        if identity in self.distinct:
            rule = self.source.options.duplicate_ids
            if rule == "auto":
                rule = "number" if self.asked.id is None else "error"
            if rule == "skip":
                self.source.log.skip("id seen before")
                return None
            if rule == "error":
                raise _RecordError(
                    "id seen before",
                    f"has the id {quoted(identity)!r}, which was seen before; choose another column with "
                    "id=, or duplicate_ids='number' or 'skip' in ReadOptions",
                )
            self.renamed += 1
        return self.distinct.add(identity)

    def corpus(self) -> Corpus:
        """Check what was found and return the corpus."""
        name, log, columns = self.source.name, self.source.log, self.columns
        if not len(self.texts):
            skipped = ", ".join(f"{count} × {quoted(reason)}" for reason, count in log.skipped.items())
            place = f"the folder {name}" if self.table.of_files and not self.source.archive else name
            left = f" All were left out: {skipped}." if skipped else ""
            raise CorpusError(f"There are no documents in {place}.{left}")
        asked = (self.asked.label, self.asked.title, self.asked.date)
        for given, column in zip(asked, columns.optional(), strict=True):
            if given is not None and column not in self.columns_seen:
                raise CorpusError(f"{name} must have a column {quoted(given)!r}; no record has it.")
        if self.missing and len(columns.text) == 1:
            log.say(f"{self.missing} of {self.records} texts are missing (null)")
        if self.renamed and self.source.options.duplicate_ids == "auto":
            many = number_of(self.renamed, "repeated id was", "repeated ids were")
            log.note(f"{many} numbered, such as x#2 (id= names another column)")
        if self.unlabelled:
            log.note(f"{number_of(self.unlabelled, 'document has', 'documents have')} no label; it is the empty string")
        self.distinct = DistinctIds()
        self.ids._distinct = True
        dates = self._dates()
        return Corpus(
            texts=self.texts,
            ids=self.ids,
            labels=None if columns.label is None else tuple(self.labels),
            titles=self.titles if self.asked.title is not None or any(self.titles) else None,
            dates=dates,
            source=name,
            skipped=dict(log.skipped),
            notes=tuple(log.notes()),
            files=log.files,
            inputs=self.numbers,
        )

    def _dates(self) -> list[str] | None:
        if self.columns.date is None or not (self.asked.date is not None or any(self.dates)):
            return None
        dates, notes = normalise_dates(list(self.dates), self.source.options.day_first)
        for note in notes:
            self.source.log.note(note)
        return dates


def _as_string(value: object, column: str, text: bool) -> str | None:
    """Return a value that is not a string as one; None if it is missing."""
    if value is None or value != value:  # NaN  # noqa: PLR0124
        return None
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, bool) and not text:
        return "true" if value else "false"
    if isinstance(value, int | float | Decimal) and not text:
        return str(value)
    kind = "a list" if isinstance(value, list) else "an object" if isinstance(value, Mapping) else type(value).__name__
    raise _RecordError("not a string", f"must have a string in column {quoted(column)!r}; it has {kind}")


def assemble(table: Table, columns: Columns, source: Source) -> Corpus:
    """Read a table to its end and return the corpus."""
    return next(assemble_pieces(table, columns, source))


def assemble_pieces(
    table: Table, columns: Columns, source: Source, documents: float = math.inf, size: float = math.inf
) -> Iterator[Corpus]:
    """Read a table to its end and yield it as corpora of at most so many documents and about so many bytes.

    Ids are told apart within each. There is at least one corpus.
    """
    asked, (columns, table) = columns, find_columns(table, columns, source)
    values = ValueDecoder(source.options.encoding, source.log)
    builder, done = _Builder(source, table, asked, columns, values), 0
    for item in table.records:
        bad = item if isinstance(item, BadRecord) else None
        if isinstance(item, Record):
            try:
                builder.add(item)
            except _RecordError as problem:
                bad = BadRecord(item.number, *problem.args)
        if bad is not None:
            if source.options.on_error == "raise":
                advice = "" if "ReadOptions" in bad.reason else "; on_error='skip' leaves such records out"
                raise CorpusError(f"{source.name} {table.unit} {bad.number} {bad.reason}{advice}.")
            source.log.skip(bad.kind)
        count = len(builder.texts)
        if not count & 255:
            source.log.report(done + count)
        if count >= documents or builder.size >= size:
            done += count
            yield builder.corpus()
            seen = {"columns_seen": builder.columns_seen, "records": builder.records}
            builder = _Builder(source, table, asked, columns, values, **seen)  # type: ignore[arg-type]
    if len(builder.texts) or not done:
        source.log.report(done + len(builder.texts), last=True)
        yield builder.corpus()
