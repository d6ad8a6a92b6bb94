"""Meaning as an input of a corpus: the encoder's rows of the openings of its documents."""

from __future__ import annotations

from typing import Any, ClassVar

from ..._parallel import spares_copies
from ..._progress import Progress
from ...run import Apart, returned
from ..clean import Cleaning, cleaning_options
from ..corpus import Corpus
from ..embed.embedder import Embedder
from ..embed.maker import EmbeddingInput
from ..embed.model import MEANING
from ..inputs import register_maker
from .opening import openings

BATCH = 1024  # openings that are encoded and stored at a time


@register_maker
class MeaningInput(EmbeddingInput):
    """Make the input ``embedding`` of a corpus by the encoder, from the opening of each document.

    Parameters
    ----------
    cleaning : Cleaning or None
        What is dropped from the texts first.
    sha256 : str, optional
        What the encoder's digest must be, for a run that was saved.
    progress : callable, optional
        For fitting.
    """

    kind: ClassVar[str] = "meaning"

    def __init__(
        self, cleaning: Cleaning | None = None, sha256: str | None = None, progress: Progress | None = None
    ) -> None:
        super().__init__(Embedder(MEANING, batch_size=BATCH), sha256, progress)
        self.cleaning = cleaning
        self._begun: tuple[Corpus, Apart[list[str]]] | None = None

    def begin(self, corpus: Corpus) -> None:
        """Begin to read the openings of documents that will be fitted, next to what is done before."""
        if spares_copies(len(corpus)):
            self._begun = corpus, Apart(lambda: returned(openings(corpus, self.cleaning)))

    def texts(self, corpus: Corpus) -> list[str]:
        """Return the openings of documents."""
        begun, self._begun = self._begun, None
        return begun[1]() if begun is not None and begun[0] is corpus else openings(corpus, self.cleaning)

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the digest of the encoder and what is dropped from texts; nothing is learned."""
        clean = None if self.cleaning is None else cleaning_options(self.cleaning)
        return {"sha256": self.embedder.sha256, "clean": clean}, {}

    @classmethod
    def unpack(cls, parameters: dict[str, Any], learned: dict[str, Any]) -> MeaningInput:
        """Return the maker of what ``pack`` returned; the encoder is looked for when new documents come."""
        clean, sha256 = parameters["clean"], parameters["sha256"]
        if not isinstance(sha256, str):
            raise ValueError("the digest of the encoder must be a text")
        return cls(None if clean is None else Cleaning(**clean), sha256)
