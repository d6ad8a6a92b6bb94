"""A set of word vectors in the cache: memory-mapped, found by the hash of a word, keyed by the content of its file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._files import new_folder
from ..._progress import Progress, as_progress
from ..cache import VECTORS, cache_folder
from .formats import Batch, Rows

VERSION = 1
_FORMS = (str, str.lower, str.capitalize, str.upper)  # how a word of a text may be spelt in a set


@dataclass(frozen=True)
class WordTable:
    """Words and their rows, memory-mapped: a look reads the pages of the words asked for, and no more.

    Attributes
    ----------
    hashes : uint64 array of shape (n,)
        The words' hashes, ascending.
    places : int32 array of shape (n,)
        The row of each.
    ends : int64 array of shape (n + 1,)
        Where the letters of each word end.
    letters : uint8 array
    rows : float32 array of shape (n, d)
    """

    hashes: NDArray[np.uint64]
    places: NDArray[np.int32]
    ends: NDArray[np.int64]
    letters: NDArray[np.uint8]
    rows: Rows

    @property
    def size(self) -> int:
        """Number of words."""
        return len(self.hashes)

    @property
    def dimensions(self) -> int:
        """Number of dimensions."""
        return int(self.rows.shape[1])

    def rows_of(self, words: Sequence[str]) -> tuple[NDArray[np.bool_], Rows]:
        """Return which words have a vector, and the vectors of these."""
        places = self.find(words)
        known = places >= 0
        return known, np.array(self.rows[places[known]], dtype=np.float32)

    def find(self, words: Sequence[str]) -> NDArray[np.intp]:
        """Return the row of each word, as it is or in lower case, capitalised or in capitals; −1 if it has none."""
        found = np.full(len(words), -1, dtype=np.intp)
        for form in _FORMS:
            missing = np.flatnonzero(found < 0)
            found[missing] = self._exactly([form(words[i]).encode("utf-8", "replace") for i in missing.tolist()])
        return found

    def _exactly(self, words: list[bytes]) -> NDArray[np.intp]:
        hashes = _hashes(words)
        at = np.searchsorted(self.hashes, hashes)
        inside = np.flatnonzero(at < len(self.hashes))
        inside = inside[self.hashes[at[inside]] == hashes[inside]]
        found = np.full(len(words), -1, dtype=np.intp)
        for i, place in zip(inside.tolist(), at[inside].tolist(), strict=True):
            if self.letters[self.ends[place] : self.ends[place + 1]].tobytes() == words[i]:
                found[i] = self.places[place]
        return found


def _hashes(words: list[bytes]) -> NDArray[np.uint64]:
    return np.frombuffer(b"".join(blake2b(word, digest_size=8).digest() for word in words), "<u8")


def table_folder(sha256: str) -> Path:
    """Return where the table of a set is kept."""
    return cache_folder() / VECTORS / sha256


def open_word_table(sha256: str) -> WordTable | None:
    """Return the table of a set from the cache; None if it is not there or not complete."""
    folder = table_folder(sha256)
    try:
        meta = json.loads((folder / "meta.json").read_bytes())
        n, d, letters = (int(meta[name]) for name in ("words", "dimensions", "letters"))
        if meta["version"] != VERSION or min(n, d, letters) < 1:
            return None
        return WordTable(
            _mapped(folder / "hashes", "<u8", (n,)),
            _mapped(folder / "places", "<i4", (n,)),
            _mapped(folder / "ends", "<i8", (n + 1,)),
            _mapped(folder / "letters", "u1", (letters,)),
            _mapped(folder / "rows", "<f4", (int(meta["rows"]), d)),
        )
    except (OSError, ValueError, TypeError, LookupError):
        return None


def remove_table(sha256: str) -> None:
    """Remove the table of a set from the cache."""
    shutil.rmtree(table_folder(sha256), ignore_errors=True)


def _mapped(path: Path, dtype: str, shape: tuple[int, ...]) -> Any:
    if path.stat().st_size != np.dtype(dtype).itemsize * int(np.prod(shape)):
        raise ValueError("size")
    return np.memmap(path, dtype, "r", shape=shape)


def write_table(sha256: str, batches: Iterable[Batch], progress: Progress | None = None) -> WordTable:
    """Write a set to the cache, completely or not at all, and return it; of words that repeat the first is kept."""
    folder, progress = table_folder(sha256), as_progress(progress)
    if open_word_table(sha256) is None:
        remove_table(sha256)  # of another version, or damaged
    try:
        with new_folder(folder) as made:
            words: list[bytes] = []
            width = 0
            with (made / "rows").open("wb") as file:
                for some, rows in batches:
                    words += some
                    width = rows.shape[1]
                    file.write(np.ascontiguousarray(rows, "<f4").data)
                    progress("reading vectors", len(words), None)
            _write_index(made, words, width)
    except OSError:  # another process wrote the same set
        if (found := open_word_table(sha256)) is not None:
            return found
        raise
    progress("reading vectors", len(words), len(words))
    found = open_word_table(sha256)
    assert found is not None
    return found


def _write_index(folder: Path, words: list[bytes], width: int) -> None:
    hashes = _hashes(words)
    order = np.argsort(hashes, kind="stable")
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = hashes[order[1:]] != hashes[order[:-1]]  # 64 bits: two words of one hash are not expected in a set
    order = order[fresh]
    kept = [words[i] for i in order.tolist()]
    letters = b"".join(kept)
    ends = np.concatenate([[0], np.cumsum([len(word) for word in kept])])
    for name, values in (("hashes", hashes[order]), ("places", order.astype("<i4")), ("ends", ends.astype("<i8"))):
        (folder / name).write_bytes(np.ascontiguousarray(values).tobytes())
    (folder / "letters").write_bytes(letters)
    meta = {"version": VERSION, "words": len(kept), "rows": len(words), "dimensions": width, "letters": len(letters)}
    (folder / "meta.json").write_bytes(json.dumps(meta).encode())
