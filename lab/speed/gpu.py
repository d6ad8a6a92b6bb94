"""Kernel k-means on a GPU, on a machine with one and CuPy.

Every row gives its times, and how near they are to the card's measured limits.
"""

import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import grampus
from grampus import gpu
from grampus.cluster import kernel_kmeans
from grampus.cluster.kmeans import RULES, Batch
from grampus.documents import ConsensusMethod, Job
from grampus.gpu.blocks import DeviceBlocks
from grampus.gpu.stored import DeviceStored
from grampus.gram import DenseGram, Gram, LinearGram
from grampus.select.levels import compared_with, find_levels, nest_levels
from grampus.text.meaning.encoder import load_encoder
from grampus.text.meaning.maker import BATCH
from lab import Found, Task, Unavailable
from lab import row as any_row
from lab.promises import labels as twelve
from lab.speed.whole import openings

Figures = dict[str, Any]


def row(name: str) -> Callable[[Callable[[Any, Task], Figures]], None]:
    """Register a function that returns figures by name, with the card as the device."""

    def register(function: Callable[[Any, Task], Figures]) -> None:
        def measure(task: Task) -> Found:
            try:
                xp = import_module("cupy")
                card = xp.cuda.runtime.getDeviceProperties(0)["name"].decode()
            except Exception as error:
                raise Unavailable(f"needs a GPU and CuPy: {error}") from None
            grampus.config(device="cuda")
            found = function(xp, task)
            shown = {key: f"{value:.4g}" if isinstance(value, float) else str(value) for key, value in found.items()}
            measures = {key: float(value) for key, value in found.items() if isinstance(value, int | float)}
            told = "; ".join(f"{key} {value}" for key, value in shown.items())
            return Found(f"{card}, CuPy {xp.__version__}: {told}", measures)

        any_row("speed", name)(measure)

    return register


