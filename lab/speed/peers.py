"""The comparisons: their inputs, the two sides, and how their answers must agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from grampus.kernels import parse_kernel
from grampus.metrics import ari, nmi
from grampus.text import TermVectorizer, Weighting
from lab import data
from lab.speed.compare import Agreement, Arrays, Side, difference, equal_share, not_worse, versus

STARTS, FEW = 250, 5  # the papers' starts, and those that slow peers get
SPLITS = 200
KERNLAB = 60  # documents that kernlab gets; its time is scaled to all pairs of the 757
KMEANS, TREES, SPECTRAL = ("cluster", "gram"), ("cluster", "gram"), ("cluster", "gram")
SKLEARN = ("scikit-learn", "numpy", "scipy")


def rows(x: Any, k: int) -> dict[str, Any]:
    """Return sparse rows in pieces that any environment reads."""
    return {"data": x.data, "indices": x.indices, "indptr": x.indptr, "shape": np.array(x.shape), "k": np.array(k)}


def points(documents: Any) -> Arrays:
    """Return texts as code points end to end, and where each ends."""
    joined = "".join(documents).encode("utf-32-le", "surrogatepass")
    return {"points": np.frombuffer(joined, np.uint32).astype(np.int64), "ends": np.cumsum(list(map(len, documents)))}


@versus(
    "anmi",
    "Mean NMI over all pairs of 250 partitions of 2,225 documents in 5 clusters.",
    ours="anmi",
    peer=Side("scikit_learn.py", "anmi", "a loop over pairs with scikit-learn", packages=SKLEARN),
    agree=difference("anmi", 1e-12),
    rests_on=("metrics",),
    conditions=("10x",),
    data=False,
)
def partitions(quick: bool) -> Arrays:
    """Partitions that agree in part, as restarts do: each changes a third of the labels of one partition."""
    rng = np.random.default_rng(0)
    trials, documents = (20, 500) if quick else (250, 2225)
    found = np.tile(rng.integers(0, 5, documents), (trials, 1))
    moved = rng.random(found.shape) < 1 / 3
    found[moved] = rng.integers(0, 5, int(moved.sum()))
    return {"partitions": found}


def bbc(quick: bool) -> Arrays:
    """The cosine Gram of bbc in float32, and random partitions to start from."""
    counts, _ = data.counts("bbc")
    x = Weighting("dominance").fit_transform(counts[:: 4 if quick else 1])
    matrix = parse_kernel("cosine").gram(x).dense().astype(np.float32)
    return {
        "matrix": matrix,
        "starts": np.random.default_rng(0).integers(0, 5, (FEW if quick else STARTS, len(matrix))),
    }


ON_BBC = "250 starts of kernel k-means on bbc (n = 2,225, k = 5, stored float32 Gram)"
versus(
    "kernel-k-means-restarts",
    f"{ON_BBC}, the same starts.",
    ours="starts",
    peer=Side("plain.py", "starts", "a plain NumPy loop over the starts"),
    agree=equal_share("labels", 0.999),
    rests_on=KMEANS,
    conditions=("10x",),
)(bbc)
versus(
    "kernel-k-means-kernlab",
    f"{ON_BBC}, against five starts of kernlab's own.",
    ours="starts",
    peer=Side("kernlab_kkmeans.R", name="kernlab `kkmeans`", extrapolate=STARTS / FEW, packages=("kernlab",)),
    agree=not_worse("objective", 0.01),
    rests_on=KMEANS,
    conditions=("100x",),
    repeats=3,
)(bbc)
versus(
    "kernel-k-means-tslearn",
    f"{ON_BBC}, against five starts of tslearn's own.",
    ours="starts",
    peer=Side("peers.py", "tslearn", "tslearn `KernelKMeans`", True, 0, STARTS / FEW, ("tslearn", "numpy")),
    agree=not_worse("objective", 0.01),
    rests_on=KMEANS,
    conditions=("200x",),
    repeats=3,
)(bbc)


@versus(
    "sparse-k-means",
    "One run on 20ng (18,846 documents, k = 20, sparse, cosine), the same start, 20 iterations.",
    ours="sparse_kmeans",
    peer=Side("scikit_learn.py", "sparse_kmeans", "scikit-learn `KMeans`", warmups=1, packages=SKLEARN),
    agree=equal_share("labels", 0.999),
    rests_on=KMEANS,
    conditions=("sparse-k-means",),
)
def newsgroups(quick: bool) -> Arrays:
    """Unit rows of weighted terms of 20ng in float64, and one random partition."""
    texts = data.texts("20ng")[0][:: 20 if quick else 1]
    x = TermVectorizer("lfc", min_df=3, dtype=np.float64).fit_transform(list(texts))
    start = np.random.default_rng(0).integers(0, 20, x.shape[0])
    return {**rows(x, 20), "start": start, "iterations": np.array(20)}


def same_matrix(ours: Arrays, theirs: Arrays) -> tuple[str, bool]:
    """Agree when two sparse matrices are equal to 1e-6."""
    mine, other = (sp.csr_array((s["data"], s["indices"], s["indptr"]), tuple(s["shape"])) for s in (ours, theirs))
    if mine.shape != other.shape:
        return f"shapes {mine.shape} and {other.shape}", False
    gap = float(abs(mine - other).max())
    return f"largest difference {gap:.1e}", gap <= 1e-6


@versus(
    "text-to-terms",
    "20ng (18,846 documents): words, SMART stops, stems, min_df 3, (1 + ln tf)(1 + ln(n/df)) at unit length.",
    ours="terms",
    peer=Side("scikit_learn.py", "terms", "scikit-learn `TfidfVectorizer`", warmups=1, packages=SKLEARN),
    agree=same_matrix,
    rests_on=("text",),
    conditions=("2x",),
)
def posts(quick: bool) -> Arrays:
    """The texts of 20ng."""
    return points(data.texts("20ng")[0][:: 20 if quick else 1])


@versus(
    "strings-boundrange",
    "The boundrange(12) Gram of the 757 crude, interest and coffee documents.",
    ours="boundrange",
    peer=Side("scikit_learn.py", "boundrange", "scikit-learn, characters (1, 12) and product", packages=SKLEARN),
    agree=difference("gram", 1e-6),  # entries reach 1e6
    rests_on=("kernels",),
    conditions=("5x",),
    repeats=3,
)
def reuters(quick: bool) -> Arrays:
    """All documents, or every tenth."""
    return points(data.strings().x[:: 10 if quick else 1])


def leading_block(ours: Arrays, theirs: Arrays) -> tuple[str, bool]:
    """Agree when the peer's matrix is the corner of ours."""
    few = len(theirs["gram"])
    gap = float(np.max(np.abs(ours["gram"][:few, :few] - theirs["gram"]) / theirs["gram"]))
    return f"largest relative difference {gap:.1e} on {few} documents", gap <= 1e-12


