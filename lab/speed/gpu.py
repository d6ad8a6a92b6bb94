"""Kernel k-means on a GPU: ``python -m lab.speed.gpu [ROW …] [--save FILE]``, on a machine with a GPU and CuPy.

Every row gives its time, what it had to read and compute, and how near that is to the card's measured limits; rows on
texts need ``GRAMPUS_DATA``. Popcorn's formulation (Bellavita et al., PPoPP 2025) is written out here with cuSPARSE: one
start at a time, K times the sparse membership matrix in every iteration, each start to its own convergence.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import grampus
from grampus import gpu
from grampus.cluster import kernel_kmeans
from grampus.cluster.kmeans import RULES, Batch
from grampus.cluster.kmeans.seeding import plus_plus, row_reader
from grampus.documents import ConsensusMethod, Job
from grampus.gram import DenseGram, Gram, LinearGram, nystrom
from grampus.gram.graph import nearest_neighbors
from grampus.select.levels import find_levels, nest
from grampus.select.ungrouped import ungrouped

ROWS: dict[str, Callable[[Any, dict[str, Any]], None]] = {}


def row(function: Callable[[Any, dict[str, Any]], None]) -> Callable[[Any, dict[str, Any]], None]:
    ROWS[function.__name__.replace("_", "-")] = function
    return function


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


def points(n: int, m: int, groups: int, seed: int = 0) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return unit rows around random centres, as far apart as sentence embeddings are."""
    rng = np.random.default_rng(seed)
    x = 0.6 * rng.standard_normal((groups, m), dtype=np.float32)[rng.integers(groups, size=n)]
    x += rng.standard_normal((n, m), dtype=np.float32)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@row
def limits(xp: Any, out: dict[str, Any]) -> None:
    """Measure what the card can do: copying, and products in three precisions."""
    a = xp.ones(2**30, dtype=np.float32)
    b = xp.empty_like(a)
    out["copy, TB/s"] = 2 * a.nbytes / seconds(xp, lambda: xp.copyto(b, a)) / 1e12
    a = b = None
    for dtype, name in ((np.float16, "float16"), (np.float32, "float32"), (np.float64, "float64")):
        x = xp.random.standard_normal((8192, 8192)).astype(dtype)
        out[f"product {name}, TFLOP/s"] = 2 * 8192**3 / seconds(xp, partial(xp.matmul, x, x)) / 1e12


def popcorn(xp: Any, matrix: Any, starts: Any, k: int) -> tuple[float, list[int]]:
    """Run every start to its convergence, one after the other; return the seconds and the iterations.

    The product is PyTorch's, which calls cuSPARSE on rows: CuPy's wants columns and is six times slower here.
    """
    import torch

    similar = torch.from_dlpack(matrix)
    n = len(similar)
    diagonal = similar.diagonal().clone()
    iterations = []
    for start in starts[[0, *range(len(starts))]]:  # the first once more: libraries are loaded by their first call
        labels = torch.as_tensor(start, device="cuda", dtype=torch.int64)
        torch.cuda.synchronize()
        begin, done = time.perf_counter(), 0
        while done < 100:
            done += 1
            counts = torch.bincount(labels, minlength=k)
            order = torch.argsort(labels)
            pointers = torch.zeros(k + 1, dtype=torch.int64, device="cuda")
            pointers[1:] = counts.cumsum(0)
            share = 1.0 / counts.clamp(min=1).to(similar.dtype)
            members = torch.sparse_csr_tensor(pointers, order, share[labels[order]], (k, n))
            mean = torch.sparse.mm(members, similar)  # (k, n): the mean similarity of every document to every cluster
            own = mean.gather(0, labels[None])[0] * share[labels]
            norms = torch.zeros(k, dtype=similar.dtype, device="cuda").scatter_add_(0, labels, own)
            new = (diagonal + norms[:, None] - 2 * mean).argmin(dim=0)
            if bool((new == labels).all()):
                break
            labels = new
        torch.cuda.synchronize()
        iterations.append((done, time.perf_counter() - begin))
    took = sum(seconds for _, seconds in iterations[1:])
    return took, [done for done, _ in iterations[1:]]


