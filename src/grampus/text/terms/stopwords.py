"""Stop lists: that of SMART, of scikit-learn, of a file, your own, or none."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from os import PathLike
from pathlib import Path

from ..._files import open_regular
from ...errors import InputError

_MAX_FILE = 10_000_000  # bytes
StopList = str | PathLike[str] | Iterable[str] | None


@cache
def _smart() -> frozenset[str]:
    text = files("grampus.text").joinpath("data", "smart.txt").read_text(encoding="utf-8")
    return frozenset(text.split())


@cache
def _english() -> frozenset[str]:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS)


_NAMED = {"smart": _smart, "english": _english}


def _from_file(path: Path) -> frozenset[str]:
    try:
        with open_regular(path, _MAX_FILE) as file:
            lines = file.read(_MAX_FILE + 1).decode("utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        raise InputError(
            f"stop_words must be 'smart', 'english', a readable UTF-8 file with one word per line, words or "
            f"None; got {str(path)!r} ({getattr(error, 'strerror', None) or 'not UTF-8'})."
        ) from error
    stripped = (line.strip() for line in lines)
    return frozenset(word for word in stripped if word and not word.startswith("#"))


def stop_words(source: StopList) -> frozenset[str]:
    """Return a stop list as a set of words.

    Parameters
    ----------
    source : {"smart", "english"}, path, iterable of str or None
        ``"smart"`` is the list of the SMART retrieval system (570 different words), ``"english"`` the one
        of scikit-learn. A path names a UTF-8 file with one word per line; blank lines and lines that
        start with ``#`` are ignored. None is the empty list.

    Returns
    -------
    frozenset of str

    Examples
    --------
    >>> from grampus.text import stop_words
    >>> len(stop_words("smart"))
    570
    >>> "the" in stop_words("english")
    True
    >>> sorted(stop_words(["and", "the"]))
    ['and', 'the']
    """
    if source is None:
        return frozenset()
    if isinstance(source, str) and source in _NAMED:
        return _NAMED[source]()
    if isinstance(source, str | PathLike):
        return _from_file(Path(source))
    try:
        words = frozenset(source)
    except TypeError as error:
        raise InputError(f"stop_words must be 'smart', 'english', a file, words or None; got {source!r}.") from error
    wrong = [word for word in words if type(word) is not str]
    if wrong:
        raise InputError(f"stop_words must hold strings; got {wrong[0]!r}.")
    return words
