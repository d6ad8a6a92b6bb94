"""A word and its numbers in every line: GloVe, word2vec's text and fastText's ``.vec``; the last two have a header."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

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

_LONGEST = 1 << 20  # bytes of a line


@reports_damage
def read_lines(path: Path) -> Iterator[Batch]:
    """Yield the words and rows of a text file; a word may hold blanks, as in GloVe's largest set."""
    with open_vectors(path) as file:
        first = file.readline(_LONGEST)
        header = read_size_line(first)
        width = header[1] if header else len(first.split()) - 1
        if not header:
            file.seek(0)
        check_shape(path, header[0] if header else 1, width)
        lines = _split(iter(partial(file.readline, _LONGEST), b""), path, width, 2 if header else 1)
        count = 0
        while batch := list(islice(lines, BATCH)):
            words = [word for word, _ in batch]
            count += len(words)
            yield words, check_rows(path, [row for _, row in batch], words)
    if header and count != header[0]:
        raise damaged(path, f"its header announces {header[0]} words, and it holds {count}")


def _split(lines: Iterator[bytes], path: Path, width: int, start: int) -> Iterator[tuple[bytes, list[float]]]:
    for number, line in enumerate(lines, start):
        word, *values = line.rstrip(b" \r\n").rsplit(b" ", width)
        try:
            if word and len(values) == width:
                yield word, list(map(float, values))
            elif line.strip():
                raise ValueError
        except ValueError:
            raise damaged(path, f"line {number} must hold a word and {width} numbers") from None


def _is_text(path: Path, head: bytes) -> bool:
    """Return whether a file begins with a word and a number, or with a header and such a line."""
    first, _, rest = head.partition(b"\n")
    fields = (rest.partition(b"\n")[0] if read_size_line(first) else first).rstrip().split(b" ")
    try:
        return len(fields) > 1 and float(fields[1]) == float(fields[1])
    except ValueError:
        return False


TEXT = VectorFormat("text", _is_text, read_lines)
