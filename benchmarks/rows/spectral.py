"""Spectral clustering and kernel-PCA k-means against scikit-learn's, kernels included."""

from __future__ import annotations

import gzip
import json

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks.registry import Agreement, Arrays, Side, row
from benchmarks.text_pipeline import data_folder
from grampus.metrics import ari, nmi
from grampus.text import TermVectorizer

PACKAGES = ("numpy", "scipy", "grampus")
SKLEARN = ("scikit-learn", "numpy", "scipy")
TOPICS, TERMS, LENGTH = 20, 30_000, 90


def _newsgroups(count: int) -> tuple[sp.csr_array, NDArray[np.intp]]:
    """A seeded sample of 20ng as TMG weights it (log, IDF, unit length), and its classes."""
    with gzip.open(data_folder() / "20ng.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    chosen = np.sort(np.random.default_rng(0).permutation(len(rows))[:count])
    x = TermVectorizer("lfc", min_df=3, dtype=np.float64).fit_transform([rows[i]["text"] for i in chosen])
    return sp.csr_array(x), np.unique([rows[i]["label"] for i in chosen], return_inverse=True)[1]


def _topics(count: int) -> tuple[sp.csr_array, NDArray[np.intp]]:
    """Documents of 20 topics, because 20ng has fewer than 20,000: half of a document's terms are its topic's.

    Terms are drawn from Zipf's law, of the language or of the topic's own order of it, then weighted as above.
    """
    rng = np.random.default_rng(0)
    group = rng.integers(0, TOPICS, count)
    share = np.cumsum(1.0 / np.arange(1, TERMS + 1))
    drawn = np.searchsorted(share / share[-1], rng.random((count, LENGTH)))
    own = np.array([rng.permutation(TERMS) for _ in range(TOPICS)])
    columns = np.where(rng.random((count, LENGTH)) < 0.5, own[group[:, None], drawn], drawn).ravel()
    counts = sp.csr_array((np.ones(count * LENGTH), columns, np.arange(0, count * LENGTH + 1, LENGTH)), (count, TERMS))
    counts.sum_duplicates()
    spread = np.bincount(counts.indices, minlength=TERMS)
    counts.data = np.log2(1.0 + counts.data) * np.log2(count / spread[counts.indices])
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1))).ravel()
    return sp.csr_array(sp.diags_array(1.0 / np.maximum(lengths, 1e-12)) @ counts), group


def _arrays(x: sp.csr_array, truth: NDArray[np.intp]) -> Arrays:
    return {"data": x.data, "indices": x.indices, "indptr": x.indptr, "shape": np.array(x.shape), "truth": truth}


def _agreement(least: float, short: float) -> object:
    """Agree when both partitions have an NMI of at least `least`, or ours is nearer to the truth up to `short`."""

    def compare(ours: Arrays, theirs: Arrays) -> Agreement:
        a, b, truth = ours["labels"], theirs["labels"], ours["truth"]
        between, mine, other = nmi(a, b), nmi(truth, a), nmi(truth, b)
        text = f"NMI {between:.3f}, ARI {ari(a, b):.3f} between both; to the truth {mine:.3f} against {other:.3f}"
        return Agreement(text, between >= least or mine >= other - short)

    return compare


@row(
    "spectral-precomputed",
    "SpectralKMeans(20, kernel='cosine') on 10,000 documents of 20ng (sparse), against SpectralClustering on the "
    "precomputed cosine matrix, kernel included; ten starts of k-means each.",
    ours=Side("grampus SpectralKMeans", "spectral_grampus.py", packages=PACKAGES),
    peers=[
        Side("scikit-learn, precomputed", "spectral_sklearn.py", promise=10, warmups=0, packages=SKLEARN),
    ],
    agreement=_agreement(0.9, 0.02),
    repeats=3,
)
def precomputed(quick: bool) -> Arrays:
    return _arrays(*_newsgroups(800 if quick else 10_000))


@row(
    "spectral-neighbours",
    "SpectralKMeans(20, kernel='cosine') on all links of 20,000 synthetic documents of 20 topics, against "
    "SpectralClustering(affinity='nearest_neighbors').",
    ours=Side("grampus SpectralKMeans", "spectral_grampus.py", packages=PACKAGES),
    peers=[
        Side("scikit-learn, nearest neighbours", "spectral_sklearn_nn.py", promise=3, warmups=0, packages=SKLEARN),
    ],
    agreement=_agreement(0.9, 0.02),
    repeats=3,
)
def neighbours(quick: bool) -> Arrays:
    return _arrays(*_topics(1_500 if quick else 20_000))


@row(
    "spectral-neighbour-graphs",
    "The same documents, both sides on ten nearest neighbours.",
    ours=Side("grampus SpectralKMeans(neighbours=10)", "spectral_grampus_nn.py", packages=PACKAGES),
    peers=[Side("scikit-learn, nearest neighbours", "spectral_sklearn_nn.py", warmups=0, packages=SKLEARN)],
    agreement=_agreement(0.9, 0.02),
    repeats=3,
)
def neighbour_graphs(quick: bool) -> Arrays:
    return _arrays(*_topics(1_500 if quick else 20_000))


@row(
    "kernel-pca-k-means",
    "KernelPCAKMeans(20, kernel='cosine', n_components=20, centre=True) on 5,000 documents of 20ng, against "
    "KernelPCA(20, kernel='cosine') and KMeans; ten starts each.",
    ours=Side("grampus KernelPCAKMeans", "kpca_grampus.py", packages=PACKAGES),
    peers=[Side("scikit-learn KernelPCA + KMeans", "kpca_sklearn.py", promise=10, warmups=0, packages=SKLEARN)],
    agreement=_agreement(0.9, 0.02),
    repeats=3,
)
def kernel_pca(quick: bool) -> Arrays:
    return _arrays(*_newsgroups(800 if quick else 5_000))
