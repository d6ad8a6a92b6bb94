"""Kernel k-means: many starts on a stored Gram, and one run on sparse terms."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.io import mmread

from benchmarks.registry import Agreement, Arrays, Side, equal_share, row
from benchmarks.text_pipeline import data_folder, load
from grampus.kernels import parse_kernel
from grampus.text import TermVectorizer, Weighting

STARTS, FEW = 250, 5
PACKAGES = ("numpy", "scipy", "grampus")


def _bbc(quick: bool) -> Arrays:
    """The cosine Gram of bbc in float32, and random partitions to start from."""
    counts = sp.csr_array(mmread(data_folder() / "bbc.mtx.gz"))
    if quick:
        counts = counts[::4]
    matrix = parse_kernel("cosine").gram(Weighting("dominance").fit_transform(counts)).dense().astype(np.float32)
    starts = np.random.default_rng(0).integers(0, 5, (FEW if quick else STARTS, len(matrix)))
    return {"matrix": matrix, "starts": starts}


def _similar_objectives(ours: Arrays, theirs: Arrays) -> Agreement:
    """Peers draw their own starts: compare the mean objective, for which a correct one needs no luck to come near."""
    mine, other = float(ours["objectives"].mean()), float(theirs["objectives"].mean())
    return Agreement(f"mean objective {mine:.1f} against {other:.1f}", abs(other / mine - 1) < 0.01)


@row(
    "kernel-k-means-restarts",
    "250 starts of kernel k-means on bbc (n = 2225, k = 5, stored float32 Gram), the same starts.",
    ours=Side("grampus kernel_kmeans", "kkm_grampus.py", packages=(*PACKAGES, "numba")),
    peers=[Side("plain NumPy loop over starts", "kkm_numpy.py", promise=10, warmups=0, packages=("numpy",))],
    agreement=equal_share("labels", 0.999),
)
def restarts(quick: bool) -> Arrays:
    return _bbc(quick)


@row(
    "kernel-k-means-kernlab",
    "250 starts of kernel k-means on bbc against kernlab's kkmeans, extrapolated from 5 starts.",
    ours=Side("grampus kernel_kmeans", "kkm_grampus.py", packages=(*PACKAGES, "numba")),
    peers=[
        Side(
            "kernlab kkmeans",
            "kkm_kernlab.R",
            "R",
            promise=100,
            warmups=0,
            extrapolate=STARTS / FEW,
            packages=("kernlab",),
        )
    ],
    agreement=_similar_objectives,
    repeats=3,
)
def kernlab(quick: bool) -> Arrays:
    return _bbc(quick)


@row(
    "kernel-k-means-tslearn",
    "250 starts of kernel k-means on bbc against tslearn's KernelKMeans, extrapolated from 5 starts.",
    ours=Side("grampus kernel_kmeans", "kkm_grampus.py", packages=(*PACKAGES, "numba")),
    peers=[
        Side(
            "tslearn KernelKMeans",
            "kkm_tslearn.py",
            "peers",
            promise=200,
            warmups=0,
            extrapolate=STARTS / FEW,
            packages=("tslearn", "numpy"),
        )
    ],
    agreement=_similar_objectives,
    repeats=3,
)
def tslearn(quick: bool) -> Arrays:
    return _bbc(quick)


def _newsgroups(quick: bool) -> Arrays:
    """Unit rows of weighted terms of 20ng in float64, and one random partition."""
    texts = load(data_folder())[:: 20 if quick else 1]
    x = TermVectorizer("lfc", min_df=3, dtype=np.float64).fit_transform(texts)
    start = np.random.default_rng(0).integers(0, 20, x.shape[0])
    shape = np.array(x.shape)
    return {
        "data": x.data,
        "indices": x.indices,
        "indptr": x.indptr,
        "shape": shape,
        "start": start,
        "iterations": np.array(20),
    }


SKLEARN = Side("scikit-learn KMeans", "sparse_kmeans_sklearn.py", promise=2.5, packages=("scikit-learn", "numpy"))


@row(
    "sparse-k-means",
    "One run on 20ng (18,846 documents, k = 20, sparse, cosine), same start, 20 iterations, with the [fast] extra.",
    ours=Side("grampus, compiled", "sparse_kmeans_grampus.py", packages=(*PACKAGES, "numba")),
    peers=[SKLEARN],
    agreement=equal_share("labels", 0.999),
)
def sparse(quick: bool) -> Arrays:
    return _newsgroups(quick)


@row(
    "sparse-k-means-fallback",
    "The same run without numba.",
    ours=Side("grampus, SciPy", "sparse_kmeans_fallback.py", packages=PACKAGES),
    peers=[Side("scikit-learn KMeans", "sparse_kmeans_sklearn.py", packages=("scikit-learn", "numpy"))],
    agreement=equal_share("labels", 0.999),
)
def fallback(quick: bool) -> Arrays:
    return _newsgroups(quick)
