"""How well documents fit topics, by meaning and by words: one number for each document and topic."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from ..._array import Array, unit_rows
from ...errors import InputError
from ...text import Corpus
from .inputs import Inputs
from .topics import Topic

WORDS = 0.5  # weight of words next to meaning
MOST = 6.0  # standard deviations that count at most


def evidence_of(topics: Sequence[Topic], inputs: Inputs) -> Array:
    """Return how far each document resembles each topic, in standard deviations over the documents, (m, topics).

    A topic whose words are in no document, where meaning is not compared, has nothing but zeros.
    """
    meaning = inputs.makers.get("embedding")
    named = isinstance(inputs.features, dict)
    parts = []
    if meaning is not None and named:
        rows = np.asarray(inputs.features["embedding"])
        middle = np.average(rows, axis=0, weights=np.maximum(inputs.weights, 1e-12))
        parts.append(_similar(rows - middle, meaning, topics, middle))
    if inputs.words is not None and inputs.described is not None:
        words = _by_words(topics, inputs)
        parts.append(WORDS * words if parts else words)
    if not parts:
        raise InputError("topics need documents with terms or meaning: texts, under a kernel of terms. Name documents.")
    return np.sum(parts, axis=0)


def _similar(rows: Array, meaning: object, topics: Sequence[Topic], middle: Array) -> Array:
    """Return standardised cosines of documents and topics, both less the mean of the documents."""
    texts = [text for topic in topics for text in topic.texts]
    owner = np.repeat(np.arange(len(topics)), [len(topic.texts) for topic in topics])
    queries = unit_rows(np.asarray(meaning.transform(Corpus(texts))) - middle)  # type: ignore[attr-defined]
    means = np.zeros((len(topics), rows.shape[1]))
    np.add.at(means, owner, queries)
    return _standard(unit_rows(rows) @ unit_rows(means).T)


def _by_words(topics: Sequence[Topic], inputs: Inputs) -> Array:
    """Return cosines of weighted terms, in standard deviations."""
    assert inputs.words is not None
    texts = [text for topic in topics for text in (topic.name, *topic.words, topic.description, *topic.examples)]
    owner = np.repeat(np.arange(len(topics)), [2 + len(topic.words) + len(topic.examples) for topic in topics])
    terms = sp.csr_array(inputs.words.transform(texts))
    sums = sp.csr_array((np.ones(len(owner)), (owner, np.arange(len(owner)))), shape=(len(topics), len(owner))) @ terms
    rows = sp.csr_array(inputs.described)
    similar = (rows @ sp.csr_array(sums).T).toarray()
    for lengths, shape in ((_lengths(rows), (-1, 1)), (_lengths(sums), (1, -1))):
        similar /= np.where(lengths > 0, lengths, 1.0).reshape(shape)
    return _standard(similar, centred=False)


def _lengths(rows: sp.csr_array) -> Array:
    return np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).reshape(-1))


def _standard(values: Array, centred: bool = True) -> Array:
    spread = values.std(axis=0)
    less = values.mean(axis=0) if centred else 0.0
    return np.clip((values - less) / np.where(spread > 0, spread, np.inf), -MOST, MOST)
