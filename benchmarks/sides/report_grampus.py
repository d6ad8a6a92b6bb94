"""Ours: the whole page of a run, as bytes."""

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.pages import run_of


def prepare(inputs: dict[str, np.ndarray]) -> Any:
    from grampus.report import report_html  # noqa: F401  (imported before the clock starts)

    whole, ends = inputs["bytes"].tobytes(), inputs["ends"].tolist()
    texts = [whole[start:end].decode("utf-8", "replace") for start, end in zip([0, *ends], ends, strict=False)]
    return run_of(texts, inputs["labels"])


def run(made: Any) -> dict[str, np.ndarray]:
    from grampus.report import report_html

    return {"page": np.frombuffer(report_html(made).encode("utf-8"), np.uint8)}