PAIRS = 757 * 758 / (KERNLAB * (KERNLAB + 1))


@versus(
    "strings-kernlab",
    "The same with kernlab's appended newline; kernelMatrix of 60 documents drawn at random, scaled to all pairs.",
    ours="boundrange",
    peer=Side("kernlab_strings.R", name="kernlab", extrapolate=PAIRS, packages=("kernlab",)),
    agree=leading_block,
    rests_on=("kernels",),
    conditions=("25x",),
    repeats=3,
)
def shuffled_reuters(quick: bool) -> Arrays:
    """Documents that end in a newline, in random order: the first are as long as any."""
    documents = data.strings().x
    order = np.random.default_rng(0).permutation(len(documents))[: KERNLAB if quick else None]
    return points([documents[i] + "\n" for i in order])


@versus(
    "strings-subsequence",
    "The subsequence(3) Gram of 100 pages.",
    ours="subsequence",
    peer=Side("plain.py", "subsequence", "NumPy, one pair at a time"),
    agree=difference("gram", 1e-9),
    rests_on=("kernels",),
    conditions=("10x",),
    repeats=2,
)
def few_reuters(quick: bool) -> Arrays:
    """A hundred documents, or ten."""
    return points(data.strings().x[: 10 if quick else 100])


@versus(
    "pddp-hipart",
    "PDDP, k = 20, 3,000 documents of MODAPTE; HiPart is given them dense.",
    ours="pddp",
    peer=Side("peers.py", "hipart", "HiPart PDDP", True, packages=("numpy", "HiPart")),
    agree=not_worse("objective", 0.01),
    rests_on=TREES,
    conditions=("40x",),
    repeats=3,
)
def part_of_modapte(quick: bool) -> Arrays:
    """Documents drawn at random, weighted by themselves."""
    texts, _ = data.texts("r52_raw_9052")
    chosen = np.sort(np.random.default_rng(0).permutation(len(texts))[: 600 if quick else 3000])
    return rows(TermVectorizer("lfc", min_df=2, dtype=np.float64).fit_transform([texts[i] for i in chosen]), 20)


