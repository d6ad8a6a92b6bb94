"""A folder of files of any kind."""

import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from fnmatch import fnmatch
from functools import partial

from ..._outputs import is_run_folder
from ...errors import CorpusError
from .log import Log, quoted
from .many import Member
from .members import OWN, OWN_NOTE, members_table, skip_member
from .options import ReadOptions
from .registry import Reader, Source, Table
from .streams import open_source

_MAILDIR = ("cur", "new")  # the subfolders of a maildir that hold messages


def open_folder(source: Source) -> Table:
    """Read the files of a folder in the order of their paths; one document each, unless a format holds several."""
    return members_table(_members(source), source)


def _members(source: Source) -> Iterator[Member]:
    assert source.path is not None
    for path, relative, status in _files(source.path, source.options, source.log):
        mail = _in_maildir(path)
        when, reader = _iso_time(status.st_mtime), "mail" if mail else ""
        yield Member(relative, partial(open_source, path), when, path, reader, status.st_size)


def _in_maildir(path: str) -> bool:
    folder, kind = os.path.split(os.path.dirname(path))
    return kind in _MAILDIR and all(os.path.isdir(os.path.join(folder, other)) for other in (*_MAILDIR, "tmp"))


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
            skip_member(log, relative, "hidden (its name begins with a dot)")
            continue
        status = _status(item, relative, options, log)
        if status is None:
            continue
        if stat.S_ISDIR(status.st_mode):
            if _identity(status) in entered:
                skip_member(log, relative, "folder already entered through a link")
                continue
            entered.add(_identity(status))
            if is_run_folder(item.path):
                skip_member(log, relative, OWN)
                log.say(OWN_NOTE, relative)
                continue
            stack.append(iter(_entries(item.path, f"{relative}/", log)))
        elif not stat.S_ISREG(status.st_mode):
            skip_member(log, relative, "not a regular file (device, FIFO or socket)")
        elif not fnmatch(item.name, options.pattern):
            skip_member(log, relative, "name does not match pattern")
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
        skip_member(log, prefix, "folder could not be opened")
        return []
    return [(item, prefix + item.name) for item in items]


def _status(item: os.DirEntry[str], relative: str, options: ReadOptions, log: Log) -> os.stat_result | None:
    link, reason = item.is_symlink(), "symbolic link (follow_symlinks is off)"
    if not link or options.follow_symlinks:
        try:
            return item.stat(follow_symlinks=link)
        except OSError:
            reason = "symbolic link that leads nowhere or in a circle" if link else "could not be read"
    skip_member(log, relative, reason)
    return None


FORMATS = (Reader("folder", open_folder, needs_path=True),)
