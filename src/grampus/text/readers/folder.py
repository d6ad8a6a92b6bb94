"""A folder of files, one document each."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from fnmatch import fnmatch

from ...errors import CorpusError
from .lines import open_text
from .log import Log, quoted
from .options import ReadOptions
from .registry import BadRecord, Reader, Record, Source, Table, find_reader
from .streams import open_source

_PATH = 1 << 16  # longer than any path
_COLUMNS = ("text", "path", "name", "folder", "modified")


def open_folder(source: Source) -> Table:
    """Read one document per file, in the order of the paths."""
    return Table("file", _COLUMNS, _records(source), id="path")


def _records(source: Source) -> Iterator[Record]:
    assert source.path is not None
    for number, (path, relative, status) in enumerate(_files(source.path, source.options, source.log), 1):
        text = _document(path, quoted(relative), source)
        if text is None:
            continue
        escaped = quoted(relative.replace("\\", r"\\"), _PATH)  # so that the byte ff and the text \xff differ
        parts = escaped.split("/")
        values = {
            "text": text,
            "path": escaped,
            "name": parts[-1],
            "folder": parts[0] if len(parts) > 1 else "",
            "modified": _iso_time(status.st_mtime),
        }
        yield Record(number, values)


def _document(path: str, name: str, source: Source) -> object | None:
    """Return the text of a file, or None after counting why it was skipped."""
    try:
        with ExitStack() as cleanup:
            stream = cleanup.enter_context(open_source(path))
            reader = find_reader(path, stream, one_document=True)
            member = replace(source, name=name, stream=stream, path=path, cleanup=cleanup)
            record = next((reader.open if reader else open_text)(member).records, BadRecord(1, "empty text", ""))
    except CorpusError as error:
        source.log.skip("could not be read")
        source.log.note("files that could not be read were left out", f"{name} ({error})")
        return None
    if isinstance(record, BadRecord):
        source.log.skip(record.kind)
        return None
    return record.values.get("text")


def _iso_time(seconds: float) -> str:
    """Return a time of the file system in ISO 8601; empty if no calendar reaches it."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""


def _files(folder: str, options: ReadOptions, log: Log) -> Iterator[tuple[str, str, os.stat_result]]:
    """Walk the folder without recursion; yield path, path below the folder, and status of files to read."""
    entered = {_identity(os.stat(folder))}
    stack = [iter(_entries(folder, "", log, top=True))]
    while stack:
        entry = next(stack[-1], None)
        if entry is None:
            stack.pop()
            continue
        item, relative = entry
        if item.name.startswith(".") and not options.hidden:
            log.skip("hidden (its name begins with a dot)")
            continue
        status = _status(item, options, log)
        if status is None:
            continue
        if stat.S_ISDIR(status.st_mode):
            if _identity(status) in entered:
                log.skip("folder already entered through a link")
                continue
            entered.add(_identity(status))
            stack.append(iter(_entries(item.path, f"{relative}/", log)))
        elif not stat.S_ISREG(status.st_mode):
            log.skip("not a regular file (device, FIFO or socket)")
        elif not fnmatch(item.name, options.pattern):
            log.skip("name does not match pattern")
        else:
            yield item.path, relative, status


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _entries(folder: str, prefix: str, log: Log, *, top: bool = False) -> list[tuple[os.DirEntry[str], str]]:
    try:
        with os.scandir(folder) as found:
            items = sorted(found, key=lambda item: os.fsencode(item.name))
    except OSError as error:
        if top:
            raise CorpusError(f"{quoted(folder)} must be a readable folder ({error.strerror}).") from error
        log.skip("folder could not be opened")
        return []
    return [(item, prefix + item.name) for item in items]


def _status(item: os.DirEntry[str], options: ReadOptions, log: Log) -> os.stat_result | None:
    try:
        if item.is_symlink():
            if not options.follow_symlinks:
                log.skip("symbolic link (follow_symlinks is off)")
                return None
            try:
                return os.stat(item.path)
            except OSError:
                log.skip("symbolic link that leads nowhere or in a circle")
                return None
        return item.stat(follow_symlinks=False)
    except OSError:
        log.skip("could not be read")
        return None


FORMATS = (Reader("folder", open_folder, needs_path=True),)
