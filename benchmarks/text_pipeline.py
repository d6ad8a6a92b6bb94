"""Text to weighted matrix against scikit-learn, in alternating processes.

The baseline is ``TfidfVectorizer`` with an analyzer that lowercases, finds ``\\b\\w\\w+\\b``, drops SMART's stop words
and calls PyStemmer's ``stemWords``; ``min_df=3``. Both sides compute (1 + ln tf)(1 + ln(n/df)) at unit length.

    GRAMPUS_DATA=… python -m benchmarks.text_pipeline [rounds]
"""

from __future__ import annotations

import gzip
import json
import os
import re
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

SIDES = ("scikit-learn", "grampus")


@dataclass(frozen=True)
class Comparison:
    """What was measured, medians over the rounds."""

    documents: int
    terms: int
    rounds: int
    baseline_seconds: float
    grampus_seconds: float
    speed_ratio: float
    baseline_peak_mb: float
    grampus_peak_mb: float
    memory_ratio: float
    largest_difference: float


def data_folder() -> Path:
    value = os.environ.get("GRAMPUS_DATA")
    if not value:
        raise FileNotFoundError("GRAMPUS_DATA must name the folder of corpora.")
    return Path(value)


def load(folder: Path) -> list[str]:
    with gzip.open(folder / "20ng.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def baseline(texts: list[str]) -> Any:
    import Stemmer
    from sklearn.feature_extraction.text import TfidfVectorizer

    from grampus.text import stop_words

    stops, findall = stop_words("smart"), re.compile(r"\b\w\w+\b").findall
    stem = Stemmer.Stemmer("english").stemWords

    def analyzer(text: str) -> list[str]:
        words: list[str] = stem([word for word in findall(text.lower()) if word not in stops])
        return words

    return TfidfVectorizer(analyzer=analyzer, min_df=3, sublinear_tf=True, smooth_idf=False).fit_transform(texts)


def grampus_side(texts: list[str]) -> Any:
    from grampus.text import TermVectorizer

    return TermVectorizer("ddc", min_df=3).fit_transform(texts)


def peak_mb() -> float:
    """Largest resident size of this process; unlike ``ru_maxrss`` it does not remember the parent."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    raise OSError("VmHWM is not to be had on this system")


def one_side(side: str) -> dict[str, float]:
    """Measure one side in this process, imports done before the clock starts."""
    import sklearn.feature_extraction.text  # noqa: F401
    import Stemmer  # noqa: F401

    import grampus.text  # noqa: F401

    texts = load(data_folder())
    run = baseline if side == SIDES[0] else grampus_side
    start = time.perf_counter()
    run(texts)
    return {"seconds": time.perf_counter() - start, "peak_mb": peak_mb()}


def compare(rounds: int = 5) -> Comparison:
    """Alternate the two sides, each in a process of its own, and compare their matrices once."""
    measured: dict[str, list[dict[str, float]]] = {side: [] for side in SIDES}
    for _ in range(rounds):
        for side in SIDES:
            command = [sys.executable, "-m", "benchmarks.text_pipeline", "--side", side]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            measured[side].append(json.loads(done.stdout))

    def median(side: str, key: str) -> float:
        return statistics.median(run[key] for run in measured[side])

    texts = load(data_folder())
    ours, theirs = grampus_side(texts), baseline(texts)
    return Comparison(
        documents=ours.shape[0],
        terms=ours.shape[1],
        rounds=rounds,
        baseline_seconds=median(SIDES[0], "seconds"),
        grampus_seconds=median(SIDES[1], "seconds"),
        speed_ratio=median(SIDES[0], "seconds") / median(SIDES[1], "seconds"),
        baseline_peak_mb=median(SIDES[0], "peak_mb"),
        grampus_peak_mb=median(SIDES[1], "peak_mb"),
        memory_ratio=median(SIDES[1], "peak_mb") / median(SIDES[0], "peak_mb"),
        largest_difference=float(abs(ours - theirs).max()),
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--side"]:
        print(json.dumps(one_side(sys.argv[2])))
    else:
        print(json.dumps(asdict(compare(int(sys.argv[1]) if sys.argv[1:] else 5)), indent=1))
