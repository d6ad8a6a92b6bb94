"""Terms of a collection in pieces: cleaning, languages, vocabulary and weights, then weighted rows.

Everything that is learned from the collection is a choice by content (lines that many share, a sample that tells the
languages) or a sum of whole numbers (how many documents hold a term how often). The vectorizer is therefore the same
for every cut into pieces.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.preprocessing import normalize

from ...gram.collection import content_names
from ...scale import Parts, Record, snap
from ...scale.exact import SINGLE
from ..clean import Cleaner, Dropped, as_cleaning
from ..clean.lines import chosen, shared_lines
from ..corpus import Corpus
from ..languages import detect_languages
from ..store import Texts, _restore
from .count import Units
from .persist import pack_vectorizer, plain_parameters, unpack_vectorizer
from .prepare import MAIN, Preparation, Prepared, content_sample, languages_of, main_language
from .vectorizer import TermVectorizer
from .weighting import Tally, Weighting

COLUMNS = ("texts", "ids", "titles", "dates")
GRID = 2.0**-SINGLE
_MERGED = 1 << 20  # pairs of term and count that are merged at once, at least


def pack_texts(name: str, texts: Texts) -> dict[str, NDArray[Any]]:
    """Return texts as two arrays of a record."""
    data, ends = texts.to_arrays()
    return {f"{name}.bytes": data, f"{name}.ends": ends}


def texts_of(record: Record, name: str) -> Texts:
    """Return the texts of a record."""
    ends = array("q")
    ends.frombytes(np.ascontiguousarray(record[f"{name}.ends"], np.int64).tobytes())
    return _restore(np.asarray(record[f"{name}.bytes"]).tobytes(), ends)


def pack_corpus(corpus: Corpus) -> Record:
    """Return a piece of a collection as a record: texts and ids, titles and dates if it has them."""
    found: dict[str, NDArray[Any]] = {}
    for name in COLUMNS:
        column = getattr(corpus, name)
        if column is not None:
            found |= pack_texts(name, column)
    if corpus.labels is not None:
        found |= pack_texts("labels", Texts(corpus.labels))
    return found


class Words:
    """A fitted vectorizer as arrays that travel to the pieces, and what cleaning and languages were found.

    Attributes
    ----------
    vectorizer : TermVectorizer
    counts : dict of str to int
        Documents in each language.
    dropped : Dropped
        What cleaning dropped.
    """

    def __init__(self, vectorizer: TermVectorizer, counts: dict[str, int], dropped: Dropped) -> None:
        self.vectorizer, self.counts, self.dropped = vectorizer, counts, dropped

    @property
    def width(self) -> int:
        """Number of terms."""
        return len(self.vectorizer.vocabulary_)


def fit_parts(parts: Parts, words: TermVectorizer, n: int) -> Words:
    """Learn terms and weights of the step "texts", and add the steps "clean" and "rows".

    Parameters
    ----------
    parts : Parts
    words : TermVectorizer
        Its parameters.
    n : int
        Number of documents.
    """
    parameters = plain_parameters(words)  # refuses what cannot travel
    shared = parts.scratch.once("lines", lambda: pack_texts("lines", Texts(sorted(_shared_lines(parts, words, n)))))
    lines = list(texts_of(shared, "lines"))
    parts.derive("clean", _clean, ["texts"], words.clean, lines)
    dropped = _sum_dropped(parts.each(_dropped, ["clean"]))
    found = parts.scratch.once("languages", lambda: pack_texts("codes", Texts(_find_languages(parts, words, n))))
    codes = tuple(texts_of(found, "codes"))
    preparation = Preparation(frozenset(lines), codes)
    bare = clone(words)
    parts.derive("counts", _count, ["texts", "clean"], bare, preparation)
    learned = parts.scratch.once("words", lambda: _learn(parts, bare, preparation, n))
    vectorizer = unpack_words(parameters, learned)
    parts.derive("rows", _weigh, ["counts"], parameters, dict(learned))
    spoken = parts.scratch.once(
        "spoken", lambda: {"counts": parts.total(_language_counts, ["counts"], max(len(codes), 1))}
    )
    parts.drop("counts")
    counts = dict(zip(codes, spoken["counts"].tolist(), strict=False))
    return Words(vectorizer, {code: count for code, count in counts.items() if count}, dropped)


def unpack_words(parameters: dict[str, Any], learned: Record) -> TermVectorizer:
    """Return the vectorizer of what `fit_parts` learned."""
    names = {name.removesuffix(".ends") for name in learned if name.endswith(".ends")}
    whole: dict[str, Any] = {name: texts_of(learned, name) for name in names}
    whole |= {name: value for name, value in learned.items() if name.partition(".")[0] not in names}
    return unpack_vectorizer(parameters, whole)


def cleaned(texts: Record, clean: Record) -> Sequence[str]:
    """Return the texts of a piece as they are counted."""
    return texts_of(clean, "texts") if "texts.ends" in clean else texts_of(texts, "texts")


# -- functions of a piece


def _shared_lines(parts: Parts, words: TermVectorizer, n: int) -> Iterable[str]:
    cleaning = as_cleaning(words.clean)
    if cleaning is None or not cleaning.lines:
        return ()
    return shared_lines(text for some in parts.each(_with_lines, ["texts"], words.clean, n) for text in some)


def _with_lines(texts: Record, clean: Any, n: int) -> list[str]:
    """Return the texts whose lines are counted, cleaned of all else."""
    cleaning = as_cleaning(clean)
    assert cleaning is not None
    bare = Cleaner(cleaning)
    return [bare(text) for text in texts_of(texts, "texts") if "\n" in text and chosen(text, n)]


def _clean(texts: Record, clean: Any, lines: list[str]) -> Record:
    """Clean the texts of a piece; nothing is stored where nothing is dropped."""
    cleaning, dropped = as_cleaning(clean), Dropped()
    if cleaning is None:
        return {}
    given = texts_of(texts, "texts")
    cleaner = Cleaner(cleaning, frozenset(lines))
    rest = Texts(cleaner(text, dropped) for text in given)
    if not dropped.documents:
        return {}
    kinds = sorted(dropped.documents)
    counts = np.array([[dropped.documents[kind], dropped.pieces[kind]] for kind in kinds], np.int64)
    return {**pack_texts("texts", rest), **pack_texts("kinds", Texts(kinds)), "dropped": counts}


def _dropped(clean: Record) -> dict[str, tuple[int, int]]:
    if "dropped" not in clean:
        return {}
    return {kind: tuple(row) for kind, row in zip(texts_of(clean, "kinds"), clean["dropped"].tolist(), strict=True)}


def _sum_dropped(found: Iterable[dict[str, tuple[int, int]]]) -> Dropped:
    total = Dropped()
    for some in found:
        for kind, (documents, pieces) in some.items():
            total.documents[kind] += documents
            total.pieces[kind] += pieces
    return total


def _find_languages(parts: Parts, words: TermVectorizer, n: int) -> tuple[str, ...]:
    """Return the languages of the collection, the most frequent first; a sample decides where it is in one."""
    if not words.detects():
        return ()
    sampled = [text for some in parts.each(_sampled, ["texts", "clean"], n) for text in some]
    usual = main_language(sampled, n)
    if usual is not None:
        return (usual or MAIN,)
    counts: Counter[str] = Counter()
    for some in parts.each(_detected, ["texts", "clean"]):
        counts.update(some)
    return languages_of(counts, n)


def _sampled(texts: Record, clean: Record, n: int) -> list[str]:
    return content_sample(cleaned(texts, clean), n)


def _detected(texts: Record, clean: Record) -> Counter[str]:
    return Counter(detect_languages(cleaned(texts, clean)))


def _count(texts: Record, clean: Record, words: TermVectorizer, preparation: Preparation) -> Record:
    """Count the units of a piece in its own numbering."""
    given = cleaned(texts, clean)
    codes = preparation.languages
    language = np.zeros(len(given), np.uint8)
    if len(codes) > 1:
        place = {code: number for number, code in enumerate(codes)}
        found = (place.get(code, 0) for code in detect_languages(given))
        language = np.fromiter(found, np.uint8, len(given))
    counts, names, _ = words.count_named(Prepared(given, language, preparation), Units())
    kept = {"data": counts.data, "indices": counts.indices, "indptr": counts.indptr, "language": language}
    return {**kept, **pack_texts("names", Texts(names))}


def _language_counts(counts: Record, languages: int) -> NDArray[np.intp]:
    return np.bincount(counts["language"], minlength=languages)


def _tally(counts: Record) -> tuple[Record, NDArray[np.int64], NDArray[np.int64]]:
    """Return the names of a piece's units, and how many documents hold which unit how often."""
    keys = (counts["indices"].astype(np.int64) << 32) | counts["data"].astype(np.int64)
    pairs, documents = np.unique(keys, return_counts=True)
    names = {name: np.asarray(counts[name]) for name in ("names.bytes", "names.ends")}
    return names, pairs, documents.astype(np.int64)


