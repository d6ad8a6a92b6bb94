"""Forget documents: what edits and the history of a run may still hold of them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from ...persist import Edit, Update
from ...text import Corpus

WORDS = 5  # in a row: a sequence that only deleted documents have is a trace of them


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return re.findall(r"\w+", text.casefold())


def words_of_corpus(corpus: Corpus) -> set[str]:
    """Return the words of texts and titles."""
    return {word for text in chain(corpus.texts, corpus.titles or ()) for word in split_words(text)}


def _traces(texts: Iterable[str], corpus: Corpus) -> set[tuple[str, ...]]:
    """Return the sequences of words that these texts have and no document of the corpus."""
    own = {sequence for text in texts for sequence in _sequences(text)}
    for text in chain(corpus.texts, corpus.titles or ()):
        if not own:
            return own
        own.difference_update(_sequences(text))
    return own


def _sequences(text: str) -> Iterable[tuple[str, ...]]:
    words = split_words(text)
    return (tuple(words[i : i + WORDS]) for i in range(max(1, len(words) - WORDS + 1)) if words)


def without(edits: Sequence[Edit], gone: set[str], lost: Sequence[str], corpus: Corpus) -> list[Edit]:
    """Return edits that mention none of the deleted documents, by id or by words that only they have."""
    if not gone:
        return list(edits)
    traces = _traces(lost, corpus)
    titles = {text.strip().casefold() for text in lost}

    def clean(name: str) -> str:
        told = name.strip().casefold() in titles or any(sequence in traces for sequence in _sequences(name))
        return "" if told else name

    def left(ids: Sequence[str]) -> tuple[str, ...]:
        return tuple(one for one in ids if one not in gone)

    kept = []
    for edit in edits:
        documents = left(edit.documents)
        if (edit.documents and not documents) or (edit.name and not clean(edit.name)):
            continue
        grafts = [replace(one, name=clean(one.name) or "part", documents=left(one.documents)) for one in edit.grafts]
        kept.append(replace(edit, documents=documents, grafts=tuple(grafts)))
    return kept


def forgotten(entry: Update, kept: dict[int, str]) -> Update:
    """Return an entry of the history without names that are not in use any more."""
    used = set(kept.values())
    changes = tuple(one if one.name in used else replace(one, name="") for one in entry.changes)
    return replace(entry, changes=changes)
