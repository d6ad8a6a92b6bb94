"""The product: label hashes, killed processes, changed bytes, starting times."""

from __future__ import annotations

import hashlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from grampus import load
from grampus.datasets import scipy_docstrings
from grampus.errors import RunError
from grampus.persist import Run
from lab import Found, Task
from lab.clusterer import document_clusterer
from lab.harness import ROOT
from lab.promises import promise


def grampus(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    command = [sys.executable, "-m", "grampus", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def label_hash(labels: Any) -> str:
    """Return the hash of labels."""
    return hashlib.sha256(np.asarray(labels, dtype=np.int64).tobytes()).hexdigest()


@promise(
    "same-clusters",
    "Label hashes of DocumentClusterer over 20 orders of the documents and 20 repeated runs, and after save and load.",
    rests_on=("documents", "cluster"),
    conditions=("one-hash",),
)
def same_labels(task: Task) -> Found:
    corpus = scipy_docstrings()
    model = document_clusterer(11).fit(corpus)
    hashes, runs = {label_hash(model.labels_)}, 1
    for seed in range(task.trials(20, 1)):
        order = np.random.default_rng(seed).permutation(len(corpus))
        labels = np.empty(len(corpus), dtype=np.int64)
        labels[order] = document_clusterer(11).fit(corpus.take(order)).labels_
        again = document_clusterer(11).fit(corpus)
        hashes |= {label_hash(labels), label_hash(again.labels_)}
        runs += 2
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/run")
        loaded = load(f"{folder}/run")
    hashes |= {label_hash(loaded.labels_), label_hash(loaded.predict(corpus))}
    text = f"{len(hashes)} hash over {runs} fits, a saved run and its own predictions"
    return Found(text, {"hashes": len(hashes)})


@promise(
    "killed-command",
    "kill -9 at 100 random moments of `grampus cluster`: the output is absent or whole, new or over an older run.",
    rests_on=("persist", "cli"),
    conditions=("nothing-fails",),
)
def kill(task: Task) -> Found:
    from tests.end_to_end.test_command import write_sources

    rng, counts = np.random.default_rng(0), {"absent": 0, "old": 0, "new": 0, "broken": 0}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_sources(folder)
        words = ["cluster", "news.csv", "-k", "3", "--no-stability", "--quiet", "--out"]
        began = time.perf_counter()
        assert grampus(folder, *words, "old", "--seed", "1").returncode == 0
        whole = time.perf_counter() - began
        for number in range(task.trials(100, 6)):
            place = folder / ("out" if number % 2 else "over")
            shutil.rmtree(place, ignore_errors=True)
            if place.name == "over":
                shutil.copytree(folder / "old", place)
            process = subprocess.Popen([sys.executable, "-m", "grampus", *words, str(place), "--seed", "2"], cwd=folder)
            time.sleep(whole * float(rng.uniform(0.5, 1.1)))
            process.send_signal(signal.SIGKILL)
            process.wait()
            counts[_state(place)] += 1
    missing = sum(counts[what] == 0 for what in ("absent", "old", "new"))  # the kills must reach every state
    text = ", ".join(f"{count} {what}" for what, count in counts.items())
    return Found(text, {"failed": counts["broken"] + missing})


def _state(place: Path) -> str:
    if not place.exists():
        return "absent"
    try:
        return {1: "old", 2: "new"}[Run.load(place).provenance.seed or 0]
    except (RunError, KeyError):
        return "broken"


@promise(
    "changed-bytes",
    "Every byte of the golden run changed, one at a time: runs that are loaded all the same.",
    rests_on=("persist",),
    conditions=("nothing-fails",),
)
def tamper(task: Task) -> Found:
    tried = refused = 0
    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / "run"
        shutil.copytree(sorted((ROOT / "tests" / "golden").glob("run-*"))[-1], place)
        for file in sorted(path for path in place.rglob("*") if path.is_file()):
            whole = file.read_bytes()
            for position in range(0, len(whole), task.trials(1, 50)):
                changed = bytearray(whole)
                changed[position] ^= 1 << (position % 8)
                file.write_bytes(changed)
                tried += 1
                try:
                    Run.load(place)
                except RunError:
                    refused += 1
            file.write_bytes(whole)
        Run.load(place)
    return Found(f"{refused} of {tried} changed bytes refused", {"failed": tried - refused})


def median_seconds(count: int, *words: str) -> tuple[float, list[float]]:
    """Return the median and all times of a command."""
    times = []
    for _ in range(count):
        began = time.perf_counter()
        run = grampus(ROOT, *words)
        times.append(time.perf_counter() - began)
        assert run.returncode == 0, run.stderr
    return float(np.median(times)), times


@promise(
    "demo-seconds",
    "`grampus demo` (1,355 documents, k chosen) from start to end, median of three.",
    rests_on=("cli", "documents", "select"),
    conditions=("demo-seconds",),
)
def demo(task: Task) -> Found:
    median, times = median_seconds(task.trials(3, 1), "demo")
    return Found(f"{median:.1f} s ({', '.join(f'{t:.1f}' for t in times)})", {"seconds": median})


@promise(
    "help-seconds",
    "`grampus --help`, median of ten.",
    rests_on=("cli",),
    conditions=("help-seconds",),
)
def help_(task: Task) -> Found:
    median, _ = median_seconds(10, "--help")
    return Found(f"{median:.2f} s", {"seconds": median})
