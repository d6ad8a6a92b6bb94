"""How far the answer can be trusted: the choice of k, stability, and the map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._array import Array

if TYPE_CHECKING:
    from .compose import Partition


@dataclass(frozen=True)
class Stability:
    """How often clusters and documents came back when the documents were drawn anew.

    Attributes
    ----------
    clusters : tuple of float or None
    documents : array of shape (m,)
        NaN where not measured.
    """

    clusters: tuple[float | None, ...]
    documents: Array


def choose(model: Any, gram: Any, collection: Any, seed: int, notes: list[str], tell: Any) -> Any:
    raise NotImplementedError


def stability(model: Any, found: Partition, tell: Any) -> Stability | None:
    return None
