"""The input ``components`` of runs that version 0.2 made in parts: leading components of weighted terms.

Their directions were learned from a whole collection, of which such a run keeps some documents. Nothing makes them any
more; they are here so that those runs assign documents.
"""

from typing import Any, ClassVar, Self

import numpy as np

from .._array import Array
from ..errors import InputError
from .inputs import register_maker
from .terms.persist import unpack_vectorizer
from .terms.vectorizer import TermVectorizer
from .terms.weighting import to_unit_length

_GRID = 2.0**-24  # numbers are multiples of it, so that sums over documents are exact
_NOTHING = 1e-10  # a shorter row, of rows of length 1, is rounding


@register_maker
class ComponentsInput:  # type: ignore[type-var]  # no new input is made by it
    """Make the input ``components`` of a corpus: what ``cosine|principal(r)|normalise`` makes of its terms.

    Parameters
    ----------
    vectorizer : TermVectorizer
        Fitted.
    directions : array of shape (terms, r)
    """

    kind: ClassVar[str] = "components"

    def __init__(self, vectorizer: TermVectorizer, directions: Array) -> None:
        self.vectorizer, self.directions = vectorizer, directions

    def transform(self, raw_documents: Any) -> Array:
        """Return the rows of texts."""
        rows = to_unit_length(self.vectorizer.transform(raw_documents).astype(np.float64))
        rows.data = _snapped(rows.data)
        features = rows @ self.directions.astype(np.float64)
        lengths = np.sqrt((features * features).sum(axis=1))
        scale = np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > _NOTHING)
        return _snapped(features * scale[:, None])

    @classmethod
    def unpack(cls, parameters: dict[str, Any], learned: dict[str, Any]) -> Self:
        """Return the maker of what version 0.2 stored."""
        given = dict(learned)
        directions = given.pop("directions")
        vectorizer = unpack_vectorizer(parameters, given)
        whole = isinstance(directions, np.ndarray) and directions.dtype == np.float32 and directions.ndim == 2
        if not whole or len(directions) != len(vectorizer.vocabulary_) or not np.isfinite(directions).all():
            raise InputError("directions must be finite float32 numbers, a row for each term.")
        return cls(vectorizer, directions)


def _snapped(values: Array) -> Array:
    return np.rint(values / _GRID) * _GRID
