"""Kernel k-means: labels that do not depend on the machine, linear cost."""

from __future__ import annotations

import hashlib
import itertools

from grampus import config
from grampus.cluster import kernel_kmeans
from grampus.gram import FunctionGram, normalise, shift
from grampus.kernels import parse_kernel
from lab import Found, Task, data
from lab.promises import promise
from tests import memory

RESTS_ON = ("cluster", "gram")


@promise(
    "same-labels",
    "Label hashes on bbcsport over 20 runs × {1, 2, 4} threads × {dense, tiled, matrix-free}.",
    rests_on=RESTS_ON,
    conditions=("one-hash",),
    data=True,
)
def same_labels(task: Task) -> Found:
    x = data.documents("bbcsport").x
    dense = x.toarray()
    grams = (
        parse_kernel("precomputed|normalise|shift").gram(dense @ dense.T),
        shift(normalise(FunctionGram(lambda a, b: a @ b.T, dense, lambda a: (a**2).sum(axis=1)))),
        parse_kernel("cosine|shift").gram(x),
    )
    hashes, runs = set(), 0
    for _, threads, gram in itertools.product(range(task.trials(20, 1)), (1, 2, 4), grams):
        with config(threads=threads):
            result = kernel_kmeans(gram, 5, n_init=10, random_state=0)
        hashes.add(hashlib.sha256(result.runs.labels.tobytes() + result.labels.tobytes()).hexdigest())
        runs += 1
    return Found(f"{len(hashes)} hash over {runs} runs of 10 starts", {"hashes": len(hashes)})


SPARSE = """
    import time
    import numpy as np, scipy.sparse as sp
    import grampus
    from grampus import config
from grampus.cluster import kernel_kmeans
    rng = np.random.default_rng(0)
    n, m, row, k = {n}, 30_000, 100, 50
    step = m // row
    indices = (rng.integers(0, step, size=(n, row), dtype=np.int32) + np.arange(0, m, step, dtype=np.int32)).ravel()
    starts = np.arange(0, n * row + 1, row, dtype=np.int32)
    x = sp.csr_array((rng.random(n * row, dtype=np.float32), indices, starts), shape=(n, m))
    labels = rng.integers(0, k, n)
    input_bytes = x.data.nbytes + x.indices.nbytes + x.indptr.nbytes
    gram = grampus.parse_kernel("cosine|shift").gram(x)
    kernel_kmeans(gram.take(np.arange(2000)), k, init=labels[:2000] % k, max_iter=3)
    kernel_kmeans(gram, k, init=labels, max_iter=1)
"""
SPARSE_WORK = """
    began = time.perf_counter()
    result = kernel_kmeans(gram, k, init=labels, max_iter=11)
    print("seconds", (time.perf_counter() - began) / len(result.history.moves))
"""


@promise(
    "sparse-growth",
    "Sparse documents, 100 entries a row, n = 50,000 and 100,000, k = 50: growth of an iteration's time, and memory.",
    rests_on=RESTS_ON,
    conditions=("linear-growth", "memory-of-kmeans"),
)
def sparse_growth(task: Task) -> Found:
    seconds, rise = [], 0.0
    for n in (50_000 // task.trials(1, 10), 100_000 // task.trials(1, 10)):
        runs = [memory.rise(SPARSE.format(n=n), SPARSE_WORK) for _ in range(task.trials(3, 1))]
        seconds.append(min(run["seconds"] for run in runs))
        rise = max(rise, min(run["rise"] / run["input"] for run in runs))
    growth = seconds[1] / seconds[0]
    text = f"{seconds[0]:.3f} and {seconds[1]:.3f} s an iteration ({growth:.2f} × for 2 ×); rise {rise:.2f} × the input"
    return Found(text, {"growth": growth, "rise": rise})
