"""Bytes from files: regular files only, decompressed as a stream, within limits."""

from __future__ import annotations

import bz2
import lzma
import os
import zlib
from collections.abc import Iterator
from itertools import chain
from typing import IO, Any

from ..._config import format_size
from ..._files import open_regular
from ...errors import CorpusError
from .decode import first_pieces
from .log import Log, quoted
from .options import MB, ReadLimits

COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz")
_CHUNK = 1 << 18
_COMPRESSED_CHUNK = 1 << 14  # small, as what it becomes is compared with its size
_RATIO_FLOOR = 4 * MB
_XZ_MEMORY = 100 * MB  # `xz -9` needs 65 MiB


def open_source(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a regular file; a device, FIFO or socket is refused and never waited for."""
    try:
        return open_regular(path)
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            raise CorpusError(f"There is no file or folder {quoted(os.fspath(path))}.") from error
        reason = quoted(error.strerror)
        raise CorpusError(f"{quoted(os.fspath(path))} must be a readable file ({reason}).") from error


def too_large(name: str, limit: float, option: str = "max_document_bytes", what: str = "") -> CorpusError:
    """Return the error about a source beyond one of `ReadLimits`."""
    return CorpusError(f"{name} must hold at most {format_size(limit)}{what} ({option}); it holds more.")


class Expansion:
    """Compare what comes out of a source with what went in, and refuse more than `max_ratio` times as much.

    `outer` is the guard of the archive around it, for which the same bytes count.
    """

    def __init__(self, name: str, limits: ReadLimits, size: float = 0, outer: Expansion | None = None) -> None:
        self.name, self.max_ratio = name, limits.max_ratio
        self.size, self.expanded, self.outer = size, 0, outer

    def add(self, expanded: int) -> None:
        """Count bytes that came out."""
        if self.outer is not None:
            self.outer.add(expanded)
        self.expanded += expanded
        self.check(self.expanded, self.size, "became", ", with more to come")

    def check(self, expanded: int, size: float, verb: str, rest: str = "") -> None:
        """Refuse what expands too much, as counted or as announced."""
        if expanded > _RATIO_FLOOR and expanded > self.max_ratio * size:
            raise CorpusError(
                f"{self.name} must not expand more than {self.max_ratio:g} times when it is read (max_ratio); "
                f"{format_size(size)} {verb} {format_size(expanded)}{rest}."
            )


class _Gzip:
    """zlib's decompressor with the interface of the other two."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)  # eof and unused_data

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)


_FORMATS: dict[bytes, tuple[str, Any]] = {
    b"\x1f\x8b": ("gzip", _Gzip),
    b"BZh": ("bzip2", bz2.BZ2Decompressor),
    b"\xfd7zXZ\x00": ("xz", lambda: lzma.LZMADecompressor(memlimit=_XZ_MEMORY)),
}


def is_compressed(head: bytes) -> bool:
    """Return whether these are the first bytes of gzip, bzip2 or xz data."""
    return head.startswith(tuple(_FORMATS))


def decompress(
    stream: IO[bytes], name: str, limits: ReadLimits, log: Log, outer: Expansion | None = None
) -> Iterator[bytes]:
    """Yield a stream's bytes, decompressed if the first ones are those of gzip, bzip2 or xz.

    Fails at `max_total_bytes` and at `max_ratio`; holds at most the few megabytes that are checked first.
    """
    pieces = _read(stream, name, log)
    head = b"".join(first_pieces(pieces, max(map(len, _FORMATS))))
    pieces = chain([head] if head else [], pieces)
    for magic, (kind, make) in _FORMATS.items():
        if head.startswith(magic):
            expansion = Expansion(name, limits, outer=outer)
            pieces = _expand(pieces, kind, make, expansion, log)
            start = first_pieces(pieces, _RATIO_FLOOR + 1)  # a bomb is refused before any record is read
            if start and is_compressed(start[0]):
                raise CorpusError(
                    f"{name} must hold documents; it is {kind} that holds compressed data. Unpack it once."
                )
            pieces = chain(start, pieces)
            break
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > limits.max_total_bytes:
            raise too_large(name, limits.max_total_bytes, "max_total_bytes")
        yield piece


def _read(stream: IO[bytes], name: str, log: Log) -> Iterator[bytes]:
    while True:
        try:
            piece = stream.read(_CHUNK)
        except MemoryError:
            raise
        except Exception as error:  # an open file may raise anything: gzip and lzma have errors of their own
            raise CorpusError(f"{name} must be readable to its end; reading failed ({quoted(error)}).") from error
        if not isinstance(piece, bytes):
            raise CorpusError(f"{name} must be opened in binary mode; it gave {type(piece).__name__}.")
        if not piece:
            return
        log.done += len(piece)
        yield piece


def _expand(pieces: Iterator[bytes], kind: str, make: Any, expansion: Expansion, log: Log) -> Iterator[bytes]:
    """Decompress one or more concatenated streams."""
    decompressor, fresh, name = make(), True, expansion.name
    small = (piece[at : at + _COMPRESSED_CHUNK] for piece in pieces for at in range(0, len(piece), _COMPRESSED_CHUNK))
    for piece in small:
        expansion.size += len(piece)
        data = piece
        while True:
            if fresh and not data.strip(b"\0"):
                break  # zeros after the end are padding
            try:
                out = decompressor.decompress(data, _CHUNK)
            except (zlib.error, OSError, EOFError, lzma.LZMAError) as error:
                if isinstance(error, lzma.LZMAError) and "emory" in str(error):
                    raise CorpusError(
                        f"{name} must need at most {format_size(_XZ_MEMORY)} to be read; it was compressed with more."
                    ) from error
                if isinstance(error, zlib.error) and "Error -4" in str(error):  # Z_MEM_ERROR: nothing is damaged
                    raise MemoryError(str(error)) from error
                if fresh and expansion.expanded:
                    log.note(f"bytes after the end of the {kind} data were left out", name)
                    return
                raise CorpusError(f"{name} must be valid {kind}; it is damaged ({quoted(error)}).") from error
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
        raise CorpusError(f"{name} must be complete {kind} data; it ends too early.")
