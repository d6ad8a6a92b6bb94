"""The four schemes of `validation`, §4, as rows of a table."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..cluster.kmeans import RULES, Rule
from ..errors import InputError
from .prototypes import MOST_PROTOTYPES
from .strength import Scored, partition_similarity, strength


@dataclass(frozen=True)
class Scheme:
    """How halves are clustered and how a prediction is scored.

    Attributes
    ----------
    name : str
    reduced : bool
        Whether splits are made of prototypes instead of documents.
    rule : Rule
        How documents are assigned: by the cosine to the centroid, on the plain kernel, or to the nearest centroid, on
        the shifted one.
    score : callable
        From tables (runs, k, k) to scores.
    corrected : bool
        Whether scores are corrected for chance (Eqn 2).
    """

    name: str
    reduced: bool
    rule: Rule
    score: Callable[[NDArray[np.int64]], Scored]
    corrected: bool


SCHEMES = {
    scheme.name: scheme
    for scheme in (
        Scheme("KM-S", reduced=False, rule=RULES["cosine"], score=strength, corrected=True),
        Scheme("KM-P", reduced=False, rule=RULES["cosine"], score=partition_similarity, corrected=False),
        Scheme("KKM-S", reduced=False, rule=RULES["plain"], score=strength, corrected=True),
        Scheme("RED-S", reduced=True, rule=RULES["plain"], score=strength, corrected=True),
    )
}


AUTO = "auto"
MOST_DOCUMENTS = MOST_PROTOTYPES  # that "auto" splits without reducing them


def check_scheme(name: object) -> str:
    """Return the name of a scheme, or "auto", whatever its case."""
    known = {name.upper(): name for name in (AUTO, *SCHEMES)}
    found = known.get(name.upper()) if isinstance(name, str) else None
    if found is None:
        raise InputError(f"scheme must be one of {', '.join(known.values())}; got {name!r}.")
    return found


def scheme_for(name: str, n: int, *, reduced: bool) -> Scheme:
    """Return the scheme that runs on n documents; `reduced` says that options of the prototypes are set.

    "auto" splits the documents themselves as long as they are no more than the prototypes of a large collection may be.
    Small collections keep every document: a few hundred leave too few prototypes of each cluster in a half for the
    right k to look stable.
    """
    if name != AUTO:
        return SCHEMES[name]
    return SCHEMES["RED-S" if reduced or n > MOST_DOCUMENTS else "KKM-S"]
