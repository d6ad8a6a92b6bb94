r"""Every word of every document, as an inverted index for the search of a page.

A word is a run of letters and digits after NFKC and lower case; the script splits queries alike. The index holds, in
this order: the length of the vocabulary in bytes (32 bits), the vocabulary in UTF-8 (one word a line, sorted), for each
word the number of bytes of its list, and the lists themselves: gaps between the numbers of its documents. Numbers are
written in groups of seven bits, low ones first, the last without the eighth bit.
"""

from __future__ import annotations

import base64
import re
import struct
import unicodedata
import zlib
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

LONGEST = 64  # characters of a word that count
CHUNK = 4096  # documents that are numbered at a time
_WORD = re.compile(rf"([^\W_]{{1,{LONGEST}}})[^\W_]*")


def words_of(text: str) -> list[str]:
    """Return the words of a text, as the search of the page sees them.

    Examples
    --------
    >>> from grampus.report.words import words_of
    >>> words_of("Whale-song, 2 WHALES_x")
    ['whale', 'song', '2', 'whales', 'x']
    """
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    found: list[str] = _WORD.findall(plain.lower())
    return found


class _Numbers(dict[str, int]):
    """Words and their numbers, in the order in which they were asked for."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


def word_index(columns: Sequence[Iterable[str]]) -> bytes:
    """Return the index of documents, each the strings at one place of the columns."""
    numbers, found, n = _Numbers(), [np.zeros((0, 2), dtype=np.int32)], 0
    rows = iter(zip(*columns, strict=True))
    while chunk := list(islice(rows, CHUNK)):
        held = [[word for part in parts for word in words_of(part)] for parts in chunk]
        codes = np.fromiter(map(numbers.__getitem__, chain.from_iterable(held)), np.int64)
        places = np.repeat(np.arange(n, n + len(chunk)), [len(row) for row in held])
        pairs = np.unique(places << 32 | codes)
        found.append(np.column_stack([pairs >> 32, pairs & 0xFFFFFFFF]).astype(np.int32))
        n += len(chunk)
    vocabulary = sorted(numbers)
    rank = np.empty(len(numbers), dtype=np.int32)
    rank[[numbers[word] for word in vocabulary]] = np.arange(len(numbers), dtype=np.int32)
    documents, words = np.concatenate(found).T
    words = rank[words]
    order = np.argsort(words, kind="stable")  # documents rise within a word
    words, documents = words[order], documents[order]
    first = np.diff(words, prepend=-1) > 0
    gaps = np.where(first, documents, np.diff(documents, prepend=0))
    lists, lengths = grouped(gaps)
    sizes = np.bincount(words, weights=lengths, minlength=len(vocabulary)).astype(np.int64)
    text = "\n".join(vocabulary).encode("utf-8", "replace")
    return struct.pack("<I", len(text)) + text + grouped(sizes)[0] + lists


def packed_index(columns: Sequence[Iterable[str]]) -> str:
    """Return the index, compressed and in base 64."""
    return base64.b64encode(zlib.compress(word_index(columns), 4)).decode("ascii")


def grouped(values: NDArray[Any]) -> tuple[bytes, NDArray[np.int64]]:
    """Return numbers from 0 in groups of seven bits, and how many bytes each takes."""
    lengths = np.ones(len(values), dtype=np.int64)
    for shift in (7, 14, 21, 28):
        lengths += values >= (1 << shift)
    out = np.zeros(int(lengths.sum()), dtype=np.uint8)
    starts = np.cumsum(lengths) - lengths
    for place in range(5):
        here = lengths > place
        more = np.where(lengths[here] > place + 1, 0x80, 0)
        out[starts[here] + place] = ((values[here] >> (7 * place)) & 0x7F) | more
    return out.tobytes(), lengths
