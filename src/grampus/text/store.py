"""Texts stored as one buffer of UTF-8 bytes and an array of offsets."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b, sha256
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

_CHUNK, _MOST_BYTES = 64, 1 << 20  # texts that are decoded together, and their size at most


class Texts(Sequence[str]):
    """An immutable sequence of strings, stored compactly and decoded on access.

    A list costs some 57 bytes per string beyond its characters; this costs 8. Equal to any sequence of the same
    strings, with the hash of a tuple of them. Lone surrogates, which have no UTF-8 form, become U+FFFD.

    Parameters
    ----------
    texts : iterable of str

    Examples
    --------
    >>> from grampus.text import Texts
    >>> texts = Texts(["one", "two", "drei"])
    >>> texts[-1], len(texts), texts[:2] == ["one", "two"]
    ('drei', 3, True)
    """

    __slots__ = ("_buffer", "_distinct", "_ends")

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._buffer = bytearray()
        self._ends = array("q", [0])
        self._distinct = False  # True once a reader has checked that all are different
        for text in texts:
            self._append(text)

    def _append(self, text: str) -> int:
        """Add a text while the sequence is being built; return its size in bytes."""
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError:
            data = replace_surrogates(text).encode("utf-8")
        self._buffer += data
        self._ends.append(len(self._buffer))
        return len(data)

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Texts: ...
    def __getitem__(self, index: int | slice) -> str | Texts:
        """Return one text, or the texts of a slice."""
        if isinstance(index, slice):
            first, last, step = index.indices(len(self))
            if step != 1:
                return Texts(self[place] for place in range(first, last, step))
            data, ends = self.part(first, max(first, last))
            return _restore(data, array("q", ends.tobytes()))
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"index must be between {-len(self)} and {len(self) - 1}; got {index}.")
        return str(memoryview(self._buffer)[self._ends[place] : self._ends[place + 1]], "utf-8")

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _CHUNK):
            ends = self._ends[start : start + _CHUNK + 1]
            data = memoryview(self._buffer)[ends[0] : ends[-1]]
            if len(data) <= _MOST_BYTES and (raw := bytes(data)).isascii():  # characters are bytes
                text, zero = raw.decode("ascii"), ends[0]
                yield from [text[first - zero : last - zero] for first, last in pairwise(ends)]
            else:
                yield from (str(data[first - ends[0] : last - ends[0]], "utf-8") for first, last in pairwise(ends))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Texts):
            return self._ends == other._ends and self._buffer == other._buffer
        if isinstance(other, Sequence) and not isinstance(other, str | bytes):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))  # that of a tuple of the same strings, to which it is equal

    def __repr__(self) -> str:
        return f"<Texts: {len(self)} strings, {self.nbytes} bytes>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (bytes(self._buffer), self._ends)

    def __add__(self, other: Texts) -> Texts:
        """Return the texts of both, one after the other."""
        if not isinstance(other, Texts):
            return NotImplemented
        size = len(self._buffer)
        ends = self._ends + array("q", (size + end for end in other._ends[1:]))
        return _restore(self._buffer + other._buffer, ends)

    def take(self, places: Any) -> Texts:
        """Return the texts at some places, in that order.

        Parameters
        ----------
        places : array of int
            From 0 on.

        Examples
        --------
        >>> from grampus.text import Texts
        >>> list(Texts(["one", "two", "three"]).take([2, 0]) + Texts(["four"]))
        ['three', 'one', 'four']
        """
        at, ends, view = np.asarray(places, dtype=np.intp), np.array(self._ends, np.int64), memoryview(self._buffer)
        first, last = ends[:-1][at], ends[1:][at]
        buffer = b"".join(view[a:b] for a, b in zip(first.tolist(), last.tolist(), strict=True))
        return _restore(buffer, array("q", [0, *np.cumsum(last - first).tolist()]))

    def part(self, start: int, end: int) -> tuple[memoryview, NDArray[np.int64]]:
        """Return the bytes of the texts from `start` to `end`, and where in them each begins and the last ends."""
        ends = np.frombuffer(self._ends, np.int64)[start : end + 1]
        return memoryview(self._buffer)[ends[0] : ends[-1]], ends - ends[0]

    def to_arrays(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return the concatenated UTF-8 bytes of all texts and their offsets, of shape (n + 1,)."""
        return np.frombuffer(bytes(self._buffer), np.uint8), np.array(self._ends, np.int64)

    @classmethod
    def from_arrays(cls, data: Any, ends: Any) -> Texts:
        """Return the texts of the arrays from `to_arrays`.

        Raises
        ------
        InputError
            The arrays do not fit together, or a text is not UTF-8.
        """
        data, ends = np.asarray(data), np.asarray(ends)
        whole = data.dtype == np.uint8 and ends.dtype == np.int64 and data.ndim == ends.ndim == 1 and len(ends)
        if not whole or ends[0] != 0 or ends[-1] != len(data) or (np.diff(ends) < 0).any():
            raise InputError("texts must be bytes and rising offsets from 0 to the number of bytes; these are not.")
        texts = _restore(data.tobytes(), array("q", ends.tolist()))
        try:
            for _ in texts:
                pass
        except UnicodeDecodeError:
            raise InputError("texts must be UTF-8; these bytes are not.") from None
        return texts

    @classmethod
    def trusted(cls, data: Any, ends: Any) -> Texts:
        """Return the texts of arrays that `to_arrays` made in this process or one that it started, unchecked."""
        return _restore(np.asarray(data).data, array("q", np.ascontiguousarray(ends, np.int64).tobytes()))

    @property
    def nbytes(self) -> int:
        """Size of all texts in UTF-8."""
        return len(self._buffer)

    def fingerprint(self) -> str:
        """Return a digest of the texts that does not depend on their order.

        SHA-256 of the sorted 128-bit BLAKE2b digests of the texts, so a text that occurs twice counts twice.
        """
        view = memoryview(self._buffer)
        digests = bytearray()
        for start, end in pairwise(self._ends):
            digests += blake2b(view[start:end], digest_size=16).digest()
        pairs = np.frombuffer(digests, dtype=">u8").reshape(-1, 2)
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        return sha256(np.ascontiguousarray(pairs[order]).tobytes()).hexdigest()