def stored(xp: Any, out: dict[str, Any], n: int, k: int, compare: bool = True) -> None:
    """Cluster n unit rows by their stored Gram, ten starts in lockstep."""
    x = points(n, 384, k)
    gram: Gram = LinearGram(x)
    rng = np.random.default_rng(1)
    starts = rng.integers(k, size=(10, n)).astype(np.int32)
    whole = Batch(gram, RULES["plain"], [k], 10)
    from grampus.gpu.blocks import DeviceBlocks
    from grampus.gpu.stored import DeviceStored

    out["matrix built, ms"] = 1e3 * seconds(xp, lambda: DeviceBlocks(gram, xp).matrix(), 1)
    backend = DeviceStored(xp, DeviceBlocks(gram, xp), True, whole.diagonal, whole.weights)
    runs = list(backend.run(starts, k, RULES["plain"], 100, None))
    took = seconds(xp, lambda: list(backend.run(starts, k, RULES["plain"], 100, None)), 5)
    moved = sum(int(run.history.moves.sum()) for run in runs)
    out["ten starts, ms"] = 1e3 * took
    out["iterations"] = [len(run.history.moves) for run in runs]
    out["objectives"] = [run.objective for run in runs]
    out["moves per document and start"] = moved / n / 10
    out["one reading of the matrix, ms"] = 1e3 * 4 * n * n / (out_limits.get("copy, TB/s", 4.0) * 1e12)
    if compare:
        took_alone, iterations = popcorn(xp, backend.matrix, starts, k)
        out["Popcorn's formulation, ten starts, ms"] = 1e3 * took_alone
        out["its iterations"] = iterations
        out["times as fast"] = took_alone / took


out_limits: dict[str, Any] = {}


@row
def stored_50000(xp: Any, out: dict[str, Any]) -> None:
    stored(xp, out, 50_000, 50)


@row
def stored_20000(xp: Any, out: dict[str, Any]) -> None:
    stored(xp, out, 20_000, 20)


@row
def stored_150000(xp: Any, out: dict[str, Any]) -> None:
    stored(xp, out, 150_000, 50, compare=False)


@row
def tiles_300000(xp: Any, out: dict[str, Any]) -> None:
    """Rows of a Gaussian Gram that does not fit are computed each time they are needed."""
    gram = grampus.parse_kernel("gaussian(1)").gram(points(300_000, 64, 20))
    start = time.perf_counter()
    with grampus.config(device="cuda"):
        found = kernel_kmeans(gram, 20, n_init=2, max_iter=10, random_state=0)
    out["seconds"] = time.perf_counter() - start
    out["iterations"] = found.runs.n_iter.tolist()


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


@row
def sparse_million(xp: Any, out: dict[str, Any]) -> None:
    """Cluster a million documents of 60 of 50,000 terms, k = 100."""
    n, k = 1_000_000, 100
    rng, rows = np.random.default_rng(1), terms(n, k)
    gram = LinearGram.trusted(rows)
    with grampus.config(device="cuda"):
        start = time.perf_counter()
        backend: Any = Batch(gram, RULES["plain"], [k], 10)._runner
        xp.cuda.Device().synchronize()
        out["moved to the device, s"] = time.perf_counter() - start
        starts = rng.integers(k, size=(10, n)).astype(np.int32)
        next(iter(backend.run(starts[:1], k, RULES["plain"], 2, None)))
        took, iterations = [], 0
        for some in starts:
            start = time.perf_counter()
            (run,) = backend.run(some[None], k, RULES["plain"], 100, None)
            took.append(time.perf_counter() - start)
            iterations += len(run.history.moves)
            if sum(took) > 30:
                break
        out["starts"] = len(took)
        out["seconds"] = sum(took)
        out["iterations"] = iterations
        out["an iteration, ms"] = 1e3 * sum(took) / iterations


@row
def dense_million(xp: Any, out: dict[str, Any]) -> None:
    """Cluster a million embeddings of 384 numbers, k = 1,000."""
    n, k = 1_000_000, 1000
    gram = LinearGram.trusted(points(n, 384, k))
    with grampus.config(device="cuda"):
        backend: Any = Batch(gram, RULES["plain"], [k], 1)._runner
        start = np.random.default_rng(0).integers(k, size=(1, n)).astype(np.int32)
        next(iter(backend.run(start, k, RULES["plain"], 1, None)))
        begin = time.perf_counter()
        (run,) = backend.run(start, k, RULES["plain"], 20, None)
        out["an iteration, ms"] = 1e3 * (time.perf_counter() - begin) / len(run.history.moves)
        out["iterations"] = len(run.history.moves)


def beside(xp: Any, out: dict[str, Any], name: str, work: Callable[[], Any]) -> list[Any]:
    """Do the same on the card, twice, and on the processor; note the second time, and return both answers."""
    found = []
    for device, times in (("cuda", 2), ("cpu", 1)):
        for _ in range(times):
            with grampus.config(device=device):
                start = time.perf_counter()
                answer = work()
                xp.cuda.Device().synchronize()
        out[f"{name}, {device}, s"] = time.perf_counter() - start
        found.append(answer)
    return found


