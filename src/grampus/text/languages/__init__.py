"""Languages: which one a text is in, its stop words and stemmer, and words where there are no spaces."""

from .detect import detect_language
from .segment import UNSPACED, has_segmenter, is_unspaced, segment_words, separate_words
from .table import LANGUAGES, Language, find_language, list_words

__all__ = [
    "LANGUAGES",
    "UNSPACED",
    "Language",
    "detect_language",
    "find_language",
    "has_segmenter",
    "is_unspaced",
    "list_words",
    "segment_words",
    "separate_words",
]
