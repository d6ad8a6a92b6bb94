"""Part 4: the kernel k-means engine."""

from __future__ import annotations

import hashlib
import itertools
import json

import numpy as np

from reproductions import data, dominance
from verify import Figure, line
from verify.commands import run_tests
from verify.registry import corpora

TESTS = ("tests", "verify/commands.py")
DATA = ("reproductions/data.py", "reproductions/dominance.py")
COLUMNS = ("orig", "DS", "DSM", "AA", "p=0.6")  # of `dominance`, table 2


def mean_nmi(name: str, starts: int) -> dict[str, tuple[float, float]]:
    """Return ours and the published mean NMI for every column."""
    from grampus.cluster import kernel_kmeans
    from grampus.kernels import parse_kernel
    from grampus.metrics import nmi

    documents, found = data.documents(name), {}
    labels = documents.labels
    published = dict(zip(dominance.COLUMNS, dominance.PUBLISHED[name][3], strict=True))
    for column in COLUMNS:
        spelling, adjusted = dominance.COLUMNS[column]
        gram = parse_kernel(spelling).gram(documents.x)
        runs = kernel_kmeans(gram, 5, n_init=starts, adjusted=adjusted, random_state=0).runs
        found[column] = (float(np.mean([nmi(labels, run) for run in runs.labels])), published[column])
    return found


@line(
    4,
    "dominance-nmi",
    "`dominance` on bbc and bbcsport, 250 starts, our own terms and Eqn 4: mean NMI within 0.03 of table 2 for orig, "
    "DS, DSM, AA and p = 0.6. (Other preparations: 11.dominance.)",
    needs_data=True,
    watches=DATA,
)
def dominance_nmi() -> Figure:
    words, worst = [], 0.0
    for name in ("bbc", "bbcsport"):
        found = mean_nmi(name, 250)
        worst = max(worst, *(abs(ours - published) for ours, published in found.values()))
        figures = ", ".join(f"{column} {ours:.3f} ({published})" for column, (ours, published) in found.items())
        words.append(f"{name}: {figures}")
    return Figure("; ".join(words), worst <= 0.03, f"largest difference {worst:.3f}; published in brackets")


@line(
    4,
    "freeze",
    "20 acq + 20 crude documents, spectrum(4)|normalise: plain starts freeze after about 2 iterations; |shift moves.",
    needs_data=True,
    watches=DATA,
)
def freeze() -> Figure:
    found = freezing()
    plain, shifted = found["plain"], found["shift"]
    text = (
        f"plain: documents move in {plain['iterations']:.1f} iterations, {plain['moves']:.1f} moves in all; "
        f"shift: {shifted['iterations']:.1f} and {shifted['moves']:.1f} (40 documents, mean of 50 starts)"
    )
    return Figure(text, plain["iterations"] <= 3 and shifted["moves"] > 5 * plain["moves"])


def freezing() -> dict[str, dict[str, float]]:
    """Return the mean number of iterations in which a document moves, and of moves, plain and shifted."""
    import gzip

    from grampus.cluster import kernel_kmeans
    from grampus.kernels import parse_kernel

    texts: dict[str, list[str]] = {"acq": [], "crude": []}
    with gzip.open(corpora() / "r52_raw_9052.jsonl.gz", "rt", encoding="utf-8") as file:
        for entry in map(json.loads, file):
            if len(texts.get(entry["label"], range(20))) < 20:
                texts[entry["label"]].append(entry["text"])
    found = {}
    for name, spelling in (("plain", "spectrum(4)|normalise"), ("shift", "spectrum(4)|normalise|shift")):
        gram = parse_kernel(spelling).gram(texts["acq"] + texts["crude"])
        histories = kernel_kmeans(gram, 2, n_init=50, random_state=0).runs.histories
        found[name] = {
            "iterations": float(np.mean([np.count_nonzero(history.moves) for history in histories])),
            "moves": float(np.mean([history.moves.sum() for history in histories])),
        }
    return found


@line(
    4,
    "same-labels",
    "The same label hash over 20 runs × {1, 2, 4} threads × batches {1, 7, 250} × {dense, tiled, matrix-free}.",
    needs_data=True,
    watches=DATA,
)
def same_labels() -> Figure:
    from grampus.cluster import kernel_kmeans
    from grampus.gram import FunctionGram, normalise, shift
    from grampus.kernels import parse_kernel

    x = data.documents("bbcsport").x
    dense = x.toarray()
    tiled = FunctionGram(lambda a, b: a @ b.T, dense, lambda a: (a**2).sum(axis=1))
    grams = {
        "dense": parse_kernel("precomputed|normalise|shift").gram(dense @ dense.T),
        "tiled": shift(normalise(tiled)),
        "matrix-free": parse_kernel("cosine|shift").gram(x),
    }
    hashes, runs = set(), 0
    for _, threads, batch, gram in itertools.product(range(20), (1, 2, 4), (1, 7, 250), grams.values()):
        result = kernel_kmeans(gram, 5, n_init=10, random_state=0, n_jobs=threads, batch_size=batch)
        hashes.add(hashlib.sha256(result.runs.labels.tobytes() + result.labels.tobytes()).hexdigest())
        runs += 1
    return Figure(f"{len(hashes)} hash over {runs} runs of 10 starts", len(hashes) == 1)


SYNTHETIC = """
    import time
    import numpy as np, scipy.sparse as sp
    import grampus, grampus.kernels
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
SYNTHETIC_WORK = """
    began = time.perf_counter()
    result = kernel_kmeans(gram, k, init=labels, max_iter=11)
    print("seconds", (time.perf_counter() - began) / len(result.history.moves))
"""


@line(
    4,
    "sparse-growth",
    "Sparse documents, 100 entries a row, float32, n = 50,000 and 100,000, k = 50: cost per iteration linear in the "
    "entries, memory rise after warm-up < 3 × the input.",
    watches=TESTS,
)
def sparse_growth() -> Figure:
    from tests import memory

    seconds, rises = [], []
    for n in (50_000, 100_000):
        found = min((memory.rise(SYNTHETIC.format(n=n), SYNTHETIC_WORK) for _ in range(3)), key=lambda f: f["seconds"])
        seconds.append(found["seconds"])
        rises.append(found["rise"] / found["input"])
    growth = seconds[1] / seconds[0]
    times = f"{seconds[0]:.3f} and {seconds[1]:.3f} s an iteration ({growth:.2f} × for 2 ×)"
    return Figure(f"{times}; rise {max(rises):.2f} × the input", growth < 2.5 and max(rises) < 3)


@line(
    4,
    "correct",
    "Same objective as scikit-learn's KMeans to 1e-10; brute force for n ≤ 9; the objective never rises; AA and DS "
    "equal a naive twin document by document; k labels for k distinct documents; weights are copies.",
    watches=TESTS,
)
def correct() -> Figure:
    return run_tests("tests/property/test_kernel_kmeans.py", needs=22)


@line(
    4,
    "estimator",
    "scikit-learn's checks with at most the two declared failures for precomputed; predict under every transform; "
    "bad input.",
    watches=TESTS,
)
def estimator() -> Figure:
    return run_tests("tests/unit/test_kernel_kmeans.py", needs=250)
