"""Count terms in one pass: text to a sparse matrix of counts.

Each distinct token is processed once. The compiled scanner numbers raw tokens as they appear (a dictionary does so for
tokens of another expression or function); case, length, stop list and stemmer are applied per distinct token and looked
up for whole arrays of numbers, so that the written forms of every stem are counted at no extra cost. Tokens and
n-grams, called units here, share one numbering.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress, count, islice

import numpy as np
import scipy.sparse as sp
import Stemmer
from numpy.typing import NDArray

from ..._native.words import WordNumbers, is_ascii
from ...errors import InputError
from ..languages.segment import complex_words, is_complex
from ..store import Texts

WORDS = r"\b\w\w+\b"
Tokeniser = Callable[[str], list[str]]
Integers = NDArray[np.int32]

STOPPED, UNKNOWN = -1, -2
_UNEVEN = re.compile("[\u0130\u03a3]")
_CHUNK_CHARACTERS = 1 << 22  # bounds the temporary arrays: about two million tokens
_LEXICON_LIMIT = 1 << 21  # tokens; a fixed vocabulary may meet an endless stream of new words: then start over


@dataclass(frozen=True)
class Analysis:
    """How a text becomes terms: the checked parameters of `Terms`.

    `tokenise` is None for the words of `WORDS`, which also knows scripts without spaces. `folds` says that these are to
    be converted to lower case one by one.
    """

    tokenise: Tokeniser | None
    stops: frozenset[str]
    stemmer: str | None
    min_length: int
    max_length: int | None
    numbers: bool
    ngrams: tuple[int, int]
    folds: bool = False


@dataclass
class Written:
    """Distinct tokens as the texts have them, the unit of each and how often each occurs; see `count_units`."""

    tokens: list[str] = field(default_factory=list)
    unit: Integers = field(default_factory=lambda: np.empty(0, np.int32))
    count: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    @classmethod
    def join(cls, parts: Iterable[Written], numbers: Iterable[Integers]) -> Written:
        """Return the tokens of several pieces as one, in the order in which they appear.

        Parameters
        ----------
        parts : iterable of Written
        numbers : iterable of arrays
            For each piece, the number of each of its units in a common numbering.
        """
        place: defaultdict[str, int] = defaultdict(count().__next__)
        known = list(parts)
        places = [np.fromiter(map(place.__getitem__, part.tokens), np.int32, len(part.tokens)) for part in known]
        counts, unit = np.zeros(len(place), np.int64), np.zeros(len(place), np.int32)
        for at, part, number in zip(places, known, numbers, strict=True):
            unit[at] = number[part.unit]
            counts[at] += part.count  # a piece has each of its tokens once
        return cls(list(place), unit, counts)

    def add(self, other: Written) -> None:
        """Append the tokens of another language."""
        self.tokens += other.tokens
        self.unit = np.concatenate([self.unit, other.unit])
        self.count = np.concatenate([self.count, other.count])


def _checked(given: Callable[[str], Iterable[str]], lowercase: bool) -> Tokeniser:
    """Wrap a user's tokeniser to check that it returns strings."""

    def tokenise(text: str) -> list[str]:
        tokens = list(given(text.lower() if lowercase else text))
        for token in tokens:
            if not isinstance(token, str):
                raise InputError(f"tokenizer must return strings; got {token!r}.")
        return tokens

    return tokenise


def tokeniser(spec: str | Callable[[str], Iterable[str]], *, lowercase: bool) -> Tokeniser | None:
    """Return a function from text to tokens for a regular expression or a callable; None for `WORDS`."""
    if callable(spec):
        return _checked(spec, lowercase)
    if not isinstance(spec, str):
        raise InputError(f"tokenizer must be a regular expression or a callable; got {spec!r}.")
    try:
        pattern = re.compile(spec)
    except re.error as error:
        raise InputError(f"tokenizer must be a valid regular expression; got {spec!r} ({error}).") from error
    if pattern.groups > 1:
        raise InputError(f"tokenizer must have at most one capturing group; got {spec!r} with {pattern.groups}.")
    if spec == WORDS:
        return None
    findall = pattern.findall
    return (lambda text: findall(text.lower())) if lowercase else findall


