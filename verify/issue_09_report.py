"""Part 9: the report."""

from __future__ import annotations

import itertools
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from verify import Figure, line
from verify.commands import run_tests
from verify.registry import corpora

TESTS = ("tests",)
BROWSER = "tests/end_to_end/test_report_page.py"
FAST, SMOOTH = 3.0, 200.0  # seconds to the first map, milliseconds of the longest task
LARGEST = 25e6  # bytes


@line(
    9,
    "panels",
    "Headless Chromium: each panel does what it says (search, select, tree cut, rename/merge/download and re-apply, "
    "dark mode, keyboard), three widths, odd input, no JavaScript; no console error, no request.",
    watches=TESTS,
)
def panels() -> Figure:
    return run_tests(BROWSER, "tests/unit/test_report.py", "-k", "not payload and not axe", needs=80)


@line(
    9,
    "injection",
    "200 script-injection payloads in texts, titles, ids, labels, column and file names, and every other string: none "
    "runs in the browser, with and without script; the same payloads run in an unguarded page.",
    watches=TESTS,
)
def injection() -> Figure:
    return run_tests(BROWSER, "-k", "payload", needs=2)


@line(9, "axe", "axe-core finds no serious or critical issue, light and dark.", watches=TESTS)
def axe() -> Figure:
    return run_tests(BROWSER, "-k", "axe", needs=2)


def looked_at(file: Path) -> dict[str, float]:
    """Open a page and return seconds to the drawn map and to the texts, and the longest task in ms while panning."""
    from tests.browser import browser

    with browser() as chrome:
        chrome.size(1440, 900)
        chrome.open(file, 120)
        chrome.until("document.querySelector('#points').dataset.drawn", 60)
        drawn = chrome.run("performance.getEntriesByName('map drawn')[0].startTime") / 1000
        chrome.until("!document.getElementById('texts')", 60)
        texts = chrome.run("performance.now()") / 1000
        chrome.run(
            "window.tasks = [0]; new PerformanceObserver((list) => "
            "tasks.push(...list.getEntries().map((task) => task.duration))).observe({type: 'longtask'}); 1"
        )
        x, y = chrome.place("#points")
        steps = [(x + 200 * np.cos(t / 5), y + 120 * np.sin(t / 5)) for t in range(60)]
        before = int(chrome.run("document.querySelector('#points').dataset.drawn"))
        began = time.perf_counter()
        for zoomed in range(3):  # whole, and two steps closer
            chrome.drag(*((float(a), float(b)) for a, b in steps))
            if zoomed < 2:
                chrome.click("#zoom-in")
        chrome.settle()
        spent = time.perf_counter() - began
        frames = int(chrome.run("document.querySelector('#points').dataset.drawn")) - before
        chrome.run("new Promise((done) => setTimeout(done, 300))")
        longest = max(chrome.run("tasks"))
        assert chrome.problems == [], chrome.problems
        return {"drawn": drawn, "texts": texts, "longest": longest, "frames": frames / spent}


def measured(run: Any, largest: float | None = None) -> Figure:
    from grampus.report import write_report

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "page.html")
        began = time.perf_counter()
        write_report(run, file)
        built = time.perf_counter() - began
        size = file.stat().st_size
        seen = looked_at(file)
    task = f"{seen['longest']:.0f} ms" if seen["longest"] else "under 50 ms"
    value = f"{size / 1e6:.1f} MB, built in {built:.1f} s, map drawn after {seen['drawn']:.2f} s, longest task {task}"
    good = seen["drawn"] < FAST and seen["longest"] <= SMOOTH and (largest is None or size < largest)
    detail = f"texts unpacked after {seen['texts']:.2f} s; {seen['frames']:.0f} frames a second while panning"
    return Figure(value, good, f"{detail}; software rendering, 1440 × 900")


