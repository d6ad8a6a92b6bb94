"""Bytes from files: regular files only, decompressed as a stream, within limits."""

from __future__ import annotations

import bz2
import lzma
import os
import stat
import zlib
from collections.abc import Iterator
from typing import IO, Any

from grampus.errors import CorpusError
from grampus.text._options import MiB, ReadOptions
from grampus.text._report import Log, said, size

__all__ = ["chunks", "open_regular"]

_CHUNK = 1 << 18
_RATIO_FLOOR = 32 * MiB
_XZ_MEMORY = 96 * MiB  # what `xz -9` needs is 65 MiB
_DIRECT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def open_regular(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a regular file; a device, FIFO or socket is refused and never waited for."""
    name = said(os.fspath(path))
    try:
        descriptor = os.open(path, os.O_RDONLY | _DIRECT)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CorpusError(f"{name} must be a readable file or folder; it cannot be opened ({said(reason)}).") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise CorpusError(f"{name} must be a regular file; it is a folder, device, FIFO or socket.")
    return os.fdopen(descriptor, "rb")


class _Gzip:
    """zlib's decompressor with the interface of the other two."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)


_KINDS: dict[bytes, tuple[str, Any]] = {
    b"\x1f\x8b": ("gzip", _Gzip),
    b"BZh": ("bzip2", bz2.BZ2Decompressor),
    b"\xfd7zXZ\x00": ("xz", lambda: lzma.LZMADecompressor(memlimit=_XZ_MEMORY)),
}


def chunks(stream: IO[bytes], name: str, options: ReadOptions, log: Log) -> Iterator[bytes]:
    """Yield a stream's bytes, decompressed if their first bytes say gzip, bzip2 or xz.

    Stops with an error at `max_total_bytes` and at `max_ratio`; never holds more than a chunk.
    """
    pieces = _raw(stream, name, log)
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= 6:
            break
    kind = next((kind for magic, kind in _KINDS.items() if head.startswith(magic)), None)
    whole = _chain(head, pieces)
    total = 0
    for piece in _expanded(whole, *kind, name, options, log) if kind else whole:
        total += len(piece)
        if total > options.max_total_bytes:
            raise CorpusError(
                f"{name} must hold at most {size(options.max_total_bytes)} (max_total_bytes); it holds more."
            )
        yield piece


def _chain(head: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if head:
        yield head
    yield from rest


def _raw(stream: IO[bytes], name: str, log: Log) -> Iterator[bytes]:
    while True:
        try:
            piece = stream.read(_CHUNK)
        except Exception as error:  # an open file may raise anything, gzip and lzma errors of their own
            raise CorpusError(f"{name} must be readable to its end; reading failed ({said(error)}).") from error
        if not isinstance(piece, bytes):
            raise CorpusError(f"{name} must be opened in binary mode; it gave {type(piece).__name__}.")
        if not piece:
            return
        if log.done is not None:
            log.done += len(piece)
        yield piece


def _expanded(
    pieces: Iterator[bytes], kind: str, make: Any, name: str, options: ReadOptions, log: Log
) -> Iterator[bytes]:
    """Decompress one or more streams, one after the other."""
    decompressor, fresh = make(), True
    taken = given = 0
    for piece in pieces:
        taken += len(piece)
        data = piece
        while True:
            if fresh and not data.strip(b"\0"):
                break  # zeros after the end are padding
            try:
                out = decompressor.decompress(data, _CHUNK)
            except (zlib.error, OSError, EOFError, lzma.LZMAError, MemoryError) as error:
                if fresh and given:
                    log.note(f"bytes after the end of the {kind} data were left out", name)
                    return
                raise CorpusError(f"{name} must be valid {kind}; it is damaged ({said(error)}).") from error
            data, fresh = b"", False
            given += len(out)
            if given > _RATIO_FLOOR and given > options.max_ratio * taken:
                raise CorpusError(
                    f"{name} must not grow more than {options.max_ratio:g} times when decompressed "
                    f"(max_ratio); {size(taken)} became {size(given)} and more is to come."
                )
            if out:
                yield out
            if decompressor.eof:
                data, decompressor, fresh = decompressor.unused_data, make(), True
                if not data:
                    break
            elif decompressor.needs_input and len(out) < _CHUNK:
                break
    if not fresh:
        raise CorpusError(f"{name} must be whole {kind} data; it ends too early.")
