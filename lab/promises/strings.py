"""String kernels: kernlab's values, and memory and time at full size."""

from __future__ import annotations

import json
import time

from grampus.kernels import parse_kernel
from lab import Found, Task
from lab.harness import ROOT
from lab.promises import promise
from tests import memory

RESTS_ON = ("kernels",)


@promise(
    "kernlab-values",
    "All 2,464 recorded values of kernlab's stringdot, fitted and new: largest relative difference.",
    rests_on=RESTS_ON,
    conditions=("kernlab-difference", "kernlab-values"),
)
def kernlab(task: Task) -> Found:
    stored = json.loads((ROOT / "tests/reference/kernlab_stringdot.json").read_text(encoding="utf-8"))
    worst, records = 0.0, stored["records"][:: task.trials(1, 20)]
    for record in records:
        name = {"sequence": "subsequence"}.get(record["type"], record["type"])
        given = [] if record["length"] is None else [str(record["length"])]
        given += [] if record["lambda"] is None else [f"decay={record['lambda']!r}"]
        kernel = parse_kernel(f"{name}({', '.join(given)})" if given else name)
        end = "\n" if record["type"] in ("spectrum", "boundrange", "constant", "exponential") else ""
        pair = [record["x"] + end, record["y"] + end]
        for value in (kernel.gram(pair).block([0], [1])[0, 0], kernel.cross(pair[:1], pair[1:])[0, 0]):
            worst = max(worst, abs(float(value) - record["value"]) / max(abs(record["value"]), 1.0))
    text = f"{len(records)} values, largest difference {worst:.1e}"
    return Found(text, {"difference": worst, "values": len(records)})


def rise(kernel: str, name: str, classes: tuple[str, ...] | None) -> float:
    """Return the rise of memory of a Gram in MB."""
    setup = f"""
        import grampus
        from lab import data
        texts = list(data.texts({name!r}, {classes!r})[0])
        grampus.parse_kernel({kernel!r}).gram(texts[:40]).dense()
        input_bytes = sum(map(len, texts))
    """
    return memory.rise(setup, f"grampus.parse_kernel({kernel!r}).gram(texts).dense()")["rise"] / 1e6


@promise(
    "memory-of-constant",
    "`constant` on bbcsport (737 documents, all substrings): rise of memory.",
    rests_on=RESTS_ON,
    conditions=("string-gram-memory",),
    data=True,
)
def constant_memory(task: Task) -> Found:
    found = rise("constant", "bbcsport", None)
    return Found(f"{found:.0f} MB", {"rise_mb": found})


LARGE = {
    "one document": """
        rng = random.Random(0)
        words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(20_000)]
        text = " ".join(rng.choices(words, k={size} // 5))[:{size}]
        assert abs(grampus.parse_kernel("constant|normalise").gram([text]).dense()[0, 0] - 1) < 1e-12
    """,
    "single characters": """
        n = {size} // 10
        gram = grampus.parse_kernel("constant|normalise").gram([chr(97 + i % 26) for i in range(n)])
        assert round((gram @ np.ones(n))[0]) == -(-n // 26)
    """,
}


@promise(
    "large-strings",
    "One document of 10 MB, and a million documents of one character: seconds and memory of each.",
    rests_on=RESTS_ON,
    conditions=("large-strings-seconds", "large-strings-memory"),
)
def large(task: Task) -> Found:
    setup = "import numpy as np, grampus, random; input_bytes = 1; grampus.parse_kernel('constant').gram(['ab', 'b'])"
    figures = []
    for work in LARGE.values():
        began = time.perf_counter()
        rise_mb = memory.rise(setup, work.format(size=task.trials(10_000_000, 300_000)))["rise"] / 1e6
        figures.append((time.perf_counter() - began, rise_mb))
    text = "; ".join(f"{seconds:.0f} s, {rise_mb:.0f} MB" for seconds, rise_mb in figures)
    seconds, memory_mb = (max(values) for values in zip(*figures, strict=True))
    return Found(text, {"seconds": seconds, "rise_mb": memory_mb})
