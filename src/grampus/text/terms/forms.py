"""The written forms of terms: which words of the texts stand behind a stem, in which case, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .count import Units, Written


@dataclass(frozen=True)
class Forms:
    """Words as they are written, the stem of each, and how often each occurs in all documents.

    Attributes
    ----------
    words : sequence of str
        Distinct words with the case they have in the texts.
    stems : sequence of str
        The stem of each, or the word in lower case if words are not stemmed.
    counts : array of shape (words,)

    Examples
    --------
    >>> from grampus.text import Terms
    >>> forms = Terms().fit(["NASA launched it", "NASA launches; Launches by Nasa", "launches"]).forms_
    >>> forms.usual("launch"), forms.stem_of["launched"], forms.cased("nasa")
    ('launches', 'launch', 'NASA')
    """

    words: Sequence[str]
    stems: Sequence[str]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, written: Written, names: Sequence[str], kept: Units) -> Forms:
        """Return the forms of the stems that a numbering kept; `names` are the stems of all units."""
        is_kept = np.fromiter(map(kept.tokens.__contains__, names), bool, len(names))
        found = np.flatnonzero(is_kept[written.unit])
        stems = [names[unit] for unit in written.unit[found].tolist()]
        return cls([written.tokens[at] for at in found.tolist()], stems, written.count[found])

    @cached_property
    def stem_of(self) -> dict[str, str]:
        """The stem of every word in lower case."""
        return {word.lower(): stem for word, stem in zip(self.words, self.stems, strict=True)}

    def prepare(self) -> None:
        """Make what look-ups need, before this process is copied."""
        _ = self.stem_of, self._places

    def of_stem(self, stem: str) -> Counter[str]:
        """Return how often each word of a stem occurs, in lower case."""
        found: Counter[str] = Counter()
        for at in self._places.get(stem, ()):
            found[self.words[at].lower()] += int(self.counts[at])
        return found

    def usual(self, stem: str) -> str:
        """Return the most frequent word of a stem, in lower case; the stem itself if it has none."""
        return most(self.of_stem(stem)) or stem

    def cased(self, word: str) -> str:
        """Return the most frequent case of a word; the word itself if it has none."""
        places = self._places.get(self.stem_of.get(word.lower(), ""), ())
        same = {self.words[at]: int(self.counts[at]) for at in places if self.words[at].lower() == word.lower()}
        return most(same) or word

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for at, stem in enumerate(self.stems):
            found.setdefault(stem, []).append(at)
        return found


def most(counts: Mapping[str, int]) -> str:
    """Return the word with the largest count; in a tie the shortest, then lower case; '' if there is none.

    Examples
    --------
    >>> from grampus.text.terms.forms import most
    >>> most({"Whale": 2, "whale": 2, "whales": 2, "whaling": 1})
    'whale'
    """
    return max(counts, key=lambda word: (counts[word], -len(word), word), default="")
