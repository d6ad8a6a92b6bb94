"""Bytes from files: regular files only, decompressed as a stream, within limits."""

from __future__ import annotations

import bz2
import lzma
import os
import zlib
from collections.abc import Iterator
from typing import IO, Any

from grampus._files import open_regular
from grampus.errors import CorpusError
from grampus.text._options import MiB, ReadOptions
from grampus.text._report import Log, said, size

__all__ = ["Expansion", "chunks", "open_source"]

_CHUNK = 1 << 18
_PACKED = 1 << 14  # compressed bytes taken at a time: few, as what they become is compared with them
_RATIO_FLOOR = 4 * MiB
_XZ_MEMORY = 96 * MiB  # what `xz -9` needs is 65 MiB


def open_source(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a regular file; a device, FIFO or socket is refused and never waited for."""
    try:
        return open_regular(path)
    except OSError as error:
        raise CorpusError(f"{said(os.fspath(path))} must be a readable file ({said(error.strerror)}).") from error


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
    if kind:
        whole = _ahead(_expanded(whole, *kind, name, options, log))
    total = 0
    for piece in whole:
        total += len(piece)
        if total > options.max_total_bytes:
            raise CorpusError(
                f"{name} must hold at most {size(options.max_total_bytes)} (max_total_bytes); it holds more."
            )
        yield piece


def _ahead(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Hold back what is looked at for the ratio, so that a bomb is refused before its records are read."""
    held: list[bytes] = []
    length = 0
    for piece in pieces:
        held.append(piece)
        length += len(piece)
        if length > _RATIO_FLOOR:
            break
    yield from held
    yield from pieces


class Expansion:
    """Counts what comes out of a source and refuses more than `max_ratio` times what went in."""

    def __init__(self, name: str, options: ReadOptions, taken: int = 0) -> None:
        self.name, self.ratio = name, options.max_ratio
        self.taken, self.given = taken, 0

    def add(self, given: int) -> None:
        self.given += given
        if self.given > _RATIO_FLOOR and self.given > self.ratio * self.taken:
            raise CorpusError(
                f"{self.name} must not grow more than {self.ratio:g} times when it is read (max_ratio); "
                f"{size(self.taken)} became {size(self.given)} and more is to come."
            )


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
    expansion = Expansion(name, options)
    small = (piece[at : at + _PACKED] for piece in pieces for at in range(0, len(piece), _PACKED))
    for taken in small:
        expansion.taken += len(taken)
        data = taken
        while True:
            if fresh and not data.strip(b"\0"):
                break  # zeros after the end are padding
            try:
                out = decompressor.decompress(data, _CHUNK)
            except (zlib.error, OSError, EOFError, lzma.LZMAError, MemoryError) as error:
                if fresh and expansion.given:
                    log.note(f"bytes after the end of the {kind} data were left out", name)
                    return
                raise CorpusError(f"{name} must be valid {kind}; it is damaged ({said(error)}).") from error
            data, fresh = b"", False
            expansion.add(len(out))
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
