"""Open files from elsewhere safely, and write files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ._config import format_size

_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_STALE = 3600.0  # seconds after which what a killed process left behind is removed


def open_regular(path: str | os.PathLike[str], limit: int | None = None) -> IO[bytes]:
    """Open a regular file for reading bytes; never wait for a FIFO or read from a device.

    A drop-in for ``open(path, "rb")`` wherever the path is not ours: everything that is wrong is an `OSError` with the
    reason in ``strerror``.

    Parameters
    ----------
    path : path
    limit : int, optional
        Largest size of the file in bytes.

    Raises
    ------
    OSError
        The file cannot be opened, is a folder, device, FIFO or socket, or is larger than `limit`.

    Examples
    --------
    >>> from grampus._files import open_regular
    >>> open_regular(os.devnull)
    Traceback (most recent call last):
    ...
    OSError: [Errno 22] not a regular file but a device, FIFO or socket: '/dev/null'
    """
    name = os.fspath(path)
    try:
        descriptor = os.open(path, _OPEN_FLAGS)
    except ValueError as error:  # a zero byte in the name
        raise OSError(errno.EINVAL, str(error), name) from error
    status = os.fstat(descriptor)
    if stat.S_ISDIR(status.st_mode):
        problem: OSError = IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    elif not stat.S_ISREG(status.st_mode):
        problem = OSError(errno.EINVAL, "not a regular file but a device, FIFO or socket", name)
    elif limit is not None and status.st_size > limit:
        reason = f"file too large: {format_size(status.st_size)}, at most {format_size(limit)}"
        problem = OSError(errno.EFBIG, reason, name)
    else:
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    raise problem


def temporary(path: Path) -> Path:
    """Return a fresh name beside a path, hidden, that tells what it belongs to."""
    return path.with_name(f".{path.name}.{os.urandom(6).hex()}.tmp")


def sync_folder(path: Path) -> None:
    """Bring the names in a folder to the disk, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_synced(path: Path, data: bytes | memoryview) -> None:
    """Write a new file and bring it to the disk."""
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def write_file(path: Path, data: bytes | memoryview) -> None:
    """Write a file in one step: whoever looks sees the old one or the new one, whole.

    Folders above it are made. A link stays, and what it leads to is written; a pipe or a device is written into.

    Examples
    --------
    >>> import tempfile
    >>> from grampus._files import write_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_file(Path(folder, "a.txt"), b"whale")
    ...     sorted(os.listdir(folder))
    ['a.txt']
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            file.write(data)
        return
    target = Path(os.path.realpath(path))
    beside = temporary(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_synced(beside, data)
        beside.replace(target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        if isinstance(error, OSError):  # name the file that was asked for, not the one beside it
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    sync_folder(target.parent)


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Give a folder to fill, and rename it to `path` at the end; after an error nothing is left.

    `path` must not be there, or be an empty folder.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_stale(path)
    beside = temporary(path)
    try:
        beside.mkdir()
        yield beside
        sync_folder(beside)
        beside.replace(path)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    sync_folder(path.parent)


def remove_stale(path: Path) -> None:
    """Remove what processes that were killed more than an hour ago left beside a path."""
    for left in path.parent.glob(f".{_literal(path.name)}.*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > _STALE:
                shutil.rmtree(left) if left.is_dir() else left.unlink()


def _literal(name: str) -> str:
    """Quote a name for use in a pattern."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
