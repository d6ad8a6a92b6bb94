"""Words in scripts without spaces: by ICU's dictionaries, or else by changes of script and pairs of characters."""

import re
from collections.abc import Iterator
from functools import cache

UNSPACED = frozenset(("ja", "zh", "th", "lo", "km", "my"))  # languages
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0002fa1f々"
_HIRAGANA, _KATAKANA = "\u3041-\u309f", "\u30a0-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_SOUTH_EAST = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Burmese, Khmer
UNSPACED_LETTERS = f"{_HAN}{_HIRAGANA}{_KATAKANA}{_SOUTH_EAST}"  # inside the brackets of a regular expression
_RUN = re.compile(f"[{UNSPACED_LETTERS}]+")
_HAN_RUN = re.compile(f"[{_HAN}]{{2,}}")
_PART = re.compile(f"[{_HAN}]+|[{_HIRAGANA}]+|[{_KATAKANA}]+|[{_SOUTH_EAST}]+")
# Vowel signs and accents, which Python does not count as characters of a word.
_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u065f\u0670\u06d6-\u06ed\u0900-\u0903\u093a-\u094f\u0951-\u0957"
    "\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a03\u0a3c-\u0a4d\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03"
    "\u0b3c-\u0b57\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03"
    "\u0d3b-\u0d4d\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u0f18-\u0fbc"
    "\u102b-\u103e\u1056-\u1059\u17b4-\u17d3\u200c\u200d"
)
_COMPLEX = re.compile(f"[{UNSPACED_LETTERS}{_MARKS}]")
_WORD = re.compile(rf"[\w{_MARKS}]{{2,}}")
_KATAKANA_WORD = re.compile(f"[{_KATAKANA}]+")
_SHORT = 3  # characters of katakana that are no word of their own next to others
_GRAMMAR = re.compile(f"[{_HIRAGANA}]{{1,3}}")
_GRAM, _LONGEST = 2, 4  # characters of a pair, and of a run of Chinese characters that is taken for a word


@cache
def has_segmenter() -> bool:
    """Return whether ICU is installed (the extra ``[cjk]``)."""
    try:
        import icu4py.breakers  # noqa: F401
    except ImportError:
        return False
    return True


def is_unspaced(text: str) -> bool:
    """Return whether three tenths of the first thousand letters are of a script without spaces.

    Examples
    --------
    >>> from grampus.text.languages.segment import is_unspaced
    >>> is_unspaced("鯨は歌う"), is_unspaced("whales sing")
    (True, False)
    """
    head = text[:1000]
    if head.isascii():
        return False
    inside = sum(map(len, _RUN.findall(head)))
    return 10 * inside > 3 * sum(map(str.isalpha, head))


def separate_words(text: str) -> str:
    """Return a text with blanks between the words of scripts without spaces; other text is unchanged.

    With the extra ``[cjk]``, words are those of ICU's dictionaries for Chinese, Japanese, Thai, Lao, Khmer and Burmese.
    Without it, Japanese is cut where the script changes, without hiragana, and the rest into pairs of characters.

    Examples
    --------
    >>> from grampus.text.languages.segment import separate_words
    >>> separate_words("whale song")
    'whale song'
    """
    if text.isascii() or _RUN.search(text) is None:
        return text
    cut = _by_dictionary if has_segmenter() else _by_pairs
    return _RUN.sub(lambda found: f" {' '.join(cut(found[0]))} ", text)


def _by_dictionary(run: str) -> Iterator[str]:
    """Yield ICU's words; short ones in hiragana beside other scripts are grammar, or parts of it."""
    from icu4py.breakers import WordBreaker

    japanese = re.search(f"[{_HIRAGANA}{_KATAKANA}]", run) is not None
    words = iter(WordBreaker(run, "ja" if japanese else "und"))
    words = _joined_katakana(words) if japanese else words
    if not japanese or re.search(f"[{_HAN}{_KATAKANA}]", run) is None:
        return words
    return (word for word in words if _GRAMMAR.fullmatch(word) is None)


def _joined_katakana(words: Iterator[str]) -> Iterator[str]:
    """Join katakana of three characters or fewer with its neighbours: "パーティ" and "ション" are parts of a word."""
    kept, last = "", 0
    for word in words:
        katakana = _KATAKANA_WORD.fullmatch(word) is not None
        if kept and katakana and min(last, len(word)) <= _SHORT:
            kept, last = kept + word, len(word)
            continue
        if kept:
            yield kept
        kept, last = (word, len(word)) if katakana else ("", 0)
        if not katakana:
            yield word
    if kept:
        yield kept


def _by_pairs(run: str) -> Iterator[str]:
    """Yield katakana words whole, and pairs of other characters; hiragana beside other scripts is grammar."""
    parts = _PART.findall(run)
    kana = any(re.match(f"[{_HIRAGANA}]", part) for part in parts)
    for part in parts:
        if re.match(f"[{_KATAKANA}]", part) or len(part) <= _GRAM or (kana and len(part) <= _LONGEST):
            if len(parts) == 1 or not re.match(f"[{_HIRAGANA}]", part):
                yield part
        elif not re.match(f"[{_HIRAGANA}]", part):
            yield from _pairs(part)


def _pairs(run: str) -> list[str]:
    return [run[at : at + _GRAM] for at in range(len(run) - _GRAM + 1)]


def segment_words(chunk: str) -> list[str]:
    """Return the words of a text without blanks, for names: never a part of a word.

    Without the extra ``[cjk]``, those are runs of katakana, and short runs of other characters; the rest is left out.

    Examples
    --------
    >>> from grampus.text.languages.segment import segment_words
    >>> segment_words("whale"), segment_words("ファイル")
    (['whale'], ['ファイル'])
    """
    if chunk.isascii() or _RUN.search(chunk) is None:
        return [chunk]
    if has_segmenter():
        return separate_words(chunk).split()
    parts = _RUN.sub(lambda found: f" {' '.join(_whole(found[0]))} ", chunk)
    return parts.split()


def _whole(run: str) -> Iterator[str]:
    """Yield the parts of a run that can be taken for words."""
    for part in _PART.findall(run):
        if re.match(f"[{_KATAKANA}]", part) or (len(part) <= _LONGEST and re.match(f"[{_HAN}]", part)):
            yield part


def is_complex(text: str) -> bool:
    """Return whether a text needs `complex_words`: a script without spaces, or vowel signs."""
    return not text.isascii() and _COMPLEX.search(text) is not None


def complex_words(text: str) -> list[str]:
    """Return the words of two or more characters of such a text, and pairs of Chinese characters that are no words.

    A dictionary does not know names and new words; pairs of their characters are found again in other texts.
    """
    words = _WORD.findall(separate_words(text))
    if not has_segmenter():
        return words  # which are pairs already
    known = set(words)
    return words + [pair for run in _HAN_RUN.findall(text) for pair in _pairs(run) if pair not in known]
