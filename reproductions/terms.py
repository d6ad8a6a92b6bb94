"""How the first two papers made terms of texts, recovered from what their authors published.

Greene's counts of bbc (2225 × 9635) come with the names of the terms. Beside the texts they tell the rules: words are
runs of letters, digits and "£" in which hyphens and full stops vanish ("16-year-old" is one word, "2.5m" is "25m"),
apostrophes part words, stems are Porter's as in his own revised program, and terms of fewer than three documents are
dropped. Which words were stopped follows as well: those of bbc whose stem is missing, or whose stem is counted in too
few documents. These rules give 4613 terms on bbcsport, the published number, without ever having seen that set.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from itertools import chain, combinations

import numpy as np
import Stemmer

from reproductions import data

RUN = re.compile(r"[\w£.-]+")
JOINED = re.compile(r"[.-]")
MEASURED = re.compile(r"[aeiouy][^aeiouy]")  # Porter's m > 0: a vowel, then a consonant
REVISED = (("bly", "ble"), ("blies", "ble"), ("logy", "log"), ("logies", "log"))
PORTER = Stemmer.Stemmer("porter")
MIN_DF = 3
SLACK = 3  # a stem counted in so many more documents than published is not a matter of stop words


def words(text: str) -> list[str]:
    """Return the words of a text, of two characters or more."""
    return [word for run in RUN.findall(text.lower()) if len(word := JOINED.sub("", run)) > 1]


@cache
def stem(word: str) -> str:
    """Return Porter's stem with the two departures of his program: -bli becomes -ble, and -logi becomes -log."""
    if len(word) < 3:
        return word
    for ending, other in REVISED:
        if word.endswith(ending) and MEASURED.search(word[: -len(ending)]):
            return str(PORTER.stemWord(word[: -len(ending)] + other))
    return str(PORTER.stemWord(word))


@cache
def stop_words() -> frozenset[str]:
    """Return the words that Greene's counts of bbc lack."""
    texts, _ = data.texts("bbc")
    counts, _ = data.counts("bbc")
    terms = data.source("bbc.terms.txt").read_text(encoding="utf-8").split()
    published = dict(zip(terms, np.bincount(counts.indices, minlength=len(terms)).tolist(), strict=True))
    where = defaultdict(set)
    for number, text in enumerate(texts):
        for word in set(words(text)):
            where[word].add(number)
    forms = defaultdict(list)
    for word in sorted(where, key=lambda word: (-len(where[word]), word)):
        forms[stem(word)].append(word)
    stopped = {word for word in where if len(where[word]) >= MIN_DF and stem(word) not in published}
    for term, wanted in published.items():
        kept = [word for word in forms[term] if word not in stopped]
        if _documents(where, kept) > wanted + SLACK:
            stopped.update(_too_many(where, kept, wanted))
    return frozenset(stopped)


def _too_many(where: dict[str, set[int]], kept: list[str], wanted: int) -> tuple[str, ...]:
    """Return the fewest words, at most four, without which a stem is counted in `wanted` documents, or nearly."""
    dropped = chain.from_iterable(combinations(kept[:8], size) for size in range(1, 5))
    return min(dropped, key=lambda gone: abs(_documents(where, [word for word in kept if word not in gone]) - wanted))


def _documents(where: dict[str, set[int]], forms: Iterable[str]) -> int:
    return len(set().union(*(where[word] for word in forms)))


def tokens(text: str) -> list[str]:
    """Return the stems of a text's words, stop words left out: a tokenizer for `TermVectorizer`."""
    stopped = stop_words()
    return [stem(word) for word in words(text) if word not in stopped]


def differences() -> Counter[str]:
    """Return how the recovered terms of bbc compare with the published ones: common, missing, added, same counts."""
    counts, _ = data.counts("bbc")
    terms = data.source("bbc.terms.txt").read_text(encoding="utf-8").split()
    published = dict(zip(terms, np.bincount(counts.indices, minlength=len(terms)).tolist(), strict=True))
    found = Counter(chain.from_iterable(set(tokens(text)) for text in data.texts("bbc")[0]))
    ours = {term: count for term, count in found.items() if count >= MIN_DF}
    return Counter(
        common=len(ours.keys() & published.keys()),
        missing=len(published.keys() - ours.keys()),
        added=len(ours.keys() - published.keys()),
        same=sum(ours.get(term) == count for term, count in published.items()),
    )
