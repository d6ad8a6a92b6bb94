"""Words of texts, numbered or as an inverted index: the compiled scanner, and the characters that it takes for letters.

Arrays are checked here, before C++ sees them. A character belongs to a word if ``str.isalnum`` says so.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from functools import cache
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _MOST, _core, _require

Bytes = bytes | bytearray | memoryview
_CODE_POINTS = 0x110000
_NONE = np.empty(0, np.uint8)


@cache
def _letters() -> NDArray[np.uint8]:
    """Return a bit for every code point: whether it is a letter or digit."""
    everything = np.arange(_CODE_POINTS, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    found = np.zeros(_CODE_POINTS, dtype=bool)
    for run in re.finditer(r"[^\W_]+", everything):
        found[run.start() : run.end()] = True
    return np.packbits(found, bitorder="little")


def _texts(data: Bytes, ends: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint8]]:
    """Check concatenated texts and their offsets; return them and the letters that they need."""
    text = np.frombuffer(data, np.uint8)
    offsets = np.require(ends, np.int64, ["C_CONTIGUOUS", "ALIGNED"])
    fits = offsets.ndim == 1 and len(offsets) > 0 and offsets[0] >= 0 and offsets[-1] <= len(text)
    _require(fits and bool((np.diff(offsets) >= 0).all()), f"offsets must not fall, and lie in 0 … {len(text)}")
    return text, offsets, _NONE if is_ascii(data, int(offsets[0]), int(offsets[-1])) else _letters()


def is_ascii(data: Bytes, start: int, end: int) -> bool:
    """Return whether a part of some bytes is ASCII."""
    return bytes(memoryview(data)[start:end]).isascii()


class WordNumbers:
    r"""Numbers of words in the order in which they appear: the runs of two or more characters of ``\w``.

    Examples
    --------
    >>> from grampus._native.words import WordNumbers
    >>> numbers = WordNumbers()
    >>> [part.tolist() for part in numbers.read(b"a whale, Whale; whale", [0, 15, 21])]
    [[0, 1, 0], [2, 1]]
    >>> numbers.words(0)
    ['whale', 'Whale']
    """

    def __init__(self) -> None:
        self._known = _core.Vocabulary()

    def __len__(self) -> int:
        return len(self._known)

    def read(self, data: Bytes, ends: Any, blanks: Any = None) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the numbers of the words of texts, and how many words each text has.

        Parameters
        ----------
        data : bytes
            Texts in UTF-8, one after the other.
        ends : array of shape (texts + 1,)
            Where each begins, and where the last ends.
        blanks : array of shape (texts,), optional
            Whether the words of a text are what blanks and ends of lines separate, rather than runs of letters.
        """
        text, offsets, letters = _texts(data, ends)
        count = len(offsets) - 1
        split = np.zeros(count, np.uint8) if blanks is None else np.require(blanks, np.uint8, ["C_CONTIGUOUS"])
        _require(split.shape == (count,), f"blanks must have shape {(count,)}; got {split.shape}")
        lengths = np.empty(count, np.int64)
        return self._known.read(text, offsets, split, letters, lengths), lengths

    def words(self, first: int) -> list[str]:
        """Return the words with a number from `first` on."""
        _require(0 <= first <= len(self), f"first must be from 0 to {len(self)}; got {first}")
        return self._known.joined(first).decode("utf-8").split("\n") if first < len(self) else []


