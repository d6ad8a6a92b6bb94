"""Which method for which data: scores, time and memory of every method on texts, numbers and strings.

The number of clusters is that of the classes. Time is processor time of one fit, kernel included; memory is the rise
of the resident memory at its peak.
"""

from __future__ import annotations

import ctypes
import gc
import time
import tomllib
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import grampus
from grampus.metrics import ari, nmi
from lab import Found, Table, Task, row
from lab.clusterer import document_clusterer
from lab.quality import sets

SEEDS = 3
CLOSE = 0.02  # NMI within this of the best of its column is bold
LONGEST = 1_000_000  # characters that string kernels get
METHODS: dict[str, list[str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def estimator(spelling: str, k: int, seed: int) -> Any:
    """Return the estimator that a row of the table spells."""
    if spelling == "DocumentClusterer()":
        return document_clusterer(k, seed)
    name, _, options = spelling.removesuffix(")").partition("(")
    drawn = "" if name == "PDDP" else f", random_state={seed}"
    return eval(f"grampus.{name}({k}, {options}{drawn})", {"grampus": grampus})


def inputs(spelling: str, found: sets.Set) -> Any:
    """Return what the method is fitted to: weighted terms, numbers or texts; None where that is missing or too long."""
    reads_texts = "Document" in spelling or "spectrum" in spelling or "boundrange" in spelling
    if not reads_texts:
        return found.x
    if found.texts is None or ("Document" not in spelling and sum(map(len, found.texts)) > LONGEST):
        return None
    return found.texts


def measured(work: Callable[[], Any]) -> tuple[float, float]:
    """Return the processor seconds of some work and the rise of the resident memory in MB."""

    def resident(key: str) -> float:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) / 1000 for line in lines if line.startswith(key))

    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what earlier cells left must not hide what this one takes
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before, began = resident("VmRSS"), time.process_time()
    work()
    return time.process_time() - began, resident("VmHWM") - before


def cell(task: Task, spelling: str, found: sets.Set) -> list[float] | None:
    """Return NMI, ARI, seconds and MB of one method on one set; the means over the seeds."""
    rows = inputs(spelling, found)
    if rows is None:
        return None
    once = "PDDP" in spelling or "|map" in spelling or "boundrange" in spelling or task.quick
    values = []
    for seed in range(1 if once else SEEDS):
        model = estimator(spelling, found.k, seed)
        seconds, megabytes = measured(partial(model.fit, rows))
        values.append((nmi(found.labels, model.labels_), ari(found.labels, model.labels_), seconds, megabytes))
    return [float(value) for value in np.mean(values, axis=0)]


def tables(task: Task, methods: list[str], columns: list[sets.Set]) -> Found:
    """Measure every method on every set."""
    warnings.simplefilter("ignore")
    columns = [found.small() for found in columns] if task.quick else columns
    for spelling in methods:  # load and compile what every method needs
        if (rows := inputs(spelling, columns[0].small())) is not None:
            estimator(spelling, 2, 0).fit(rows)
    cells = {
        spelling: [task.step(f"{spelling} {found.name}", partial(cell, task, spelling, found)) for found in columns]
        for spelling in methods
    }
    best = [max(values[i][0] for values in cells.values() if values[i]) for i in range(len(columns))]

    def score(i: int, values: list[float] | None) -> str:
        if values is None:
            return "–"
        text = f"{values[0]:.2f} / {values[1]:.2f}"
        return f"**{text}**" if values[0] > best[i] - CLOSE else text

    scores = [(f"`{s}`", *(score(i, value) for i, value in enumerate(values))) for s, values in cells.items()]
    costs = [
        (f"`{s}`", *("–" if v is None else f"{v[2]:.2f} s / {max(v[3], 1):.0f} MB" for v in values))
        for s, values in cells.items()
    ]
    described = []
    for found in columns:
        sizes = np.unique(found.labels, return_counts=True)[1]
        described.append((found.name, found.kind, len(found.labels), found.k, f"{sizes.min()}–{sizes.max()}"))
    heads = ("method", *(found.name for found in columns))
    shown = [
        Table("Sets", ("set", "kind", "documents", "classes", "smallest and largest class"), described),
        Table(f"NMI / ARI; bold within {CLOSE} of the best NMI of the column", heads, scores),
        Table("Processor seconds / rise of memory", heads, costs),
    ]
    return Found(f"{len(methods)} methods on {len(columns)} sets", tables=shown)


RESTS_ON = ("cluster", "gram", "kernels", "documents")


@row("quality", "methods-texts", "Methods on seven sets of texts.", rests_on=RESTS_ON, data=True)
def texts(task: Task) -> Found:
    return tables(task, METHODS["texts"], sets.texts())


@row("quality", "methods-numbers", "Methods on six sets of numbers.", rests_on=RESTS_ON, data=True)
def numbers(task: Task) -> Found:
    return tables(task, METHODS["numbers"], sets.numbers())


@row("quality", "methods-strings", "Methods on four sets of strings.", rests_on=RESTS_ON, data=True)
def strings(task: Task) -> Found:
    return tables(task, METHODS["strings"], sets.strings())
