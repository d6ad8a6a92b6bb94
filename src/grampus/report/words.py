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
from typing import Any

import numpy as np
from numpy.typing import NDArray

LONGEST = 64  # characters of a word that count
_WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> list[str]:
    """Return the words of a text, as the search of the page sees them.

    Examples
    --------
    >>> from grampus.report.words import words_of
    >>> words_of("Whale-song, 2 WHALES_x")
    ['whale', 'song', '2', 'whales', 'x']
    """
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return [word[:LONGEST] for word in _WORD.findall(plain.lower())]


def word_index(columns: Sequence[Iterable[str]]) -> bytes:
    """Return the index of documents, each the strings at one place of the columns."""
    numbers: dict[str, int] = {}
    found: list[NDArray[np.int32]] = []
    for parts in zip(*columns, strict=True):
        here = {word for part in parts for word in words_of(part)}
        found.append(np.fromiter((numbers.setdefault(word, len(numbers)) for word in here), np.int32, len(here)))
    vocabulary = sorted(numbers)
    rank = np.empty(len(numbers), dtype=np.int64)
    rank[[numbers[word] for word in vocabulary]] = np.arange(len(numbers))
    counts = np.array([len(part) for part in found], dtype=np.int64)
    words = rank[np.concatenate(found)].astype(np.int32) if found else np.zeros(0, dtype=np.int32)
    documents = np.repeat(np.arange(len(found)), counts)
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
    return base64.b64encode(zlib.compress(word_index(columns), 6)).decode("ascii")


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
