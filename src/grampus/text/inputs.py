"""Inputs of a corpus besides its texts: rows of numbers by name, given or made from the texts."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np

from ..errors import CorpusError, InputError

MADE = {"terms": "weighted terms", "text": "strings", "gram": "a Gram matrix"}
"""Names that no input of a corpus may have, and what they stand for."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


class InputMaker(Protocol):
    """Make an input of a corpus from its texts, such as the embeddings of a model.

    What it learns from the fitted texts is stored with the run under the name of the input, so that a loaded run
    makes the same input of new documents. ``register_maker`` makes a class known to ``unpack_maker``.
    """

    kind: ClassVar[str]
    """The name of the class in a saved run."""

    @property
    def word_weight(self) -> float:
        """The weight of terms next to this input in the default kernel."""

    def fit_transform(self, raw_documents: Any) -> Any:
        """Learn from a corpus and return a row of numbers for each of its texts; equal texts get equal rows."""

    def transform(self, raw_documents: Any) -> Any:
        """Return a row of numbers for each text of a corpus."""

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the parameters as JSON values, and what was learned as arrays and Texts.

        Raises InputError, with the reason, if that cannot be saved.
        """

    def record(self) -> dict[str, Any]:
        """Return what was used, for the run, as JSON values: a name and a digest."""

    def remarks(self) -> list[str]:
        """Return notes for the reader of the result."""

    @classmethod
    def unpack(cls, parameters: dict[str, Any], learned: dict[str, Any]) -> Self:
        """Return the fitted maker of what ``pack`` returned."""


_makers: dict[str, type[InputMaker]] = {}
_Maker = TypeVar("_Maker", bound=type[InputMaker])


def register_maker(cls: _Maker) -> _Maker:
    """Register a class of makers under its ``kind``; a class decorator."""
    _makers[cls.kind] = cls
    return cls


def unpack_maker(kind: str, parameters: dict[str, Any], learned: dict[str, Any]) -> InputMaker:
    """Return a fitted maker; LookupError if its kind is unknown."""
    return _makers[kind].unpack(parameters, learned)


def check_input(name: Any, rows: Any, n: int) -> Any:
    """Return an input as a float matrix with a row for each of the n documents, or raise."""
    from .._check import check_matrix  # scikit-learn: corpora without inputs do not need it

    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise CorpusError(f"the name of an input must be letters, digits and underscores; got {name!r}.")
    if name in MADE:
        what = f"the input {name!r} ({MADE[name]}) is not given with the texts"
        raise CorpusError(f"{what}; choose another name, or pass a matrix as X, with the corpus as corpus=….")
    try:
        matrix = rows if hasattr(rows, "nnz") else np.asarray(rows)
        matrix = check_matrix(matrix[:, None] if matrix.ndim == 1 else matrix, f"the input {name!r}", rows=0)
    except (InputError, ValueError, TypeError) as error:
        raise CorpusError(str(error)) from None
    if matrix.shape[0] != n:
        raise CorpusError(f"the input {name!r} must have one row per document, {n}; got {matrix.shape[0]}.")
    return matrix


def row_places(what: str, given: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Return the row of each wanted id; `given` are the ids of the rows of what is named in messages."""
    place = {each: number for number, each in enumerate(given)}
    if len(place) < len(given):
        repeated = next(each for number, each in enumerate(given) if place[each] != number)
        raise CorpusError(f"{what} must have different ids; {repeated[:80]!r} occurs more than once.")
    missing = [each for each in wanted if each not in place]
    if missing:
        raise CorpusError(
            f"{what} must have a row for every document; {len(missing)} of {len(wanted)} have none, such as "
            f"{missing[0][:80]!r}. Its ids are like {next(iter(given), '')[:80]!r}."
        )
    return [place[each] for each in wanted]


def match_rows(name: str, rows: Any, given: list[str], wanted: Sequence[str]) -> Any:
    """Return the rows of the wanted ids, in their order; `given` are the ids of the rows."""
    places = row_places(f"the input {name!r}", given, wanted)
    rows = rows if hasattr(rows, "nnz") else np.asarray(rows)
    if rows.shape[0] != len(given):
        raise CorpusError(f"ids of the input {name!r} must have one value per row, {rows.shape[0]}; got {len(given)}.")
    return rows[np.array(places, dtype=np.intp)]


def equal_inputs(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two corpora have the same inputs."""
    if one.keys() != other.keys():
        return False
    return all(
        one[name].shape == other[name].shape
        and hasattr(one[name], "nnz") == hasattr(other[name], "nnz")
        and not (one[name] != other[name]).sum()
        for name in one
    )
