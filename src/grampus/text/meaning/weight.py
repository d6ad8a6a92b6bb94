"""How much words count next to meaning: it follows the length of the documents and their languages."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .encoder import LANGUAGES


@dataclass(frozen=True)
class WeightSettings:
    """The rule w = m / (m + `terms`) between `least` and `most`, m the median number of known terms of a document.

    Chosen on nine sets and confirmed on nine others, see docs/decisions.md and the lab's rows ``meaning`` and
    ``meaning-translations``.

    Attributes
    ----------
    terms : float
        Known terms at which words would count as much as meaning.
    least, most : float
        Weights that words have in the shortest texts, and in the longest.
    power : float
        How fast words count less where languages are mixed.
    """

    terms: float = 60.0
    least: float = 0.15
    most: float = 0.4
    power: float = 3.0


SETTINGS = WeightSettings()


def word_weight(known_terms: NDArray[np.integer], languages: Mapping[str, int]) -> float:
    """Return the weight of words, from 0 to 1, with two decimals; at 1 meaning is of no use, at 0 words are of none.

    Words compare only documents of one language. Where languages are mixed, they would tell languages apart instead of
    topics: the weight falls with the third power of the share of pairs that have one language. Documents in languages
    that the encoder does not know raise it by their share.

    Parameters
    ----------
    known_terms : array of shape (n,)
        How many different terms each document has.
    languages : dict of str to int
        Documents of each language; empty if that is not known.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.text.meaning.weight import word_weight
    >>> word_weight(np.array([5, 6, 7]), {"en": 3}), word_weight(np.array([80, 80]), {"en": 1, "fi": 1})
    (0.15, 0.7)
    >>> word_weight(np.array([5, 6]), {"fi": 2}), word_weight(np.array([80, 80]), {"en": 1, "de": 1})
    (1.0, 0.05)
    """
    middle = float(np.median(known_terms)) if len(known_terms) else 0.0
    weight = min(max(middle / (middle + SETTINGS.terms), SETTINGS.least), SETTINGS.most)
    known = np.array([count for code, count in languages.items() if code in LANGUAGES])
    total = sum(languages.values())
    if known.sum():
        weight *= float(((known / known.sum()) ** 2).sum()) ** SETTINGS.power
    unknown = 1 - known.sum() / total if total else 0.0
    return round(float(weight + (1 - weight) * unknown), 2)
