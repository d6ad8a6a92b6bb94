"""The embedding of a corpus as an input that kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..._progress import Progress
from ...errors import InputError
from ..corpus import Corpus
from ..inputs import register_maker
from .embedder import Embedder, Floats

EMBEDDED = 0.15  # weight of terms next to embeddings, which know more than words do


@register_maker
class EmbeddingInput:
    """Make the input ``embedding`` of a corpus by a model.

    Parameters
    ----------
    embedder : Embedder
    sha256 : str, optional
        What the model's digest must be, for a run that was saved.
    progress : callable, optional
        For fitting.
    """

    kind: ClassVar[str] = "embedding"
    word_weight: float = EMBEDDED

    def __init__(self, embedder: Embedder, sha256: str | None = None, progress: Progress | None = None) -> None:
        self.embedder, self.sha256, self._progress = embedder, sha256, progress
        self.notes: list[str] = []

    def fit_transform(self, raw_documents: Corpus) -> Floats:
        """Return the rows of the fitted texts."""
        progress, self._progress = self._progress, None  # a model that is kept or copied has no display
        return _rounded(self.embedder.embed(self.texts(raw_documents), progress, self.notes))

    def transform(self, raw_documents: Corpus) -> Floats:
        """Return the rows of new texts, by the model that was fitted with."""
        self.check_model()
        return _rounded(self.embedder.embed(self.texts(raw_documents)))

    def check_model(self) -> None:
        """Raise an error if the model of a saved run is not installed, or has changed."""
        if self.sha256 is not None and self.embedder.sha256 != self.sha256:
            raise InputError(
                f"New documents must be embedded by the model of the run, SHA-256 {self.sha256[:12]}…; the "
                f"{self.embedder.found.kind} model '{self.embedder.name}' has changed."
            )

    def texts(self, corpus: Corpus) -> Sequence[str]:
        """Return what of the documents is embedded: their texts."""
        return corpus.texts

    def record(self) -> dict[str, Any]:
        """Return which model was used: its name, kind and digest."""
        found = self.embedder.found
        return {"name": found.name, "kind": found.kind, "sha256": self.embedder.sha256}

    def remarks(self) -> list[str]:
        """Return notes for the reader of the result."""
        return self.notes

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the model's name and options; nothing is learned."""
        model = self.embedder
        if callable(model.model):
            raise InputError("embed must be a model in a folder, or a name; a function cannot be stored in a file.")
        place = Path(model.model)
        name = str(place.absolute()) if place.exists() else str(model.model)
        return {"model": name, "longest": model.longest, "batch_size": model.batch_size, "sha256": model.sha256}, {}

    @classmethod
    def unpack(cls, parameters: dict[str, Any], learned: dict[str, Any]) -> EmbeddingInput:
        """Return the maker of what ``pack`` returned; the model is looked for when new documents come."""
        given = dict(parameters)
        sha256 = given.pop("sha256")
        if not isinstance(sha256, str):
            raise ValueError("the digest of a model must be a text")
        return cls(Embedder(given.pop("model"), **given), sha256)


def _rounded(rows: Floats) -> Floats:
    """Return rows as single precision has them, in which a run stores them."""
    return rows.astype(np.float32).astype(np.float64)
