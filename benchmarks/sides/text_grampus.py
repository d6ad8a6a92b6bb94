"""Ours: one pass, each distinct word stemmed once."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.text_pipeline import grampus_side


def prepare(inputs: dict[str, np.ndarray]) -> list[str]:
    whole, ends = inputs["bytes"].tobytes(), inputs["ends"].tolist()
    return [whole[start:end].decode("utf-8") for start, end in zip([0, *ends], ends, strict=False)]


def run(texts: list[str]) -> dict[str, np.ndarray]:
    found = grampus_side(texts)
    return {"data": found.data, "indices": found.indices, "indptr": found.indptr, "shape": np.array(found.shape)}
