"""Names of clusters: the words and phrases that tell them apart, as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._array import Array, sum_rows
from .._check import check_partition
from ..text.terms.forms import Forms, most
from .cluster import Term
from .reading import Reading, Segmenter, read_words

READ = 100  # documents of a cluster that are read for phrases and spelling
LONGEST = 3  # words of a phrase
LEAST = 0.04  # share of the documents read that must contain a phrase
PARTS = 3  # words or phrases in a name
CANDIDATES = 40  # terms of a cluster that are considered
SHOWN = 10  # terms of a cluster that are returned
PREFERRED = 1.6  # a phrase is as telling as a word at this factor
WHOLE = 0.7  # of the documents with a phrase: from here on, a longer phrase takes its place
_LETTERS = re.compile(r"[^\W\d_]")
_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxz]{6,}", re.IGNORECASE)
_COMPOUND = re.compile(r"[-\u2010\u2011+#]")


class Name(NamedTuple):
    """The name of a cluster, and what it was made of.

    Attributes
    ----------
    text : str
        Up to three words or phrases.
    terms, phrases : tuples of Term
        Words and phrases that tell the cluster from the others, as written in its documents, best first.
    """

    text: str
    terms: tuple[Term, ...]
    phrases: tuple[Term, ...]


@dataclass(frozen=True)
class Wording:
    """The words of a collection, for naming groups of its documents.

    Parameters
    ----------
    weights : sparse or dense array of shape (n, m)
        Weighted terms of the documents.
    terms : sequence of m strings
    texts : sequence of n strings, optional
        The documents, for phrases, and for words as they are written.
    forms : Forms, optional
        The written forms of the terms in all documents, ``TermVectorizer.forms_``; without them a term is a word.
    stop_words : frozenset of str
        Words that are no name, and that no phrase begins or ends with.
    counts : array of shape (n,), optional
        The number of equal documents that each row represents.
    segment : callable, optional
        Splits text without blanks into words.
    """

    weights: Any
    terms: Sequence[str]
    texts: Sequence[str] | None = None
    forms: Forms | None = None
    stop_words: frozenset[str] = frozenset()
    counts: Any = None
    segment: Segmenter | None = None

    @cached_property
    def present(self) -> Any:
        """Which documents contain which terms, as ones."""
        held = self.weights.copy() if hasattr(self.weights, "tocsr") else np.asarray(self.weights)
        if hasattr(held, "tocsr"):
            held.data = np.ones(len(held.data))
            return held
        return (held != 0).astype(np.float64)

    def stem(self, word: str) -> str:
        """Return the stem of a word in lower case; the word if it is none of the terms."""
        return word if self.forms is None else self.forms.stem_of.get(word, word)


def name_partition(wording: Wording, labels: Any) -> tuple[Name, ...]:
    """Name the clusters of a partition; no two have the same name.

    Parameters
    ----------
    wording : Wording
    labels : array of shape (n,)
        Cluster numbers 0 … k−1; −1 for a document in no cluster.

    Returns
    -------
    tuple of Name
    """
    return name_levels(wording, [labels])[0]


def name_levels(wording: Wording, levels: Sequence[Any]) -> list[tuple[Name, ...]]:
    """Name the clusters of nested partitions, coarse to fine, so that the names of a cluster and its parts fit.

    Parameters
    ----------
    wording : Wording
    levels : sequence of arrays of shape (n,)
        Cluster numbers 0 … k−1 at each level, the coarsest first.

    Returns
    -------
    list of tuples of Name
        One tuple for each level, one name for each of its clusters.
    """
    n = wording.weights.shape[0]
    return [_name_level(wording, check_partition(labels, n)) for labels in levels]


def _name_level(wording: Wording, labels: NDArray[np.intp]) -> tuple[Name, ...]:
    inside, outside = _shares(wording, labels)
    scores = telling(inside, outside)
    k = len(scores)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :CANDIDATES]
    sample = _Sample.of(wording, labels, k) if wording.texts is not None else None
    taken: set[str] = set()
    names = []
    for c in range(k):
        words = [(float(scores[c, t]), wording.terms[t]) for t in order[c].tolist() if scores[c, t] > 0]
        found = _candidates(wording, sample, c, words)
        phrases = sample.phrases[c] if sample else []
        names.append(_name(found, phrases, taken))
        taken.add(names[-1].text)
    return tuple(names)


def telling(inside: Array, outside: Array) -> Array:
    """Return how much terms tell about a group, from the shares of documents inside and outside that contain them."""
    return inside * np.log((inside + 1e-3) / (outside + 1e-3))


def _shares(wording: Wording, labels: NDArray[np.intp]) -> tuple[Array, Array]:
    """Return the share of the documents inside and outside every cluster that contain each term, both (k, m)."""
    counts = np.ones(len(labels)) if wording.counts is None else np.asarray(wording.counts, dtype=np.float64)
    sizes = np.bincount(labels[labels >= 0], weights=counts[labels >= 0])
    held = sum_rows(wording.present, labels, len(sizes), counts)
    everything = held.sum(axis=0)
    others = sizes.sum() - sizes
    inside = held / np.maximum(sizes, 1.0)[:, None]
    outside = (everything - held) / np.maximum(others, 1.0)[:, None]
    return inside, outside


class Candidate(NamedTuple):
    """A word or phrase that may be part of a name: how telling it is, as written, and its stems."""

    score: float
    text: str
    stems: tuple[str, ...]


@dataclass(frozen=True)
class _Sample:
    """What was read of the documents of each cluster."""

    reading: Reading
    cluster: NDArray[np.intp]  # of every word read
    phrases: list[list[Candidate]]
    prose: list[dict[str, dict[str, int]]]  # cluster → stem → written form → count, inside sentences counted more
    hidden: list[dict[str, int]]

    @classmethod
    def of(cls, wording: Wording, labels: NDArray[np.intp], k: int) -> _Sample:
        """Read some documents of every cluster."""
        assert wording.texts is not None
        chosen = [_evenly(np.flatnonzero(labels == c)) for c in range(k)]
        places = np.concatenate(chosen)
        own = np.repeat(np.arange(k), [len(some) for some in chosen])
        reading = read_words([wording.texts[int(at)] for at in places], wording.segment)
        sizes = np.array([len(some) for some in chosen])
        phrases = _phrases(wording, reading, own, sizes, labels)
        prose, hidden = _counted(wording, reading, own, k)
        return cls(reading, own[reading.text], phrases, prose, hidden)


def _evenly(members: NDArray[np.intp]) -> NDArray[np.intp]:
    return members[np.linspace(0, len(members) - 1, min(READ, len(members))).astype(np.intp)]


def _counted(
    wording: Wording, reading: Reading, own: NDArray[np.intp], k: int
) -> tuple[list[dict[str, dict[str, int]]], list[dict[str, int]]]:
    """Count the written forms of stems in every cluster: in sentences, and hidden in headers and addresses."""
    words, stems = reading.words, [wording.stem(word.lower()) for word in reading.words]
    size = len(words)
    prose: list[dict[str, dict[str, int]]] = [{} for _ in range(k)]
    # A word inside a sentence shows its case; at the beginning it only shows that it occurs.
    key = (own[reading.text] * size + reading.word) * 2 + reading.inside
    for code, number in zip(*(part.tolist() for part in np.unique(key, return_counts=True)), strict=True):
        pair, within = divmod(code, 2)
        c, word = divmod(pair, size)
        forms = prose[c].setdefault(stems[word], {})
        forms[words[word]] = forms.get(words[word], 0) + number * (1000 if within else 1)
    hidden: list[dict[str, int]] = [{} for _ in range(k)]
    key = own[reading.hidden_text] * size + reading.hidden_word
    for code, number in zip(*(part.tolist() for part in np.unique(key, return_counts=True)), strict=True):
        c, word = divmod(code, size)
        hidden[c][stems[word]] = hidden[c].get(stems[word], 0) + number
    return prose, hidden


def _candidates(
    wording: Wording, sample: _Sample | None, c: int, words: list[tuple[float, str]]
) -> list[Candidate]:
    """Return the terms of a cluster as they are written there; those that are no words are left out."""
    found = []
    for score, stem in words:
        if sample is None:
            text = stem if wording.forms is None else wording.forms.usual(stem)
        else:
            text = _written(sample.prose[c].get(stem, {}), sample.hidden[c].get(stem, 0))
        if text and is_word(text, wording.stop_words):
            found.append(Candidate(score, text, (stem,)))
    return found


def _written(forms: dict[str, int], hidden: int) -> str:
    """Return the most frequent form in its most frequent case; '' for a term that is mostly hidden."""
    lower: dict[str, int] = {}
    for form, number in forms.items():
        lower[form.lower()] = lower.get(form.lower(), 0) + number // 1000 + number % 1000
    if hidden >= sum(lower.values()):
        return ""
    word = most(lower)
    return most({form: number for form, number in forms.items() if form.lower() == word})


def is_word(text: str, stops: frozenset[str]) -> bool:
    """Return whether a token can stand in a name: no stop word, number, single letter or remains of data."""
    letters = len(_LETTERS.findall(text))
    if letters < 2 and not (letters and _COMPOUND.search(text)):
        return False
    digits = sum(map(str.isdigit, text))
    return digits < letters and text.lower() not in stops and not _CONSONANTS.fullmatch(text)


def _phrases(
    wording: Wording, reading: Reading, own: NDArray[np.intp], sizes: NDArray[np.intp], labels: NDArray[np.intp]
) -> list[list[Candidate]]:
    """Return the phrases of every cluster, best first."""
    k = len(sizes)
    words = reading.words
    lower = [word.lower() for word in words]
    stems, number = np.unique(np.array([wording.stem(word) for word in lower] or [""], dtype=object), return_inverse=True)
    stem = number[reading.word] if len(words) else np.empty(0, np.intp)
    able = np.array([is_word(word, wording.stop_words) for word in words], dtype=bool)[reading.word]
    single = np.array([bool(_COMPOUND.search(word)) for word in words], dtype=bool)[reading.word] & able
    numeric = np.array([word[:1].isdigit() for word in words], dtype=bool)[reading.word]
    starts = [np.flatnonzero(single)]
    keys = [stem[starts[0]].astype(np.int64)]
    whole = np.bincount(labels[labels >= 0], minlength=k).astype(np.float64)
    last = np.flatnonzero(able & ~numeric)
    key = stem[last].astype(np.int64)
    at = last
    prefix_key = stem.astype(np.int64)
    out: list[list[Candidate]] = [[] for _ in range(k)]
    found: list[tuple[int, int, NDArray[np.int64], NDArray[np.intp]]] = []
    runs = [(1, starts[0], keys[0])]
    current_at, current_key = np.flatnonzero(able), stem[np.flatnonzero(able)].astype(np.int64)
    for order in range(2, LONGEST + 1):
        following = current_at + order - 1
        fits = following < len(stem)
        current_at, current_key, following = current_at[fits], current_key[fits], following[fits]
        fits = reading.joined[following] & ~numeric[following]
        current_at, current_key, following = current_at[fits], current_key[fits], following[fits]
        _, small = np.unique(current_key, return_inverse=True)
        current_key = small.astype(np.int64) * len(stems) + stem[following]
        ends = able[following]
        runs.append((order, current_at[ends], current_key[ends]))
    scored: list[dict[tuple[int, ...], tuple[float, NDArray[np.intp], int, float]]] = [{} for _ in range(k)]
    for order, at, key in runs:
        if not len(at):
            continue
        unique, inverse = np.unique(key, return_inverse=True)
        texts = reading.text[at].astype(np.int64)
        pair, first = np.unique(inverse.astype(np.int64) * len(own) + texts, return_index=True)
        phrase, text = pair // len(own), pair % len(own)
        table = np.zeros((len(unique), k)) if len(unique) * k < 5e6 else None
        total = np.bincount(phrase, minlength=len(unique))
        often = np.flatnonzero(total >= 2)
        position = np.full(len(unique), -1)
        position[often] = np.arange(len(often))
        keep = position[phrase] >= 0
        table = np.zeros((len(often), k))
        np.add.at(table, (position[phrase[keep]], own[text[keep]]), 1.0)
        share = table / sizes
        expected = share * whole
        rest = (expected.sum(axis=1, keepdims=True) - expected) / np.maximum(whole.sum() - whole, 1.0)
        value = telling(share, rest)
        by = np.argsort(position[inverse], kind="stable")
        bounds = np.searchsorted(position[inverse][by], np.arange(len(often) + 1))
        for c in range(k):
            good = np.flatnonzero((table[:, c] >= max(2.0, LEAST * sizes[c])) & (value[:, c] > 0))
            good = good[np.argsort(-value[good, c], kind="stable")][:CANDIDATES]
            for p in good.tolist():
                places = at[by[bounds[p] : bounds[p + 1]]]
                mine = places[own[reading.text[places]] == c]
                which = tuple(int(stem[mine[0] + step]) for step in range(order))
                scored[c][which] = (float(value[p, c]), mine, order, float(share[p, c]))
    for c in range(k):
        out[c] = _spelled(scored[c], reading, stems)
    return out


def _spelled(scored: dict[Any, Any], reading: Reading, stems: Any) -> list[Candidate]:
    found = []
    for which, (value, places, order, share) in scored.items():
        if any(
            len(other) > len(which) and _within(which, other) and values[3] >= WHOLE * share
            for other, values in scored.items()
        ):
            continue
        forms: dict[str, int] = {}
        for place in places.tolist():
            text = " ".join(reading.words[reading.word[place + step]] for step in range(order))
            forms[text] = forms.get(text, 0) + (1000 if reading.inside[place] else 1)
        found.append(Candidate(value, most(forms), tuple(str(stems[s]) for s in which)))
    return sorted(found, key=lambda one: (-one.score, one.text))


def _within(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return any(other[i : i + len(one)] == one for i in range(len(other) - len(one) + 1))


def _name(words: list[Candidate], phrases: list[Candidate], taken: set[str]) -> Name:
    ranked = sorted(
        [*words, *(phrase._replace(score=PREFERRED * phrase.score) for phrase in phrases)],
        key=lambda one: (-one.score, one.text),
    )
    chosen: list[Candidate] = []
    for candidate in ranked:
        if len(chosen) == PARTS:
            break
        if not any(repeats(candidate, other) for other in chosen):
            chosen.append(candidate)
    text = ", ".join(one.text for one in chosen)
    return Name(
        text,
        tuple(Term(one.text, round(one.score, 6)) for one in words[:SHOWN]),
        tuple(Term(one.text, round(one.score, 6)) for one in phrases[:5]),
    )


def repeats(one: Candidate, other: Candidate) -> bool:
    """Return whether two candidates share a word, by stem or nearly."""
    return any(alike(a, b) for a in _parts(one) for b in _parts(other))


def _parts(candidate: Candidate) -> Iterator[str]:
    yield from candidate.stems
    for part in re.findall(r"[^\W_]+", candidate.text.lower()):
        yield part


def alike(one: str, other: str) -> bool:
    """Return whether two words are forms of one: equal, or the same but for up to three letters at the end."""
    if one == other:
        return True
    common = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        common += 1
    shorter, longer = sorted((len(one), len(other)))
    if common == shorter:
        return shorter >= 4 and longer - shorter <= 3
    return common >= 5 and longer - common <= 3
