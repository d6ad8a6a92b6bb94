"""The report: its size, the time to build it, and what a browser takes to draw it."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from grampus.report import write_report
from grampus.text import Corpus
from lab import Found, Task, Unavailable, data
from lab.clusterer import document_clusterer
from lab.promises import promise


def made_up_texts(n: int, seed: int = 0, length: int = 160) -> list[str]:
    """Return n texts of 160 characters: made-up words, drawn by Zipf's law."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = np.array(["".join(rng.choice(letters, size)) for size in rng.integers(3, 11, 30_000)])
    share = 1 / np.arange(1, len(words) + 1)
    drawn = words[rng.choice(len(words), (n, 40), p=share / share.sum())]
    return [" ".join(row)[:length] for row in drawn]


def in_browser(file: Path) -> dict[str, float]:
    """Open a page; return seconds to the drawn map, and the longest task in ms while panning."""
    from tests.browser import browser, chromium

    if chromium() is None:
        raise Unavailable("chromium is not installed (make browser)")
    with browser() as chrome:
        chrome.size(1440, 900)
        chrome.open(file, 120)
        chrome.until("document.querySelector('#points').dataset.drawn", 60)
        drawn = chrome.run("performance.getEntriesByName('map drawn')[0].startTime") / 1000
        chrome.until("!document.getElementById('texts')", 60)
        chrome.run(
            "window.tasks = [0]; new PerformanceObserver((list) => "
            "tasks.push(...list.getEntries().map((task) => task.duration))).observe({type: 'longtask'}); 1"
        )
        x, y = chrome.place("#points")
        path = [(float(x + 200 * np.cos(t / 5)), float(y + 120 * np.sin(t / 5))) for t in range(60)]
        for closer in (False, True, True):
            if closer:
                chrome.click("#zoom-in")
            chrome.drag(*path)
        chrome.settle()
        chrome.run("new Promise((done) => setTimeout(done, 300))")
        assert chrome.problems == [], chrome.problems
        return {"drawn": drawn, "longest_ms": max(chrome.run("tasks"))}


def measured(run: Any) -> Found:
    """Write the page of a run and look at it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "page.html")
        began = time.perf_counter()
        write_report(run, file)
        built, size = time.perf_counter() - began, file.stat().st_size / 1e6
        seen = in_browser(file)
    longest = f"{seen['longest_ms']:.0f} ms" if seen["longest_ms"] else "under 50 ms"
    text = f"{size:.1f} MB, built in {built:.1f} s, map drawn after {seen['drawn']:.2f} s, longest task while panning "
    return Found(text + longest, {"size_mb": size, "built": built, **seen})


@promise(
    "report-20ng",
    "The page of 20ng (18,846 documents): size, time to build, to the drawn map, longest task while panning; software "
    "rendering, 1440 × 900.",
    rests_on=("report",),
    conditions=("report-drawn", "report-smooth"),
    data=True,
)
def newsgroups(task: Task) -> Found:
    words, labels = (values[:: task.trials(1, 20)] for values in data.texts("20ng"))
    corpus = Corpus(list(words), labels=list(labels))
    return measured(document_clusterer(20, n_init=3).fit(corpus).run_)


@promise(
    "report-100k",
    "The page of 100,000 made-up documents with 160 characters each: size, time to build and to draw.",
    rests_on=("report",),
    conditions=("report-size",),
)
def hundred_thousand(task: Task) -> Found:
    texts = made_up_texts(task.trials(100_000, 3_000))
    corpus = Corpus(texts, labels=[f"label {i % 25}" for i in range(len(texts))])
    kernel = "cosine|principal(30)|normalise"
    return measured(document_clusterer(40, kernel=kernel, n_init=1).fit(corpus).run_)