def _learn(parts: Parts, words: TermVectorizer, preparation: Preparation, n: int) -> Record:
    """Choose the terms and learn their weights; return the vectorizer as arrays."""
    number: dict[str, int] = {}
    merged = (np.empty(0, np.int64), np.empty(0, np.int64))
    waiting = [merged]
    for names, pairs, documents in parts.each(_tally, ["counts"]):
        units = np.array([number.setdefault(name, len(number)) for name in texts_of(names, "names")], np.int64)
        keys = (units[pairs >> 32] << 32) | (pairs & 0xFFFFFFFF) if len(units) else pairs
        waiting.append((keys, documents))
        if sum(len(keys) for keys, _ in waiting[1:]) > max(_MERGED, len(waiting[0][0])):
            waiting = [_merged(waiting)]
    pairs, documents = _merged(waiting)
    term, count = pairs >> 32, pairs & 0xFFFFFFFF
    frequency = np.bincount(term, weights=documents, minlength=len(number)).astype(np.int64)
    totals = np.bincount(term, weights=documents * count, minlength=len(number))
    all_names = list(number)
    kept = words.choose_terms(n, frequency, totals, all_names)
    column = np.full(len(number), -1, np.int64)
    column[kept] = np.arange(len(kept))
    inside = column[term] >= 0
    order = np.lexsort((count[inside], column[term][inside]))
    tally = Tally(n, len(kept), column[term][inside][order], count[inside][order], documents[inside][order])
    fitted = clone(words)
    fitted.vocabulary_ = {all_names[unit]: place for place, unit in enumerate(kept.tolist())}
    fitted.preparation_ = preparation
    fitted._units = Units(False)
    fitted.weighting_ = Weighting(words.weighting, dtype=words.dtype)
    fitted.weighting_.learn(tally)
    found: dict[str, NDArray[Any]] = {}
    for name, value in pack_vectorizer(fitted).items():
        found |= pack_texts(name, value) if isinstance(value, Texts) else {name: np.asarray(value)}
    return found


