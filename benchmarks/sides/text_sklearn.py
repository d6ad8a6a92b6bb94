"""The peer: TfidfVectorizer with a stemming analyzer."""

import runpy
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.text_pipeline import baseline

prepare = runpy.run_path(str(Path(__file__).with_name("text_grampus.py")))["prepare"]


def run(texts: list[str]) -> dict[str, np.ndarray]:
    found = baseline(texts)
    return {"data": found.data, "indices": found.indices, "indptr": found.indptr, "shape": np.array(found.shape)}
