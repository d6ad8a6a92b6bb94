"""Naive twins of the scanner: words, their numbers, and the index of a page, text by text."""

from __future__ import annotations

import re
import struct
import unicodedata
from itertools import pairwise

LONGEST = 64


def numbered(texts: list[str]) -> tuple[list[list[int]], list[str]]:
    r"""Return the numbers of the words ``\b\w\w+\b`` of every text, in order of appearance, and the words."""
    known: dict[str, int] = {}
    return [[known.setdefault(word, len(known)) for word in re.findall(r"\b\w\w+\b", text)] for text in texts], [*known]


def words_of(text: str) -> list[str]:
    """Return the words of a text as the search sees them."""
    return [word[:LONGEST] for word in re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).lower())]


def side_by_side(texts: list[list[str]], one: str, other: str) -> tuple[int, int]:
    """Return how many texts, each a list of words, have both words, and how many have them as neighbours."""
    both = [text for text in texts if one in text and other in text]
    pairs = (one, other), (other, one)
    return len(both), sum(any(pair in pairs for pair in pairwise(text)) for text in both)


def index(documents: list[str]) -> bytes:
    """Return the index of documents: vocabulary, sizes of the lists, lists of gaps."""
    found: dict[bytes, list[int]] = {}
    for number, text in enumerate(documents):
        for word in dict.fromkeys(words_of(text)):
            found.setdefault(word.encode(), []).append(number)
    vocabulary = sorted(found)
    lists = [
        b"".join(seven_bits(b - a) for a, b in zip([0, *found[word]], found[word], strict=False)) for word in vocabulary
    ]
    text = b"\n".join(vocabulary)
    return struct.pack("<I", len(text)) + text + b"".join(seven_bits(len(one)) for one in lists) + b"".join(lists)


def seven_bits(value: int) -> bytes:
    """Return a number in groups of seven bits, low ones first, the last without the eighth bit."""
    groups = [value & 0x7F]
    while value := value >> 7:
        groups.append(value & 0x7F)
    return bytes([*(group | 0x80 for group in groups[:-1]), groups[-1]])
