r"""Every word of every document, as an inverted index for the search of a page.

A word is a run of letters and digits after NFKC and lower case; the script splits queries alike. The index holds, in
this order: the length of the vocabulary in bytes (32 bits), the vocabulary in UTF-8 (one word a line, sorted), for each
word the number of bytes of its list, and the lists themselves: gaps between the numbers of its documents. Numbers are
written in groups of seven bits, low ones first, the last without the eighth bit.
"""

import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from .._native.words import WordIndex
from ..text import Texts
from .compressed import compressed

CHUNK = 4096  # documents that are read at a time


def _part(column: Texts, start: int, end: int) -> tuple[memoryview, NDArray[np.int64]]:
    """Return some texts in UTF-8 and their offsets; those beyond ASCII after NFKC and in lower case."""
    data, ends = column.part(start, end)
    beyond = np.unique(ends.searchsorted(np.flatnonzero(np.frombuffer(data, np.uint8) >= 128), "right") - 1)
    parts: list[memoryview | bytes] = []
    sizes, after = np.diff(ends), 0
    for place in beyond.tolist():
        text = unicodedata.normalize("NFKC", column[start + place]).lower().encode()
        parts += [data[after : ends[place]], text]
        sizes[place], after = len(text), ends[place + 1]
    return (memoryview(b"".join([*parts, data[after:]])), np.append(0, np.cumsum(sizes))) if parts else (data, ends)


def word_index(columns: Sequence[Iterable[str]]) -> bytes:
    """Return the index of documents, each the strings at one place of the columns."""
    stored = [column if isinstance(column, Texts) else Texts(column) for column in columns]
    index, n = WordIndex(), len(stored[0])
    for start in range(0, n, CHUNK):
        index.add([_part(column, start, min(start + CHUNK, n)) for column in stored])
    return index.packed()


def packed_index(columns: Sequence[Iterable[str]]) -> str:
    """Return the index, compressed and in base 64."""
    return compressed(word_index(columns))
