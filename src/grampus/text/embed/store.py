"""Computed rows in the cache: one SQLite file, keyed by model and text, bounded in size."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path

from ..cache import EMBEDDINGS, cache_folder

LARGEST = 4_000_000_000  # bytes of all rows; beyond, the oldest half goes
_SHORTEST = 8  # words of a piece of a text
_ASKED = 500  # keys of a query
_WAIT = 30.0  # seconds for another process that writes
_TABLE = "CREATE TABLE IF NOT EXISTS rows (model BLOB, text BLOB, row BLOB, PRIMARY KEY (model, text))"


def cut_words(words: list[str], count: int) -> list[str]:
    """Return words as so many texts of nearly equal length."""
    ends = [-(-len(words) * part // count) for part in range(count + 1)]
    return [" ".join(words[start:end]) for start, end in pairwise(ends)]


def text_key(text: str) -> bytes:
    """Return the key of a text: its content, and nothing else."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _path() -> Path:
    return cache_folder() / EMBEDDINGS / "rows.sqlite"


class Store:
    """Rows of one model by text.

    A file that cannot be used is no error, as everything in it can be computed again: reading finds nothing, writing
    does nothing, and `problem` says why.

    Parameters
    ----------
    sha256 : str
        Of the model.
    """

    def __init__(self, sha256: str) -> None:
        self.model = bytes.fromhex(sha256)
        self.problem: str | None = None

    def read(self, keys: list[bytes]) -> dict[bytes, bytes]:
        """Return the rows that are known."""
        found: dict[bytes, bytes] = {}
        if not _path().exists():
            return found
        try:
            with closing(self._connect()) as base:
                for start in range(0, len(keys), _ASKED):
                    some = keys[start : start + _ASKED]
                    query = f"SELECT text, row FROM rows WHERE model = ? AND text IN ({','.join('?' * len(some))})"  # noqa: S608
                    found.update(base.execute(query, (self.model, *some)))
        except (sqlite3.Error, OSError, TypeError, ValueError) as error:
            self._fail(error)
        return found

    def write(self, rows: Mapping[bytes, bytes]) -> None:
        """Add rows, all or none of them."""
        if self.problem:
            return
        try:
            _path().parent.mkdir(parents=True, exist_ok=True)
            with closing(self._connect()) as base, base:
                values = ((self.model, key, row) for key, row in rows.items())
                base.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?, ?)", values)
                self._bound(base)
        except (sqlite3.Error, OSError) as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        self.problem = f"The cache of embeddings cannot be used ({error}); 'grampus doctor --clear-cache' removes it."

    def _connect(self) -> sqlite3.Connection:
        base = sqlite3.connect(_path(), timeout=_WAIT)
        base.execute(_TABLE)
        return base

    def _bound(self, base: sqlite3.Connection) -> None:
        """Remove the oldest half of the rows when there are too many."""
        pages, free, size = (base.execute(f"PRAGMA {name}").fetchone()[0]
                             for name in ("page_count", "freelist_count", "page_size"))  # fmt: skip
        if (pages - free) * size > LARGEST:
            base.execute("DELETE FROM rows WHERE rowid <= (SELECT (min(rowid) + max(rowid)) / 2 FROM rows)")


def forget_texts(texts: Iterable[str]) -> None:
    """Remove the rows of texts, of any model and cut into pieces in any way; their bytes are overwritten.

    Pieces are those of at least `_SHORTEST` words, the fewest that a model takes.
    """
    path = _path()
    if not path.exists():
        return
    keys = {text_key(piece) for text in texts for piece in _every_piece(text)}
    with closing(sqlite3.connect(path, timeout=_WAIT)) as base:
        base.execute("PRAGMA secure_delete = ON")
        base.execute(_TABLE)
        with base:
            base.executemany("DELETE FROM rows WHERE text = ?", ((key,) for key in keys))


def _every_piece(text: str) -> Iterator[str]:
    """Yield a text, and its pieces for every number of words that they may have at most."""
    yield from (text, text.strip())
    words = text.split()
    for count in range(2, -(-len(words) // _SHORTEST) + 1):
        yield from cut_words(words, count)
