"""Documents from a folder of text files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from fnmatch import fnmatch

from grampus.errors import CorpusError
from grampus.text._decode import decode, looks_binary
from grampus.text._options import ReadOptions
from grampus.text._report import Log, said, size
from grampus.text._rows import Row, Table
from grampus.text._streams import chunks, open_source

__all__ = ["folder_table"]

_PATH = 1 << 16  # longer than any path
COLUMNS = ("text", "path", "name", "folder", "modified")


def folder_table(folder: str, options: ReadOptions, encoding: str | None, log: Log) -> Table:
    """One document a file, in the order of the paths."""

    def rows() -> Iterator[Row]:
        for place, (path, relative, status) in enumerate(_files(folder, options, log), 1):
            name = said(relative)
            text = _document(path, name, options, encoding, log)
            if text is None:
                continue
            whole = said(relative.replace("\\", r"\\"), _PATH)  # so that the byte ff and the text \xff differ
            parts = whole.split("/")
            values = {
                "text": text,
                "path": whole,
                "name": parts[-1],
                "folder": parts[0] if len(parts) > 1 else "",
                "modified": _when(status.st_mtime),
            }
            yield Row(place, values)

    return Table(said(folder, _PATH), "file", COLUMNS, rows())


def _when(seconds: float) -> str:
    """Return a time of the file system as ISO 8601; empty if it is beyond what dates can say."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""


def _document(path: str, name: str, options: ReadOptions, encoding: str | None, log: Log) -> str | None:
    """Return a file's text, or None after counting why it was left out."""
    limit = options.max_document_bytes
    data = bytearray()
    try:
        with open_source(path) as stream:
            for piece in chunks(stream, name, options, log):
                if not data and encoding is None and (what := looks_binary(piece[:8192])):
                    log.skip(f"not text ({what})")
                    return None
                data += piece
                if len(data) > limit:
                    log.skip(f"larger than {size(limit)} (max_document_bytes)")
                    return None
    except CorpusError as error:
        log.skip("could not be read")
        log.note("files that could not be read were left out", f"{name} ({error})")
        return None
    text = decode(bytes(data), name, encoding, log)
    if 3 * len(data) > limit and len(text.encode("utf-8", "surrogatepass")) > limit:  # other encodings take less room
        log.skip(f"larger than {size(limit)} (max_document_bytes)")
        return None
    return text


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
            raise CorpusError(f"{said(folder)} must be a readable folder ({error.strerror}).") from error
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
