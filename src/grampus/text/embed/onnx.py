"""Sentence embeddings of an ONNX model through onnxruntime."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._files import open_regular
from ..._parallel import thread_count
from ...errors import InputError
from ..readers.tables import import_extra
from .static import load_tokenizer

_SENTENCE = "sentence_embedding"


class OnnxEncoder:
    """A model of tokens: rows are the mean over the tokens of a text, or the first token's.

    Parameters
    ----------
    path, tokenizer : Path
        The model, and its ``tokenizer.json``.
    tokens : int
        The longest text that it takes.
    first : bool
        Whether the first token's row is taken, as the model's settings say.
    """

    def __init__(self, path: Path, tokenizer: Path, tokens: int, *, first: bool = False) -> None:
        runtime: Any = import_extra("onnxruntime", "embed")
        self.tokenizer = load_tokenizer(tokenizer)
        self.tokenizer.enable_truncation(tokens)
        self.tokenizer.no_padding()
        options = runtime.SessionOptions()
        options.intra_op_num_threads = thread_count()
        options.log_severity_level = 4  # what goes wrong is raised
        with open_regular(path):  # no device, no FIFO
            pass
        try:
            self.session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has a class for each status
            raise InputError(f"{path.name} must be a model that onnxruntime can load ({_first(error)}).") from error
        self.inputs = [entry.name for entry in self.session.get_inputs()]
        known = {"input_ids", "attention_mask", "token_type_ids"}
        if "input_ids" not in self.inputs or not set(self.inputs) <= known:
            taken = ", ".join(self.inputs)
            raise InputError(f"{path.name} must take input_ids and an attention_mask; it takes {taken}.")
        names = [entry.name for entry in self.session.get_outputs()]
        self.name, self.first = path.name, first
        self.output = _SENTENCE if _SENTENCE in names else names[0]

    def encode(self, texts: list[str]) -> NDArray[np.float32]:
        """Return a row for each text."""
        found = self.tokenizer.encode_batch(texts)
        width = max(1, *(len(one.ids) for one in found))
        ids, mask = np.zeros((2, len(texts), width), np.int64)
        for row, one in enumerate(found):
            ids[row, : len(one.ids)], mask[row, : len(one.ids)] = one.ids, 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            states = self.session.run([self.output], {name: given[name] for name in self.inputs})[0]
        except Exception as error:
            raise InputError(f"{self.name} must run on texts of {width} tokens ({_first(error)}).") from error
        rows = np.asarray(states, dtype=np.float32)
        if rows.ndim == 2:
            return rows
        if rows.ndim != 3 or rows.shape[:2] != ids.shape:
            raise InputError(f"{self.name} must give a row for each token or text; its output has shape {rows.shape}.")
        if self.first:
            return rows[:, 0]
        weights = mask.astype(np.float32)[:, :, None]
        return np.asarray((rows * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1))


def _first(error: Exception) -> str:
    return " ".join(str(error).split())[:160]