@row
def neighbours(xp: Any, out: dict[str, Any]) -> None:
    """Find 15 neighbours of documents by components and by terms."""
    components = points(100_000, 30, 50).astype(np.float64)
    words = terms(50_000, 40).astype(np.float64)
    for name, rows in (("100,000 of 30 components", components), ("50,000 of 60 terms", words)):
        there, here = beside(xp, out, name, partial(_neighbours, rows))
        out[f"{name}, rows with other neighbours"] = int((there[0] != here[0]).any(axis=1).sum())


def _neighbours(rows: Any) -> Any:
    return nearest_neighbors(LinearGram.trusted(rows), 15)


def _landmarks(rows: Any, choose: str) -> Any:
    return nystrom(grampus.parse_kernel("gaussian(1)").gram(rows), 500, choose=choose)


def _seeds(gram: Gram, k: int) -> Any:
    n = len(gram)
    diagonal, rng = gram.diagonal().astype(np.float64), np.random.default_rng(0)
    return plus_plus(row_reader(gram)(np.arange(n)), diagonal, k, rng, np.ones(n))


@row
def landmarks(xp: Any, out: dict[str, Any]) -> None:
    """Approximate the Gaussian Gram of 200,000 documents by 500 of them."""
    rows = points(200_000, 64, 20).astype(np.float64)
    for choose in ("uniform", "leverage"):
        there, here = beside(xp, out, choose, partial(_landmarks, rows, choose))
        out[f"{choose}, the same landmarks"] = bool((there.landmarks == here.landmarks).all())
        part = slice(0, 2000)
        apart = np.abs(there.rows[part] @ there.rows[part].T - here.rows[part] @ here.rows[part].T).max()
        out[f"{choose}, similarities apart by"] = float(apart)


@row
def seeds(xp: Any, out: dict[str, Any]) -> None:
    """Draw seeds by greedy k-means++ among a million documents of 60 terms, and among 200,000 embeddings."""
    for name, rows, k in (
        ("a million of 60 terms, k = 100", terms(1_000_000, 100), 100),
        ("200,000 embeddings, k = 300", points(200_000, 384, 300), 300),
    ):
        there, here = beside(xp, out, name, partial(_seeds, LinearGram.trusted(rows), k))
        out[f"{name}, other labels"] = int((there != here).sum())


@row
def whole_million(xp: Any, out: dict[str, Any]) -> None:
    """Take a million documents from terms to levels and consensus; a small collection first compiles everything."""
    kernel = grampus.parse_kernel("cosine|principal(30)|normalise").for_clusters(8, spare=45)
    for n in (20_000, 1_000_000):
        rows = terms(n, 40, 0.7).astype(np.float64)
        times = [time.perf_counter()]
        gram = kernel.gram(rows)
        times.append(time.perf_counter())
        without = partial(_without, kernel, rows)
        chosen = find_levels(gram, without, None, (0,), lambda *_: None)
        times.append(time.perf_counter())
        found = ConsensusMethod().cluster(gram, Job(max(chosen.ks["middle"], 20), np.ones(n)))
        times.append(time.perf_counter())
        levels = nest(gram, found.labels, chosen, (0,))
        times.append(time.perf_counter())
        names = ("in all", "components", "number of clusters", "consensus", "levels")
        out[f"{n:,} documents, s"] = dict(zip(names, [times[-1] - times[0], *np.diff(times).tolist()], strict=True))
        out["clusters"] = [level.n_clusters for level in levels]


def _without(kernel: Any, rows: Any, index: Any, rng: np.random.Generator) -> Gram:
    return kernel.gram(ungrouped(rows[index], rng)).split_shift()[0]


@row
def dask(xp: Any, out: dict[str, Any]) -> None:
    """Cluster 60,000 documents in parts on two Dask workers, which use a card each, in turn where there are fewer."""
    from lab.speed.scale import documents, fit

    answers = []
    with documents(60_000) as source:
        for device in ("cuda", "cpu"):
            os.environ["GRAMPUS_DEVICE"] = device
            found = fit(source, "60", dask="local", workers=2)
            out[f"{device}, s"] = found["seconds"]
            answers.append((found["labels"], found["names"]))
    del os.environ["GRAMPUS_DEVICE"]
    out["cards"] = xp.cuda.runtime.getDeviceCount()
    out["the same labels and names"] = answers[0] == answers[1]


