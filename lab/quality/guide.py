"""What constraints cost: a million links, pairs apart and labels."""

import time
import tracemalloc
from functools import partial

import numpy as np

from grampus import DocumentClusterer
from grampus.documents import Effort, Guide
from lab import Found, Table, Task, row


def evidence(kind: str, n: int, pieces: int) -> Guide:
    """Return so many pieces of evidence on n documents, all of them right: the class of a document is i mod 8."""
    first = np.random.default_rng(1).integers(0, n, pieces)
    if kind == "labels":
        return Guide(labels={i: f"{i % 8}" for i in range(pieces)})
    step = 8 if kind == "must_link" else 1
    pairs = np.column_stack([first, (first + step) % n])
    return Guide(must_link=pairs) if kind == "must_link" else Guide(cannot_link=pairs)


def evidence_cost(kind: str, n: int, pieces: int, memory: bool) -> float:
    """Return the processor seconds of a fit with so many pieces of evidence, or its peak memory in bytes."""
    x = np.random.default_rng(0).normal(size=(n, 8)) + 6.0 * np.eye(8)[np.arange(n) % 8]
    model = DocumentClusterer(8, kernel="linear", effort=Effort(stability=False, n_init=1))
    guide = evidence(kind, n, pieces) if pieces else None
    if not memory:
        began = time.process_time()
        model.fit(x, guide=guide)
        return time.process_time() - began
    tracemalloc.start()
    model.fit(x, guide=guide)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(found)


@row("quality", "guide-memory")
def guide_memory(task: Task) -> Found:
    size = task.trials(1_000_000, 100_000)
    rows, growth, slower = [], 0.0, 0.0
    for kind, n in (("must_link", size // 10), ("cannot_link", size // 10), ("labels", size)):
        cost = partial(evidence_cost, kind, n)
        half, whole = (task.step(f"{kind} {some}", partial(cost, some, True)) for some in (size // 2, size))
        without, with_all = (task.step(f"{kind} {some} time", partial(cost, some, False)) for some in (0, size))
        growth, slower = max(growth, whole / half), max(slower, with_all / without)
        figures = (f"{half / 1e6:.0f}", f"{whole / 1e6:.0f}", f"{without:.1f}", f"{with_all:.1f}")
        rows.append((kind, f"{n:,}", f"{size:,}", *figures))
    heads = ("kind", "documents", "pieces", "MB with half", "MB with all", "CPU s without", "CPU s with all")
    text = f"memory of {size:,} pieces at most {growth:.2f} times that of half, time at most {slower:.2f} times"
    return Found(text, {"growth": growth, "slower": slower}, [Table("Evidence", heads, rows)])
