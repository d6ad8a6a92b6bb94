"""Collections in parts: equal answers however they are cut and wherever they are, memory, time, and lost workers.

Documents are generated: 35 words each, of 20 topics, half of the words the topic's own, by Zipf's law.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from lab import Found, Task, data, row
from lab.speed.compare import THREADS

PARTS = ("scale", "documents", "cluster", "gram", "text", "_native")
FILE = 100_000  # documents of a file
TOPICS, WORDS, LENGTH = 20, 30_000, 35


def generate(folder: str | Path, count: int) -> list[Path]:
    """Write `count` documents as JSON lines with their topics, in files of 100,000."""
    own = np.array([np.random.default_rng(topic).permutation(WORDS) for topic in range(TOPICS)])
    share = np.cumsum(1.0 / np.arange(1, WORDS + 1))
    names = np.array([f"w{number}x" for number in range(WORDS)])
    files = []
    for first in range(0, count, FILE):
        rng = np.random.default_rng((1, first))
        size = min(FILE, count - first)
        group = rng.integers(0, TOPICS, size)
        drawn = np.searchsorted(share / share[-1], rng.random((size, LENGTH)))
        chosen = np.where(rng.random((size, LENGTH)) < 0.5, own[group[:, None], drawn], drawn)
        files.append(Path(folder, f"part-{first // FILE:05d}.jsonl"))
        with files[-1].open("w", encoding="utf-8") as out:
            for topic, words in zip(group.tolist(), names[chosen].tolist(), strict=True):
                out.write(json.dumps({"text": " ".join(words), "label": str(topic)}) + "\n")
    return files


FIT = """
import hashlib, json, resource, sys, time
import numpy as np
from grampus import DocumentClusterer, metrics
from grampus.documents import Effort
from grampus.text import read_pieces

if __name__ == "__main__":
    source, k, scratch, dask, workers = sys.argv[1:6]
    began, client = time.perf_counter(), None
    if dask != "none":
        from grampus.scale.dask import connect
        client = connect(dask, int(workers))
    model = DocumentClusterer(k if k == "auto" else int(k), effort=Effort(stability=k == "auto"))
    seen = []
    show = lambda step, done, total: seen.append((step, done, time.perf_counter() - began))
    model.fit(read_pieces(source, text="text", label="label"), scratch=scratch or None, client=client, progress=show)
    names = [cluster.label for cluster in model.clusters_]
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(json.dumps({
        "labels": hashlib.sha256(model.labels_.astype(np.int32).tobytes()).hexdigest(),
        "names": names,
        "k": model.n_clusters_,
        "objective": model.run_.evidence.objective,
        "seconds": time.perf_counter() - began,
        "cpu": sum(one.ru_utime + one.ru_stime for one in used),
        "memory": used[0].ru_maxrss / 1000,
        "collection": model.run_.provenance.collection,
        "steps": seen[-400:],
    }))
    np.save(sys.argv[6], model.labels_.astype(np.int32)) if len(sys.argv) > 6 else None
    if client is not None:
        cluster = client.cluster
        client.close()
        cluster.close()
"""


def fit(
    source: str, k: str = "20", scratch: str = "", dask: str = "none", workers: int = 0, *more: str
) -> dict[str, Any]:
    """Fit a fresh process to files, and return what it printed, with the largest memory of it and its children."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "fit.py")
        program.write_text(FIT, encoding="utf-8")
        words = [sys.executable, str(program), source, k, scratch, dask, str(workers), *more]
        process = subprocess.Popen(words, env=os.environ | THREADS, stdout=subprocess.PIPE, text=True)
        watch = Watch(process.pid)
        out, _ = process.communicate()
        watch.stop()
    if process.returncode:
        raise RuntimeError(f"the fit of {source} ended with status {process.returncode}")
    found: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
    return found | {"memory": max(found["memory"], watch.most / 1e6)}


class Watch:
    """The largest memory of a process and its children together, private and shared pages once."""

    def __init__(self, root: int) -> None:
        self.root, self.most, self._end = root, 0.0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop looking."""
        self._end.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._end.wait(0.25):
            self.most = max(self.most, sum(map(_memory, family(self.root))))


def family(root: int) -> list[int]:
    """Return a process and all below it."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue
            parents.setdefault(parent, []).append(int(entry.name))
    found, stack = [], [root]
    while stack:
        found.append(stack.pop())
        stack += parents.get(found[-1], [])
    return found


def _memory(process: int) -> float:
    """Return the bytes of a process: its share of pages that others hold, too."""
    try:
        lines = Path("/proc", str(process), "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(1024.0 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))