@dataclass
class Units:
    """A numbering of tokens and n-grams; frozen unless `learning`.

    An n-gram is its first n−1 tokens (a unit) and its last token: ``grams`` maps ``prefix << 32 | token``
    to the n-gram's number, at every order. Where the same words are counted again and again, what was found out about
    each is kept in `known`; by default it is forgotten after every count.
    """

    learning: bool = True
    tokens: dict[str, int] = field(default_factory=dict)
    grams: dict[int, int] = field(default_factory=dict)
    known: defaultdict[Analysis, list[_Lexicon]] | None = None  # those that no thread uses

    def __post_init__(self) -> None:
        if self.learning:  # a missing key takes the next number of a shared count
            number = count().__next__
            self.tokens, self.grams = defaultdict(number), defaultdict(number)

    @property
    def size(self) -> int:
        """Number of units."""
        return len(self.tokens) + len(self.grams)

    def of_tokens(self, tokens: Iterable[str]) -> list[int]:
        """Return the units of tokens, numbering new ones while learning."""
        known = self.tokens
        if self.learning:
            return list(map(known.__getitem__, tokens))
        return [known.get(token, UNKNOWN) for token in tokens]

    def of_grams(self, prefix: Integers, token: Integers) -> Integers:
        """Return the units of n-grams given by prefix and last token."""
        keys, inverse = np.unique((prefix.astype(np.int64) << 32) | token, return_inverse=True)
        known = self.grams
        look = known.__getitem__ if self.learning else lambda key: known.get(key, UNKNOWN)
        units = np.fromiter(map(look, keys.tolist()), np.int32, len(keys))
        return np.asarray(units[inverse.reshape(-1)])

    def names(self) -> list[str]:
        """Return the name of every unit; an n-gram's is its tokens joined by blanks."""
        names = [""] * self.size
        for token, unit in self.tokens.items():
            names[unit] = token
        for key, unit in self.grams.items():  # prefixes have lower numbers than what they begin
            names[unit] = f"{names[key >> 32]} {names[key & 0xFFFFFFFF]}"
        return names

    def namesakes(self, names: list[str]) -> Integers | None:
        """Return, for every unit, the first of the same name; None if all names differ, as without blanks in tokens."""
        if not self.grams or not any(" " in token for token in self.tokens):
            return None
        first: dict[str, int] = {}
        return np.fromiter((first.setdefault(name, unit) for unit, name in enumerate(names)), np.int32, len(names))

    def join(self, tokens: Sequence[str | None], grams: Sequence[tuple[int, int]]) -> Integers:
        """Find or give, while learning, the number of every unit of another numbering.

        Parameters
        ----------
        tokens : sequence of str
            The token of each unit of the other numbering; None for an n-gram.
        grams : sequence of pairs of int
            For each n-gram, in the order of their units, the units of its first n−1 tokens and of the last.
        """
        if not grams:
            return np.fromiter((self.tokens[token] for token in tokens if token is not None), np.int32, len(tokens))
        number, parts = np.empty(len(tokens), np.int32), iter(grams)
        for unit, token in enumerate(tokens):
            if token is not None:
                number[unit] = self.tokens[token]
            else:
                prefix, last = next(parts)
                number[unit] = self.grams[(int(number[prefix]) << 32) | int(number[last])]
        return number

    def apart(self) -> tuple[list[str | None], list[tuple[int, int]]]:
        """Return the numbering as plain lists, which `join` takes."""
        tokens: list[str | None] = [None] * self.size
        for token, unit in self.tokens.items():
            tokens[unit] = token
        grams = sorted((unit, key) for key, unit in self.grams.items())
        return tokens, [(key >> 32, key & 0xFFFFFFFF) for _, key in grams]

    def keep(self, columns: Integers) -> tuple[Units, Integers]:
        """Return a frozen numbering of the units with a column, and of their parts, and the column of each or −1."""
        chosen = np.flatnonzero(columns >= 0)
        column = dict(zip(chosen.tolist(), columns[chosen].tolist(), strict=True))
        parts = {unit: (key >> 32, key & 0xFFFFFFFF) for key, unit in self.grams.items()}
        needed, stack = set(column), [unit for unit in column if unit in parts]
        while stack:
            for part in parts[stack.pop()]:
                if part not in needed:
                    needed.add(part)
                    if part in parts:
                        stack.append(part)
        fresh = {unit: number for number, unit in enumerate(sorted(needed))}
        tokens = {token: fresh[unit] for token, unit in self.tokens.items() if unit in fresh}
        kept_grams = [(*parts[unit], unit) for unit in self.grams.values() if unit in fresh]
        grams = {(fresh[prefix] << 32) | fresh[last]: fresh[unit] for prefix, last, unit in kept_grams}
        kept = np.fromiter((column.get(unit, -1) for unit in fresh), np.int32, len(fresh))
        return Units(False, tokens, grams), kept


