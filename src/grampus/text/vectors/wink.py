"""wink's JSON: one object whose ``vectors`` hold a word's numbers, its length and its position.

The file is read in pieces: as one value it would take some ten times its size in memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO

from .formats import BATCH, Batch, VectorFormat, check_rows, check_shape, damaged, open_vectors, reports_damage

_PIECE = 1 << 22
_SIZES = re.compile(rb'"size"\s*:\s*(\d{1,9})\s*,\s*"dimensions"\s*:\s*(\d{1,9})')
_START = re.compile(rb'"vectors"\s*:\s*\{')
_ENTRY = re.compile(rb'\s*("(?:[^"\\]|\\.)*")\s*:\s*\[([^\[\]{}"]*)\]\s*([,}])')


@reports_damage
def read_wink(path: Path) -> Iterator[Batch]:
    """Yield the words and rows of a JSON file of wink."""
    with open_vectors(path) as file:
        head = file.read(_PIECE)
        sizes = _SIZES.search(head)
        count, width = (int(sizes[1]), int(sizes[2])) if sizes else (0, 0)
        check_shape(path, count, width)
        entries, seen = _entries(file, head, path, width), 0
        while batch := list(islice(entries, BATCH)):
            words = [word for word, _ in batch]
            seen += len(words)
            yield words, check_rows(path, [row for _, row in batch], words)
    if seen != count:
        raise damaged(path, f"it announces {count} words, and it holds {seen}")


def _entries(file: IO[bytes], data: bytes, path: Path, width: int) -> Iterator[tuple[bytes, list[float]]]:
    """Yield each word with its first `width` numbers, until the object ends."""
    start = _START.search(data)
    while start is None:
        piece = file.read(_PIECE)
        if not piece:
            raise damaged(path, "it must hold an object of 'vectors'")
        data = data[-64:] + piece
        start = _START.search(data)
    place = start.end()
    while True:
        entry = _ENTRY.match(data, place)
        if entry is None:
            piece = file.read(_PIECE)
            if not piece or len(data) - place > _PIECE:
                raise damaged(path, "its vectors must be words with lists of numbers, to the end")
            data, place = data[place:] + piece, 0
            continue
        try:
            word, row = json.loads(entry[1]), list(map(float, entry[2].split(b",")[:width]))
        except ValueError:
            word, row = "", []
        if len(row) != width:
            raise damaged(path, f"the entry {entry[1][:40].decode('utf-8', 'replace')} must hold {width} numbers")
        yield word.encode("utf-8", "replace"), row
        place = entry.end()
        if entry[3] == b"}":
            return


def _is_wink(path: Path, head: bytes) -> bool:
    return head.lstrip().startswith(b"{") and _SIZES.search(head) is not None


WINK = VectorFormat("wink", _is_wink, read_wink)
