"""Text: reading corpora, terms and weights.

The names below are loaded when they are first used: reading a corpus does not need scikit-learn, which alone takes
more memory than many corpora.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_HOMES = {
    "Corpus": "corpus",
    "CorpusWarning": "_options",
    "Document": "corpus",
    "Progress": "_options",
    "ReadOptions": "_options",
    "TermVectorizer": "vectorizer",
    "Terms": "tokens",
    "Texts": "_store",
    "Weighting": "weighting",
    "read_corpus": "read",
    "stemmers": "tokens",
    "stop_words": "stopwords",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(_import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
