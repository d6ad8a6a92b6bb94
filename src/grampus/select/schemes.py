"""The four schemes of `validation`, §4, as rows of a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .strength import Scored, partition_similarity, strength


@dataclass(frozen=True)
class Scheme:
    """How halves are clustered and how a prediction is scored.

    Attributes
    ----------
    name : str
    reduced : bool
        Whether splits are made of prototypes instead of documents.
    spherical : bool
        k-means with the cosine to the centroid, on the plain kernel; else kernel k-means on the shifted one.
    score : callable
        From tables (runs, k, k) to scores.
    corrected : bool
        Whether scores are corrected for chance (Eqn 2).
    """

    name: str
    reduced: bool
    spherical: bool
    score: Callable[[NDArray[np.int64]], Scored]
    corrected: bool


SCHEMES = {
    scheme.name: scheme
    for scheme in (
        Scheme("KM-S", reduced=False, spherical=True, score=strength, corrected=True),
        Scheme("KM-P", reduced=False, spherical=True, score=partition_similarity, corrected=False),
        Scheme("KKM-S", reduced=False, spherical=False, score=strength, corrected=True),
        Scheme("RED-S", reduced=True, spherical=False, score=strength, corrected=True),
    )
}


def check_scheme(name: object) -> Scheme:
    """Return the scheme of a name, whatever its case."""
    found = SCHEMES.get(name.upper()) if isinstance(name, str) else None
    if found is None:
        raise InputError(f"scheme must be one of {', '.join(SCHEMES)}; got {name!r}.")
    return found
