"""How easily a page reads: Flesch's reading ease, 206.835 − 1.015 words per sentence − 84.6 syllables per word.

Rudolf Flesch, *A new readability yardstick*, Journal of Applied Psychology 32 (1948). Code, addresses of links and
headings are left out. A full stop, an item of a list and a cell of a table end a sentence; a colon or a semicolon does
not.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_SENTENCE = re.compile(r"[.!?]+(?:\s|$)|\n\s*\n|\n\s*[-|]|\s\|\s")
_WORD = re.compile(r"[A-Za-z][A-Za-z'’]*")


def prose(page: str) -> str:
    """Return the sentences of a page of Markdown, without code.

    Examples
    --------
    >>> prose("# Title\\n\\nThe `whale` [sings](a.md).\\n")
    'The  sings.'
    """
    text = _FENCE.sub("", page)
    text = re.sub(r"^(#.*|    .*|\|[-| ]+\|)$", "", text, flags=re.MULTILINE)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`+[^`]*`+", "", text)
    return text.replace("*", "").strip()


def syllables(word: str) -> int:
    """Return about how many syllables an English word has: groups of vowels, without a silent e.

    Examples
    --------
    >>> [syllables(word) for word in ("page", "table", "cluster", "document", "the", "created", "named")]
    [1, 2, 2, 3, 1, 3, 1]
    """
    word = word.lower().replace("’", "'").removesuffix("'s")
    groups = len(re.findall(r"[aeiouy]+", word)) + len(re.findall(r"e(?=at)(?<=re)", word))
    if re.search(r"[^aeiouyl]e$|[^aeiouydt]ed$|[^aeiouscxzg]es$|[aeiouy]le$", word):
        groups -= 1
    return max(groups, 1)


def flesch(text: str) -> float:
    """Return Flesch's reading ease of a text.

    Examples
    --------
    >>> round(flesch("The cat sat on the mat. The dog ran to the door."))
    116
    """
    sentences = [part for part in _SENTENCE.split(text) if _WORD.search(part or "")]
    words = _WORD.findall(text)
    return 206.835 - 1.015 * len(words) / len(sentences) - 84.6 * sum(map(syllables, words)) / len(words)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(f"{flesch(prose(Path(name).read_text(encoding='utf-8'))):5.1f} {name}")
