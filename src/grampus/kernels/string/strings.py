"""Strings as one array of units (code points or bytes), with the bounds of every document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._array import Array, is_sparse
from ...errors import InputError

UNITS = ("characters", "bytes")


@dataclass(frozen=True, eq=False)
class Text:
    """A list of strings, concatenated.

    Attributes
    ----------
    units : array of shape (N,)
        Code points or bytes of all documents.
    bounds : array of shape (n + 1,)
        Document i is ``units[bounds[i]:bounds[i + 1]]``.
    unit : str
        ``"characters"`` or ``"bytes"``.
    """

    units: Array
    bounds: NDArray[np.int64]
    unit: str

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def longest(self) -> int:
        """Units of the longest document."""
        return int(np.diff(self.bounds).max(initial=0))

    @property
    def documents(self) -> NDArray[np.int32]:
        """The document of every unit."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.bounds))

    @property
    def left(self) -> NDArray[np.int32]:
        """The number of units from each position to the end of its document, this one included."""
        ends = np.repeat(self.bounds[1:], np.diff(self.bounds))
        return (ends - np.arange(len(self.units))).astype(np.int32)

    def read(self, start: int, length: int) -> str | bytes:
        """Decode some units."""
        part = self.units[start : start + length]
        if self.unit == "bytes":
            return part.tobytes()
        return part.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")

    def each(self, rows: NDArray[np.intp]) -> Iterator[str | bytes]:
        """Yield some of the documents, decoded."""
        for row in rows:
            yield self.read(int(self.bounds[row]), int(self.bounds[row + 1] - self.bounds[row]))

    def take(self, index: NDArray[np.intp]) -> Text:
        """Return some of the documents."""
        lengths = np.diff(self.bounds)[index]
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        shifts = np.repeat(self.bounds[index] - bounds[:-1], lengths)
        return Text(self.units[np.arange(bounds[-1]) + shifts], bounds, self.unit)

    def join(self, other: Text) -> Text:
        """Return the documents of both."""
        units = np.concatenate([self.units, other.units])
        return Text(units, np.concatenate([self.bounds, self.bounds[-1] + other.bounds[1:]]), self.unit)


def check_unit(unit: Any) -> str:
    """Return the name of a unit; raise InputError if it is unknown."""
    if not isinstance(unit, str) or unit not in UNITS:
        raise InputError(f"unit must be 'characters' or 'bytes'; got {unit!r}.")
    return unit


def read_strings(documents: Any, unit: str, name: str = "documents", *, rows: int = 1) -> Text:
    """Check a collection of strings, or an object that holds them as ``texts``, and concatenate them.

    Characters are Unicode code points, lone surrogates included. In bytes mode a document is its UTF-8 bytes, or
    ``bytes`` as given; a lone surrogate has no UTF-8 form and is refused.
    """
    items = _as_list(documents, name)
    if len(items) < rows:
        raise InputError(f"{name} must hold at least {rows} string; got an empty collection.")
    allowed: tuple[type, ...] = (str, bytes) if unit == "bytes" else (str,)
    if not all(issubclass(kind, allowed) for kind in set(map(type, items))):
        _refuse(items, allowed, name)
    if unit == "bytes":
        items = [item if isinstance(item, bytes) else _utf8(item, i, name) for i, item in enumerate(items)]
        units: Array = np.frombuffer(b"".join(items), dtype=np.uint8)
    else:
        units = np.frombuffer("".join(items).encode("utf-32-le", "surrogatepass"), dtype="<u4")
    bounds = np.zeros(len(items) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, items), dtype=np.int64, count=len(items)), out=bounds[1:])
    if bounds[-1] >= 2**31 - 1:
        raise InputError(f"{name} must have fewer than 2³¹ {unit} together; got {bounds[-1]}.")
    return Text(units, bounds, unit)


def _as_list(documents: Any, name: str) -> list[Any]:
    documents = getattr(documents, "texts", documents)
    if isinstance(documents, (str, bytes)):
        kind = type(documents).__name__
        raise InputError(f"{name} must be a list of strings; got one {kind}. Write [text] for a single document.")
    if is_sparse(documents) or not isinstance(documents, Iterable):
        raise InputError(f"{name} must be a list of strings; got {type(documents).__name__}.")
    return list(documents)


def _refuse(items: list[Any], allowed: tuple[type, ...], name: str) -> None:
    i = next(i for i, item in enumerate(items) if not isinstance(item, allowed))
    hint = "Decode bytes first, or use unit=bytes." if isinstance(items[i], bytes) else "Turn it into a string first."
    raise InputError(f"{name} must all be strings; document {i} is {type(items[i]).__name__}. {hint}")


def _utf8(item: str, i: int, name: str) -> bytes:
    try:
        return item.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"{name} must have a UTF-8 form when unit=bytes; document {i} has a lone surrogate at {error.start}. "
            "Remove it, or use unit=characters."
        ) from None
