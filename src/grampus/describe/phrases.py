"""Phrases of a cluster, and the words that its stems came from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from .cluster import Term

WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
TOKEN = re.compile(r"\w\w+")  # as the terms are made
LONGEST = 3  # words of a phrase
READ = 2000  # characters of a document that are read
LEAST = 0.04  # share of the documents that a phrase must be in


def phrases(groups: Sequence[Sequence[str]], stops: frozenset[str] = frozenset(), top: int = 5) -> list[list[Term]]:
    """Return the phrases that set every group of texts apart, best first.

    A phrase is two or three words that follow each other with nothing but blanks between, begins and ends with a word
    that is no stop word and no number, and is in at least two texts and 4 % of its group. Its score is the share of
    the group's texts that have it less the share of the other texts. A phrase that is in a better one, or holds it,
    is left out. The first 2,000 characters of each text are read.

    Parameters
    ----------
    groups : sequence of sequences of str
        The texts of every cluster, or some of them.
    stops : frozenset of str
        Words that a phrase neither begins nor ends with.
    top : int
        At most so many for each group.

    Examples
    --------
    >>> from grampus.describe import phrases
    >>> phrases([["the blue whale", "a blue whale sang"], ["a bird sang", "birds"]], frozenset({"a", "the"}))
    [[Term(text='blue whale', score=1.0)], []]
    """
    found = [Counter(phrase for text in group for phrase in _phrases(text, stops)) for group in groups]
    everywhere: Counter[str] = Counter()
    for counts in found:
        everywhere.update(counts)
    total = sum(len(group) for group in groups)
    return [_telling(counts, everywhere, len(group), total, top) for counts, group in zip(found, groups, strict=True)]


def _phrases(text: str, stops: frozenset[str]) -> set[str]:
    """Return the different phrases of a text."""
    found = set()
    for run in _runs(text):
        able = [word not in stops and not word[0].isdigit() and len(word) > 1 for word in run]
        for start, first in enumerate(able):
            if first:
                for end in range(start + 2, min(start + LONGEST, len(run)) + 1):
                    if able[end - 1]:
                        found.add(" ".join(run[start:end]))
    return found


def _runs(text: str) -> Iterator[list[str]]:
    """Yield the words that follow each other with only blanks between, in lower case."""
    text = text[:READ].lower()
    run: list[str] = []
    last = 0
    for match in WORD.finditer(text):
        if run and text[last : match.start()].strip():
            yield run
            run = []
        run.append(match[0])
        last = match.end()
    yield run


def _telling(counts: Counter[str], everywhere: Counter[str], size: int, total: int, top: int) -> list[Term]:
    least = max(2, LEAST * size)
    scored = [
        (count / size - (everywhere[phrase] - count) / max(total - size, 1), phrase)
        for phrase, count in counts.items()
        if count >= least
    ]
    chosen: list[Term] = []
    for score, phrase in sorted(scored, key=lambda pair: (-pair[0], -len(pair[1]), pair[1])):
        if score <= 0 or len(chosen) == top:
            break
        if not any(_inside(phrase, other.text) or _inside(other.text, phrase) for other in chosen):
            chosen.append(Term(phrase, round(score, 6)))
    return chosen


def _inside(one: str, other: str) -> bool:
    return f" {one} " in f" {other} "


def spellings(texts: Sequence[str], stem: Callable[[list[str]], list[str]]) -> dict[str, str]:
    """Return, for every stem in some texts, the word that it stands for most often; the first of equals.

    Parameters
    ----------
    texts : sequence of str
        The first 2,000 characters of each are read.
    stem : callable
        From words to stems.

    Examples
    --------
    >>> from grampus.describe import spellings
    >>> spellings(["Whales and whales", "a whale"], lambda words: [word[:4] for word in words])["whal"]
    'whales'
    """
    counts = Counter(word for text in texts for word in TOKEN.findall(text[:READ].lower()))
    words = sorted(counts, key=lambda word: (-counts[word], word))
    found: dict[str, str] = {}
    for word, short in zip(words, stem(words), strict=True):
        found.setdefault(short, word)
    return found
