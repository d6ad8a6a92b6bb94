"""The whole command against a recipe that only clusters, and many documents; processor time of fresh processes."""

from __future__ import annotations

import compileall
import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import grampus
from lab import Found, Task, data, row
from lab.speed.compare import THREADS

RECIPE = """
import gzip, json, sys
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize
texts = [json.loads(line)["text"] for line in gzip.open(sys.argv[1], "rt")]
x = TfidfVectorizer(stop_words="english", min_df=3, sublinear_tf=True).fit_transform(texts)
KMeans(int(sys.argv[2]), n_init=10, random_state=0).fit(normalize(TruncatedSVD(100, random_state=0).fit_transform(x)))
"""
FIT = """
import gzip, json, sys
from grampus import DocumentClusterer
DocumentClusterer(int(sys.argv[2])).fit([json.loads(line)["text"] for line in gzip.open(sys.argv[1], "rt")])
"""


def seconds(*words: str) -> tuple[float, float]:
    """Run a program; return its processor time and its peak memory in MB.

    Modules are compiled before, as they are after an installation.
    """
    compileall.compile_dir(str(Path(grampus.__file__).parent), quiet=2)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(words, env=environment | THREADS, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{words[:4]} ended with status {status}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1000


def by_turns(task: Task, ours: list[str], theirs: list[str]) -> Found:
    """Measure both by turns and return the median of the ratios of processor time, ours over theirs."""
    pairs = [(seconds(*ours)[0], seconds(*theirs)[0]) for _ in range(task.trials(3, 1))]
    mine, other = (median(side) for side in zip(*pairs, strict=True))
    ratio = median(a / b for a, b in pairs)
    return Found(f"{ratio:.2f} × its processor time ({mine:.1f} and {other:.1f} s)", {"share": ratio, "seconds": mine})


def posts(task: Task, folder: str) -> str:
    """Write the posts of 20ng, or every twentieth, as a file."""
    place = Path(folder, "posts.jsonl.gz")
    with gzip.open(place, "wt", encoding="utf-8") as file:
        for text in list(data.texts("20ng")[0])[:: 20 if task.quick else 1]:
            file.write(json.dumps({"text": text}) + "\n")
    return str(place)


@row(
    "speed",
    "command-20ng",
    "`grampus cluster` on 20ng, k = 20, page and stability included, against TF-IDF, SVD(100) and KMeans(n_init = 10) "
    "alone.",
    rests_on=("documents", "cluster", "gram", "text", "select", "_native"),
    conditions=("command-20ng",),
    data=True,
)
def command(task: Task) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        place, page = posts(task, folder), str(Path(folder, "page.html"))
        ours = [sys.executable, "-m", "grampus", "cluster", place, "-k", "20", "--report", page, "-q"]
        return by_turns(task, ours, [sys.executable, "-c", RECIPE, place, "20"])


@row(
    "speed",
    "many-clusters-20ng",
    "`DocumentClusterer(148)` on 20ng against TF-IDF, SVD(100) and KMeans(148, n_init = 10).",
    rests_on=("documents", "cluster", "gram", "text", "select", "_native"),
    conditions=("many-clusters-20ng",),
    data=True,
)
def many(task: Task) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        place = posts(task, folder)
        return by_turns(task, [sys.executable, "-c", FIT, place, "148"], [sys.executable, "-c", RECIPE, place, "148"])


@row(
    "speed",
    "documents-300k",
    "`grampus cluster` on 300,000 documents of 35 words, k = 20, page included, without stability; 209 s and 1.0 GB at "
    "5f63358.",
    rests_on=("documents", "cluster", "gram", "text", "_native"),
    conditions=("documents-300k",),
)
def large(task: Task) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "many.txt")
        place.write_text(generated(task.trials(300_000, 3_000)), encoding="utf-8")
        page = str(Path(folder, "page.html"))
        words = [sys.executable, "-m", "grampus", "cluster", str(place), "-k", "20", "--no-stability", "-q"]
        spent, memory = seconds(*words, "--report", page)
    return Found(f"{spent:.1f} processor s, {memory:.0f} MB", {"seconds": spent, "memory": memory})


def generated(count: int, length: int = 35, topics: int = 20, words: int = 30_000) -> str:
    """Return documents of 20 topics, one a line: half of the words are the topic's own, by Zipf's law."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, topics, count)
    share = np.cumsum(1.0 / np.arange(1, words + 1))
    drawn = np.searchsorted(share / share[-1], rng.random((count, length)))
    own = np.array([rng.permutation(words) for _ in range(topics)])
    chosen: Any = np.where(rng.random((count, length)) < 0.5, own[group[:, None], drawn], drawn)
    names = np.array([f"w{number}x" for number in range(words)])
    return "\n".join(" ".join(row) for row in names[chosen])