def same_leaves(ours: Arrays, theirs: Arrays) -> tuple[str, bool]:
    """Agree when the partitions are equal up to renaming."""
    pairs = len(set(zip(ours["labels"].tolist(), theirs["labels"].tolist(), strict=True)))
    k = len(np.unique(ours["labels"]))
    return f"{k} leaves, {pairs} pairs of them meet", pairs == k == len(np.unique(theirs["labels"]))


@versus(
    "pddp-svds",
    "PDDP, k = 52, all 9,052 documents of MODAPTE, against a loop of svds on the centred operator (tol 1e-10).",
    ours="pddp",
    peer=Side("plain.py", "pddp", "SciPy `svds` in a loop", warmups=1),
    agree=same_leaves,
    rests_on=TREES,
    conditions=("pddp-svds",),
    repeats=9,
)
def modapte(quick: bool) -> Arrays:
    """MODAPTE, or an eighth of it."""
    x = data.modapte().x
    return rows(x[::8], 8) if quick else rows(x, 52)


@versus(
    "kpddp-gaussian",
    "KPDDP with a Gaussian kernel, k = 25, 3,034 documents (REUT4), next to the best of ten starts of kernel k-means.",
    ours="gaussian_pddp",
    peer=Side("ours.py", "gaussian_kmeans", "kernel k-means, ten starts", warmups=1),
    agree=not_worse("objective", 0.05),
    rests_on=TREES,
    conditions=("kpddp-gaussian",),
    repeats=3,
)
def reut4(quick: bool) -> Arrays:
    """REUT4, or an eighth of it."""
    return rows(data.reut(4).x[:: 8 if quick else 1], 25)


def similar(ours: Arrays, theirs: Arrays) -> tuple[str, bool]:
    """Agree when the partitions have an NMI of at least 0.9."""
    score = nmi(ours["labels"], theirs["labels"])
    return f"NMI {score:.3f}, ARI {ari(ours['labels'], theirs['labels']):.3f} between both", score >= 0.9


def near_truth(inputs: Any) -> Agreement:
    """Agree also where ours is nearer to the classes."""

    def compare(ours: Arrays, theirs: Arrays) -> tuple[str, bool]:
        text, good = similar(ours, theirs)
        mine, other = (nmi(inputs(), side["labels"]) for side in (ours, theirs))
        return f"{text}; to the classes {mine:.3f} against {other:.3f}", good or mine >= other - 0.02

    return compare


_truth: list[Any] = []


def sample(count: int) -> Arrays:
    """A seeded sample of 20ng, weighted by itself."""
    texts, labels = data.texts("20ng")
    chosen = np.sort(np.random.default_rng(0).permutation(len(texts))[:count])
    _truth[:] = [labels[chosen]]
    return rows(TermVectorizer("lfc", min_df=3, dtype=np.float64).fit_transform([texts[i] for i in chosen]), 20)


def topics(count: int, k: int = 20, terms: int = 30_000, length: int = 90) -> Arrays:
    """Documents of 20 topics, because 20ng has fewer than 20,000: half of a document's terms are its topic's.

    Terms follow Zipf's law, in the order of the language or in the topic's own.
    """
    rng = np.random.default_rng(0)
    group = rng.integers(0, k, count)
    _truth[:] = [group]
    share = np.cumsum(1.0 / np.arange(1, terms + 1))
    drawn = np.searchsorted(share / share[-1], rng.random((count, length)))
    own = np.array([rng.permutation(terms) for _ in range(k)])
    columns = np.where(rng.random((count, length)) < 0.5, own[group[:, None], drawn], drawn).ravel()
    counts = sp.csr_array((np.ones(count * length), columns, np.arange(0, count * length + 1, length)), (count, terms))
    counts.sum_duplicates()
    return rows(sp.csr_array(Weighting("lfc", dtype=np.float64).fit_transform(counts)), k)


