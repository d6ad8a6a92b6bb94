"""Spectral clustering: memory, and k-means among the embedded documents."""

from __future__ import annotations

import time

import numpy as np
from sklearn.cluster import KMeans

from grampus.cluster import kernel_kmeans, spectral_embedding
from grampus.gram import LinearGram
from grampus.kernels import parse_kernel
from grampus.text import TermVectorizer
from lab import Found, Task, data
from lab.promises import promise
from tests.memory import rise

RESTS_ON = ("cluster", "gram")


DOCUMENTS = """
    import numpy as np, scipy.sparse as sp
        from grampus.metrics import ari
    rng = np.random.default_rng(0)
    n, m, row, k = {n}, 30_000, 80, 10
    group = rng.integers(0, k, n)
    common = rng.integers(0, m, (n, row), dtype=np.int32)
    own = (group[:, None] * (m // k) + rng.integers(0, 500, (n, row))).astype(np.int32)
    columns = np.where(rng.random((n, row)) < 0.5, own, common).ravel()
    x = sp.csr_array((np.ones(n * row), columns, np.arange(0, n * row + 1, row, dtype=np.int32)), shape=(n, m))
    x.sum_duplicates()
    input_bytes = x.data.nbytes + x.indices.nbytes + x.indptr.nbytes
    ari(group[:1000], SpectralKMeans(k, n_init=1, random_state=0).fit(x[:1000]).labels_)
"""


@promise(
    "memory-of-spectral",
    "SpectralKMeans(10, kernel='cosine') on 100,000 sparse documents (n² would be 80 GB): rise of memory.",
    rests_on=RESTS_ON,
    conditions=("memory-of-spectral",),
)
def memory(task: Task) -> Found:
    work = "print('ari', ari(group, SpectralKMeans(k, n_init=2, random_state=0).fit(x).labels_))"
    found = rise(DOCUMENTS.format(n=task.trials(100_000, 10_000)), work)
    times = found["rise"] / found["input"]
    text = f"rise {found['rise'] / 1e6:.0f} MB, {times:.1f} × the input of {found['input'] / 1e6:.0f} MB"
    return Found(f"{text}; ARI to the ten topics {found['ari']:.3f}", {"rise": times})


@promise(
    "embedded-k-means",
    "k-means among the embedded documents: our engine on a LinearGram against scikit-learn's KMeans, ten starts each, "
    "two embeddings of 5,000 documents of 20ng, k = 20: objectives and times.",
    rests_on=RESTS_ON,
    conditions=("embedded-objective",),
    data=True,
)
def embedded(task: Task) -> Found:
    words, _ = data.texts("20ng")
    chosen = np.sort(np.random.default_rng(0).permutation(len(words))[: task.trials(5000, 800)])
    x = TermVectorizer("lfc", min_df=3, dtype=np.float64).fit_transform([words[i] for i in chosen])
    texts, worst = [], 0.0
    for laplacian in ("random-walk", "symmetric"):
        points = spectral_embedding(parse_kernel("cosine").gram(x), 20, laplacian=laplacian).coordinates
        points = np.ascontiguousarray(points)
        seconds, objectives = np.zeros((2, 3)), np.zeros((2, 3))
        for seed in range(3):
            began = time.perf_counter()
            objectives[0, seed] = kernel_kmeans(
                LinearGram(points), 20, init="k-means++", n_init=10, max_iter=300, random_state=seed
            ).objective
            middle = time.perf_counter()
            objectives[1, seed] = KMeans(20, n_init=10, random_state=seed).fit(points).inertia_
            seconds[:, seed] = middle - began, time.perf_counter() - middle
        ours, theirs = objectives.mean(axis=1)
        worst, speed = max(worst, ours / theirs), np.median(seconds[1] / seconds[0])
        texts.append(
            f"{laplacian}: objective {ours:.5g} against {theirs:.5g}, {speed:.1f} times as fast as scikit-learn's"
        )
    return Found("; ".join(texts), {"ratio": worst})
