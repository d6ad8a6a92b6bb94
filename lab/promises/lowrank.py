"""Low-rank Grams: what landmarks cost in quality on 20ng, and a million documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from grampus.cluster import kernel_kmeans
from grampus.gram import relative_error
from grampus.kernels import parse_kernel
from grampus.metrics import nmi
from grampus.text import TermVectorizer
from lab import Cell, Found, Table, Task, data
from lab.promises import promise
from tests import memory

DRAWS, K = 3, 20
PLAIN = "cosine|nystrom(500, choose={choose}, seed={seed})"
CLEANED = "cosine|nystrom(500, rank=50, choose={choose}, seed={seed})|normalise"


@promise(
    "nystrom-20ng",
    "500 landmarks on 20ng: NMI of kernel k-means over 20 common starts, less that of the exact Gram; three choices of "
    "landmarks, three draws; rank 50 and unit rows, which were chosen on this set.",
    rests_on=("gram", "cluster"),
    conditions=("nystrom-loss",),
    data=True,
    timeout=7200,
)
def newsgroups(task: Task) -> Found:
    words, labels = data.texts("20ng")
    words, labels = words[:: task.trials(1, 15)], labels[:: task.trials(1, 15)]
    x = TermVectorizer("dominance", min_df=3, stemmer="porter", dtype=np.float64).fit_transform(list(words))
    starts = np.random.default_rng(0).integers(0, K, (task.trials(20, 3), x.shape[0]))

    def scores(gram: Any) -> Any:
        runs = kernel_kmeans(gram, K, init=starts, n_init=len(starts)).runs
        return np.array([nmi(labels, run) for run in runs.labels])

    def cell(values: Any) -> Cell:
        return Cell(float(np.mean(values)), error=float(np.std(values, ddof=1) / np.sqrt(len(values))))

    gram = parse_kernel("cosine").gram(x)
    exact = scores(gram)
    rows, worst = [], np.inf
    for choose in ("uniform", "kmeans++", "leverage"):
        plain = parse_kernel(PLAIN.format(choose=choose, seed=0)).gram(x)
        draws = [
            scores(parse_kernel(CLEANED.format(choose=choose, seed=seed)).gram(x)) - exact for seed in range(DRAWS)
        ]
        gap = np.mean(draws, axis=0)  # of each start, over the draws of landmarks
        worst = min(worst, float(gap.mean()))
        rows.append((choose, str(relative_error(gram, plain)), cell(gap), cell(scores(plain) - exact)))
    columns = ("landmarks", "relative error, full rank", "NMI less the exact one, rank 50", "the same, full rank")
    table = Table(f"{x.shape[0]} documents, exact NMI {cell(exact)}", columns, rows)
    return Found(f"NMI {worst:+.3f} at worst", {"nmi": worst}, [table])


MILLION = """
    import numpy as np, scipy.linalg, sklearn.utils
    import grampus
    from grampus.cluster import kernel_kmeans, pddp, spectral_kmeans
    from grampus.metrics import nmi
    n, landmarks = {n}, 150
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 10, n)
    x = rng.standard_normal((n, 20))
    x[np.arange(n), groups] += 5.0
    kernel = grampus.parse_kernel("gaussian(6)|nystrom(150)")
    kernel_kmeans(kernel.gram(x[:2000]), 10, init=groups[:2000], max_iter=2)
    input_bytes = 8 * n * landmarks
"""
METHODS = {
    "kernel k-means": "kernel_kmeans(kernel.gram(x), 10, init='k-means++', n_init=1, max_iter=20, random_state=0)",
    "PDDP": "pddp(kernel.gram(x), 10)",
    "spectral": "spectral_kmeans(kernel.gram(x), 10, n_init=1, max_iter=20, random_state=0)",
}


@promise(
    "nystrom-million",
    "1,000,000 documents under a Gaussian kernel, 150 landmarks (n × n would be 8,000 GB): memory over the n × 150 "
    "numbers, and NMI with ten planted groups, which planes (PDDP) do not cut well.",
    rests_on=("gram", "cluster"),
    conditions=("nystrom-memory", "nystrom-nmi"),
    timeout=7200,
)
def million(task: Task) -> Found:
    texts, rise, scores = [], 0.0, {}
    for name, work in METHODS.items():
        code = f"found = {work}\nprint('nmi', nmi(groups, found.labels))"
        found = memory.rise(MILLION.format(n=task.trials(1_000_000, 30_000)), code)
        times, scores[name] = found["rise"] / found["input"], found["nmi"]
        rise = max(rise, times)
        texts.append(f"{name}: {found['rise'] / 1e9:.2f} GB, {times:.2f} × the features, NMI {found['nmi']:.3f}")
    return Found("; ".join(texts), {"rise": rise, "nmi": min(scores["kernel k-means"], scores["spectral"])})
