"""The whole command against a recipe that only clusters, and many documents; processor time of fresh processes."""

import compileall
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np

import grampus
from grampus._parallel import core_count
from grampus.datasets import world_factbook
from grampus.metrics import nmi
from grampus.persist import Run
from lab import Found, Task, data, row
from lab.speed.peers import THREADS

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
DocumentClusterer(int(sys.argv[2]), embed=None).fit([json.loads(line)["text"] for line in gzip.open(sys.argv[1], "rt")])
"""


def installed() -> dict[str, str]:
    """Compile the modules, as an installation does, and return an environment in which all compiled ones are used."""
    compileall.compile_dir(str(Path(grampus.__file__).parent), quiet=2)
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def seconds(*words: str) -> tuple[float, float]:
    """Run a program; return its processor time and its peak memory in MB."""
    process = subprocess.Popen(words, env=installed() | THREADS, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{words[:4]} ended with status {status}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1000


def clock(task: Task, *words: str, **environment: str) -> tuple[float, float]:
    """Run ``grampus`` as a user would, five times, or three above 30 s; return median wall and CPU time."""
    untold = {name: value for name, value in installed().items() if not name.endswith("_NUM_THREADS")} | environment
    walls, spent = list[float](), list[float]()
    while len(walls) < task.trials(3 if walls and max(walls) > 30 else 5, 1):
        began, before = time.perf_counter(), os.times()
        subprocess.run([sys.executable, "-m", "grampus", *words], env=untold, check=True, stdout=subprocess.DEVNULL)
        walls.append(time.perf_counter() - began)
        spent.append(sum(os.times()[2:4]) - sum(before[2:4]))
    return median(walls), median(spent)


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


@row("speed", "command-20ng")
def command(task: Task) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        place, page = posts(task, folder), str(Path(folder, "page.html"))
        words = ["-m", "grampus", "cluster", place, "-k", "20", "--meaning", "off", "--report", page, "-q"]
        return by_turns(task, [sys.executable, *words], [sys.executable, "-c", RECIPE, place, "20"])


@row("speed", "meaning-20ng")
def meaning(task: Task) -> Found:
    classes, found = data.texts("20ng")[1][:: 20 if task.quick else 1], {}
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, GRAMPUS_CACHE=f"{folder}/cache"):
        place = posts(task, folder)
        for way in ("off", "on"):
            words = [place, "-k", "20", "--meaning", way, "--report", f"{folder}/page.html", "-q"]
            spent, memory = seconds(sys.executable, "-m", "grampus", "cluster", *words, "--out", f"{folder}/{way}")
            found[way] = spent, memory, float(nmi(classes, Run.load(Path(folder, way)).evidence.labels))
    said = [
        f"{way} {spent:.1f} processor s, {memory:.0f} MB, NMI {score:.3f}"
        for way, (spent, memory, score) in found.items()
    ]
    gain, more = found["on"][2] - found["off"][2], found["on"][1] - found["off"][1]
    return Found("; ".join(said), {"seconds": found["on"][0], "gain": gain, "memory": more})


def openings(count: int, length: int, seed: int = 0) -> list[str]:
    """Return texts of so many words, cut anywhere from those of the demo."""
    words = " ".join(world_factbook().texts).split()
    begins = np.random.default_rng(seed).integers(len(words) - length, size=count)
    return [" ".join(words[begin : begin + length]) for begin in begins.tolist()]


@row("speed", "meaning-million")
def million(task: Task) -> Found:
    count = task.trials(1_000_000, 3_000)
    halves = zip(openings(count, 4), openings(count, 5, seed=1), strict=True)  # hardly a title is there twice
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "titles.txt")
        place.write_text("\n".join(map(" ".join, halves)), encoding="utf-8")
        words = [str(place), "-k", "20", "--meaning", "on", "--no-stability", "-q", "--out", f"{folder}/run"]
        began = time.perf_counter()
        with patch.dict(os.environ, GRAMPUS_CACHE=f"{folder}/cache", GRAMPUS_WORKERS="1"):  # all time is of one process
            spent, memory = seconds(sys.executable, "-m", "grampus", "cluster", *words)
    taken = time.perf_counter() - began
    return Found(f"{spent:.0f} processor s, {taken:.0f} s, {memory:.0f} MB", {"seconds": spent, "memory": memory})


@row("speed", "many-clusters-20ng")
def many(task: Task) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        place = posts(task, folder)
        return by_turns(task, [sys.executable, "-c", FIT, place, "148"], [sys.executable, "-c", RECIPE, place, "148"])


@row("speed", "documents-300k")
def large(task: Task) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "many.txt")
        place.write_text(generated(task.trials(300_000, 3_000)), encoding="utf-8")
        words = ["-m", "grampus", "cluster", str(place), "-k", "20", "--meaning", "off", "--no-stability", "-q"]
        runs = [seconds(sys.executable, *words, "--report", f"{folder}/page.html") for _ in range(task.trials(3, 1))]
    spent, memory = median(run[0] for run in runs), max(run[1] for run in runs)
    return Found(f"{spent:.1f} processor s, {memory:.0f} MB", {"seconds": spent, "memory": memory})


@row("speed", "all-cores")
def cores(task: Task) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        place, pieces, short = posts(task, folder), Path(folder, "pieces.txt"), Path(folder, "short.txt")
        with gzip.open(place, "rt", encoding="utf-8") as file:
            texts = [json.loads(line)["text"].split() for line in file]
        cut = (words[first : first + 30] for words in texts for first in range(0, len(words), 30))
        pieces.write_text("\n".join(map(" ".join, cut)), encoding="utf-8")
        short.write_text(generated(task.trials(300_000, 3_000)), encoding="utf-8")
        page, off = ["--report", f"{folder}/page.html", "-q"], ["--meaning", "off"]
        with patch.dict(os.environ, GRAMPUS_CACHE=f"{folder}/cache"):
            runs = {
                "words": (place, *off),
                "meaning": (place, "--meaning", "on"),
                "paragraphs": (str(pieces), *off),
                "short": (str(short), *off),
                "one": (str(short), *off),
            }
            threads = {"one": {"GRAMPUS_THREADS": "1"}}
            found = {
                name: task.step(name, partial(clock, task, "cluster", *words, *page, **threads.get(name, {})))
                for name, words in runs.items()
            }
    said = "; ".join(f"{name} {wall:.1f} s ({spent:.1f} CPU s)" for name, (wall, spent) in found.items())
    walls = {name: wall for name, (wall, _) in found.items()}
    return Found(f"{core_count()} cores: {said}", walls | {"ratio": walls["one"] / walls["short"]})


def titles(task: Task, folder: str) -> str:
    """Write ten thousand titles of four collections, all different, in any order."""
    names = ("stackoverflow", "huffpost41", "biomedical", "banking77")
    every = (" ".join(text.split()) for name in names for text in data.texts(f"dev/{name}")[0])
    lines = [*dict.fromkeys(every)][:: 20 if task.quick else 1]
    place = Path(folder, "titles.txt")
    place.write_text("\n".join(np.random.default_rng(0).permutation(lines).tolist()), encoding="utf-8")
    return str(place)


@row("speed", "two-cores")
def two_cores(task: Task) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        words = ["--meaning", "off", "--report", f"{folder}/page.html", "-q"]
        piles = {"20ng": posts(task, folder), "titles": titles(task, folder)}
        found = {
            name: task.step(name, partial(clock, task, "cluster", pile, *words, GRAMPUS_THREADS="2"))
            for name, pile in piles.items()
        }
    said = "; ".join(f"{name} {spent:.1f} processor s, {wall:.1f} s" for name, (wall, spent) in found.items())
    (wall, spent), (_, short) = found["20ng"], found["titles"]
    return Found(said, {"words": spent, "titles": short, "share": wall / spent})


def drawn_words(count: int, seed: Any, length: int = 35, topics: int = 20, words: int = 30_000) -> tuple[Any, Any]:
    """Return the words of documents of 20 topics, half of them the topic's own, by Zipf's law, and the topics."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, topics, count)
    share = np.cumsum(1.0 / np.arange(1, words + 1))
    drawn = np.searchsorted(share / share[-1], rng.random((count, length)))
    own = np.array([np.random.default_rng(topic).permutation(words) for topic in range(topics)])
    chosen = np.where(rng.random((count, length)) < 0.5, own[group[:, None], drawn], drawn)
    return np.array([f"w{number}x" for number in range(words)])[chosen], group


def generated(count: int) -> str:
    """Return such documents, one a line."""
    return "\n".join(map(" ".join, drawn_words(count, 0)[0]))