class Chunks:
    """What is between blanks and ends of lines in texts, numbered, and the words in it and what separates them.

    Most chunks are plain: a word of ASCII letters, or of at most 7 letters and digits, with signs around it. What the
    others are is for Python to say.

    Parameters
    ----------
    ends, foreign : str
        Signs of ASCII that end a sentence, and those that no plain chunk has.
    unusual : collection of str
        Words that make a chunk not plain, as capitals inside a word do.
    longest : int
        Characters of a plain chunk at most.

    Examples
    --------
    >>> from grampus._native.words import Chunks
    >>> chunks = Chunks(".", "@", ["int"], 60)
    >>> chunks.read([b"(Blue whales", b"a@b"])[0].tolist()
    [0, 1, 2]
    >>> codes, lengths, words = chunks.codes(-1, -2, lambda chunk, number: [number(chunk), -2])
    >>> codes.tolist(), lengths.tolist(), words
    ([-1, 0, 1, 2, -2], [2, 1, 2], ['Blue', 'whales', 'a@b'])
    """

    def __init__(self, ends: str, foreign: str, unusual: Collection[str], longest: int) -> None:
        self._known, self._unusual = WordNumbers(), _numbered(sorted(unusual))
        _require((ends + foreign).isascii(), "signs must be ASCII")
        self._plain = _core.PlainChunks(ends.encode(), foreign.encode(), self._unusual, longest)

    def read(self, texts: Sequence[bytes]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the numbers of the chunks of texts in UTF-8, and how many chunks each text has."""
        ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        return self._known.read(b"".join(texts), ends, np.ones(len(texts), np.uint8))

    def codes(
        self, sign: int, end: int, look: Callable[[str, Callable[[str], int]], list[int]]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], list[str]]:
        """Return the codes of all chunks, one after the other, how many each has, and the words.

        Codes from 0 on are numbers of words. `look` takes a chunk that is not plain, and what numbers its words.

        Parameters
        ----------
        sign, end : int
            Codes below 0 of signs next to a word, and of those that end a sentence.
        """
        _require(sign < 0 and end < 0, "codes of signs must be below 0")
        known = self._known._known
        odd, chunks = self._plain.odd(known), self._known.words(0)
        number: defaultdict[str, int] = defaultdict(count().__next__)
        found = [look(chunks[at], number.__getitem__) for at in odd.tolist()]
        ends = np.cumsum([0, *map(len, found)], dtype=np.int64)
        flat = np.array([code for codes in found for code in codes], dtype=np.int32)
        _require(len(flat) == 0 or flat.max() < len(number), "codes must be numbers of words, or below 0")
        words, lengths = WordNumbers(), np.empty(len(chunks), np.int64)
        codes = self._plain.codes(known, sign, end, odd, ends, flat, _numbered(list(number)), words._known, lengths)
        return codes, lengths, words.words(0)


def _numbered(words: list[str]) -> _core.Vocabulary:
    """Return different words with their places for numbers."""
    numbers, data = WordNumbers(), [f"{word}\n".encode() for word in words]
    numbers.read(b"".join(data), np.cumsum([0, *map(len, data)]), np.ones(len(data)))
    _require(len(numbers) == len(words), "words must differ, and have no blanks")
    return numbers._known


class KnownWords:
    """Two lists of words, to count how many different ones of each a text has.

    Words are what white space separates, in lower case; texts are ASCII. Longer words than 64 characters do not count.

    Examples
    --------
    >>> from grampus._native.words import KnownWords
    >>> KnownWords(["the", "of"], ["der", "of"]).count(b"The song of the whale", [0, 21]).tolist()
    [[2, 1]]
    """

    def __init__(self, first: Collection[str], second: Collection[str]) -> None:
        words = sorted({word for word in (*first, *second) if word.isascii() and word and not re.search(r"\s", word)})
        self._known = _numbered(words)
        self._kind = np.array([(word in first) + 2 * (word in second) for word in words], np.uint8)

    def count(self, data: Bytes, ends: Any) -> NDArray[np.int32]:
        """Return how many words of each list each text has, (texts, 2)."""
        text, offsets, _ = _texts(data, ends)
        counts = np.empty((len(offsets) - 1, 2), np.int32)
        _core.count_known(self._known, self._kind, text, offsets, counts)
        return counts


def side_by_side(texts: list[bytes], one: str, other: str) -> tuple[int, int]:
    """Return how many texts have two words, and how many of these have them side by side, in either order.

    Parameters
    ----------
    texts : list of bytes
        Texts in UTF-8 that begin and end with a blank and have blanks between their words.
    one, other : str

    Examples
    --------
    >>> from grampus._native.words import side_by_side
    >>> side_by_side([b" a blue  whale sang ", b" whale of blue ", b" blue whales "], "whale", "blue")
    (2, 1)
    """
    return _core.side_by_side(texts, one.encode(), other.encode())


class WordIndex:
    r"""The documents of every word: runs of letters and digits, in lower case, of which 64 characters count.

    Texts beyond ASCII must be in lower case already. The packed form is described in ``report.words``.

    Examples
    --------
    >>> from grampus._native.words import WordIndex
    >>> index = WordIndex()
    >>> index.add([(b"Whale song; whale", [0, 11, 17])])
    >>> index.packed()
    b'\n\x00\x00\x00song\nwhale\x01\x02\x00\x00\x01'
    """

    def __init__(self) -> None:
        self._index = _core.Index()
        self._documents = 0

    def add(self, columns: Sequence[tuple[Bytes, Any]]) -> None:
        """Add documents, each the texts at one place of the columns: concatenated, and their offsets."""
        checked = [_texts(data, ends) for data, ends in columns]
        counts = {len(ends) - 1 for _, ends, _ in checked}
        _require(len(counts) == 1, f"columns must have equally many texts; got {sorted(counts)}")
        count = counts.pop()
        _require(self._documents + count <= _MOST - 1, f"there must be fewer than {_MOST} documents")
        self._index.add(checked, count, self._documents)
        self._documents += count

    def packed(self) -> bytes:
        """Return vocabulary and lists."""
        return self._index.packed()
