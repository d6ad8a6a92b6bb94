"""Phrases of a cluster, and the words behind its stems."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from .cluster import Term

WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
TOKEN = re.compile(r"\w\w+")  # as for terms
LONGEST = 3  # words of a phrase
READ = 2000  # characters of a document to search
LEAST = 0.04  # least share of the documents that contain a phrase


def phrases(groups: Sequence[Sequence[str]], stops: frozenset[str] = frozenset(), top: int = 5) -> list[list[Term]]:
    """Return the phrases that distinguish every group of texts, best first.

    A phrase is two or three words separated only by blanks. It begins and ends with a word that is neither a stop word
    nor a number, and occurs in at least two texts and 4 % of its group. Its score is the share of the group's texts
    that contain it minus the share of the other texts. A phrase that contains a better one, or is contained in it, is
    left out. The first 2,000 characters of each text are searched.

    Parameters
    ----------
    groups : sequence of sequences of str
        The texts of every cluster, or some of them.
    stops : frozenset of str
        Words that a phrase neither begins nor ends with.
    top : int
        The largest number for each group.

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
    return [_best(counts, everywhere, len(group), total, top) for counts, group in zip(found, groups, strict=True)]


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
    """Yield runs of words separated only by blanks, in lower case."""
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


def _best(counts: Counter[str], everywhere: Counter[str], size: int, total: int, top: int) -> list[Term]:
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
    """Return, for every stem in some texts, its most frequent word; the first in a tie.

    Parameters
    ----------
    texts : sequence of str
        The first 2,000 characters of each are searched.
    stem : callable
        Maps words to stems.

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
