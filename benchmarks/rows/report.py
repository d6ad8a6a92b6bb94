"""The page of a run, against a scatter plot of the same documents."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.pages import drawn_labels, in_words, looked_at, made_up_texts
from benchmarks.registry import Agreement, Arrays, Side, row
from benchmarks.text_pipeline import data_folder, load

LARGEST, FAST, SMOOTH = 25e6, 3.0, 200.0  # bytes, seconds to the map, milliseconds of a task


def held(ours: Arrays, theirs: Arrays, judged: bool = True) -> Agreement:
    """Say how large the pages are and what a browser says of ours; the size must hold, and what it says if judged."""
    sizes = len(ours["page"]), int(theirs["size"])
    text = f"{sizes[0] / 1e6:.1f} MB, theirs {sizes[1] / 1e6:.1f} MB"
    from tests.browser import chromium

    if chromium() is None:
        return Agreement(f"{text}; no Chromium here", sizes[0] < LARGEST)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "page.html")
        file.write_bytes(ours["page"].tobytes())
        seen = looked_at(file)
    good = sizes[0] < LARGEST and not (judged and (seen["drawn"] >= FAST or seen["longest"] > SMOOTH))
    return Agreement(f"{text}; {in_words(seen)}", good)


def small(ours: Arrays, theirs: Arrays) -> Agreement:
    """Judge the size alone."""
    return held(ours, theirs, judged=False)


OURS = Side("grampus report", "report_grampus.py", packages=("grampus", "numpy"))
PEERS = [Side("plotly scatter with hover", "report_plotly.py", environment="peers", packages=("plotly", "numpy"))]


def _inputs(texts: list[str], k: int) -> Arrays:
    data = [text.encode("utf-8") for text in texts]
    ends = np.cumsum([len(text) for text in data])
    return {"bytes": np.frombuffer(b"".join(data), np.uint8), "ends": ends, "labels": drawn_labels(len(texts), k)}


@row(
    "report-20ng",
    "20ng (18,846 documents) as a page with 160 characters of each.",
    ours=OURS,
    peers=PEERS,
    agreement=held,
)
def newsgroups(quick: bool) -> Arrays:
    """The beginnings of the texts, and 20 clusters."""
    return _inputs([" ".join(text.split())[:160] for text in load(data_folder())[:: 20 if quick else 1]], 20)


@row(
    "report-100k",
    "100,000 made-up documents as a page with 160 characters of each.",
    ours=OURS,
    peers=PEERS,
    agreement=small,
)
def hundred_thousand(quick: bool) -> Arrays:
    """Made-up texts, and 40 clusters."""
    return _inputs(made_up_texts(5_000 if quick else 100_000), 40)
