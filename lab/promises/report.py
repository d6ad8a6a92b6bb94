"""The report: its size, the time to build it, and what a browser takes to draw and to search it."""

from __future__ import annotations

import json
import re
import tempfile
import time
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np

from grampus.report import write_report
from grampus.text import Corpus
from lab import Found, Task, Unavailable, data
from lab.clusterer import document_clusterer
from lab.promises import promise
from lab.speed.whole import generated

KERNEL = "cosine|principal(30)|normalise"
LONGEST_WORD = 64  # characters of a word that are searched


def made_up_texts(n: int, seed: int = 0, length: int = 160) -> list[str]:
    """Return n texts of 160 characters: made-up words, drawn by Zipf's law."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = np.array(["".join(rng.choice(letters, size)) for size in rng.integers(3, 11, 30_000)])
    share = 1 / np.arange(1, len(words) + 1)
    drawn = words[rng.choice(len(words), (n, 40), p=share / share.sum())]
    return [" ".join(row)[:length] for row in drawn]


def in_browser(file: Path) -> dict[str, float]:
    """Open a page; return seconds to the drawn map and the longest task in ms while panning.

    Both by the clock, which a loaded machine slows, and (`_cpu`) as processor time of the page and its workers.
    """
    from tests.browser import browser, chromium

    if chromium() is None:
        raise Unavailable("chromium is not installed (make browser)")
    with browser() as chrome:
        chrome.size(1440, 900)
        chrome.trace()
        chrome.open(file, 120)
        chrome.until("document.querySelector('#points').dataset.drawn", 60)
        drawn = chrome.run("performance.getEntriesByName('map drawn')[0].startTime") / 1000
        tasks, marks = chrome.traced()
        drawn_cpu = sum(ms for began, ms in tasks if began <= marks["map drawn"]) / 1000
        chrome.until("document.querySelector('#query').dataset.ready", 120)
        chrome.run(
            "window.tasks = [0]; new PerformanceObserver((list) => "
            "tasks.push(...list.getEntries().map((task) => task.duration))).observe({type: 'longtask'}); 1"
        )
        chrome.trace()
        x, y = chrome.place("#points")
        path = [(float(x + 200 * np.cos(t / 5)), float(y + 120 * np.sin(t / 5))) for t in range(60)]
        for closer in (False, True, True):
            if closer:
                chrome.click("#zoom-in")
            chrome.drag(*path)
        chrome.settle()
        chrome.run("new Promise((done) => setTimeout(done, 300))")
        tasks, _ = chrome.traced()
        assert chrome.problems == [], chrome.problems
        longest = max(chrome.run("tasks"))
        longest_cpu = max(ms for _, ms in tasks)
        return {"drawn": drawn, "drawn_cpu": drawn_cpu, "longest_ms": longest, "longest_cpu_ms": longest_cpu}


WATCH_SEARCH = """
const Kind = window.Worker;
window.Worker = class extends Kind {
  constructor(address) {
    super(address);
    this.addEventListener("message", ({ data }) => { if (data.found) window.lastFound = data.found; });
  }
};
"""
ASK = """
new Promise((done) => {
  const [field, note] = [document.querySelector("#query"), document.querySelector("#search-note")];
  field.value = %s;
  const began = performance.now();
  performance.mark("ask");
  new MutationObserver((_, watch) => {
    if (/Searching|^$/.test(note.textContent)) return;
    watch.disconnect();
    const places = [];
    requestAnimationFrame(() => setTimeout(() => {
      const ms = performance.now() - began;
      performance.mark("told");
      lastFound.forEach((one, i) => one && places.push(i));
      done([ms, places]);
    }));
  }).observe(note, { childList: true });
  document.querySelector("#search").requestSubmit();
})
"""


def searched(file: Path, corpus: Corpus, words: int) -> dict[str, float]:
    """Search drawn words in a page; return how many were found wrongly, and the ms until the list is shown."""
    from tests.browser import browser

    texts = (f"{name} {text}" for name, text in zip(corpus.ids, corpus.texts, strict=True))  # both are searched
    sets = [set(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).lower())) for text in texts]
    known = sorted(word for word in set.union(*sets) if len(word) <= LONGEST_WORD)
    drawn = np.random.default_rng(0).choice(known, words, replace=False).tolist()
    wrong, times, spent = 0, [], []
    with browser() as chrome:
        chrome.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH_SEARCH)
        chrome.size(1440, 900)
        chrome.open(file, 120)
        chrome.until("document.querySelector('#query').dataset.ready", 60)
        for word in drawn:
            chrome.trace()
            ms, places = chrome.run(ASK % json.dumps(f'"{word}"'), 60)
            tasks, marks = chrome.traced()
            wrong += places != [i for i, inside in enumerate(sets) if word in inside]
            times.append(ms)
            spent.append(sum(ms for began, ms in tasks if marks["ask"] - 1 <= began < marks["told"]))
        assert chrome.problems == [], chrome.problems
    figures = {"search_ms": np.median(times), "slowest_ms": max(times)}
    return {"wrong": wrong, **figures, "search_cpu_ms": float(np.median(spent)), "slowest_cpu_ms": max(spent)}


def measured(run: Any) -> Found:
    """Write the page of a run and look at it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "page.html")
        began = time.perf_counter()
        write_report(run, file)
        built, size = time.perf_counter() - began, file.stat().st_size / 1e6
        seen = in_browser(file)
    longest = f"{seen['longest_ms']:.0f} ms" if seen["longest_ms"] else "under 50 ms"
    drawn = f"{seen['drawn']:.2f} s ({seen['drawn_cpu']:.2f} CPU s)"
    text = (
        f"{size:.1f} MB, built in {built:.1f} s, map drawn after {drawn}, longest task while panning {longest} "
        f"({seen['longest_cpu_ms']:.0f} CPU ms)"
    )
    return Found(text, {"size_mb": size, "built": built, **seen})