def seconds(xp: Any, work: Callable[[], Any], repeats: int = 5) -> float:
    """Return the median time of some work, after one run to warm up."""
    work()
    times = []
    for _ in range(repeats):
        xp.cuda.Device().synchronize()
        start = time.perf_counter()
        work()
        xp.cuda.Device().synchronize()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def points(n: int, m: int, groups: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return unit rows around random centres, as far apart as sentence embeddings are."""
    rng = np.random.default_rng(0)
    x = 0.6 * rng.standard_normal((groups, m), dtype=np.float32)[rng.integers(groups, size=n)]
    x += rng.standard_normal((n, m), dtype=np.float32)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def terms(n: int, topics: int, share: float = 0.4) -> Any:
    """Return unit rows of 60 of 50,000 terms, a share of them a topic's own."""
    columns, each = 50_000, 60
    rng = np.random.default_rng(0)
    group = rng.integers(topics, size=n)
    common = (rng.random((n, each)) ** 3 * columns).astype(np.int32)
    own = (group[:, None] * 487 + rng.integers(0, 400, size=(n, each))).astype(np.int32) % columns
    chosen = np.sort(np.where(rng.random((n, each)) < share, own, common), axis=1)
    values = rng.random((n, each), dtype=np.float32) + 0.1
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    rows = sp.csr_array((values.ravel(), chosen.ravel(), np.arange(0, n * each + 1, each)), shape=(n, columns))
    rows.sum_duplicates()
    return rows


@row("gpu-stored")
def stored(xp: Any, task: Task) -> Figures:
    """Cluster unit rows by their stored Gram, ten starts in lockstep."""
    a = xp.ones(2**30, dtype=np.float32)
    copied = 2 * a.nbytes / seconds(xp, partial(xp.copyto, xp.empty_like(a), a))
    out: Figures = {"copy, TB/s": copied / 1e12}
    for n, k in ((20_000, 20), (50_000, 50), (150_000, 50))[: task.trials(3, 1)]:
        gram: Gram = LinearGram(points(n, 384, k))
        starts = np.random.default_rng(1).integers(k, size=(10, n)).astype(np.int32)
        whole = Batch(gram, RULES["plain"], [k], 10)
        blocks = DeviceBlocks(gram, xp)
        out[f"{n:,}: matrix built, ms"] = 1e3 * seconds(xp, blocks.matrix, 1)
        backend = DeviceStored(xp, blocks, True, whole.diagonal, whole.weights)
        work = partial(lambda one, *given: list(one.run(*given)), backend, starts, k, RULES["plain"], 100, None)
        took = seconds(xp, work)
        out[f"{n:,}: ten starts, ms"] = 1e3 * took
        out[f"{n:,}: iterations"] = [len(run.history.moves) for run in work()]
        out[f"{n:,}: one reading of the matrix, ms"] = 1e3 * 4 * n * n / copied
    return out


@row("gpu-whole-million")
def whole_million(xp: Any, task: Task) -> Figures:
    """Take a million documents from terms to levels and consensus; a small collection first compiles everything."""
    kernel, out = grampus.parse_kernel("cosine|principal(30)|normalise").for_clusters(8, spare=45), Figures()

    for n in (20_000, task.trials(1_000_000, 50_000)):
        rows, times = terms(n, 40, 0.7).astype(np.float64), [time.perf_counter()]
        gram = kernel.gram(rows)
        times.append(time.perf_counter())
        chosen = find_levels(gram, compared_with(gram, kernel, rows), None, (0,), lambda *_: None)
        times.append(time.perf_counter())
        found = ConsensusMethod().cluster(gram, Job(max(chosen.ks["middle"], 20), np.ones(n)))
        times.append(time.perf_counter())
        levels = nest_levels(gram, found.labels, chosen, (0,))
        times.append(time.perf_counter())
        names = ("components", "number of clusters", "consensus", "levels")
        out[f"{n:,} documents, s"] = times[-1] - times[0]
        out |= {f"{n:,}: {name}, s": value for name, value in zip(names, np.diff(times).tolist(), strict=True)}
        out[f"{n:,}: clusters"] = [level.n_clusters for level in levels]
    return out


@row("gpu-command")
def command(xp: Any, task: Task) -> Figures:
    """Run ``grampus cluster`` on 20ng, text to page, on card and processor."""
    source, out = Path(os.environ["GRAMPUS_DATA"], "20ng.jsonl.gz"), Figures()
    with tempfile.TemporaryDirectory() as folder:
        for device, options in product(("cuda", "cpu"), (["-k", "20"], ["--meaning", "on"], ["--meaning", "on"])):
            words = [sys.executable, "-m", "grampus", "cluster", str(source), *options, "--device", device, "-q"]
            start = time.perf_counter()
            subprocess.run([*words, "--report", f"{folder}/{device}.html"], check=True, stdout=subprocess.DEVNULL)
            again = ", second run" * (f"{device} {' '.join(options)}, s" in out)
            out[f"{device} {' '.join(options)}{again}, s"] = time.perf_counter() - start
    return out


@row("gpu-labels")
def equal_labels(xp: Any, task: Task) -> Figures:
    """Compare labels with the processor's: stored, sparse and dense documents and every rule; twelve clusterings.

    Small work goes to the card, too. Where one of the twelve differs from the record, the processor of this machine
    decides: the record is of other versions of SciPy.
    """
    warnings.simplefilter("ignore")
    gpu.LEAST = gpu.Least(*[0] * 6)
    x = points(3000, 20, 8).astype(np.float64)
    counts = sp.random_array((3000, 2000), density=0.01, rng=np.random.default_rng(3), format="csr")
    grams: list[Gram] = [DenseGram(x @ x.T), DenseGram((x @ x.T).astype(np.float32)), LinearGram(x), LinearGram(counts)]
    different, apart, others = 0, 0.0, list[str]()
    for gram, rule, init in product(grams, RULES, ("random", "k-means++")):
        found = []
        for device in ("cpu", "cuda"):
            with grampus.config(device=device):
                found.append(kernel_kmeans(gram, 12, rule=rule, n_init=10, init=init, random_state=0).runs)
        different += int((found[0].labels != found[1].labels).any(axis=1).sum())
        apart = max(apart, float(np.abs(found[1].objective / found[0].objective - 1).max()))
    for name in twelve.CLUSTERINGS:
        on_card = twelve.hashed(name)
        if on_card != twelve.RECORDED[name]:
            with grampus.config(device="cpu"):
                others += [] if on_card == twelve.hashed(name) else [name]
    return {"starts with other labels, of 240": different, "objectives apart by": apart, "of twelve, other": others}


@row("gpu-meaning")
def encoded(xp: Any, task: Task) -> Figures:
    """Encode 10,000 openings on card and processor, and a million titles on the card."""
    encoder, texts = load_encoder(), openings(task.trials(10_000, 500), 48)
    hashes, speeds = set(), Figures()
    for device, threads, batch in (("cuda", 1, 1000), ("cuda", 1, 300), ("cuda", 1, 10_000), ("cpu", 16, 1000),
                                   ("cpu", 16, 77), ("cpu", 4, 10_000), ("cpu", 1, 10_000)):  # fmt: skip
        with grampus.config(device=device, threads=threads):
            began = time.perf_counter()
            rows = [encoder.encode(texts[first : first + batch]) for first in range(0, len(texts), batch)]
            speeds[f"{device} {threads} {batch}, s"] = time.perf_counter() - began
        hashes.add(sha256(np.concatenate(rows).astype("<f4").tobytes()).hexdigest())
    short, began = openings(task.trials(1_000_000, 5_000), 9), time.perf_counter()
    for first in range(0, len(short), BATCH):
        encoder.encode(short[first : first + BATCH])
    return {"hashes": len(hashes), "SHA-256": min(hashes)[:16], **speeds, "titles, s": time.perf_counter() - began}
