"""Files that appear whole or not at all: written beside their place, brought to the disk, then renamed."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

_STALE = 3600.0  # seconds after which what a killed process left behind is removed


def temporary(path: Path) -> Path:
    """Return a fresh name beside a path, hidden, that tells what it belongs to."""
    return path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")


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