@promise(
    "report-20ng",
    "The page of 20ng (18,846 documents): size, time to build, to the drawn map, longest task while panning; software "
    "rendering, 1440 × 900.",
    rests_on=("report",),
    conditions=("report-drawn", "report-smooth", "report-size-20ng"),
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
    return measured(document_clusterer(40, kernel=KERNEL, n_init=1).fit(corpus).run_)


@promise(
    "report-search",
    "Search in the page of 20ng (18,846 posts): 200 drawn words, compared with a plain scan of texts and ids; "
    "milliseconds until the list is shown.",
    rests_on=("report",),
    conditions=("search-finds-all", "search-quick"),
    data=True,
)
def search(task: Task) -> Found:
    texts = list(data.texts("20ng")[0])[:: task.trials(1, 20)]
    corpus = Corpus(texts)
    run = document_clusterer(20, n_init=1).fit(corpus).run_
    with tempfile.TemporaryDirectory() as folder:
        write_report(run, Path(folder, "page.html"))
        found = searched(Path(folder, "page.html"), corpus, task.trials(200, 20))
    figure = (
        f"{found['wrong']:.0f} differ; {found['search_ms']:.0f} ms ({found['search_cpu_ms']:.0f} CPU ms), slowest "
        f"{found['slowest_ms']:.0f} ms ({found['slowest_cpu_ms']:.0f} CPU ms)"
    )
    return Found(figure, found)


@promise(
    "report-300k",
    "The page of 300,000 documents of 35 words, as in `documents-300k`: size, time to build, to the drawn map, longest "
    "task while panning.",
    rests_on=("report",),
    conditions=("report-size-300k", "report-drawn", "report-smooth"),
)
def three_hundred_thousand(task: Task) -> Found:
    texts = generated(task.trials(300_000, 3_000)).split("\n")
    return measured(document_clusterer(20, kernel=KERNEL, n_init=1).fit(Corpus(texts)).run_)
