"""The opening of a document: what of it is encoded."""

import re
from itertools import islice

from ..clean import Cleaner, Cleaning
from ..corpus import Corpus
from ..languages.segment import UNSPACED_LETTERS
from ..store import Texts
from ..terms.prepare import cut_texts

WORDS = 48  # of a text: with 24 trials were a little worse, with 96 or four times 48 no better
_CHARACTERS = 2_000  # of an opening, at most: a text need not have words
_HEAD = 8_192  # characters of a text that are cleaned first, which are mostly enough
_UNIT = re.compile(rf"[{UNSPACED_LETTERS}]|[^\s{UNSPACED_LETTERS}]+")


def opening(text: str, title: str = "", cleaner: Cleaner | None = None) -> str:
    r"""Return the title of a document and the first 48 words of its text; characters where there are no spaces.

    It depends on the document alone: lines that many documents share are not left out.

    Parameters
    ----------
    text, title : str
        A title that the text begins with is not repeated.
    cleaner : Cleaner, optional
        Drops mail headers, markup and the like from the text first.

    Examples
    --------
    >>> from grampus.text.meaning.opening import opening
    >>> opening("Whales  sing.\nThey dive.", "At sea"), opening("At sea we sing.", "At sea")
    ('At sea Whales sing. They dive.', 'At sea we sing.')
    >>> len(opening("whale " * 100).split()), len(opening("鯨" * 100))
    (48, 48)
    """
    begins = _first_words(text[:_HEAD] if cleaner is None else cleaner(text[:_HEAD]))
    if cleaner is not None and len(text) > _HEAD and len(_UNIT.findall(begins)) < WORDS:
        begins = _first_words(cleaner(text))
    heading = _first_words(title)
    return begins if begins.startswith(heading) else f"{heading} {begins}".rstrip()


def _first_words(text: str) -> str:
    """Return the first words of a text, one blank between them."""
    ends = [found.end() for found in islice(_UNIT.finditer(text), WORDS)]
    return " ".join(text[: ends[-1]].split())[:_CHARACTERS].rstrip() if ends else ""


def openings(corpus: Corpus, cleaning: Cleaning | None) -> list[str]:
    """Return the opening of every document of a corpus.

    Parameters
    ----------
    corpus : Corpus
    cleaning : Cleaning or None
        What is dropped from the texts first.
    """
    titles = Texts([""] * len(corpus)) if corpus.titles is None else corpus.titles
    runner, pieces = cut_texts(corpus.texts)
    given = ((corpus.texts[piece], titles[piece]) for piece in pieces)
    return [one for some in runner.map(_openings, given, cleaning) for one in some]


def _openings(piece: tuple[Texts, Texts], cleaning: Cleaning | None) -> list[str]:
    cleaner = None if cleaning is None else Cleaner(cleaning)
    return [opening(text, title, cleaner) for text, title in zip(*piece, strict=True)]
