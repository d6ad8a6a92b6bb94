"""Static models: a vector for every token of a tokeniser (``tokenizer.json`` and safetensors, model2vec's layout)."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._check import check_finite
from ..._files import open_regular
from ...errors import InputError
from ..readers.tables import import_extra
from ..safetensors import read_header, read_tensor

Rows = NDArray[np.float32]
TOKENIZER = "tokenizer.json"
_MATRICES = ("embeddings", "embedding.weight", "embeddings.weight")
_LARGEST_TOKENIZER = 256_000_000  # bytes


def static_files(path: Path) -> list[Path]:
    """Return the tokeniser and the weights of a static model; nothing if the folder is none."""
    weights = sorted(path.glob("*.safetensors")) if path.is_dir() else []
    if len(weights) != 1 or not (path / TOKENIZER).is_file():
        return []
    try:
        return [path / TOKENIZER, weights[0]] if _matrix(read_header(weights[0])) else []
    except (InputError, OSError):
        return []


def _matrix(header: dict[str, Any]) -> str | None:
    """Return the name of the matrix; None if the file holds the layers of a larger model."""
    return next((name for name in _MATRICES if name in header and len(header) <= 3), None)


class StaticTable:
    """The vectors of words as the mean of those of their tokens; an unknown token has none.

    Parameters
    ----------
    path : Path
        A folder for which `static_files` finds something.
    """

    def __init__(self, path: Path) -> None:
        place, weights = static_files(path)
        self.tokenizer = load_tokenizer(place)
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        header = read_header(weights)
        self.matrix = read_tensor(weights, str(_matrix(header)), header)
        others = {name: read_tensor(weights, name, header) for name in ("mapping", "weights") if name in header}
        self.mapping, self.scale = others.get("mapping"), others.get("weights")
        size = self.tokenizer.get_vocab_size()
        tokens = len(self.matrix) if self.mapping is None else len(self.mapping)
        if self.matrix.ndim != 2 or tokens < size or (self.scale is not None and len(self.scale) < size):
            raise InputError(
                f"{path.name} must hold a vector for each of the {size} tokens; its weights have shape "
                f"{self.matrix.shape}."
            )
        self.unknown = _unknown(self.tokenizer)

    def encode(self, texts: Sequence[str]) -> Rows:
        """Return the mean vector of the tokens of each text; zeros for a text without a known one."""
        found = self.tokenizer.encode_batch([text.encode("utf-8", "replace").decode() for text in texts],
                                            add_special_tokens=False)  # fmt: skip
        rows = np.zeros((len(texts), self.matrix.shape[1]), np.float32)
        for row, one in zip(rows, found, strict=True):
            tokens = [token for token in one.ids if token != self.unknown]
            if tokens:
                row[:] = self._vectors(np.array(tokens)).mean(axis=0)
        return np.asarray(check_finite(rows, "the weights of a static model"))

    def _vectors(self, tokens: NDArray[np.intp]) -> NDArray[np.float32]:
        places = tokens if self.mapping is None else np.asarray(self.mapping[tokens], dtype=np.intp)
        if places.min() < 0 or places.max() >= len(self.matrix):
            raise InputError("the mapping of a static model must name rows of its weights; it does not.")
        rows = self.matrix[places].astype(np.float32)
        return rows if self.scale is None else rows * np.asarray(self.scale[tokens], np.float32)[:, None]


def load_tokenizer(path: Path) -> Any:
    """Return the tokeniser of a ``tokenizer.json``."""
    tokenizers: Any = import_extra("tokenizers", "embed")
    with open_regular(path, _LARGEST_TOKENIZER) as file:
        data = file.read()
    try:
        return tokenizers.Tokenizer.from_str(data.decode("utf-8"))
    except Exception as error:  # the library raises plain exceptions
        why = " ".join(str(error).split())[:120]
        raise InputError(f"{path.name} must be a tokeniser that 'tokenizers' can read ({why}).") from error


def _unknown(tokenizer: Any) -> int:
    """Return the number of the unknown token; −1 if there is none."""
    model = json.loads(tokenizer.to_str())["model"]
    found = tokenizer.token_to_id(model["unk_token"]) if model.get("unk_token") else model.get("unk_id")
    return -1 if found is None else int(found)
