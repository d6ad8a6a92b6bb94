"""The table of languages: code, English name and Snowball stemmer."""

from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import Stemmer

from ...errors import InputError


class Language(NamedTuple):
    """A row of the table; `stemmer` is None where Snowball has none, `latin` says whether it is written so.

    Examples
    --------
    >>> from grampus.text.languages.table import LANGUAGES
    >>> LANGUAGES["de"].name, LANGUAGES["ja"].stemmer
    ('German', None)
    """

    code: str
    name: str
    stemmer: str | None
    latin: bool


_NAMES = {
    "af": "Afrikaans", "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech",
    "da": "Danish", "de": "German", "el": "Greek", "en": "English", "eo": "Esperanto", "es": "Spanish",
    "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fr": "French", "ga": "Irish",
    "gl": "Galician", "gu": "Gujarati", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian",
    "hy": "Armenian", "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ka": "Georgian", "km": "Khmer",
    "ko": "Korean", "lo": "Lao", "lt": "Lithuanian", "lv": "Latvian", "mk": "Macedonian", "mr": "Marathi",
    "ms": "Malay", "my": "Burmese", "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese",
    "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish",
    "ta": "Tamil", "th": "Thai", "tl": "Tagalog", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu",
    "vi": "Vietnamese", "yi": "Yiddish", "zh": "Chinese",
}  # fmt: skip
_OTHER_SCRIPTS = frozenset(("ar", "bg", "bn", "el", "fa", "gu", "he", "hi", "hy", "ja", "ka", "km", "ko", "lo", "mk",
                            "mr", "my", "ru", "sr", "ta", "th", "uk", "ur", "yi", "zh"))  # fmt: skip
_OTHER_CODES = {"nb": "no", "nn": "no", "in": "id", "iw": "he"}


_STEMMERS = frozenset(Stemmer.algorithms())
LANGUAGES = {
    code: Language(code, name, name.lower() if name.lower() in _STEMMERS else None, code not in _OTHER_SCRIPTS)
    for code, name in _NAMES.items()
}


def find_language(name: str) -> Language:
    """Return the language of a code such as ``de`` or ``pt-BR``, or of an English name such as ``German``.

    Examples
    --------
    >>> from grampus.text.languages.table import find_language
    >>> find_language("German").code, find_language("pt_BR").stemmer
    ('de', 'portuguese')
    """
    asked = name.strip().lower()
    code = asked.replace("_", "-").partition("-")[0]
    code = _OTHER_CODES.get(code, code)
    if code in LANGUAGES:
        return LANGUAGES[code]
    for language in LANGUAGES.values():
        if language.name.lower() == asked:
            return language
    hint = similar_language(name) or f" Known are {', '.join(LANGUAGES)}."
    raise InputError(
        f"language must be 'auto', a code or an English name, such as 'de' or 'German'; got {name!r}.{hint}"
    )


def is_language(name: str) -> bool:
    """Return whether a name is that of a language, or its code, as `find_language` takes them."""
    asked = name.strip().lower()
    return asked in LANGUAGES or any(language.name.lower() == asked for language in LANGUAGES.values())


def similar_language(name: str, others: Iterable[str] = ()) -> str:
    """Return a question for a message about a name that is nearly that of a language; else nothing.

    Examples
    --------
    >>> from grampus.text.languages.table import similar_language
    >>> similar_language("germn"), similar_language("whale")
    (" Did you mean 'german'?", '')
    """
    names = [*(language.name.lower() for language in LANGUAGES.values()), *others]
    close = get_close_matches(str(name).strip().lower(), names, 1, 0.75)
    return f" Did you mean {close[0]!r}?" if close else ""


@cache
def smart_words() -> frozenset[str]:
    """Return the list of the SMART retrieval system, which is that of English."""
    text = files("grampus.text").joinpath("data", "smart.txt").read_text(encoding="utf-8")
    return frozenset(text.split())


@cache
def _lists() -> dict[str, frozenset[str]]:
    text = files("grampus.text").joinpath("data", "stopwords.txt").read_text(encoding="utf-8")
    rows = (line.partition("\t") for line in text.splitlines() if not line.startswith("#"))
    return {code: frozenset(words.split()) for code, _, words in rows} | {"en": smart_words()}


def list_words(code: str) -> frozenset[str]:
    """Return the stop words of a language; none if there is no list.

    Examples
    --------
    >>> from grampus.text.languages.table import list_words
    >>> {"und", "der", "die"} <= list_words("de"), len(list_words("km"))
    (True, 0)
    """
    return _lists().get(code, frozenset())
