"""Piles of documents of many kinds: what is predicted of them, and how fast many files are read."""

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median
from unittest.mock import patch
from zipfile import ZipFile

from grampus import config
from grampus._parallel import core_count
from grampus.text import read_corpus
from lab import Found, Table, Task, data, row
from lab.speed.peers import THREADS
from lab.speed.whole import posts
from tests.samples import pdf

LINES, WORDS = 15, 10  # of a page of a PDF, and of a line
PARAGRAPH = 40  # characters, at least
NEAR = 2  # times as long, or as short, as predicted


def files(folder: Path, suffix: str, contents: Sequence[bytes | str]) -> Path:
    """Write a folder of files."""
    folder.mkdir()
    for number, content in enumerate(contents):
        (folder / f"{number:05}{suffix}").write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def as_pdf(text: str) -> bytes:
    """Return a PDF of several pages."""
    words = "".join(c for c in text if c.isascii() and c not in "()\\").split()
    lines = [" ".join(words[at : at + WORDS]) for at in range(0, len(words), WORDS)]
    pages = [") Tj 0 -14 Td (".join(lines[at : at + LINES]) for at in range(0, len(lines), LINES)]
    return pdf(pages or [""])


def piles(task: Task, place: Path) -> dict[str, str]:
    """Write ten piles; return where they are."""
    some = slice(None, None, 20 if task.quick else 1)
    news = list(data.texts("bbc")[0])[some]
    mails = list(data.texts("20ng")[0])[:: 200 if task.quick else 8]
    with open(place / "reuters.csv", "w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([["text"], *([text] for text in data.texts("r52_raw_9052")[0][some])])
    for name in ("stackoverflow", "thucnews_zh"):
        lines = (" ".join(text.split()) for text in data.texts(f"dev/{name}")[0][some])
        (place / f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")
    posted = data.texts("20ng")[0][:: 60 if task.quick else 3]
    parts = (" ".join(part.split()) for text in posted for part in text.split("\n\n"))
    lines = (json.dumps({"text": part}) for part in parts if len(part) >= PARAGRAPH)
    (place / "paragraphs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with ZipFile(place / "few.zip", "w") as archive:
        for number, text in enumerate(data.texts("dev/arxiv24")[0][::20]):
            archive.writestr(f"{number}.txt", text)
    books = ["\n\n".join(news[at : at + 40]) for at in range(0, len(news), 8)]
    return {
        "gz": posts(task, str(place)),
        "mail": str(files(place / "mail", ".eml", mails)),
        "CSV": str(place / "reuters.csv"),
        "titles": str(place / "stackoverflow.txt"),
        "long texts": str(files(place / "books", ".txt", books)),
        "HTML": str(files(place / "html", ".html", [f"<title>News</title><p>{text}" for text in news])),
        "PDF": str(files(place / "pdf", ".pdf", [as_pdf(text) for text in news])),
        "a small ZIP": str(place / "few.zip"),
        "Chinese": str(place / "thucnews_zh.txt"),
        "paragraphs": str(place / "paragraphs.jsonl"),
    }


def predicted_and_taken(pile: str) -> list[float]:
    """Return the seconds that a dry run says and the command takes: of the clock, then of processors."""
    words = [sys.executable, "-m", "grampus", "cluster", pile]
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, {**THREADS, "GRAMPUS_CACHE": folder}):
        said = json.loads(subprocess.run([*words, "--dry-run", "--json"], capture_output=True, check=True).stdout)
        before, began = sum(os.times()[2:4]), time.perf_counter()
        subprocess.run([*words, "--report", f"{folder}/page.html", "-q"], check=True)
        return [said["wall"], time.perf_counter() - began, said["seconds"], sum(os.times()[2:4]) - before]


@row("speed", "predicted-time")
def predicted_time(task: Task) -> Found:
    lines, factors = [], []
    with tempfile.TemporaryDirectory() as folder:
        for kind, pile in piles(task, Path(folder)).items():
            wall, taken, own, spent = task.step(kind, partial(predicted_and_taken, pile))
            factors.append(max(wall / taken, taken / wall))
            pairs = ((wall, taken), (own, spent))
            lines.append((kind, *(cell for a, b in pairs for cell in (f"{a:.1f}", f"{b:.1f}", f"{a / b:.2f}"))))
    columns = ("pile", "predicted, s", "taken, s", "ratio", "predicted, processor s", "taken, processor s", "ratio")
    near = sum(factor <= NEAR for factor in factors)
    figure = f"{near} of {len(lines)} within a factor {NEAR}, the worst {max(factors):.2f}"
    return Found(figure, {"factor": max(factors)}, [Table("Predicted and taken", columns, lines)])


@row("speed", "thousand-pdfs-cores")
def many_pdfs(task: Task) -> Found:
    news, count = data.texts("bbc")[0], task.trials(1000, 40)
    found: dict[int, list[float]] = {1: [], core_count(): []}
    with tempfile.TemporaryDirectory() as folder:
        place = files(Path(folder, "pdf"), ".pdf", [as_pdf(news[number % len(news)]) for number in range(count)])
        for _ in range(task.trials(5, 1)):
            for workers, times in found.items():
                began = time.perf_counter()
                with config(workers=workers):
                    assert len(read_corpus(place)) == count
                times.append(time.perf_counter() - began)
    one, every = (median(times) for times in found.values()) if len(found) > 1 else (median(found[1]),) * 2
    return Found(f"{one / every:.1f} × on {core_count()} cores ({one:.2f} and {every:.2f} s)", {"ratio": one / every})
