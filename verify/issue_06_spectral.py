"""Part 6: spectral clustering, kernel-PCA k-means and the eigenvectors below them."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from verify import Figure, line
from verify.commands import run_tests

TESTS = ("tests",)
DATA = ("reproductions/data.py",)


def separated(seed: int, n: int = 400, k: int = 4) -> tuple[Any, NDArray[np.intp]]:
    """Return sparse counts in k groups that share few terms, and the groups."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, k, n)
    own = np.arange(30 * k) // 30 == group[:, None]
    return sp.csr_array(rng.poisson(0.05 + 1.2 * own).astype(float)), group


def same(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Say whether two partitions are equal up to renaming."""
    return len(set(zip(a.tolist(), b.tolist(), strict=True))) == len(np.unique(a)) == len(np.unique(b))


@line(
    6,
    "scikit-learn",
    "Labels equal scikit-learn's SpectralClustering (precomputed) up to renaming on well-separated sets, 20 seeds: "
    "random-walk and symmetric, cosine and Gaussian similarities.",
)
def scikit_learn() -> Figure:
    from sklearn.cluster import SpectralClustering

    from grampus import SpectralKMeans
    from grampus.kernels import parse_kernel

    equal, truth, total = 0, 0, 0
    for seed in range(20):
        x, group = separated(seed)
        for kernel in ("cosine", "gaussian(6)"):
            similar = parse_kernel(kernel).gram(x).dense()
            theirs = SpectralClustering(4, affinity="precomputed", random_state=seed).fit(similar).labels_
            for laplacian in ("random-walk", "symmetric"):
                ours = SpectralKMeans(4, kernel=kernel, laplacian=laplacian, random_state=seed).fit(x).labels_
                total += 1
                equal += same(ours, theirs)
                truth += same(ours, group)
    return Figure(f"{equal} of {total} partitions equal; {truth} equal to the groups", equal == total)


@line(
    6,
    "eigen",
    "Eigenpairs over the conformance list, every method: float64 values to 1e-8·‖K‖ of dense LAPACK, subspaces to 1e-6 "
    "where the relative gap exceeds 1e-6; float32 to 1e-4 (angles where the gap exceeds 1e-2).",
    watches=TESTS,
)
def eigen() -> Figure:
    from grampus.gram import eigenpairs
    from grampus.gram.eigen import METHODS
    from grampus.kernels import parse_kernel
    from tests.contract.test_eigen import TUNED, compare, dense_twin
    from tests.contract.test_grams import CHAINS, collection

    worst = {"float64": [0.0, 0.0], "float32": [0.0, 0.0]}
    limits = {"float64": (1e-8, 1e-6, 1e-6), "float32": (1e-4, 1e-4, 1e-2)}
    grams, angles, close = 0, 0, 0
    for dtype, (_, _, apart) in limits.items():
        for spelling in (*CHAINS, *TUNED):
            x = collection(200, 1).astype(dtype)
            matrix = dense_twin(spelling, x.astype(float))
            gram = parse_kernel(spelling).gram(sp.csr_array(x))
            grams += 1
            for method in METHODS:
                for count in (1, 3, 8):
                    error, angle, gap = compare(eigenpairs(gram, count, method=method), matrix, count)
                    worst[dtype][0] = max(worst[dtype][0], error)
                    if gap > apart:
                        worst[dtype][1] = max(worst[dtype][1], angle)
                        angles += 1
                    else:
                        close += 1
    good = all(worst[d][0] <= limits[d][0] and worst[d][1] <= limits[d][1] for d in limits)
    text = "; ".join(f"{d}: values {v:.1e}, angles {a:.1e}" for d, (v, a) in worst.items())
    counted = f"{angles} subspaces compared, {close} without a gap"
    return Figure(text, good, f"{grams} Grams of 200 documents, 3 methods, l = 1, 3, 8; {counted}")


@line(
    6,
    "definitions",
    "Embeddings equal the textbook's; fitted documents keep their coordinates; components, isolated documents, "
    "negative similarities and bad input follow the stated rules; scikit-learn's own checks.",
    watches=TESTS,
)
def definitions() -> Figure:
    return run_tests("tests/unit/test_spectral.py", "tests/contract/test_eigen.py", needs=750)


DOCUMENTS = """
    import numpy as np, scipy.sparse as sp
    from grampus import SpectralKMeans
    from grampus.metrics import ari
    rng = np.random.default_rng(0)
    n, m, row, k = 100_000, 30_000, 80, 10
    group = rng.integers(0, k, n)
    common = rng.integers(0, m, (n, row), dtype=np.int32)
    own = (group[:, None] * (m // k) + rng.integers(0, 500, (n, row))).astype(np.int32)
    columns = np.where(rng.random((n, row)) < 0.5, own, common).ravel()
    x = sp.csr_array((np.ones(n * row), columns, np.arange(0, n * row + 1, row, dtype=np.int32)), shape=(n, m))
    x.sum_duplicates()
    input_bytes = x.data.nbytes + x.indices.nbytes + x.indptr.nbytes
    ari(group[:1000], SpectralKMeans(k, n_init=1, random_state=0).fit(x[:1000]).labels_)
"""


@line(
    6,
    "memory",
    "SpectralKMeans(10, kernel='cosine') on 100,000 sparse documents: the resident memory rises by less than 4 times "
    "the input (n² would be 80 GB).",
    watches=TESTS,
)
def memory() -> Figure:
    from tests.memory import rise

    work = """
        model = SpectralKMeans(k, n_init=2, random_state=0).fit(x)
        print("ari", ari(group, model.labels_))
    """
    found = rise(DOCUMENTS, work)
    times = found["rise"] / found["input"]
    text = f"rise {found['rise'] / 1e6:.0f} MB, {times:.1f} × the input of {found['input'] / 1e6:.0f} MB"
    return Figure(text, times < 4, f"ARI to the ten topics {found['ari']:.3f}")


@line(
    6,
    "embedded-k-means",
    "k-means in the embedded space: our engine on a LinearGram beside scikit-learn's KMeans, ten starts each, on the "
    "random-walk and symmetric embeddings of 5,000 documents of 20ng, k = 20. To pass: objectives at most 1 % higher.",
    needs_data=True,
    watches=DATA,
)
def embedded_k_means() -> Figure:
    from sklearn.cluster import KMeans

    from grampus.cluster import kernel_kmeans, spectral_embedding
    from grampus.gram import LinearGram
    from grampus.kernels import parse_kernel
    from grampus.text import TermVectorizer
    from reproductions.data import texts

    documents, _ = texts("20ng")
    chosen = np.sort(np.random.default_rng(0).permutation(len(documents))[:5000])
    x = TermVectorizer("lfc", min_df=3, dtype=np.float64).fit_transform([documents[i] for i in chosen])
    words, good = [], True
    for laplacian in ("random-walk", "symmetric"):
        points = spectral_embedding(parse_kernel("cosine").gram(x), 20, laplacian=laplacian).coordinates
        points = np.ascontiguousarray(points)
        seconds, objectives = np.zeros((2, 3)), np.zeros((2, 3))
        for seed in range(3):
            start = time.perf_counter()
            objectives[0, seed] = kernel_kmeans(
                LinearGram(points), 20, init="k-means++", n_init=10, max_iter=300, random_state=seed
            ).objective
            middle = time.perf_counter()
            objectives[1, seed] = KMeans(20, n_init=10, random_state=seed).fit(points).inertia_
            seconds[:, seed] = middle - start, time.perf_counter() - middle
        ours, theirs = objectives.mean(axis=1)
        good &= bool(ours <= 1.01 * theirs)
        words.append(
            f"{laplacian}: objective {ours:.5g} against {theirs:.5g}, "
            f"{np.median(seconds[1] / seconds[0]):.1f} times as fast as scikit-learn's"
        )
    return Figure("; ".join(words), good)
