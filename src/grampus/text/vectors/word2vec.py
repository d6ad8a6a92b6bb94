"""word2vec's binary files: a header, then every word, a blank, and its numbers as bytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from .formats import (
    BATCH,
    Batch,
    VectorFormat,
    check_rows,
    check_shape,
    damaged,
    open_vectors,
    read_size_line,
    reports_damage,
)

_LONGEST = 1 << 12  # bytes of a word
_PIECE = 1 << 20


@reports_damage
def read_binary(path: Path) -> Iterator[Batch]:
    """Yield the words and rows of a binary file."""
    with open_vectors(path) as file:
        header = read_size_line(file.readline(_LONGEST)) or (0, 0)
        check_shape(path, *header)
        left = header[0]
        records = _records(file, path, *header)
        while left:
            batch = [next(records) for _ in range(min(left, BATCH))]
            left -= len(batch)
            words = [word for word, _ in batch]
            rows = np.frombuffer(b"".join(row for _, row in batch), "<f4").reshape(len(words), header[1])
            yield words, check_rows(path, rows, words)


def _records(file: IO[bytes], path: Path, count: int, width: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield words and their bytes; some writers end each record with a line feed."""
    data, place, size = b"", 0, 4 * width
    for number in range(count):
        if len(data) - place < _LONGEST + size:
            data, place = data[place:] + file.read(_PIECE + size), 0
        end = data.find(b" ", place, place + _LONGEST)
        if end < 0 or len(data) - end - 1 < size:
            raise damaged(path, f"it announces {count} words and ends in number {number + 1}")
        yield data[place:end].lstrip(b"\n"), data[end + 1 : end + 1 + size]
        place = end + 1 + size


def _is_binary(path: Path, head: bytes) -> bool:
    first, _, rest = head.partition(b"\n")
    return read_size_line(first) is not None and b" " in rest


BINARY = VectorFormat("word2vec", _is_binary, read_binary)