def stemming(name: str) -> Callable[[list[str]], list[str]]:
    """Return a function from words to stems; a word with a lone surrogate, which has no UTF-8 form, is unchanged."""
    stem = Stemmer.Stemmer(name, 0).stemWords

    def stem_all(words: list[str]) -> list[str]:
        try:
            return list(stem(words))
        except UnicodeEncodeError:
            return [word if re.search("[\ud800-\udfff]", word) else stem([word])[0] for word in words]

    return stem_all


class _Tokens:
    """Numbers of the tokens that a function finds."""

    def __init__(self, tokenise: Tokeniser) -> None:
        self.tokenise = tokenise
        self.number: defaultdict[str, int] = defaultdict(count().__next__)

    def __len__(self) -> int:
        return len(self.number)

    def words(self, first: int) -> list[str]:
        return list(islice(self.number, first, None))

    def read(self, texts: Sequence[str]) -> tuple[Integers, NDArray[np.int64]]:
        """Return the numbers of all tokens, and how many each text has."""
        found = [self.tokenise(text) for text in texts]
        lengths = np.fromiter(map(len, found), np.int64, len(found))
        tokens = chain.from_iterable(found)
        return np.fromiter(map(self.number.__getitem__, tokens), np.int32, int(lengths.sum())), lengths


class _Words:
    r"""Numbers of words, ``\b\w\w+\b`` or those of scripts without spaces.

    With `folds`, the lowercased words are those of the lowercased text: the letters whose lower case depends on their
    neighbours or has two characters are lowered first.
    """

    def __init__(self, folds: bool) -> None:
        self.folds = folds
        self.numbers = WordNumbers()

    def __len__(self) -> int:
        return len(self.numbers)

    def words(self, first: int) -> list[str]:
        return self.numbers.words(first)

    def read(self, texts: Sequence[str]) -> tuple[Integers, NDArray[np.int64]]:
        """Return the numbers of all words, and how many each text has."""
        blanks = np.zeros(len(texts), np.uint8)
        if isinstance(texts, Texts):
            stored, places = texts.part(0, len(texts))
            if is_ascii(stored, 0, len(stored)):
                return self.numbers.read(stored, places, blanks)
        changed = list(texts)
        special = [place for place, text in enumerate(changed) if not text.isascii()]
        for place in special:
            text = texts[place]
            if is_complex(text):
                changed[place] = " ".join(complex_words(text.lower() if self.folds else text))
                blanks[place] = 1
            elif self.folds and _UNEVEN.search(text):
                changed[place] = text.lower()
        data = [text.encode("utf-8", "surrogatepass") for text in changed]
        ends = np.zeros(len(data) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, data), np.int64, len(data)), out=ends[1:])
        return self.numbers.read(b"".join(data), ends, blanks)


class _Lexicon:
    """Numbers of raw tokens, and the unit of each number."""

    def __init__(self, analysis: Analysis, units: Units) -> None:
        self.analysis, self.units = analysis, units
        self.stem = stemming(analysis.stemmer) if analysis.stemmer else list
        self.clear()

    def clear(self) -> None:
        tokenise = self.analysis.tokenise
        self.raw: _Tokens | _Words = _Words(self.analysis.folds) if tokenise is None else _Tokens(tokenise)
        self.unit = np.empty(1 << 16, np.int32)
        self.resolved = 0

    def resolve(self) -> Integers:
        """Find the units of the tokens seen since the last call; return the whole table."""
        written = self.raw.words(self.resolved)
        new = "\n".join(written).lower().split("\n") if written and self.analysis.folds else written
        low, high, stops = self.analysis.min_length, self.analysis.max_length or sys.maxsize, self.analysis.stops
        kept = [low <= len(token) <= high and token not in stops for token in new]
        if not self.analysis.numbers:
            kept = [keep and not token.isdigit() for token, keep in zip(new, kept, strict=True)]
        found = self.units.of_tokens(self.stem(list(compress(new, kept))))
        end = self.resolved + len(new)
        if end > len(self.unit):
            self.unit = np.concatenate([self.unit[: self.resolved], np.empty(2 * end - self.resolved, np.int32)])
        self.unit[self.resolved : end] = STOPPED
        self.unit[self.resolved : end][kept] = found
        self.resolved = end
        return self.unit


def strings(texts: Iterable[str]) -> Iterator[str]:
    """Yield documents, which must be strings."""
    if isinstance(texts, Texts):
        yield from texts
        return
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"every document must be a string; document {position} is {type(text).__name__}.")
        yield text


