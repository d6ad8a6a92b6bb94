"""Mutated files by the million: each gives a corpus or an error of one line, soon and in little memory.

A call of a row works for half an hour and says how many files it has reached; ``--again`` goes on from there.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from lab import Found, Task
from lab.found import Table
from lab.promises import promise
from tests.fuzz import DOCUMENTS, READERS

TABLES = tuple(sorted(set(READERS) - set(DOCUMENTS)))
CHUNK = 1_000
SECONDS = 1_800.0
MEMORY = 1_000  # MB, the interpreter and the libraries of the formats included


def fuzz(name: str, inputs: int, seed: int) -> dict[str, Any]:
    """Read mutated files in a process of its own, so that a crash is a failure of that part."""
    command = [sys.executable, "-m", "tests.fuzz", name, str(inputs), str(seed)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        return {"failed": f"{name} {seed}: {done.stderr.strip()[-300:] or f'exit status {done.returncode}'}"}
    found: dict[str, Any] = json.loads(done.stdout)
    return found if found["peak_mb"] <= MEMORY else {**found, "failed": f"{name} {seed}: {found['peak_mb']} MB"}


def fuzzed(task: Task, names: Sequence[str], files: int) -> Found:
    """Fuzz readers in turn, up to so many files each, until the time of a call is over."""
    chunk = task.trials(CHUNK, 50)
    end = time.monotonic() + SECONDS
    parts_of = {name: list[dict[str, Any]]() for name in names}
    for seed in range(task.trials(files, 50) // chunk):  # some of every reader first
        for name, parts in parts_of.items():
            step = partial(task.step, f"{name} {seed}")
            if time.monotonic() < end:
                parts.append(step(partial(fuzz, name, chunk, seed)))
    rows, failed = [], list[str]()
    for name, parts in parts_of.items():
        failed += [part["failed"] for part in parts if "failed" in part]
        read, errors = (sum(part.get(kind, 0) for part in parts) for kind in ("corpora", "errors"))
        slowest, peak = (max(part.get(kind, 0.0) for part in parts) for kind in ("slowest_seconds", "peak_mb"))
        rows.append((name, chunk * len(parts), read, errors, slowest, peak))
    counts = [row[1] for row in rows]
    table = Table("Mutated files", ("reader", "files", "corpora", "errors", "slowest, CPU s", "peak, MB"), rows)
    figure = (
        f"{len(failed)} parts failed; {sum(counts):,} files over {len(names)} readers, {min(counts):,} or more each"
    )
    return Found(figure, {"failed": len(failed), "files": sum(counts), "each": min(counts)}, [table], notes=failed)


@promise(
    "fuzzed-readers",
    "1,000,000 mutated files over the readers of lines and tables: how many parts have a crash, a hang over 10 s, an "
    "error of several lines, or more than 1 GB of memory.",
    rests_on=("text",),
    conditions=("nothing-fails", "fuzzed-million"),
    timeout=2 * SECONDS,
)
def fuzzed_tables(task: Task) -> Found:
    return fuzzed(task, TABLES, -(-1_000_000 // len(TABLES) // CHUNK) * CHUNK)


@promise(
    "fuzzed-documents",
    "50,000 mutated files for each reader of documents and archives: how many parts have a crash, a hang over 10 s, an "
    "error of several lines, or more than 1 GB of memory.",
    rests_on=("text",),
    conditions=("nothing-fails", "fuzzed-each"),
    timeout=2 * SECONDS,
)
def fuzzed_documents(task: Task) -> Found:
    return fuzzed(task, DOCUMENTS, 50_000)
