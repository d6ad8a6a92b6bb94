"""The input ``components``: leading components of weighted terms, with directions learned from a whole collection."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from .._array import Array
from ..errors import InputError
from ..gram.in_parts import unit_features
from .inputs import register_maker
from .terms.in_parts import GRID, unit_rows
from .terms.persist import pack_vectorizer, plain_parameters, unpack_vectorizer
from .terms.vectorizer import TermVectorizer


@register_maker
class ComponentsInput:
    """Make the input ``components`` of a corpus: what ``cosine|principal(r)|normalise`` makes of its terms.

    The directions belong to the whole collection that was fitted, of which a run in parts keeps only some documents.

    Parameters
    ----------
    vectorizer : TermVectorizer
        Fitted.
    directions : array of shape (terms, r)
    """

    kind: ClassVar[str] = "components"

    def __init__(self, vectorizer: TermVectorizer, directions: Array) -> None:
        self.vectorizer, self.directions = vectorizer, directions

    def fit_transform(self, raw_documents: Any) -> Array:
        """Return the rows of texts; nothing is learned."""
        return self.transform(raw_documents)

    def transform(self, raw_documents: Any) -> Array:
        """Return the rows of texts."""
        return unit_features(unit_rows(self.vectorizer.transform(raw_documents)), self.directions, GRID)

    def record(self) -> dict[str, Any]:
        """Return what the input is, for the run."""
        return {"name": "components", "kind": "components", "rank": int(self.directions.shape[1])}

    def remarks(self) -> list[str]:
        """Return no notes."""
        return []

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the vectorizer's parameters, and what it and the components learned."""
        return plain_parameters(self.vectorizer), {**pack_vectorizer(self.vectorizer), "directions": self.directions}

    @classmethod
    def unpack(cls, parameters: dict[str, Any], learned: dict[str, Any]) -> Self:
        """Return the maker of what ``pack`` returned."""
        given = dict(learned)
        directions = given.pop("directions")
        vectorizer = unpack_vectorizer(parameters, given)
        whole = isinstance(directions, np.ndarray) and directions.dtype == np.float32 and directions.ndim == 2
        if not whole or len(directions) != len(vectorizer.vocabulary_) or not np.isfinite(directions).all():
            raise InputError("directions must be finite float32 numbers, a row for each term.")
        return cls(vectorizer, directions)
