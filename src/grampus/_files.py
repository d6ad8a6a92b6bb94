"""Open files from elsewhere safely, and write files that appear whole or not at all."""

import contextlib
import errno
import glob
import json
import os
import shutil
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from ._config import format_size
from .errors import InputError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_TAKEN = (errno.EAGAIN, errno.EACCES, errno.ENOENT, getattr(errno, "ESTALE", errno.ENOENT))  # or just removed
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


def read_json(path: Path, limit: int, what: str) -> Any:
    """Return the content of a JSON file of at most so many bytes; `what` it is to hold is named in the error."""
    try:
        with open_regular(path, limit) as stream:
            return json.loads(stream.read().decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not JSON"
        raise InputError(f"{path} cannot be read as {what}: {reason}.") from None


def temporary(path: Path) -> Path:
    """Return a new hidden name next to a path, derived from its name."""
    return path.with_name(f".{path.name}.{os.urandom(6).hex()}.tmp")


def sync_folder(path: Path) -> None:
    """Flush the entries of a folder to disk, where the system and its file system (some of a network) support it."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:  # a folder that may be written, not read
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        os.close(handle)


def write_synced(path: Path, data: bytes | memoryview) -> None:
    """Write a new file and flush it to disk."""
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def write_file(path: Path, data: bytes | memoryview) -> None:
    """Write a file atomically: a reader sees the old file or the new one, never a part.

    Missing parent folders are created. A link is followed; a pipe or a device is written to directly.

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
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, data)
        sync_folder(target.parent)
    except OSError as error:  # name the file that was asked for, not where a link leads
        reason = error.strerror or str(error) or type(error).__name__
        raise OSError(error.errno or errno.EIO, reason, str(path)) from error


def replace_file(path: Path, data: bytes | memoryview) -> None:
    """Put a new file in place of whatever has its name, in one step."""
    beside = temporary(path)
    try:
        with naming(path):
            write_synced(beside, data)
            beside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let an error of the system name a file that the user knows, `path` in place of none or of a temporary one.

    Examples
    --------
    >>> from grampus._files import naming
    >>> with naming(Path("run")):
    ...     raise OSError(errno.ENOSPC, "No space left on device")
    Traceback (most recent call last):
    ...
    OSError: [Errno 28] No space left on device: 'run'
    """
    try:
        yield
    except OSError as error:
        named = error.filename is not None and not isinstance(error.filename, int)
        if named and not any(part.endswith(".tmp") for part in Path(os.fsdecode(error.filename)).parts):
            raise
        reason = error.strerror or str(error) or type(error).__name__
        raise OSError(error.errno or errno.EIO, reason, str(path)) from error


@contextlib.contextmanager
def new_folder(path: Path, *, over: bool = False) -> Iterator[Path]:
    """Yield a folder to fill, and rename it to `path` at the end; after an error all is as before.

    `path` must not exist, or be an empty folder. With `over` it may be any folder, which is removed; a process that is
    killed between the two renames leaves it under a hidden name.
    """
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_stale(path)
        beside, aside = temporary(path), temporary(path)
        try:
            beside.mkdir()
            yield beside
            sync_folder(beside)
            if over and path.exists():
                path.replace(aside)
            beside.replace(path)
        except BaseException:
            if aside.exists():
                aside.replace(path)
            remove_folder(beside)
            raise
        try:
            sync_folder(path.parent)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from error
        finally:  # the new folder is there in any case
            remove_folder(aside)


@contextlib.contextmanager
def locked(path: Path, wait: float) -> Iterator[bool]:
    """Hold a lock file while the block runs, and remove it afterwards; yield False if it stayed taken.

    The operating system holds the lock (``flock``, or ``msvcrt.locking`` on Windows) and releases it when the process
    ends, however it ends: a file left by a killed process locks nothing. Where the file system has no locks, the block
    runs without one.

    Parameters
    ----------
    path : Path
        The lock file.
    wait : float
        Seconds to wait for another holder.

    Examples
    --------
    >>> import tempfile
    >>> from grampus._files import locked
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with locked(Path(folder, "lock"), 1.0) as first, locked(Path(folder, "lock"), 0.0) as second:
    ...         print(first, second)
    ...     os.listdir(folder)
    True False
    []
    """
    handle, end = None, time.monotonic() + wait
    try:
        while (handle := _try_lock(path)) is None and time.monotonic() < end:
            time.sleep(0.05)
        yield handle is not None
    finally:
        if handle is not None:
            _unlock(path, handle)


def _try_lock(path: Path) -> int | None:
    """Return a handle that holds the lock, or None."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
    try:
        held = _holds(path, handle)
    except BaseException:  # interrupted: the file goes if nobody else holds it
        taken = True
        with contextlib.suppress(OSError):
            taken = not _holds(path, handle)
        os.close(handle) if taken else _unlock(path, handle)
        raise
    if not held:
        os.close(handle)
    return handle if held else None


def _holds(path: Path, handle: int) -> bool:
    """Take the lock of an open file; return whether it is held and still the file of that name."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(handle), path.stat())  # not a file that its last holder has just removed
    except OSError as error:
        return error.errno not in _TAKEN


def _unlock(path: Path, handle: int) -> None:
    """Remove the lock file and let go; Windows removes no open file, so there the order is the other way round.

    A file that cannot be removed locks nobody: what was written under the lock is no less written.
    """
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            path.unlink()
    os.close(handle)
    if sys.platform == "win32":
        with contextlib.suppress(OSError):  # the next holder has opened it, and will remove it
            path.unlink()


def remove_folder(path: Path) -> None:
    """Remove a folder and all below it; what the system refuses is tried once more, and then left."""
    for _ in range(2):
        if os.path.lexists(path):
            shutil.rmtree(path, ignore_errors=True)


def remove_stale(path: Path) -> None:
    """Remove what processes killed more than an hour ago left next to a path."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.{'[0-9a-f]' * 12}.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > _STALE:
                shutil.rmtree(left) if left.is_dir() else left.unlink()
