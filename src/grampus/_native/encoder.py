"""The sentence encoder: weights rounded to 8 bits, texts to pieces, pieces to rows. Arrays are checked here."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core, _numbers, _require

Array = NDArray[Any]
Packed = tuple[NDArray[np.int8], NDArray[np.float64], NDArray[np.int32], int]
WINDOWS, BEFORE = (2, 3, 5), (0, 1, 2)  # pieces that a branch sees at a time, and how many of them precede
CHUNKS = 17  # parts of the table of pieces
DIMENSIONS = 512
MOST_PIECES = 1024  # of a text; what follows is not read
_COLUMNS, _STEP = 8, 4  # as encoder_loops.hpp has them


def unpack_weights(packed: Packed) -> NDArray[np.int8]:
    """Return rounded weights as (depth, wide)."""
    numbers, scale, _, depth = packed
    tiles = numbers.reshape(len(scale) // _COLUMNS, depth // _STEP, _COLUMNS, _STEP)
    return np.ascontiguousarray(tiles.transpose(1, 3, 0, 2)).reshape(depth, len(scale))


def pack(weights: Array) -> Packed:
    """Round weights (depth, wide) to 8 bits by column, and lay them out for the compiled loops.

    Returns
    -------
    weights, scale of each column, sum of each column, depth
    """
    exact = np.asarray(weights, dtype=np.float64)
    most = np.abs(exact).max(axis=0)
    scale = np.where(most > 0, most, 1.0) / 127.0
    return in_panels(np.rint(exact / scale).astype(np.int8), scale)


def in_panels(whole: NDArray[np.int8], scale: NDArray[np.float64]) -> Packed:
    """Lay out 8-bit numbers (depth, wide) for the compiled loops; depth and wide are multiples of 4 and 8."""
    depth, wide = whole.shape
    tiles = whole.reshape(depth // _STEP, _STEP, wide // _COLUMNS, _COLUMNS).transpose(2, 0, 3, 1)
    return np.ascontiguousarray(tiles).ravel(), scale, whole.sum(axis=0, dtype=np.int32), depth


class Meaning:
    """The network of universal-sentence-encoder-multilingual-3 in whole numbers.

    Parameters
    ----------
    weights : dict of str to array
        As `text.meaning.files.SHAPES` has them; ``q1`` … ``q17`` are the table.
    """

    def __init__(self, weights: Mapping[str, Array]) -> None:
        tables = [np.require(weights[f"q{i + 1}"], np.uint8, ["C"]) for i in range(CHUNKS)]
        project = np.concatenate([weights[f"proj{n}"] for n in WINDOWS], axis=1)
        hidden = np.concatenate([weights["d0"], weights["p1"]], axis=1)
        outer = np.concatenate([weights["d2"], weights["p3"]], axis=1)
        windows = [_by_place(weights[f"w{layer}_{n}"], n) for layer in (1, 2) for n in WINDOWS]
        exact = [project, *windows, weights["cnn_W"], hidden, weights["d1"], outer, weights["d3"]]
        layers = [pack(layer) for layer in exact]
        low = layers[0][2] * layers[0][1]
        biases = [weights[f"b{layer}_{n}"] for layer in (1, 2) for n in WINDOWS]
        joined = [np.concatenate([weights[f"{name}{n}"] for n in WINDOWS]) for name in ("proj_b", "ln_g", "ln_b")]
        last = [weights["ln_g"], weights["ln_b"], weights["cnn_b"]]
        every = (weights["scale"], weights["lo"], low, *joined, *biases, *last)
        numbers = [np.require(values, np.float64, ["C"]) for values in every]
        self.tables, self.layers, self.numbers, self.epsilon = tables, layers, numbers, float(weights["eps"])
        self._loops = _core.Meaning(tables, layers, numbers, self.epsilon, (tables, layers, numbers))

    def check(self, pieces: Array, starts: Array) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return pieces and where each text begins, and the last ends; ValueError says what is wrong with them."""
        bounds = _numbers(starts, (len(starts),), "starts", np.int64)
        numbers = _numbers(pieces, (len(pieces),), "pieces", np.int32)
        fits = bounds[0] >= 0 and bounds[-1] <= len(numbers) and bool((np.diff(bounds) > 0).all())
        _require(fits, f"every text must have pieces, within {len(numbers)}")
        _require(not len(numbers) or 0 <= numbers.min() <= numbers.max() < self._loops.pieces, "pieces must be known")
        return numbers, bounds

    def encode(self, pieces: Array, starts: Array) -> NDArray[np.float32]:
        """Return a row of unit length for each text, given as pieces and where each text begins, and the last ends."""
        numbers, bounds = self.check(pieces, starts)
        rows = np.empty((len(bounds) - 1, DIMENSIONS), np.float32)
        self._loops.encode(numbers, bounds, rows)
        return rows


def _by_place(weights: Array, window: int) -> Array:
    """Lay the weights of a window's places side by side: (256, window · 256)."""
    wide = weights.shape[1]
    return np.asarray(weights).reshape(window, -1, wide).transpose(1, 0, 2).reshape(-1, window * wide)


class WordPieces:
    """Texts to pieces by a SentencePiece model of the unigram kind.

    Parameters
    ----------
    model : bytes
        The model's file. ValueError says what is wrong with it.
    """

    def __init__(self, model: bytes) -> None:
        self._loops = _core.Pieces(np.frombuffer(model, np.uint8))

    def __len__(self) -> int:
        return len(self._loops)

    def normalised(self, text: str) -> str:
        """Return a text as it is split: by NFKC and with ▁ for spaces."""
        return self._loops.normalised(text.encode("utf-8", "replace")).decode("utf-8", "replace")

    def split(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the pieces of texts, between the marks of begin and end, and where each text begins."""
        encoded = [text.encode("utf-8", "replace") for text in texts]
        ends = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(text) for text in encoded], out=ends[1:])
        _require(max(map(len, encoded), default=0) < 2**31, "a text must have less than 2 GB")
        starts = np.zeros(len(encoded) + 1, np.int64)
        pieces = self._loops.split(np.frombuffer(b"".join(encoded), np.uint8), ends, MOST_PIECES, starts)
        return pieces, starts