class Picked(Sequence[str]):
    """Some texts of a sequence, in another order, not copied.

    Examples
    --------
    >>> from grampus.text.store import Picked, Texts
    >>> list(Picked(Texts(["one", "two", "three"]), [2, 0]))
    ['three', 'one']
    """

    def __init__(self, texts: Sequence[str], places: Any) -> None:
        self._texts, self._places = texts, np.asarray(places, dtype=np.intp)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: Any) -> Any:
        """Return one text, or those of a slice."""
        if isinstance(index, slice):
            return Picked(self._texts, self._places[index])
        return self._texts[int(self._places[index])]


def text_sizes(texts: Sequence[str]) -> NDArray[np.int64]:
    """Return the sizes of texts: in bytes where they are stored as bytes, else in characters."""
    if isinstance(texts, Texts):
        ends = np.frombuffer(texts._ends, np.int64)
        return ends[1:] - ends[:-1]
    given: Sequence[object] = texts  # which are checked later
    return np.fromiter((len(text) if isinstance(text, str) else 0 for text in given), np.int64, len(given))


def join_texts(parts: Sequence[Sequence[str]]) -> Texts:
    """Return the texts of several sequences, one after the other.

    Examples
    --------
    >>> from grampus.text.store import Texts, join_texts
    >>> list(join_texts([Texts(["one"]), ["two", "three"]]))
    ['one', 'two', 'three']
    """
    stored = [part if isinstance(part, Texts) else Texts(part) for part in parts]
    buffer, ends, size = bytearray(), [np.zeros(1, np.int64)], 0
    for texts in stored:
        data, own = texts.part(0, len(texts))
        buffer += data
        ends.append(own[1:] + size)
        size += len(data)
    joined = Texts()
    joined._buffer, joined._ends = buffer, array("q", np.concatenate(ends).tobytes())
    return joined


def _restore(buffer: Any, ends: array[int]) -> Texts:
    texts = Texts()
    texts._buffer, texts._ends = bytearray(buffer), ends
    return texts


def replace_surrogates(text: str) -> str:
    """Return text with lone surrogates replaced by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