def _merged(some: list[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    keys, inverse = np.unique(np.concatenate([keys for keys, _ in some]), return_inverse=True)
    documents = np.concatenate([documents for _, documents in some])
    return keys, np.bincount(inverse.reshape(-1), weights=documents, minlength=len(keys)).astype(np.int64)


def _weigh(counts: Record, parameters: dict[str, Any], learned: Record) -> Record:
    """Return the weighted rows of a piece, of length 1, on the grid of exact sums."""
    vectorizer = unpack_words(parameters, learned)
    names = texts_of(counts, "names")
    place = vectorizer.vocabulary_
    column = np.fromiter((place.get(name, -1) for name in names), np.int64, len(names))
    indptr, indices, data = counts["indptr"], counts["indices"], counts["data"]
    kept = column[indices] >= 0 if len(names) else np.zeros(0, bool)
    ends = np.concatenate([[0], np.cumsum(kept)])[indptr]
    chosen_counts = sp.csr_matrix(
        (data[kept], column[indices[kept]].astype(np.int32), ends), shape=(len(indptr) - 1, len(place))
    )
    chosen_counts.sum_duplicates()
    empty = chosen_counts.astype(np.float64)  # a piece without documents
    rows = unit_rows(vectorizer.weighting_.transform(chosen_counts)) if len(indptr) > 1 else sp.csr_array(empty)
    return {**pack_rows(rows), "name": short_names(rows)}


def unit_rows(weighted: Any) -> sp.csr_array:
    """Return rows of length 1, each number on the grid of exact sums: the rows that `cosine` compares."""
    rows = normalize(weighted.astype(np.float64))
    rows.data = snap(rows.data, GRID)
    rows.eliminate_zeros()
    rows.sort_indices()
    return sp.csr_array(rows)


def short_names(rows: Any) -> NDArray[np.uint64]:
    """Return the first 64 bits of the digest of every row: equal for equal content."""
    return np.array([int(name[:16], 16) for name in content_names(rows).tolist()], np.uint64)


def pack_rows(rows: Any) -> Record:
    """Return sparse rows as a record."""
    return {
        "data": rows.data.astype(np.float32),
        "indices": rows.indices.astype(np.int32),
        "indptr": rows.indptr.astype(np.int64),
        "shape": np.array(rows.shape),
    }
