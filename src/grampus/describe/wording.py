"""The words of a collection: which documents contain which terms, and how terms and phrases are written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._array import is_sparse
from .._check import check_matrix
from .._native.words import side_by_side
from ..errors import InputError
from ..text.terms.forms import Forms, most
from .candidates import LINKS, Candidate
from .direction import DocumentMeaning
from .persons import BEFORE
from .reading import Reading, Segmenter, read_words

Integers = NDArray[np.intp]
LONGEST = 3  # words of a phrase
OFTEN = 0.25  # of the places of the usual form: from here on another form may be used
LOWER_CASE = 0.003  # share of words inside sentences with a capital: below, texts are in lower case
FOLLOWING = 0.25  # of the places of a word: from here on those after a given name make it a surname
MOST_READ, FEWEST_READ, READ_IN_ALL = 100, 15, 3000  # documents: of a group, and of all
COMPARED, SEARCHED = 100, 4_000  # documents with two words, and characters of each, to see whether they stand together
KEPT = 16_384  # documents whose words are kept for that; all names ask for a few of them again and again
TOGETHER = 0.4  # of those documents: more than half of all may have them side by side
_VERBS = """to will would can could may might must shall should do does did don't doesn't can't cannot not
i you he she we they who how am is are was were be been"""  # English, where a word may be a verb and a noun
_NOUNS = "the a an this these those my your his her its our their of in for with on by from no some any each every"
BEFORE_VERBS, BEFORE_NOUNS = frozenset(_VERBS.split()), frozenset(_NOUNS.split())
_LETTERS = re.compile(r"[^\W\d_]")
_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxz]{6,}", re.IGNORECASE)
_PIECE = re.compile(r"\w+")
# For \W and in lower case, but faster.
_BLANKS = (
    "".join(sign.lower() if sign.isalnum() or sign == "_" else " " for sign in map(chr, range(128))).ljust(256).encode()
)
_COMPOUND = re.compile(r"[-\u2010\u2011+#]")


@dataclass(frozen=True)
class Wording:
    """The words of a collection, for naming groups of its documents.

    Parameters
    ----------
    weights : array or sparse array of shape (n, m)
        Weighted terms of the documents.
    terms : sequence of m strings
    texts : sequence of n strings, optional
        The documents, for phrases, and for words as they are written.
    forms : Forms, optional
        The written forms of the terms in all documents, ``TermVectorizer.forms_``; without them a term is a word.
    stop_words : frozenset of str
        Words that are not used in names, and that no phrase begins or ends with.
    counts : array of shape (n,), optional
        The number of equal documents that each row represents.
    titles : sequence of n strings, optional
    segment : callable, optional
        Splits text without blanks into words.
    meaning : DocumentMeaning, optional
        What the documents mean, so that names do, too.
    language : array of shape (n,), optional
        The language of every document, as a number: a group of several is named in the most frequent one.

    Examples
    --------
    >>> from grampus.describe import Wording, name_partition
    >>> from grampus.text import TermVectorizer
    >>> texts = ["Blue whales sang", "a blue whale", "old birds nested", "an old bird"]
    >>> terms = TermVectorizer()
    >>> weights = terms.fit_transform(texts)
    >>> wording = Wording(weights, terms.get_feature_names_out(), texts, terms.forms_, frozenset({"a", "an"}))
    >>> [name.name for name in name_partition(wording, [0, 0, 1, 1])]
    ['Blue whale', 'Old bird']
    """

    weights: Any
    terms: Sequence[str]
    texts: Sequence[str] | None = None
    forms: Forms | None = None
    stop_words: frozenset[str] = frozenset()
    counts: Any = None
    titles: Sequence[str] | None = None
    segment: Segmenter | None = None
    meaning: DocumentMeaning | None = None
    language: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", check_matrix(self.weights, "weights"))
        if len(self.terms) != self.weights.shape[1]:
            raise InputError(
                f"terms must name each of the {self.weights.shape[1]} columns of weights; got {len(self.terms)}."
            )

    @cached_property
    def present(self) -> Any:
        """Which documents contain which terms, as ones."""
        if not is_sparse(self.weights):
            return (self.weights > 0).astype(np.float64)
        held = sp.csr_array(self.weights)
        ones = (held.data > 0).astype(np.float64)
        return sp.csr_array((ones, held.indices, held.indptr), shape=held.shape)

    @cached_property
    def documents(self) -> NDArray[np.float64]:
        """The number of documents that each row represents."""
        n = self.weights.shape[0]
        return np.ones(n) if self.counts is None else np.asarray(self.counts, dtype=np.float64)

    def stem(self, word: str) -> str:
        """Return the stem of a word in lower case; the word itself if it is none of the terms."""
        return word if self.forms is None else self.forms.stem_of.get(word, word)

    def is_word(self, text: str) -> bool:
        """Return whether a token can be used in a name, see `is_word`; any column of a table can."""
        return self.forms is None or is_word(text, self.stop_words)

    def usual(self, term: str) -> str:
        """Return the usual form of a term in all documents, or of each word of an n-gram, in its usual case."""
        if self.forms is None:
            return term
        return " ".join(self.forms.cased(self.forms.usual(stem)) for stem in term.split(" "))

    def sample(self, atoms: Integers, k: int, read: int = READ_IN_ALL) -> Sample | None:
        """Read some documents of each of k groups, about `read` in all; None without texts."""
        if self.texts is None:
            return None
        share = min(MOST_READ, max(FEWEST_READ, read // k))
        chosen = [_evenly(np.flatnonzero(atoms == atom), share) for atom in range(k)]
        sizes = np.array([len(some) for some in chosen])
        rows = np.concatenate(chosen)
        reading = read_words([self.whole(int(at)) for at in rows], self.segment)
        return Sample(self, reading, np.repeat(np.arange(k), sizes), sizes, rows, atoms)

    def holding(self, stems: Sequence[str]) -> Integers | None:
        """Return the documents that contain all of some stems; None if one is no term."""
        numbers, held = self._columns
        columns = [numbers[stem] for stem in stems if stem in numbers]
        if len(columns) < len(stems):
            return None
        found, *others = (held.indices[held.indptr[at] : held.indptr[at + 1]] for at in columns)
        for other in others:
            inside = np.zeros(held.shape[0], dtype=bool)
            inside[other] = True
            found = found[inside[found]]
        return found

    @cached_property
    def _columns(self) -> tuple[dict[str, int], Any]:
        """The number of every term, and which documents contain it."""
        return {term: at for at, term in enumerate(self.terms)}, sp.csc_array(self.present, dtype=bool)

    def spaced(self, at: int) -> bytes:
        """Return the words of a document in lower case, with blanks around each."""
        if at not in self._seen:
            if len(self._seen) == KEPT:
                self._seen.clear()
            text = self.whole(at)[:SEARCHED]
            if text.isascii() and self.segment is None:
                self._seen[at] = b" %b " % text.encode().translate(_BLANKS)
            else:
                words = _PIECE.findall(text.lower())
                words = words if self.segment is None else [part for word in words for part in self.segment(word)]
                self._seen[at] = f" {' '.join(words)} ".encode()
        return self._seen[at]

    @cached_property
    def _seen(self) -> dict[int, bytes]:
        return {}

    def whole(self, at: int) -> str:
        """Return the text of a document after its title, if that is not its beginning."""
        assert self.texts is not None
        text, title = self.texts[at], "" if self.titles is None else self.titles[at]
        return text if not title or text.startswith(title) else f"{title}\n{text}"


def _evenly(members: Integers, most_read: int) -> Integers:
    few = len(members) <= most_read
    return members if few else members[np.linspace(0, len(members) - 1, most_read).astype(np.intp)]


def is_word(text: str, stops: frozenset[str] = frozenset()) -> bool:
    """Return whether a token can be used in a name: no stop word, number, single letter or remains of data.

    Examples
    --------
    >>> from grampus.describe.wording import is_word
    >>> [word for word in ("whale", "the", "1990s", "C++", "x", "mp3", "qxzkjw") if is_word(word, frozenset({"the"}))]
    ['whale', 'C++', 'mp3']
    """
    letters = len(text) if text.isalpha() else len(_LETTERS.findall(text))
    if letters < 2 and not (letters and _COMPOUND.search(text)):
        return False
    digits = 0 if letters == len(text) else sum(map(str.isdigit, text))
    return digits < letters and text.lower() not in stops and not _CONSONANTS.fullmatch(text)


@dataclass(frozen=True)
class Phrases:
    """Phrases, the places where each begins, and in how many of the documents read of every group it occurs.

    Attributes
    ----------
    lengths : array of shape (p,)
        In words.
    places, bounds : arrays
        Phrase i begins at the words ``places[bounds[i] : bounds[i + 1]]`` of the reading.
    table : sparse array of shape (p, groups)
    """

    lengths: Integers
    places: Integers
    bounds: Integers
    table: Any


@dataclass(frozen=True)
class Sample:
    """What was read of every group.

    Attributes
    ----------
    wording : Wording
    reading : Reading
    owner : array
        The group of each text that was read.
    sizes : array of shape (groups,)
        The number of texts of each group that were read.
    rows : array
        The document that each text is.
    atoms : array of shape (n,)
        The group of every document, read or not; −1 for none.
    """

    wording: Wording
    reading: Reading
    owner: Integers
    sizes: Integers
    rows: Integers
    atoms: Integers

    @cached_property
    def stems(self) -> list[str]:
        """The stem of every distinct word."""
        return [self.wording.stem(word.lower()) for word in self.reading.words]

    @cached_property
    def _number(self) -> tuple[dict[str, int], Integers]:
        """The number of every stem, and that of every distinct word."""
        numbers: dict[str, int] = {}
        return numbers, np.array([numbers.setdefault(stem, len(numbers)) for stem in self.stems], dtype=np.intp)

    @cached_property
    def _lowered(self) -> tuple[dict[str, int], Integers]:
        """The number of every word in lower case, and that of every place."""
        numbers: dict[str, int] = {}
        each = [numbers.setdefault(word.lower(), len(numbers)) for word in self.reading.words]
        return numbers, np.array(each, dtype=np.intp)[self.reading.word]

    @cached_property
    def _stem(self) -> Integers:
        """The number of the stem at every place."""
        return self._number[1][self.reading.word]

    @cached_property
    def _places(self) -> tuple[Integers, Integers]:
        return _inverted(self._stem, len(self._number[0]))

    @cached_property
    def _hidden(self) -> tuple[Integers, Integers]:
        return _inverted(self._number[1][self.reading.hidden_word], len(self._number[0]))

    @cached_property
    def _owners(self) -> tuple[Integers, Integers]:
        """The group of every place, and of every hidden one."""
        return self.owner[self.reading.text], self.owner[self.reading.hidden_text]

    @cached_property
    def _asked(self) -> dict[tuple[str, bytes], Integers]:
        return {}

    @cached_property
    def _able(self) -> NDArray[np.bool_]:
        stops = self.wording.stop_words
        return np.array([is_word(word, stops) for word in self.reading.words], dtype=bool)[self.reading.word]

    def places(self, stem: str, group: NDArray[np.bool_]) -> Integers:
        """Return where a stem was read in a union of groups, in order."""
        key = stem, group.tobytes()
        if key not in self._asked:  # every candidate is looked at from several sides
            number = self._number[0].get(stem)
            places = np.empty(0, np.intp) if number is None else _slice(*self._places, number)
            self._asked[key] = places[group[self._owners[0][places]]]
        return self._asked[key]

    def documents(self, stem: str, group: NDArray[np.bool_]) -> Integers:
        """Return the texts with a stem, of those that were read of a union of groups."""
        return np.flatnonzero(np.bincount(self.reading.text[self.places(stem, group)]))

    def written(self, stem: str, group: NDArray[np.bool_]) -> str:
        """Return the usual form of a stem in a union of groups, in its usual case; '' if it is not a word there.

        The case is that inside sentences where there is any. A stem that is read more often in headers, addresses and
        data than in sentences is no word.
        """
        places = self.places(stem, group)
        number = self._number[0].get(stem)
        hidden = np.empty(0, np.intp) if number is None else _slice(*self._hidden, number)
        if np.count_nonzero(group[self._owners[1][hidden]]) >= len(places):
            return ""
        return self.spelled(places, 1)

    def other_forms(self, usual: str, stem: str, group: NDArray[np.bool_]) -> list[str]:
        """Return further forms of a stem that are at least a quarter as frequent in a union of groups as the usual."""
        reading, places, (numbers, lowered) = self.reading, self.places(stem, group), self._lowered
        form, own = lowered[places], numbers.get(usual.lower(), -1)
        number, count = np.unique(form, return_counts=True)
        least = OFTEN * int(count[number == own].sum())
        other = [places[form == one] for one in number[(count >= least) & (number != own)].tolist()]
        other.sort(key=lambda some: reading.words[reading.word[some[0]]].lower())
        return [self.spelled(some, 1) for some in other]

    def spelled(self, places: Integers, length: int) -> str:
        """Return the usual spelling of a word or phrase from the places where it begins; that in sentences if any."""
        reading = self.reading
        numbers = list(zip(*(reading.word[places + step].tolist() for step in range(length)), strict=True))
        counted = (Counter(numbers), Counter(compress(numbers, reading.inside[places].tolist())))
        forms, inside = ({" ".join(reading.words[at] for at in one): n for one, n in some.items()} for some in counted)
        lowered = Counter[str]()
        for form, often in forms.items():
            lowered[form.lower()] += often
        usual = most(lowered)
        cased = ({form: n for form, n in some.items() if form.lower() == usual} for some in (inside, forms))
        return next(filter(None, map(most, cased)), usual)

    @cached_property
    def phrases(self) -> Phrases:
        """Phrases of up to three words on one line of one sentence, and compounds such as "double-blind" or "C++".

        Forms of the same stems are one phrase. A phrase consists of words of `is_word`, but for a link such as "of" in
        its middle, and is in two documents or more.
        """
        reading, stem = self.reading, self._number[1][self.reading.word]
        compound = np.array([bool(_COMPOUND.search(word)) for word in reading.words], dtype=bool)[reading.word]
        numeric = np.array([not word[0].isalpha() for word in reading.words], dtype=bool)[reading.word]
        inner = self._able | np.array([word.lower() in LINKS for word in reading.words], dtype=bool)[reading.word]
        starts = np.flatnonzero(self._able)
        key = stem[starts]
        by_length = [self._often(starts[compound[starts]], key[compound[starts]], 1)]
        for length in range(2, LONGEST + 1):
            end = starts + length - 1
            fits = end < len(stem)
            fits[fits] = reading.joined[end[fits]] & ~numeric[end[fits]]
            if length > 2:
                fits[fits] = inner[end[fits] - 1]
            starts, end = starts[fits], end[fits]
            key = np.unique(key[fits], return_inverse=True)[1] * len(self._number[0]) + stem[end]
            by_length.append(self._often(starts[self._able[end]], key[self._able[end]], length))
        lengths, places, sizes, tables = zip(*by_length, strict=True)
        bounds = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
        return Phrases(np.concatenate(lengths), np.concatenate(places), bounds, sp.vstack(tables, format="csr"))

    def _often(self, starts: Integers, key: Integers, length: int) -> tuple[Integers, Integers, Integers, Any]:
        """Return the phrases of one length that are in two documents or more: lengths, places, their numbers, table."""
        texts = len(self.owner)
        _, phrase = np.unique(key, return_inverse=True)
        pair = np.unique(phrase * texts + self.reading.text[starts])
        count = np.bincount(pair // texts) if len(pair) else np.empty(0, np.intp)
        kept = np.flatnonzero(count >= 2)
        renumbered = np.full(len(count), -1)
        renumbered[kept] = np.arange(len(kept))
        shape = (len(kept), len(self.sizes))
        row, owner = renumbered[pair // texts], self.owner[pair % texts]
        table = sp.coo_array((np.ones(np.count_nonzero(row >= 0)), (row[row >= 0], owner[row >= 0])), shape=shape)
        of_place = renumbered[phrase] if len(phrase) else np.empty(0, np.intp)
        order = np.argsort(of_place, kind="stable")[np.count_nonzero(of_place < 0) :]
        sizes = np.bincount(of_place[of_place >= 0], minlength=len(kept))
        return np.full(len(kept), length), starts[order], sizes, table.tocsr()

    def is_torn(self, one: Candidate, other: Candidate, group: NDArray[np.bool_]) -> bool:
        """Return whether two words, or forms of them, are neighbours in most of a group's documents with both."""
        stems = ((a, b) for a in one.stems for b in other.stems)
        words = ((a, b) for a in _PIECE.findall(one.text.lower()) for b in _PIECE.findall(other.text.lower()))
        found = (self._adjacent(*pair, group) for pair in stems)
        return any(found) or any(self._together(*pair, group) for pair in words)

    def _adjacent(self, one: str, other: str, group: NDArray[np.bool_]) -> bool:
        """Return whether two stems are neighbours in most of the texts that were read."""
        next_to = np.concatenate([self._followed(one, other, group), self._followed(other, one, group)])
        if not len(next_to):
            return False
        both = np.intersect1d(self.documents(one, group), self.documents(other, group), assume_unique=True)
        return 2 * len(np.unique(self.reading.text[next_to])) > len(both)

    def _followed(self, one: str, other: str, group: NDArray[np.bool_]) -> Integers:
        """Return where a stem follows another in the same phrase."""
        after = self.places(one, group) + 1
        after = after[after < len(self._stem)]
        return after[(self._stem[after] == self._number[0].get(other, -1)) & self.reading.joined[after]]

    def _together(self, one: str, other: str, group: NDArray[np.bool_]) -> bool:
        """Return whether two words are neighbours, whatever stands between them, in most documents of a group."""
        found = self.wording.holding([self.wording.stem(one), self.wording.stem(other)])
        rows = self.rows if found is None else found
        rows = rows[(self.atoms[rows] >= 0) & group[self.atoms[rows]]]
        texts = [self.wording.spaced(row) for row in _evenly(rows, COMPARED).tolist()]
        both, neighbours = side_by_side(texts, one, other)
        return neighbours > TOGETHER * both

    def leads(self, text: str, stem: str, group: NDArray[np.bool_]) -> float:
        """Return how often the last word of a text is followed by another of the same phrase, as adjectives are."""
        places = self._places_of(text.lower().rpartition(" ")[2], stem, group)
        after = np.minimum(places + 1, len(self.reading.word) - 1)
        follows = self.reading.joined[after] & self._able[after] & (after > places)
        return np.count_nonzero(follows) / len(places) if len(places) else 0.0

    def acts(self, text: str, stem: str, group: NDArray[np.bool_]) -> float:
        """Return how often the first word of a text follows what verbs do ("to", "was"); 0 if articles more often."""
        first, reading = text.partition(" ")[0], self.reading
        places = self._places_of(first, stem, group) if first.islower() else np.empty(0, np.intp)
        before = reading.word[places[reading.joined[places]] - 1]
        verbs, nouns = (int(some[before].sum()) for some in self._markers)
        return verbs / (len(places) + 1) if verbs > nouns else 0.0  # one more, since few places tell little

    @cached_property
    def _markers(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which words stand before verbs and adjectives, and which before nouns."""
        words = [word.lower() for word in self.reading.words]
        verbs, nouns = (np.array([word in some for word in words], dtype=bool) for some in (BEFORE_VERBS, BEFORE_NOUNS))
        return verbs, nouns

    def _places_of(self, word: str, stem: str, group: NDArray[np.bool_]) -> Integers:
        """Return where a word in lower case was read in a union of groups."""
        places, (numbers, lowered) = self.places(stem, group), self._lowered
        return places[lowered[places] == numbers.get(word, -1)]

    def is_foreign(self, stems: Sequence[str], group: NDArray[np.bool_]) -> bool:
        """Return whether a stem is mainly in other languages than the most frequent one of a union of groups."""
        if self.wording.language is None:
            return False
        spoken = np.asarray(self.wording.language)[self.rows]
        inside = spoken[group[self.owner]]
        main = int(np.bincount(inside).argmax())
        least = 0.5 * float((inside == main).mean())
        at = [spoken[self.documents(stem, group)] for stem in stems]
        return any(len(some) and float((some == main).mean()) < least for some in at)

    def is_person(self, text: str) -> bool:
        """Return whether a word or phrase is the name of a person."""
        words = text.split(" ")
        if not all(map(self._may_name, words)):
            return False
        return words[0].lower() in BEFORE or words[-1] in self._persons

    def _may_name(self, word: str) -> bool:
        """Return whether a word is written like a name: with a capital, unless all texts are in lower case."""
        return not self._has_capitals or word[:1].isupper()

    @cached_property
    def _has_capitals(self) -> bool:
        """Whether words inside sentences ever begin with a capital."""
        raised = np.array([word[:1].isupper() for word in self.reading.words], dtype=bool)
        inside = raised[self.reading.word[self.reading.inside]]
        return not len(inside) or float(inside.mean()) >= LOWER_CASE

    @cached_property
    def _persons(self) -> frozenset[str]:
        """Words that mostly follow a given name."""
        reading = self.reading
        named = np.array([self._may_name(word) and word.lower() in BEFORE for word in reading.words], dtype=bool)
        follows = np.zeros(len(reading.word), dtype=bool)
        follows[1:] = named[reading.word[:-1]] & reading.joined[1:]
        every = np.bincount(reading.word, minlength=len(reading.words))
        after = np.bincount(reading.word[follows], minlength=len(reading.words))
        found = np.flatnonzero((after >= 2) & (after >= FOLLOWING * every))
        return frozenset(word for word in (reading.words[at] for at in found.tolist()) if self._may_name(word))


def _inverted(numbers: Integers, size: int) -> tuple[Integers, Integers]:
    """Return places sorted by number, and the bounds of each number."""
    order = np.argsort(numbers, kind="stable")
    return order, np.searchsorted(numbers[order], np.arange(size + 1))


def _slice(order: Integers, bounds: Integers, number: int) -> Integers:
    return order[bounds[number] : bounds[number + 1]]
