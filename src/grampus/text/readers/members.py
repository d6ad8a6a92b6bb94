"""The files of a folder or an archive: each through its reader, and a record of what became of it."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import date
from itertools import chain, islice

from ..._outputs import is_output
from ...errors import CorpusError, MissingExtraError
from ..files import FileRecord
from .guess import Columns, find_columns
from .log import Log, quoted
from .many import FOUND, Member, read_members
from .registry import READERS, BadRecord, Reader, Record, Source, Table, find_reader, read_head

PATH_LENGTH = 1 << 16  # longer than any path
OWN = "written by Grampus"
OWN_NOTE = "what Grampus wrote earlier was left out"
_REASONS = 3  # of the files of an archive that are left out
_COLUMNS = ("text", "path", "name", "folder", "modified", "title", "date")


class _LeftOutError(Exception):
    """A file is left out."""


def members_table(members: Iterator[Member], source: Source) -> Table:
    """Read each member; one that cannot be read is left out with its reason, and the rest is read."""
    return Table("file", _COLUMNS, _numbered(members, source), id="path", title="title", date="date", of_files=True)


def _numbered(members: Iterator[Member], source: Source) -> Iterator[Record]:
    values = read_members(_member_values, members, source)
    yield from (Record(number, record) for number, record in enumerate(values, 1))
    asked = _asked(source)
    if asked and not source.member and not (source.shared or {}).get(FOUND):
        reasons = [file.reason for file in source.log.files if f"column {asked[0]!r}" in file.reason]
        why = f": {reasons[0].removeprefix('could not be read (').removesuffix('.)')}" if reasons else ""
        raise CorpusError(f"{source.name} must hold a table with a column {asked[0]!r}{why}.")


def _asked(source: Source) -> tuple[str, ...]:
    """Return the columns of the text that tables must have: what was asked for and is none of the files themselves."""
    return tuple(quoted(name) for name in source.asked if name not in _COLUMNS)


def skip_member(log: Log, path: str, reason: str) -> None:
    """Count a file that is left out."""
    log.skip(reason)
    log.files.append(FileRecord(quoted(path, PATH_LENGTH), "", 0, reason))


def _member_values(member: Member, source: Source) -> Iterator[dict[str, object]]:
    escaped = quoted(member.path.replace("\\", r"\\"), PATH_LENGTH)  # so that the byte ff and the text \xff differ
    name, log = quoted(member.path), source.log
    parts = escaped.split("/")
    shared: dict[str, object] = {
        "name": parts[-1],
        "folder": parts[0] if len(parts) > 1 else "",
        "modified": member.modified,
    }
    reader: Reader | None = None
    documents, reasons = 0, list[str]()
    before = len(log.files)
    try:
        with ExitStack() as cleanup:
            stream = cleanup.enter_context(member.open())
            if is_output(stream):
                log.say(OWN_NOTE, name)
                raise _LeftOutError(OWN)
            head = read_head(stream)
            reader = READERS[member.reader] if member.reader else find_reader(member.path, head, in_folder=True)
            reader = reader or READERS["text"]
            inner = replace(source, name=name, stream=stream, path=member.full_path, cleanup=cleanup, member=True)
            if reader.tabular and not (source.options.split == "file" and not reader.needs_path):
                records = _rows(reader, inner)
            else:
                reader = READERS["text"] if reader.tabular else reader
                records = reader.open(inner).records
            first = list(islice(records, 2))
            several = len(first) > 1
            for record in chain(first, records):
                if isinstance(record, BadRecord):
                    log.skip(record.kind)
                    reasons.append(record.kind)
                    continue
                if source.options.empty == "skip" and not str(record.values.get("text") or "").strip():
                    log.skip("empty text")
                    reasons.append("empty text")
                    continue
                documents += 1
                path = f"{escaped}#{record.values.get('path', record.number)}" if several else escaped
                yield {"title": "", "date": "", **record.values, **shared, "path": path}
            inside = [file.reason for file in log.files[before:] if file.reason]
            reasons += inside[:_REASONS]
            if not (first or inside):
                log.skip("empty text")
                reasons.append("empty text")
    except _LeftOutError as error:
        log.skip(str(error))
        reasons.append(str(error))
    except MissingExtraError as error:
        reasons.append(_left_out(source, name, str(error), "needs a library that is not installed"))
    except CorpusError as error:
        reasons.append(_left_out(source, name, str(error), "could not be read"))
    del log.files[before:]  # the members of an archive in a folder count as documents of that archive
    log.files.append(FileRecord(escaped, reader.name if reader else "", documents, "; ".join(dict.fromkeys(reasons))))


def _rows(reader: Reader, source: Source) -> Iterator[Record | BadRecord]:
    """Yield the rows of a table with the columns that the files of a folder have, and say which was read."""
    table = reader.open(replace(source, wanted=None))
    columns, table = find_columns(table, Columns(_asked(source)), replace(source, log=Log()))
    if source.asked and source.shared is not None:
        source.shared[FOUND] = True
    how = "a row of a table is a document (split='file' reads a table of text as one)"
    source.log.say(how, f"{source.name} ({columns.text[0]})")
    for record in table.records:
        yield record if isinstance(record, BadRecord) else _row(record, columns, source)


def _row(record: Record, columns: Columns, source: Source) -> Record | BadRecord:
    """Return the text, id, title and date of a row; what does not fit leaves out the row, not the folder."""
    text = record.values.get(columns.text[0])
    if len(columns.text) > 1:
        text = "\n\n".join(str(value) for name in columns.text if (value := record.values.get(name)) is not None)
    if not isinstance(text, str | bytes | None):
        return BadRecord(record.number, "not a string", "must have a string as its text")
    limit = source.limits.max_document_bytes
    data = text.encode("utf-8", "replace") if isinstance(text, str) and 4 * len(text) > limit else text
    if data and len(data) > limit:
        return BadRecord.too_large(record.number, limit)
    values: dict[str, object] = {"text": text}
    for name, column in (("path", columns.id), ("title", columns.title), ("date", columns.date)):
        value = None if column is None else record.values.get(column)
        if isinstance(value, str | int | float | date) and str(value) not in ("", "nan"):
            values[name] = quoted(value) if name == "path" else value
    return Record(record.number, values)


def _left_out(source: Source, name: str, error: str, reason: str) -> str:
    source.log.skip(reason)
    source.log.note("files that could not be read were left out", f"{name} ({error})")
    return f"{reason} ({error})" if reason == "could not be read" else error