@line(
    9,
    "20ng",
    "20ng (18,846 documents): file size, time to build, map drawn in under 3 s, no task over 200 ms while panning.",
    needs_data=True,
    watches=TESTS,
)
def newsgroups() -> Figure:
    from grampus import DocumentClusterer
    from grampus.text import ReadOptions, read_corpus

    options = ReadOptions(duplicate_ids="number")
    corpus = read_corpus(corpora() / "20ng.jsonl.gz", text="text", id="id", label="label", options=options)
    return measured(DocumentClusterer(20, n_init=3, stability=False).fit(corpus).run_)


@cache
def synthetic(n: int = 100_000, k: int = 40) -> Any:
    """Return a run of n made-up documents: words drawn by Zipf's law, k clusters, everything that a page shows."""
    from grampus.describe import Cluster, Term
    from grampus.persist import Branch, Run
    from grampus.text import Texts

    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = np.array(["".join(rng.choice(letters, size)) for size in rng.integers(3, 11, 30_000)])
    share = 1 / np.arange(1, len(words) + 1)
    drawn = words[rng.choice(len(words), (n, 30), p=share / share.sum())]
    excerpts = Texts(" ".join(row)[:160] for row in drawn)
    drawn_labels = rng.integers(0, k, n)
    labels = np.argsort(np.argsort(-np.bincount(drawn_labels, minlength=k)))[drawn_labels].astype(np.int32)
    sizes = np.bincount(labels, minlength=k)
    centres = rng.normal(0, 6, (k, 2))
    members = [np.flatnonzero(labels == c) for c in range(k)]
    terms = [tuple(Term(str(word), 1 / (i + 1)) for i, word in enumerate(words[c : c + 12])) for c in range(k)]
    shown = [(tuple(part[:10].tolist()), tuple(part[-10:].tolist())) for part in members]
    clusters = tuple(
        Cluster(c, int(sizes[c]), str(words[c]), terms[c], (), (), *shown[c], (), 0.3, (c + 1) % k, 0.2, 0.8)
        for c in range(k)
    )
    tree = (
        Branch(0, -1, tuple(range(1, k + 1)), n, 0, 1.0, 1.0, -1, "all"),
        *(Branch(c + 1, 0, (), int(sizes[c]), -1, 0.0, 0.0, c, str(words[c])) for c in range(k)),
    )
    sample = np.concatenate([list(itertools.islice(part, 8)) for part in members]).astype(np.int32)
    return Run(
        kernel="cosine|shift", parameters={}, seed=0, command="", source="synthetic", fingerprint="00" * 32,
        created="2026-01-01T00:00:00Z", seconds=0.0, versions={}, outcome="converged", objective=1.0, agreement=1.0,
        ids=Texts(f"document-{i}" for i in range(n)), titles=Texts(" ".join(row[:6]) for row in drawn),
        classes=Texts(f"label {c % 25}" for c in labels),
        dates=Texts(f"20{i % 25:02d}-0{1 + i % 9}-01" for i in range(n)),
        excerpts=excerpts, labels=labels, clusters=clusters, tree=tree, leaves=(labels + 1).astype(np.int32),
        second=((labels + 1) % k).astype(np.int32), margin=rng.random(n, dtype=np.float32),
        oddness=rng.random(n, dtype=np.float32), stability=rng.random(n, dtype=np.float32),
        coordinates=(centres[labels] + rng.normal(size=(n, 2))).astype(np.float32),
        duplicates=rng.integers(0, n, (5000, 2)).astype(np.int32),
        duplicate_similarity=np.linspace(1, 0.9, 5000).astype(np.float32), sample=sample,
        heatmap=np.eye(len(sample), dtype=np.float32),
    )  # fmt: skip


@line(
    9,
    "synthetic",
    "100,000 synthetic documents with titles, labels, dates and 160-character excerpts: under 25 MB; map and panning "
    "as for 20ng.",
    watches=TESTS,
)
def hundred_thousand() -> Figure:
    return measured(synthetic(), LARGEST)
