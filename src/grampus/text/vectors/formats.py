"""What a format of word vectors is, and what its readers share."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from ..._files import open_regular
from ...errors import InputError

Rows = NDArray[np.float32]
Batch = tuple[list[bytes], Rows]
"""Words in UTF-8, and a row for each."""

BATCH = 4096  # words
MOST_DIMENSIONS, MOST_WORDS = 1 << 14, 1 << 26  # beyond this a header is damaged
HEAD = 4096  # bytes that decide about the format
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class VectorFormat:
    """A file or folder of word vectors: how it is recognised, and how it is read.

    Parameters
    ----------
    name : str
    recognises : callable
        Takes the path and the first 4,096 bytes of a file, decompressed; those of a folder are empty.
    read : callable
        Takes the path and yields words with their rows; raises `InputError` if the file is not what it must be.
    files : callable
        Takes the path and returns the files whose content makes up the set.
    """

    name: str
    recognises: Callable[[Path, bytes], bool]
    read: Callable[[Path], Iterator[Batch]]
    files: Callable[[Path], list[Path]] = lambda path: [path]


@contextmanager
def open_vectors(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, decompressed if it is gzip."""
    with open_regular(path) as file:
        head = file.read(len(_GZIP))
        file.seek(0)
        yield cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if head == _GZIP else file


def reports_damage(read: Callable[[Path], Iterator[Batch]]) -> Callable[[Path], Iterator[Batch]]:
    """Turn errors of decompression and of a file that ends early into an `InputError`."""

    @wraps(read)
    def reading(path: Path) -> Iterator[Batch]:
        try:
            yield from read(path)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise damaged(path, error) from error

    return reading


def read_start(path: Path) -> bytes:
    """Return the first bytes of a file, decompressed; nothing of a folder."""
    if path.is_dir():
        return b""
    try:
        with open_vectors(path) as file:
            return file.read(HEAD)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise damaged(path, error) from error


def damaged(path: Path, why: object) -> InputError:
    """Return the error for a file that is not what its format requires."""
    return InputError(f"{path.name} must be a complete file of word vectors; {_one_line(why)}.")


def _one_line(why: object) -> str:
    return " ".join(str(why).split())[:300].rstrip(".")


def read_size_line(line: bytes) -> tuple[int, int] | None:
    """Return the number of words and dimensions of a first line that holds just these."""
    fields = line.split()
    if len(fields) != 2 or not all(field.isdigit() and len(field) < 12 for field in fields):
        return None
    return int(fields[0]), int(fields[1])


def check_shape(path: Path, words: int, dimensions: int) -> None:
    """Refuse numbers of words and dimensions that no set has."""
    if not (1 <= words <= MOST_WORDS and 1 <= dimensions <= MOST_DIMENSIONS):
        raise damaged(path, f"it announces {words} words of {dimensions} dimensions")


def check_rows(path: Path, rows: Any, words: list[bytes]) -> Rows:
    """Return finite float32 rows."""
    found = np.asarray(rows, dtype=np.float32)
    finite = np.isfinite(found).all(axis=1)
    if not finite.all():
        word = words[int(np.flatnonzero(~finite)[0])].decode("utf-8", "replace")
        raise damaged(path, f"the vector of {word[:40]!r} holds NaN or infinity")
    return found
