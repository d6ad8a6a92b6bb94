"""Text: read corpora, count terms and weight them.

Names are imported on first use: reading a corpus does not need scikit-learn, which alone takes more memory than many
corpora.
"""

from typing import TYPE_CHECKING

from .._later import loaded_later as _loaded_later

if TYPE_CHECKING:
    from .clean import Cleaning
    from .corpus import Corpus, Document
    from .embed.embedder import Embedder
    from .embed.mean import MeanVectors
    from .files import FileRecord
    from .languages.detect import detect_language
    from .matrices import read_embeddings
    from .readers.log import CorpusWarning
    from .readers.options import ReadLimits, ReadOptions
    from .readers.pieces import Pieces, read_pieces
    from .readers.read import read_corpus
    from .readers.registry import BadRecord, Reader, Record, Source, Table, register_reader
    from .store import Texts
    from .terms.stopwords import stop_words
    from .terms.terms import Terms, Tokenizer, stemmers
    from .terms.vectorizer import TermVectorizer
    from .terms.weighting import Weighting

__all__ = [
    "BadRecord", "Cleaning", "Corpus", "CorpusWarning", "Document", "Embedder", "FileRecord", "MeanVectors",
    "Pieces", "ReadLimits", "ReadOptions", "Reader", "Record", "Source", "Table", "TermVectorizer", "Terms", "Texts",
    "Tokenizer", "Weighting", "detect_language", "read_corpus", "read_embeddings", "read_pieces", "register_reader",
    "stemmers", "stop_words",
]  # fmt: skip

_MODULES = {
    "clean": ("Cleaning",),
    "corpus": ("Corpus", "Document"),
    "embed.embedder": ("Embedder",),
    "embed.mean": ("MeanVectors",),
    "files": ("FileRecord",),
    "languages.detect": ("detect_language",),
    "matrices": ("read_embeddings",),
    "readers.log": ("CorpusWarning",),
    "readers.options": ("ReadLimits", "ReadOptions"),
    "readers.pieces": ("Pieces", "read_pieces"),
    "readers.read": ("read_corpus",),
    "readers.registry": ("BadRecord", "Reader", "Record", "Source", "Table", "register_reader"),
    "store": ("Texts",),
    "terms.stopwords": ("stop_words",),
    "terms.terms": ("Terms", "Tokenizer", "stemmers"),
    "terms.vectorizer": ("TermVectorizer",),
    "terms.weighting": ("Weighting",),
}


__getattr__, __dir__ = _loaded_later(__name__, _MODULES)
