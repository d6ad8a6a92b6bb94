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
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

LONGEST = 64  # characters of a word that count
CHUNK = 4096  # documents that are numbered at a time
_WORD = re.compile(rf"([^\W_]{{1,{LONGEST}}})[^\W_]*")
_END = b"\x00"  # between documents, as a word of its own
# Bytes as they count in words: letters in lower case, digits, parts of other characters; everything else is a gap.
_BYTES = bytes(c if c > 127 or chr(c).isalnum() or c == 0 else 32 for c in bytes(range(256)).lower())


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


def _plain(text: str) -> bytes:
    """Return a text in UTF-8 in which only ASCII is still to be split and put into lower case."""
    if text.isascii():
        return text.replace("\x00", " ").encode("ascii")
    return " ".join(words_of(text)).encode("utf-8", "replace")


def _cut(words: list[bytes]) -> list[bytes]:
    """Return words with those of ASCII cut to `LONGEST` characters; the others are cut already."""
    if max(map(len, words), default=0) <= LONGEST:
        return words
    return [word[:LONGEST] if len(word) > LONGEST and word.isascii() else word for word in words]


class _Numbers(dict[bytes, int]):
    """Words and their numbers, in the order in which they were asked for."""

    def __missing__(self, word: bytes) -> int:
        self[word] = number = len(self)
        return number


def word_index(columns: Sequence[Iterable[str]]) -> bytes:
    """Return the index of documents, each the strings at one place of the columns."""
    numbers, found, n = _Numbers({_END: 0}), [np.zeros((0, 2), dtype=np.int32)], 0
    rows = iter(zip(*columns, strict=True))
    while chunk := list(islice(rows, CHUNK)):
        text = b" \x00 ".join(_plain(" ".join(parts)) for parts in chunk)
        codes = np.fromiter(map(numbers.__getitem__, _cut(text.translate(_BYTES).split())), np.int64)
        pairs = np.sort((n + np.cumsum(codes == 0)) << 32 | codes)
        pairs = pairs[(np.diff(pairs, prepend=-1) != 0) & (pairs & 0xFFFFFFFF > 0)]
        found.append(np.column_stack([pairs >> 32, pairs & 0xFFFFFFFF]).astype(np.int32))
        n += len(chunk)
    del numbers[_END]
    vocabulary = sorted(numbers)
    rank = np.empty(len(numbers) + 1, dtype=np.int32)
    rank[[numbers[word] for word in vocabulary]] = np.arange(len(numbers), dtype=np.int32)
    documents, words = np.concatenate(found).T
    words = rank[words]
    order = np.argsort(words, kind="stable")  # documents rise within a word
    words, documents = words[order], documents[order]
    first = np.diff(words, prepend=-1) > 0
    gaps = np.where(first, documents, np.diff(documents, prepend=0))
    lists, lengths = grouped(gaps)
    sizes = np.bincount(words, weights=lengths, minlength=len(vocabulary)).astype(np.int64)
    text = b"\n".join(vocabulary)
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