def _chunks(texts: Iterable[str], lexicon: _Lexicon) -> Iterator[tuple[Integers, NDArray[np.int64]]]:
    """Yield raw token numbers and document lengths, a few megabytes of text at a time."""
    if isinstance(texts, Texts):
        yield from map(lexicon.raw.read, _cut(texts))
        return
    some: list[str] = []
    size = 0
    for text in strings(texts):
        some.append(text)
        size += len(text) + 64
        if size > _CHUNK_CHARACTERS:
            yield lexicon.raw.read(some)
            some, size = [], 0
    if some:
        yield lexicon.raw.read(some)


def _cut(texts: Texts) -> Iterator[Texts]:
    """Yield stored texts, as many at a time as `_chunks` takes of others."""
    reached, start = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 64), 0
    while start < len(texts):
        before = reached[start - 1] if start else 0
        end = int(np.searchsorted(reached, before + _CHUNK_CHARACTERS, side="right")) + 1
        yield texts[start:end]
        start = end


def _emit(seq: Integers, row: Integers, units: Units, ngrams: tuple[int, int]) -> tuple[Integers, Integers]:
    """Return units and rows of all n-grams of a chunk, of the wanted orders."""
    low, high = ngrams
    out: list[tuple[Integers, Integers]] = []
    prefix = seq
    for order in range(1, high + 1):
        if order > 1:
            last = seq[order - 1 :]
            prefix = prefix[: len(last)].copy()
            whole = (prefix >= 0) & (last >= 0) & (row[: len(last)] == row[order - 1 :])
            prefix[~whole] = UNKNOWN
            prefix[whole] = units.of_grams(prefix[whole], last[whole])
        if order >= low:
            known = prefix >= 0
            out.append((prefix[known], row[: len(prefix)][known]))
    if len(out) == 1:
        return out[0]
    return np.concatenate([unit for unit, _ in out]), np.concatenate([at for _, at in out])


def count_units(
    texts: Iterable[str], analysis: Analysis, units: Units, written: Written | None = None
) -> sp.csr_matrix:
    """Count units per document; return an int32 CSR matrix, documents × ``units.size``, columns unordered.

    While learning, the tokens that became units are added to `written`.
    """
    idle = [] if units.known is None else units.known[analysis]
    try:
        lexicon = idle.pop()
    except IndexError:
        lexicon = _Lexicon(analysis, units)
    blocks: list[tuple[Integers, Integers, NDArray[np.int64]]] = []
    seen = np.zeros(0, np.int64)
    for raw, lengths in _chunks(texts, lexicon):
        unit = lexicon.resolve()[raw]
        if written is not None:
            more = np.bincount(raw, minlength=len(seen))
            more[: len(seen)] += seen
            seen = more
        row = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        wanted = unit != STOPPED
        unit, row = _emit(unit[wanted], row[wanted], units, analysis.ngrams)
        blocks.append(_coalesce(unit, row, (len(lengths), units.size)))
        if not units.learning and len(lexicon.raw) > _LEXICON_LIMIT:
            lexicon.clear()
    if written is not None:
        known = np.flatnonzero(lexicon.unit[: len(seen)] >= 0)
        tokens = lexicon.raw.words(0)
        written.add(Written([tokens[number] for number in known.tolist()], lexicon.unit[known], seen[known]))
    idle.append(lexicon)
    return _stack(blocks, units.size)


def _coalesce(unit: Integers, row: Integers, shape: tuple[int, int]) -> tuple[Integers, Integers, NDArray[np.int64]]:
    """Sum equal (row, unit) pairs of a chunk."""
    ones = np.ones(len(unit), np.int32)
    block = sp.coo_matrix((ones, (row, unit)), shape=shape).tocsr()
    return block.indices.astype(np.int32, copy=False), block.data, np.diff(block.indptr).astype(np.int64)


def _stack(blocks: list[tuple[Integers, Integers, NDArray[np.int64]]], width: int) -> sp.csr_matrix:
    """Stack chunks vertically, freeing each as it is copied."""
    lengths = np.concatenate([b[2] for b in blocks]) if blocks else np.empty(0, np.int64)
    entries = int(lengths.sum())
    indices, data = np.empty(entries, np.int32), np.empty(entries, np.int32)
    start = 0
    blocks.reverse()
    while blocks:
        index, value, _ = blocks.pop()
        indices[start : start + len(index)], data[start : start + len(index)] = index, value
        start += len(index)
    wide = np.int64 if entries > np.iinfo(np.int32).max else np.int32
    indptr = np.zeros(len(lengths) + 1, wide)
    np.cumsum(lengths, out=indptr[1:])
    return sp.csr_matrix((data, indices.astype(wide, copy=False), indptr), shape=(len(lengths), width))
