"""Prepare texts for counting: clean them, and find the language of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple
from zlib import crc32

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...run import Runner, runner_for
from ..clean import Cleaner, Cleaning, Dropped
from ..clean.lines import counts_lines, shared_lines
from ..languages.detect import detect_languages, script_language, usual_words
from ..languages.segment import has_segmenter, is_unspaced
from ..languages.table import LANGUAGES
from ..store import Texts, join_texts, text_sizes
from .count import Analysis, Units, Written, count_units, strings

MAIN = "en"  # of texts that are too short to tell
_LARGE, _SAMPLE, _ALMOST_ALL = 20_000, 4_000, 0.995  # documents; of a large collection those that are looked at first
_FEW = 0.05  # of the documents, whose languages must agree if no other document's can be told
_SHARE, _MANY = 0.01, 50  # of the documents, or documents: a language with fewer is read as the main one


@dataclass(frozen=True)
class Preparation:
    """What preparing a collection learned, to be applied to new documents.

    Attributes
    ----------
    shared : frozenset of str
        Lines that are dropped because many documents share them.
    languages : tuple of str
        Codes of the languages, the most frequent first; empty if they were not looked for.
    """

    shared: frozenset[str] = frozenset()
    languages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Prepared:
    """Texts as they are counted.

    Attributes
    ----------
    texts : sequence of str
        Cleaned; the texts themselves if nothing was dropped.
    language : array of shape (n,)
        Position of each text's language in ``preparation.languages``.
    preparation : Preparation
    dropped : Dropped
        What cleaning dropped.
    unknown : int
        Texts too short to tell their language, or in none; they are read as texts in the most frequent one.

    Examples
    --------
    >>> from grampus.text import TermVectorizer
    >>> vectorizer = TermVectorizer(stop_words="auto", stemmer="auto", clean=True)
    >>> prepared = vectorizer.prepare(["Die Wale sind in allen Meeren der Welt zu Hause, nicht in Seen.", "A song"])
    >>> prepared.preparation.languages, prepared.language.tolist()
    (('de',), [0, 0])
    """

    texts: Sequence[str]
    language: NDArray[np.uint8]
    preparation: Preparation = field(default_factory=Preparation)
    dropped: Dropped = field(default_factory=Dropped)
    unknown: int = 0

    def part(self, piece: slice) -> Prepared:
        """Return the texts of a piece."""
        return Prepared(self.texts[piece], self.language[piece], self.preparation)

    def counts(self) -> dict[str, int]:
        """Return how many texts are in each language, the most frequent first."""
        found = np.bincount(self.language, minlength=len(self.preparation.languages)).tolist()
        return dict(zip(self.preparation.languages, found, strict=False))

    def notes(self) -> list[str]:
        """Return what a reader of the result should know about cleaning and languages."""
        found = [self.dropped.note()] if self.dropped.documents else []
        if note := language_note(self.counts()):
            found.append(note)
        unspaced = 0 if has_segmenter() else sum(map(is_unspaced, self.texts))
        if unspaced:
            found.append(
                f"{unspaced:,} document{'s are' if unspaced > 1 else ' is'} in a script without spaces, where terms "
                "are pairs of characters. For words: pip install 'grampus[cjk]'."
            )
        return found


def language_note(counts: Mapping[str, int]) -> str:
    """Return the mix of languages in a line; an empty string for English alone.

    Examples
    --------
    >>> from grampus.text.terms.prepare import language_note
    >>> language_note({"de": 300, "en": 20})
    'Languages: German 300, English 20. Each document has the stop words and stems of its own.'
    """
    if not counts or set(counts) == {"en"}:
        return ""
    mix = ", ".join(f"{LANGUAGES[code].name} {count:,}" for code, count in counts.items())
    if len(counts) > 1:
        return f"Languages: {mix}. Each document has the stop words and stems of its own."
    return f"Language: {mix}."


def prepare(
    raw: Iterable[str], cleaning: Cleaning | None, *, detect: bool, known: Preparation | None = None
) -> Prepared:
    """Clean texts and find their languages.

    Parameters
    ----------
    raw : iterable of str
    cleaning : Cleaning or None
    detect : bool
        Whether to look for languages.
    known : Preparation, optional
        Of the fitted texts, if these are new ones.
    """
    given = raw if isinstance(raw, Sequence) else list(raw)
    dropped = Dropped()
    shared: frozenset[str] = frozenset()
    texts: Sequence[str] = given
    told = detect and (known is None or len(known.languages) > 1)  # new texts of one language are read as that
    asked = Asked(None if known is None else known.languages) if told and (known or len(given) <= _LARGE) else None
    if asked is not None:
        usual_words()  # here, so that copies have it
    codes: Sequence[str] = ()
    if cleaning is not None:
        if not isinstance(given, Texts):
            list(strings(given))
        shared = frozenset() if known is None else known.shared
        texts, dropped, codes, places = _cleaned(given, Cleaner(cleaning, shared), asked)
        if cleaning.lines and known is None:
            shared = shared_lines(texts[place] for place in places)
            if shared:  # seldom: which lines they are is known only when all else is gone
                texts = given  # what was cleaned is not held while all is cleaned again
                texts, dropped, codes, _ = _cleaned(given, Cleaner(cleaning, shared), asked)
    if not told:
        languages = known.languages if detect and known is not None else ()
        return Prepared(texts, np.zeros(len(texts), np.uint8), Preparation(shared, languages), dropped)
    codes = codes or _codes(texts, asked)
    if known is not None:
        languages = known.languages
    elif any(codes):
        languages = languages_of(Counter(codes), len(codes))
    else:
        languages = (_by_letters(texts),)
    place = {code: number for number, code in enumerate(languages)}
    language = np.fromiter((place.get(code, 0) for code in codes), np.uint8, len(codes))
    return Prepared(texts, language, Preparation(shared, languages), dropped, unknown=sum(not code for code in codes))


def _by_letters(texts: Sequence[str]) -> str:
    """Return the language of texts that are too short to tell, by the script that most of the first ones are in."""
    found = Counter(script_language(text) for text in islice(strings(texts), _SAMPLE))
    return max(found, key=found.__getitem__, default="") or MAIN


def cut_texts(texts: Sequence[str]) -> tuple[Runner, list[slice]]:
    """Return the runner for texts, and the pieces that it wants."""
    sizes = text_sizes(texts)
    runner = runner_for(int(sizes.sum()), held=True)
    return runner, runner.cut(sizes)


class Asked(NamedTuple):
    """That the language of every text is asked for: of any of these, or of all that are known."""

    among: tuple[str, ...] | None


def _cleaned(
    given: Sequence[str], cleaner: Cleaner, asked: Asked | None
) -> tuple[Sequence[str], Dropped, Sequence[str], list[int]]:
    """Clean texts and find their languages.

    Returns the texts (themselves, without a copy, if nothing was dropped), what was dropped, languages, and the places
    of those whose lines are counted.
    """
    runner, pieces = cut_texts(given)
    total, parts, changed = Dropped(), list[Sequence[str]](), False
    codes, places = list[str](), list[int]()
    cleaned = runner.map(_clean_piece, (given[piece] for piece in pieces), cleaner, asked, len(given))
    for piece, (texts, dropped, found, counted) in zip(pieces, cleaned, strict=True):
        codes += found
        places += (piece.start + place for place in counted)
        total.documents.update(dropped.documents)
        total.pieces.update(dropped.pieces)
        changed = changed or texts is not None
        parts.append(given[piece] if texts is None else texts)
    return join_texts(parts) if changed else given, total, codes, places


def _clean_piece(
    given: Sequence[str], cleaner: Cleaner, asked: Asked | None, n: int
) -> tuple[Texts | None, Dropped, Sequence[str], list[int]]:
    """Return what `_cleaned` does, of a piece of n texts; None for the texts if nothing was dropped."""
    dropped, cleaned, counted = Dropped(), None, list[int]()
    for place, text in enumerate(given):
        rest = cleaner(text, dropped)
        if counts_lines(text, n):
            counted.append(place)
        if cleaned is None and rest is not text:
            cleaned = Texts(islice(given, place))
        if cleaned is not None:
            cleaned._append(rest)
    codes = [] if asked is None else _detect_piece(given if cleaned is None else cleaned, asked)
    return cleaned, dropped, codes, counted


def count_prepared(
    prepared: Prepared, analyses: Sequence[Analysis], units: Units, *, learning: bool
) -> tuple[sp.csr_matrix, list[Written]]:
    """Count units, the documents of each language by its own rules; return the written forms of each language."""
    forms = [Written() for _ in analyses]
    if len(analyses) == 1:
        return count_units(prepared.texts, analyses[0], units, forms[0] if learning else None), forms
    rows = [np.flatnonzero(prepared.language == number) for number in range(len(analyses))]
    given = prepared.texts
    texts = (given.take(some) if isinstance(given, Texts) else [given[int(at)] for at in some] for some in rows)
    blocks = [
        count_units(own, analysis, units, written if learning else None)
        for own, analysis, written in zip(texts, analyses, forms, strict=True)
    ]
    for block in blocks:
        block.resize(block.shape[0], units.size)
    place = np.empty(len(prepared.language), np.intp)
    place[np.concatenate(rows)] = np.arange(len(place))
    return sp.csr_matrix(sp.vstack(blocks, format="csr")[place]), forms


def count_apart(
    prepared: Prepared, analyses: Sequence[Analysis], frozen: Units | None
) -> tuple[sp.csr_matrix, tuple[list[str | None], list[tuple[int, int]]] | None, list[Written]]:
    """Count the units of a piece, in a numbering of its own or in a frozen one.

    A worker that counts loads this module, and not scikit-learn, which takes 100 MB and seconds in each.
    """
    units = Units() if frozen is None else frozen
    counts, forms = count_prepared(prepared, analyses, units, learning=frozen is None)
    return counts, units.apart() if frozen is None else None, forms


def _codes(texts: Sequence[str], asked: Asked | None) -> Sequence[str]:
    """Return the language of every text; of a large collection all are taken to be in the one that a sample is in.

    The sample is drawn by content. Where other languages are more than 0.5 % of it, every text is looked at.
    """
    usual = _main_language(texts) if asked is None else None
    if usual is not None:
        return [usual] * len(texts)
    runner, pieces = cut_texts(texts)
    parts = runner.map(_detect_piece, (texts[piece] for piece in pieces), asked or Asked(None))
    return [code for part in parts for code in part]


def _detect_piece(texts: Sequence[str], asked: Asked) -> list[str]:
    return detect_languages(strings(texts), asked.among)


def _main_language(texts: Sequence[str]) -> str | None:
    """Return the language that many texts are taken to be in, by some drawn by content; None if all must be looked at.

    "" stands for texts whose language cannot be told.
    """
    every = len(texts) // _SAMPLE
    sample = [text for text in strings(texts) if crc32(text[:100].encode("utf-8", "surrogatepass")) % every == 0]
    if not sample:
        return None
    found = Counter(filter(None, detect_languages(sample)))
    usual = max(sorted(found), key=found.__getitem__, default="")
    return usual if found[usual] >= _ALMOST_ALL * sum(found.values()) else None


def languages_of(counts: Mapping[str, int], n: int) -> tuple[str, ...]:
    """Return the languages of n texts, the most frequent first.

    Parameters
    ----------
    counts : dict of str to int
        Texts of each language; "" for those that cannot be told.
    n : int
    """
    told = n - counts.get("", 0)
    if told < _FEW * n and 3 * max((count for code, count in counts.items() if code), default=0) < 2 * told:
        return (MAIN,)  # by chance: nonsense resembles now this language and now that
    least = min(_SHARE * n, _MANY)
    used = [code for code, count in counts.items() if code and count >= least]
    return tuple(sorted(used, key=lambda code: (-counts[code], code))) or (MAIN,)
