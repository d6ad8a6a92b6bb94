"""Part 9: the report."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.pages import drawn_labels, in_words, looked_at, made_up_texts, run_of
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


def measured(run: Any, largest: float | None = None) -> Figure:
    from grampus.report import write_report

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "page.html")
        began = time.perf_counter()
        write_report(run, file)
        built = time.perf_counter() - began
        size = file.stat().st_size
        seen = looked_at(file)
    value = f"{size / 1e6:.1f} MB, built in {built:.1f} s, {in_words(seen)}"
    good = size < largest if largest else seen["drawn"] < FAST and seen["longest"] <= SMOOTH
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


@line(
    9,
    "synthetic",
    "100,000 synthetic documents with titles, labels, dates and 160-character excerpts: under 25 MB (map and "
    "panning shown).",
    watches=TESTS,
)
def hundred_thousand() -> Figure:
    return measured(run_of(made_up_texts(100_000), drawn_labels(100_000, 40)), LARGEST)
