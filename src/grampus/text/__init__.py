"""Text: reading corpora, terms and weights."""

from __future__ import annotations

from grampus.text._options import CorpusWarning, Progress, ReadOptions
from grampus.text._store import Texts
from grampus.text.corpus import Corpus, Document
from grampus.text.read import read_corpus
from grampus.text.stopwords import stop_words
from grampus.text.tokens import Terms, stemmers
from grampus.text.vectorizer import TermVectorizer
from grampus.text.weighting import Weighting

__all__ = [
    "Corpus",
    "CorpusWarning",
    "Document",
    "Progress",
    "ReadOptions",
    "TermVectorizer",
    "Terms",
    "Texts",
    "Weighting",
    "read_corpus",
    "stemmers",
    "stop_words",
]
