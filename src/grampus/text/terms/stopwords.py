"""Stop lists: those of SMART, of scikit-learn, of languages, of a file, your own, or none."""

from collections.abc import Iterable
from functools import cache
from os import PathLike
from pathlib import Path

from ..._files import open_regular
from ...errors import InputError
from ..languages.table import find_language, is_language, list_words, similar_language, smart_words

_MAX_FILE = 10_000_000  # bytes
StopList = str | PathLike[str] | Iterable[str] | None


@cache
def _english() -> frozenset[str]:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS)


AUTO = "auto"
_NAMED = {"smart": smart_words, "english": _english}


def is_named(name: str) -> bool:
    """Return whether a name stands for a list: of SMART, of scikit-learn, or of a language."""
    return name in _NAMED or name == AUTO or is_language(name)


def _of_language(name: str) -> frozenset[str]:
    """Return the list of a language; texts in other scripts than the Latin one hold English words, too."""
    language = find_language(name)
    return list_words(language.code) if language.latin else list_words(language.code) | smart_words()


def _from_file(path: Path) -> frozenset[str]:
    try:
        with open_regular(path, _MAX_FILE) as file:
            lines = file.read(_MAX_FILE + 1).decode("utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        raise InputError(
            f"stop_words must be 'smart', 'english', 'auto', a language such as 'de' or 'german', a readable UTF-8 "
            f"file with one word per line, words or None; got {str(path)!r} "
            f"({getattr(error, 'strerror', None) or 'not UTF-8'}).{similar_language(str(path))}"
        ) from error
    stripped = (line.strip() for line in lines)
    return frozenset(word for word in stripped if word and not word.startswith("#"))


def stop_words(source: StopList, language: str = "en") -> frozenset[str]:
    """Return a stop list as a set of words.

    Parameters
    ----------
    source : {"smart", "english", "auto"}, code, path, iterable of str or None
        ``"smart"`` is the list of the SMART retrieval system (570 different words), ``"english"`` the one
        of scikit-learn, ``"de"`` that of German (see `grampus.text.languages.LANGUAGES` for the codes; English has
        SMART's), ``"auto"`` that of `language`. A path names a UTF-8 file with one word per line; blank lines and lines
        that start with ``#`` are ignored. None is the empty list.
    language : str
        The code of the language that ``"auto"`` stands for.

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
    >>> "und" in stop_words("de")
    True
    >>> sorted(stop_words(["and", "the"]))
    ['and', 'the']
    """
    if source is None:
        return frozenset()
    if isinstance(source, str) and source in _NAMED:
        return _NAMED[source]()
    if isinstance(source, str) and is_named(source):
        return _of_language(language if source == AUTO else source)
    if isinstance(source, str | PathLike):
        return _from_file(Path(source))
    try:
        words = frozenset(source)
    except TypeError as error:
        kinds = "'smart', 'english', 'auto', a language, a file, words or None"
        raise InputError(f"stop_words must be {kinds}; got {source!r}.") from error
    wrong = [word for word in words if type(word) is not str]
    if wrong:
        raise InputError(f"stop_words must hold strings; got {wrong[0]!r}.")
    return words