@row
def command(xp: Any, out: dict[str, Any]) -> None:
    """Run ``grampus cluster`` on 20ng, text to page, on the card and on the processor."""
    source = Path(os.environ["GRAMPUS_DATA"], "20ng.jsonl.gz")
    with tempfile.TemporaryDirectory() as folder:
        for device, options in (("cuda", ["-k", "20"]), ("cuda", []), ("cpu", ["-k", "20"]), ("cpu", [])):
            place = str(Path(folder, f"{device}{len(options)}.html"))
            words = [sys.executable, "-m", "grampus", "cluster", str(source), *options, "--device", device, "-q"]
            start = time.perf_counter()
            subprocess.run([*words, "--report", place], check=True, cwd=folder, stdout=subprocess.DEVNULL)
            out[f"{device} {' '.join(options) or 'levels chosen'}, s"] = time.perf_counter() - start


@row
def twelve(xp: Any, out: dict[str, Any]) -> None:
    """Compare the labels of lab/promises/labels with the record; small work goes to the card, too.

    Where they differ, the processor of this machine decides: the record is of other versions of SciPy.
    """
    from lab.promises import labels

    warnings.simplefilter("ignore")
    gpu.LEAST = gpu.Least(0, 0, 0, 0, 0)
    same: list[str] = []
    differ: list[str] = []
    from_record: list[str] = []
    out["labels of the processor"], out["other labels"], out["other labels than recorded"] = same, differ, from_record
    for name in labels.CLUSTERINGS:
        with grampus.config(device="cuda"):
            found = labels.hashed(name)
        equal = found == labels.RECORDED[name]
        if not equal:
            from_record.append(name)
            with grampus.config(device="cpu"):
                equal = found == labels.hashed(name)
        (same if equal else differ).append(name)
    apart = 0.0
    for kernel, rule in (("cosine|shift", "plain"), ("cosine|shift|map", "plain"), ("cosine", "adjusted")):
        values = []
        for device in ("cpu", "cuda"):
            with grampus.config(device=device):
                model = grampus.KernelKMeans(5, kernel=kernel, rule=rule, random_state=0).fit(labels.terms())
                values.append(float(model.inertia_))
        apart = max(apart, abs(values[1] / values[0] - 1))
    out["objectives apart by, at most"] = apart


@row
def equal_labels(xp: Any, out: dict[str, Any]) -> None:
    """Compare labels and objectives with the processor's, for stored, sparse and dense documents and every rule."""
    gpu.LEAST = gpu.Least(run=0, seeds=0)
    rng = np.random.default_rng(3)
    x = points(3000, 20, 8).astype(np.float64)
    counts = sp.random_array((3000, 2000), density=0.01, rng=rng, format="csr")
    grams = {"stored": DenseGram(x @ x.T), "stored float32": DenseGram((x @ x.T).astype(np.float32))}
    grams |= {"dense": LinearGram(x), "sparse": LinearGram(counts)}  # type: ignore[dict-item]
    different, apart = 0, 0.0
    for gram in grams.values():
        for rule, init in product(RULES, ("random", "k-means++")):
            found = []
            for device in ("cpu", "cuda"):
                with grampus.config(device=device):
                    found.append(kernel_kmeans(gram, 12, rule=rule, n_init=10, init=init, random_state=0))
            different += int((found[0].runs.labels != found[1].runs.labels).any(axis=1).sum())
            apart = max(apart, float(np.abs(found[1].runs.objective / found[0].runs.objective - 1).max()))
    out["starts with other labels, of 240"] = different
    out["objectives apart by, at most"] = apart


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", help=f"any of {', '.join(ROWS)}; all by default")
    parser.add_argument("--save", type=Path, help="write the figures as JSON")
    arguments = parser.parse_args()
    import cupy as xp

    grampus.config(device="cuda")
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    found: dict[str, Any] = {
        "device": xp.cuda.runtime.getDeviceProperties(0)["name"].decode(),
        "cupy": xp.__version__,
        "driver": xp.cuda.runtime.driverGetVersion(),
        "python": platform.python_version(),
        "commit": commit.stdout.strip() or "not a repository",
    }
    for name in arguments.rows or ROWS:
        found[name] = {}
        try:
            ROWS[name](xp, found[name])
        except Exception as error:  # the other rows still count
            found[name]["failed"] = f"{type(error).__name__}: {error}"
        if name == "limits":
            out_limits.update(found[name])
        xp.get_default_memory_pool().free_all_blocks()
        print(name, json.dumps(found[name], default=str), flush=True)
        if arguments.save:
            arguments.save.write_text(json.dumps(found, indent=1, default=str) + "\n", encoding="utf-8")
    if any("failed" in part for part in found.values() if isinstance(part, dict)):
        sys.exit(1)


if __name__ == "__main__":
    main()
