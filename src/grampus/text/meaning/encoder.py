"""The encoder: texts to rows of 512 numbers that are near where texts mean the same, in 16 languages.

The network is that of universal-sentence-encoder-multilingual-3 (Yang et al., 2020, "Multilingual Universal Sentence
Encoder for Semantic Retrieval", the variant of convolutions). Its weights are rounded to 8 bits by column and what
flows through it to 8 bits by row, so that every product is a whole number; norms and tanh are in double precision, in
one order. Rows have the same bits for any batch, thread, order and computer.
"""

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from typing import IO

import numpy as np
from numpy.typing import NDArray

from ..._backend import current
from ..._files import open_regular
from ..._native.encoder import DIMENSIONS, Meaning, WordPieces
from ..._parallel import in_threads
from ...errors import InputError
from .files import KNOWN, check_encoder, find_encoder, read_weights

__all__ = ["ARITHMETIC", "DIMENSIONS", "LANGUAGES", "MeaningEncoder", "encoder_digest", "load_encoder"]

ARITHMETIC = 1  # grows when the same weights give other bits
_MOST_PIECES = 4_000_000  # bytes of the file
_TOGETHER = 32  # texts that are worth a thread
LANGUAGES = frozenset((  # zh stands for both scripts
    "ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh",
))  # fmt: skip


class MeaningEncoder:
    """Texts to rows, by the encoder's two files.

    Parameters
    ----------
    weights, pieces : binary file
        InputError says what is wrong with them.
    """

    def __init__(self, weights: IO[bytes], pieces: IO[bytes]) -> None:
        self._network = Meaning(read_weights(weights))
        try:
            self._pieces = WordPieces(pieces.read(_MOST_PIECES))
        except ValueError as error:
            raise InputError(f"The encoder's pieces must be a SentencePiece model; {error}.") from error

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row of unit length for each text.

        Parameters
        ----------
        texts : sequence of str
            At most 1,024 pieces of a text are read. Half of a surrogate pair counts as a question mark.

        Returns
        -------
        float32 array of shape (n, 512)
        """
        pieces, starts = self._pieces.split(texts)
        on_device = current().meaning(self._network, len(pieces))
        if on_device is not None:
            return np.asarray(on_device(pieces, starts), np.float32)
        rows = np.empty((len(texts), DIMENSIONS), np.float32)

        def some(first: int, last: int) -> None:
            own = starts[first : last + 1]
            rows[first:last] = self._network.encode(pieces[own[0] : own[-1]], own - own[0])

        if len(texts):
            in_threads(some, len(texts), least=_TOGETHER)
        return rows

    def split(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the pieces of each text, between those that mark its begin and its end."""
        pieces, starts = self._pieces.split(texts)
        return [part.tolist() for part in np.split(pieces, starts[1:-1])] if len(texts) else []


def encoder_digest() -> str | None:
    """Return what identifies the rows, weights and arithmetic; None if the encoder is not installed."""
    known = "\n".join(f"{weights} {pieces}" for weights, pieces in KNOWN.values())
    return None if find_encoder() is None else sha256(f"meaning {ARITHMETIC}\n{known}".encode()).hexdigest()


@cache
def load_encoder() -> MeaningEncoder:
    """Return the installed encoder; it is loaded once."""
    files = check_encoder()
    with open_regular(files.weights) as weights, open_regular(files.pieces) as pieces:
        return MeaningEncoder(weights, pieces)
