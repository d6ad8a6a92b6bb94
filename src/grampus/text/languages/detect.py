"""Tell the language of a text: by its script, then by function words and letters.

A word votes for the languages whose function word it is, in proportion to how often they use it; letters beyond ASCII
vote in the same way. The frequencies are those of the Universal Declaration of Human Rights, which exists in all these
languages; function words it lacks come from the stop lists. Nothing is drawn, and nothing depends on other documents.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from itertools import islice

import numpy as np

from ..._native.words import KnownWords
from .table import list_words

_WINDOW = 700  # characters at the beginning, in the middle and at the end
_WORD = re.compile(r"\b[^\W\d_]{2,}\b")  # not the letters of a code
_LETTER = re.compile(r"[^\W\d_\x00-\x7f]")
_FEW = 3e-4  # share of the words of a text that a function word has which the Declaration does not use
_MOST = 3  # votes of one word: a page of code repeats its names
_ENGLISH = 0.5  # weight of English, whose words are in technical texts of any language
_BY_WORDS = 1.0  # votes for a language that its words must give: letters alone are not a text
_LEAST, _SHARE = 2.5, 0.1  # votes for a language, and per word: texts without function words have no language
_PLENTY = 4  # different common words of English
_BATCH = 1000  # texts that are looked at together
_ENOUGH, _AHEAD = 8.0, 1.25  # fewer votes must be so many times those for the next language

# Scripts of one language or few, as ranges of letters. A text that has a tenth of its letters in one is in that script.
_SCRIPTS: dict[str, tuple[str, ...]] = {
    "\u0400-\u04ff": ("ru", "uk", "bg", "sr", "mk"),
    "\u0370-\u03ff\u1f00-\u1fff": ("el",),
    "\u0530-\u058f": ("hy",),
    "\u0590-\u05ff": ("he",),
    "\u0600-\u06ff": ("ar", "fa", "ur"),
    "\u0900-\u097f": ("hi",),
    "\u0980-\u09ff": ("bn",),
    "\u0a80-\u0aff": ("gu",),
    "\u0b80-\u0bff": ("ta",),
    "\u0e00-\u0e7f": ("th",),
    "\u0e80-\u0eff": ("lo",),
    "\u1000-\u109f": ("my",),
    "\u10a0-\u10ff": ("ka",),
    "\u1780-\u17ff": ("km",),
    "\u1100-\u11ff\uac00-\ud7af": ("ko",),
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff": ("ja", "zh"),
}
_SCRIPT = {re.compile(f"[{letters}]"): codes for letters, codes in _SCRIPTS.items()}
_ELSEWHERE = frozenset(code for codes in _SCRIPTS.values() for code in codes)
_ANY = re.compile(f"[{''.join(_SCRIPTS)}]")
_KANA = re.compile("[\u3040-\u30ff]")
_PERSIAN, _URDU = re.compile("[پچژگ]"), re.compile("[ٹڈڑںےہ]")
_COMMON = frozenset((
    "the", "of", "and", "to", "in", "is", "that", "for", "with", "are", "be", "this", "as", "was", "on", "by", "have",
    "from", "which", "not", "it", "you",
))  # fmt: skip

Votes = tuple[tuple[str, float], ...]


@cache
def _shares() -> dict[str, dict[str, float]]:
    """Return how often each language uses a function word or letter, by word."""
    text = files("grampus.text").joinpath("data", "function_words.txt").read_text(encoding="utf-8")
    shares: dict[str, dict[str, float]] = {}
    for line in text.splitlines():
        code, tab, entries = line.partition("\t")
        if not tab:
            continue
        for entry in entries.split():
            word, _, count = entry.partition("=")
            shares.setdefault(word, {})[code] = int(count) / 10_000
        for word in list_words(code):
            if _WORD.fullmatch(word):
                shares.setdefault(word, {}).setdefault(code, _FEW)
    return shares


@cache
def _votes(word: str) -> Votes:
    """Return the share of its vote that a function word or letter gives to each language."""
    shares = _shares()[word]
    total = sum(shares.values())
    return tuple((code, share / total) for code, share in sorted(shares.items()) if share > total / 50)


@cache
def _foreign() -> frozenset[str]:
    """Return the function words of other languages that are none of English."""
    return frozenset(_shares()) - list_words("en")


def detect_language(text: str, among: Iterable[str] | None = None) -> str:
    """Return the code of the language a text is in; an empty string if it has too little to tell.

    Parameters
    ----------
    text : str
        2,100 characters are looked at: from the beginning, the middle and the end.
    among : iterable of str, optional
        The codes of the languages that come into question.

    Examples
    --------
    >>> from grampus.text.languages.detect import detect_language
    >>> detect_language("Der Wal ist ein Tier, das in allen Meeren der Welt lebt und mit der Lunge atmet.")
    'de'
    >>> detect_language("クジラは海に住む哺乳類です。"), detect_language("whale song")
    ('ja', '')
    """
    text = _sample(text).lower()
    allowed = None if among is None else frozenset(among)
    if (allowed is None or "en" in allowed) and (text.isascii() or _ANY.search(text) is None):
        words = set(text.split())
        common = len(words & _COMMON)
        if common >= _PLENTY and common > 2 * len(words & _foreign()):
            return "en"
    codes = _by_script(text)
    if codes is not None and (len(codes) == 1 or codes == ("ja", "zh")):
        found = codes[0] if len(codes) == 1 else _han(text)
        return found if allowed is None or found in allowed else ""
    return _by_words(text, codes, allowed)


def detect_languages(texts: Iterable[str], among: Iterable[str] | None = None) -> list[str]:
    """Return what `detect_language` returns for each of many texts; faster for English ones.

    Examples
    --------
    >>> from grampus.text.languages.detect import detect_languages
    >>> detect_languages(["The song of the whale is heard in the sea and on the land.", "Das ist nicht der Wal."])
    ['en', 'de']
    """
    allowed = None if among is None else frozenset(among)
    if allowed is not None and "en" not in allowed:
        return [detect_language(text, allowed) for text in texts]
    found: list[str] = []
    waiting = iter(texts)
    while some := list(islice(waiting, _BATCH)):
        plain = [sample if (sample := _sample(text)).isascii() else "" for text in some]
        ends = np.cumsum([0, *map(len, plain)], dtype=np.int64)
        common, foreign = usual_words().count("".join(plain).encode("ascii"), ends).T
        english = (common >= _PLENTY) & (common > 2 * foreign)
        found += ["en" if is_it else detect_language(text, allowed) for text, is_it in zip(some, english, strict=True)]
    return found


@cache
def usual_words() -> KnownWords:
    """Return the words that tell English from other languages; copies of a process share what it has made."""
    return KnownWords(_COMMON, _foreign())


def _sample(text: str) -> str:
    if len(text) <= 3 * _WINDOW:
        return text
    middle = (len(text) - _WINDOW) // 2
    return f"{text[:_WINDOW]} {text[middle : middle + _WINDOW]} {text[-_WINDOW:]}"


def _by_script(text: str) -> tuple[str, ...] | None:
    """Return the languages of the script, if it is not Latin."""
    if text.isascii() or _ANY.search(text) is None:
        return None
    letters = sum(map(str.isalpha, text))
    counts = [(len(pattern.findall(text)), codes) for pattern, codes in _SCRIPT.items()]
    most, codes = max(counts, key=lambda found: found[0])
    return codes if 10 * most >= letters else None


def script_language(text: str) -> str:
    """Return the most usual language of a text's script; an empty string for the Latin one.

    Examples
    --------
    >>> from grampus.text.languages.detect import script_language
    >>> script_language("سيارة جديدة"), script_language("whale song")
    ('ar', '')
    """
    codes = _by_script(_sample(text))
    return "" if codes is None else _han(text) if codes == ("ja", "zh") else codes[0]


def _han(text: str) -> str:
    kana = len(_KANA.findall(text))
    return "ja" if 10 * kana > len(re.findall("[\u3400-\u4dbf\u4e00-\u9fff]", text)) else "zh"


def _by_words(text: str, codes: tuple[str, ...] | None, allowed: frozenset[str] | None) -> str:
    """Return the language with the most votes, if they are enough and ahead of the others."""
    if codes is not None and "fa" in codes and not (allowed and "ar" not in allowed):
        letters = {"fa": len(_PERSIAN.findall(text)), "ur": 2 * len(_URDU.findall(text))}
        best = max(letters, key=lambda code: letters[code])
        if 100 * letters[best] > len(text):
            return best
    known = _shares()
    tally: dict[str, float] = {}
    by_words: dict[str, float] = {}
    counts = Counter(_WORD.findall(text))
    counts.update(_LETTER.findall(text))
    for word, count in counts.items():
        for code, share in _votes(word) if word in known else ():
            if (code in codes if codes is not None else code not in _ELSEWHERE) and (not allowed or code in allowed):
                votes = min(count, _MOST) * share
                tally[code] = tally.get(code, 0.0) + votes
                if len(word) > 1:
                    by_words[code] = by_words.get(code, 0.0) + votes
    if "en" in tally:
        tally["en"] *= _ENGLISH
    ranked = sorted(tally.items(), key=lambda found: (-found[1], found[0]))
    if not ranked:
        return ""
    (best, votes), second = ranked[0], ranked[1][1] if len(ranked) > 1 else 0.0
    if by_words.get(best, 0.0) < _BY_WORDS:
        return ""
    least = max(_LEAST, _SHARE * len(counts)) * (_ENGLISH if best == "en" else 1.0)
    return best if votes >= least and (votes >= _ENOUGH or votes >= _AHEAD * second) else ""
