"""Runs to draw pages from, and what a browser says of a page: for the benchmark and the acceptance lines."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

LENGTH = 160  # characters of an excerpt


def made_up_texts(n: int, seed: int = 0) -> list[str]:
    """Return n texts of 160 characters: made-up words, drawn by Zipf's law."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = np.array(["".join(rng.choice(letters, size)) for size in rng.integers(3, 11, 30_000)])
    share = 1 / np.arange(1, len(words) + 1)
    drawn = words[rng.choice(len(words), (n, 40), p=share / share.sum())]
    return [" ".join(row)[:LENGTH] for row in drawn]


def drawn_labels(n: int, k: int, seed: int = 1) -> NDArray[np.int32]:
    """Return n clusters at random, the largest numbered 0."""
    drawn = np.random.default_rng(seed).integers(0, k, n)
    rank = np.argsort(np.argsort(-np.bincount(drawn, minlength=k)))
    return rank[drawn].astype(np.int32)


def run_of(texts: Sequence[str], labels: NDArray[np.int32]) -> Any:
    """Return a run that has everything a page shows: titles, labels, dates, pairs, a tree, a heatmap."""
    from grampus.describe import Cluster, Term
    from grampus.persist import Branch, Documents, Layout, Provenance, Run, RunEvidence
    from grampus.text import Texts

    n, rng = len(texts), np.random.default_rng(2)
    sizes = np.bincount(labels)
    k = len(sizes)
    members = [np.flatnonzero(labels == c) for c in range(k)]
    shown = [(tuple(part[:10].tolist()), tuple(part[-10:].tolist())) for part in members]
    terms = tuple(Term(f"term{i}", 1 / (i + 1)) for i in range(12))
    clusters = tuple(
        Cluster(c, int(sizes[c]), f"cluster {c}", terms, (), (), *shown[c], (), 0.3, (c + 1) % k, 0.2, 0.8)
        for c in range(k)
    )
    leaves = [Branch(c + 1, 0, (), int(sizes[c]), -1, 0.0, 0.0, c, f"cluster {c}") for c in range(k)]
    sample = np.array([i for part in members for i in itertools.islice(part, 8)], dtype=np.int32)
    return Run(
        provenance=Provenance(
            kernel="cosine|shift", parameters={}, seed=0, command="", source="made up", fingerprint="00" * 32,
            created="2026-01-01T00:00:00Z", seconds=0.0, versions={},
        ),
        documents=Documents(
            ids=Texts(f"document-{i}" for i in range(n)),
            titles=Texts(" ".join(text.split()[:6]) for text in texts),
            classes=Texts(f"label {c % 25}" for c in labels),
            dates=Texts(f"20{i % 25:02d}-0{1 + i % 9}-01" for i in range(n)),
            excerpts=Texts(text[:LENGTH] for text in texts),
        ),
        evidence=RunEvidence(
            labels=labels, clusters=clusters, leaves=(labels + 1).astype(np.int32),
            tree=(Branch(0, -1, tuple(range(1, k + 1)), n, 0, 1.0, 1.0, -1, "all"), *leaves),
            second=((labels + 1) % k).astype(np.int32), margin=rng.random(n, dtype=np.float32),
            oddness=rng.random(n, dtype=np.float32), stability=rng.random(n, dtype=np.float32),
            duplicates=rng.integers(0, n, (5000, 2)).astype(np.int32),
            duplicate_similarity=np.linspace(1, 0.9, 5000).astype(np.float32),
            outcome="converged", objective=1.0, agreement=1.0,
        ),
        layout=Layout(
            coordinates=(rng.normal(0, 6, (k, 2))[labels] + rng.normal(size=(n, 2))).astype(np.float32),
            sample=sample, heatmap=np.eye(len(sample), dtype=np.float32),
        ),
    )  # fmt: skip


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
        way = [(float(x + 200 * np.cos(t / 5)), float(y + 120 * np.sin(t / 5))) for t in range(60)]
        before, began = int(chrome.run("document.querySelector('#points').dataset.drawn")), time.perf_counter()
        for closer in (False, True, True):
            if closer:
                chrome.click("#zoom-in")
            chrome.drag(*way)
        chrome.settle()
        spent = time.perf_counter() - began
        frames = int(chrome.run("document.querySelector('#points').dataset.drawn")) - before
        chrome.run("new Promise((done) => setTimeout(done, 300))")
        longest = max(chrome.run("tasks"))
        assert chrome.problems == [], chrome.problems
    return {"drawn": drawn, "texts": texts, "longest": longest, "frames": frames / spent}


def in_words(seen: dict[str, float]) -> str:
    """Return what a browser said, in one line."""
    task = f"{seen['longest']:.0f} ms" if seen["longest"] else "under 50 ms"
    return f"map drawn after {seen['drawn']:.2f} s, longest task while panning {task}"