TRUTH = near_truth(lambda: _truth[0])
versus(
    "spectral-precomputed",
    "SpectralKMeans(20, kernel='cosine') on 10,000 documents of 20ng (sparse), against SpectralClustering on the "
    "precomputed cosine matrix, kernel included; ten starts of k-means each.",
    ours="spectral",
    peer=Side("scikit_learn.py", "spectral", "scikit-learn, precomputed", packages=SKLEARN),
    agree=TRUTH,
    rests_on=SPECTRAL,
    conditions=("10x",),
    repeats=3,
)(lambda quick: sample(800 if quick else 10_000))
versus(
    "spectral-neighbours",
    "SpectralKMeans(20, kernel='cosine') on all links of 20,000 synthetic documents of 20 topics, against "
    "SpectralClustering(affinity='nearest_neighbors').",
    ours="spectral",
    peer=Side("scikit_learn.py", "spectral_neighbours", "scikit-learn, nearest neighbours", packages=SKLEARN),
    agree=TRUTH,
    rests_on=SPECTRAL,
    conditions=("3x",),
    repeats=3,
    data=False,
)(lambda quick: topics(1_500 if quick else 20_000))
versus(
    "spectral-neighbour-graphs",
    "The same documents, both sides on ten nearest neighbours.",
    ours="spectral_neighbours",
    peer=Side("scikit_learn.py", "spectral_neighbours", "scikit-learn, nearest neighbours", packages=SKLEARN),
    agree=TRUTH,
    rests_on=SPECTRAL,
    repeats=3,
    data=False,
)(lambda quick: topics(1_500 if quick else 20_000))
versus(
    "kernel-pca-k-means",
    "KernelPCAKMeans(20, kernel='cosine', n_components=20, centre=True) on 5,000 documents of 20ng, against KernelPCA "
    "and KMeans; ten starts each.",
    ours="kernel_pca",
    peer=Side("scikit_learn.py", "kernel_pca", "scikit-learn `KernelPCA` + `KMeans`", packages=SKLEARN),
    agree=TRUTH,
    rests_on=SPECTRAL,
    conditions=("10x",),
    repeats=3,
)(lambda quick: sample(800 if quick else 5_000))


def near_scores(ours: Arrays, theirs: Arrays) -> tuple[str, bool]:
    """Agree when the scores are not far apart: two schemes, and one has few splits."""
    first = [int(side["ks"][side["means"].argmax()]) for side in (ours, theirs)]
    gap = float(np.abs(ours["means"] - theirs["means"]).mean())
    return f"highest k {first[0]} and {first[1]}, mean difference of the scores {gap:.2f}", gap < 0.3


for _name in ("reviews", "classic"):

    @versus(
        f"choose-k-{_name}",
        f"RED-S on {_name} (200 splits, k = 2…10, one random start) against a NumPy loop over five splits of KKM-S.",
        ours="reduced",
        peer=Side("plain.py", "choose_k", "a plain NumPy loop of KKM-S", extrapolate=SPLITS / FEW),
        agree=near_scores,
        rests_on=("select", "cluster"),
        conditions=("choose-k-loop",),
        repeats=3,
    )
    def terms(quick: bool, name: str = _name) -> Arrays:
        """Weighted terms."""
        x = data.documents(name).x[:: 10 if quick else 1]
        return {**rows(x, 0), "splits": np.array(20 if quick else SPLITS)}


def close_strengths(ours: Arrays, theirs: Arrays) -> tuple[str, bool]:
    """Agree when mean strengths over 20 splits differ by a few hundredths: starts and splits are their own."""
    gap = np.abs(ours["means"].ravel() - theirs["means"].ravel())
    return f"mean strengths differ by {gap.mean():.3f} on average, {gap.max():.3f} at most", bool(gap.mean() < 0.1)


def digits(quick: bool) -> Arrays:
    """1,797 digits of 64 pixels."""
    from sklearn.datasets import load_digits

    return {"x": load_digits().data[:: 6 if quick else 1]}


versus(
    "choose-k-fpc",
    "KKM-S with 20 splits, k = 2…15, on digits (linear kernel), against fpc's prediction.strength (M = 20, kmeansCBI).",
    ours="digits",
    peer=Side("fpc.R", name="fpc `prediction.strength`", packages=("fpc",)),
    agree=close_strengths,
    rests_on=("select", "cluster"),
    conditions=("30x",),
    repeats=3,
    data=False,
)(digits)
versus(
    "choose-k-reval",
    "The same against reval's FindBestClustCV (two folds, 20 repetitions, k-means and k-NN), another criterion.",
    ours="digits",
    peer=Side("peers.py", "reval", "reval", True, packages=("reval", "scikit-learn", "numpy")),
    agree=lambda ours, theirs: (f"its choice {int(theirs['best'])}, ours {int(ours['best'])}", True),
    rests_on=("select", "cluster"),
    repeats=1,
    data=False,
)(digits)
