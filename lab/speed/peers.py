"""The comparisons of peers.toml: their inputs, and how the answers of both sides must agree."""

from __future__ import annotations

import tomllib
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from grampus.kernels import parse_kernel
from grampus.metrics import ari, nmi
from grampus.text import TermVectorizer, Weighting
from lab import Found, Task, data, row
from lab.speed.compare import Agreement, Arrays, Side, compare, difference, equal_share, not_worse

STARTS, FEW = 250, 5  # the papers' starts, and those that slow peers get
KERNLAB = 60  # documents that kernlab gets; its time is scaled to all pairs of the 757


def rows(x: Any, k: int) -> dict[str, Any]:
    """Return sparse rows in pieces that any environment reads."""
    return {"data": x.data, "indices": x.indices, "indptr": x.indptr, "shape": np.array(x.shape), "k": np.array(k)}


def points(documents: Any) -> Arrays:
    """Return texts as code points end to end, and where each ends."""
    joined = "".join(documents).encode("utf-32-le", "surrogatepass")
    return {"points": np.frombuffer(joined, np.uint32).astype(np.int64), "ends": np.cumsum(list(map(len, documents)))}


def partitions(quick: bool) -> Arrays:
    """Return partitions that agree in part, as restarts do: each changes a third of the labels of one partition."""
    rng = np.random.default_rng(0)
    trials, documents = (20, 500) if quick else (250, 2225)
    found = np.tile(rng.integers(0, 5, documents), (trials, 1))
    moved = rng.random(found.shape) < 1 / 3
    found[moved] = rng.integers(0, 5, int(moved.sum()))
    return {"partitions": found}


def bbc(quick: bool) -> Arrays:
    """Return the cosine Gram of bbc in float32, and random partitions to start from."""
    counts, _ = data.counts("bbc")
    x = Weighting("dominance").fit_transform(counts[:: 4 if quick else 1])
    matrix = parse_kernel("cosine").gram(x).dense().astype(np.float32)
    starts = np.random.default_rng(0).integers(0, 5, (FEW if quick else STARTS, len(matrix)))
    return {"matrix": matrix, "starts": starts}


def newsgroups(quick: bool) -> Arrays:
    """Return unit rows of weighted terms of 20ng in float64, and one random partition."""
    texts = data.texts("20ng")[0][:: 20 if quick else 1]
    x = TermVectorizer("lfc", min_df=3, dtype=np.float64).fit_transform(list(texts))
    start = np.random.default_rng(0).integers(0, 20, x.shape[0])
    return {**rows(x, 20), "start": start, "iterations": np.array(20)}


def components(quick: bool) -> Arrays:
    """Return 100 components of the posts of 20ng, rows of unit length."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import normalize

    x = TermVectorizer("lfc", min_df=3, dtype=np.float64).fit_transform(
        list(data.texts("20ng")[0][:: 20 if quick else 1])
    )
    return {"x": normalize(TruncatedSVD(100, random_state=0).fit_transform(x))}


def posts(quick: bool) -> Arrays:
    """Return the texts of 20ng."""
    return points(data.texts("20ng")[0][:: 20 if quick else 1])


def reuters(quick: bool) -> Arrays:
    """Return the 757 documents of `strings`, or every tenth."""
    return points(data.strings().x[:: 10 if quick else 1])


def few_reuters(quick: bool) -> Arrays:
    """Return a hundred documents of `strings`, or ten."""
    return points(data.strings().x[: 10 if quick else 100])


def shuffled_reuters(quick: bool) -> Arrays:
    """Return documents that end in a newline, in random order: the first are as long as any."""
    documents = data.strings().x
    order = np.random.default_rng(0).permutation(len(documents))[: KERNLAB if quick else None]
    return points([documents[i] + "\n" for i in order])


def part_of_modapte(quick: bool) -> Arrays:
    """Return documents of MODAPTE drawn at random, weighted by themselves."""
    texts, _ = data.texts("r52_raw_9052")
    chosen = np.sort(np.random.default_rng(0).permutation(len(texts))[: 600 if quick else 3000])
    return rows(TermVectorizer("lfc", min_df=2, dtype=np.float64).fit_transform([texts[i] for i in chosen]), 20)


def modapte(quick: bool) -> Arrays:
    """Return MODAPTE, or an eighth of it."""
    x = data.modapte().x
    return rows(x[::8], 8) if quick else rows(x, 52)


def reut4(quick: bool) -> Arrays:
    """Return REUT4, or an eighth of it."""
    return rows(data.reut(4).x[:: 8 if quick else 1], 25)


def sample(quick: bool, size: list[int]) -> Arrays:
    """Return a seeded sample of 20ng, weighted by itself."""
    texts, labels = data.texts("20ng")
    chosen = np.sort(np.random.default_rng(0).permutation(len(texts))[: size[not quick]])
    x = TermVectorizer("lfc", min_df=3, dtype=np.float64).fit_transform([texts[i] for i in chosen])
    return {**rows(x, 20), "truth": np.unique(labels[chosen], return_inverse=True)[1]}


def topics(quick: bool, size: list[int], k: int = 20, terms: int = 30_000, length: int = 90) -> Arrays:
    """Return documents of 20 topics, because 20ng has fewer than 20,000: half of a document's terms are its topic's.

    Terms follow Zipf's law, in the order of the language or in the topic's own.
    """
    rng, count = np.random.default_rng(0), size[not quick]
    group = rng.integers(0, k, count)
    share = np.cumsum(1.0 / np.arange(1, terms + 1))
    drawn = np.searchsorted(share / share[-1], rng.random((count, length)))
    own = np.array([rng.permutation(terms) for _ in range(k)])
    columns = np.where(rng.random((count, length)) < 0.5, own[group[:, None], drawn], drawn).ravel()
    counts = sp.csr_array((np.ones(count * length), columns, np.arange(0, count * length + 1, length)), (count, terms))
    counts.sum_duplicates()
    return {**rows(sp.csr_array(Weighting("lfc", dtype=np.float64).fit_transform(counts)), k), "truth": group}


def splits(quick: bool, set: str) -> Arrays:  # noqa: A002
    """Return the weighted terms of a set, and the number of splits."""
    return {**rows(data.documents(set).x[:: 10 if quick else 1], 0), "splits": np.array(200)}


def digits(quick: bool) -> Arrays:
    """Return 1,797 digits of 64 pixels."""
    from sklearn.datasets import load_digits

    return {"x": load_digits().data[:: 6 if quick else 1]}


def same_matrix(ours: Arrays, theirs: Arrays) -> tuple[str, bool]:
    """Agree when two sparse matrices are equal to 1e-6."""
    mine, other = (sp.csr_array((s["data"], s["indices"], s["indptr"]), tuple(s["shape"])) for s in (ours, theirs))
    if mine.shape != other.shape:
        return f"shapes {mine.shape} and {other.shape}", False
    gap = float(abs(mine - other).max())
    return f"largest difference {gap:.1e}", gap <= 1e-6


def leading_block(ours: Arrays, theirs: Arrays) -> tuple[str, bool]:
    """Agree when the peer's matrix is the corner of ours."""
    few = len(theirs["gram"])
    gap = float(np.max(np.abs(ours["gram"][:few, :few] - theirs["gram"]) / theirs["gram"]))
    return f"largest relative difference {gap:.1e} on {few} documents", gap <= 1e-12


def same_leaves(ours: Arrays, theirs: Arrays) -> tuple[str, bool]:
    """Agree when the partitions are equal up to renaming."""
    pairs = len(set(zip(ours["labels"].tolist(), theirs["labels"].tolist(), strict=True)))
    k = len(np.unique(ours["labels"]))
    return f"{k} leaves, {pairs} pairs of them meet", pairs == k == len(np.unique(theirs["labels"]))


def near_classes(ours: Arrays, theirs: Arrays) -> tuple[str, bool]:
    """Agree when both partitions have an NMI of 0.9, or ours is nearer to the classes."""
    a, b, truth = ours["labels"], theirs["labels"], ours["truth"]
    between, mine, other = nmi(a, b), nmi(truth, a), nmi(truth, b)
    text = f"NMI {between:.3f}, ARI {ari(a, b):.3f} between both; to the classes {mine:.3f} against {other:.3f}"
    return text, between >= 0.9 or mine >= other - 0.02


def near_scores(ours: Arrays, theirs: Arrays) -> tuple[str, bool]:
    """Agree when the scores are not far apart: two schemes, and one has few splits."""
    first = [int(side["ks"][side["means"].argmax()]) for side in (ours, theirs)]
    gap = float(np.abs(ours["means"] - theirs["means"]).mean())
    return f"highest k {first[0]} and {first[1]}, mean difference of the scores {gap:.2f}", gap < 0.3


def close_strengths(ours: Arrays, theirs: Arrays) -> tuple[str, bool]:
    """Agree when mean strengths over 20 splits differ by a few hundredths: starts and splits are their own."""
    gap = np.abs(ours["means"].ravel() - theirs["means"].ravel())
    return f"mean strengths differ by {gap.mean():.3f} on average, {gap.max():.3f} at most", bool(gap.mean() < 0.1)


AGREE: dict[str, Agreement] = {
    "anmi to 1e-12": difference("anmi", 1e-12),
    "gram to 1e-6": difference("gram", 1e-6),  # entries reach 1e6
    "gram to 1e-9": difference("gram", 1e-9),
    "labels": equal_share("labels", 0.999),
    "objective": not_worse("objective", 0.01),
    "objective, 5 %": not_worse("objective", 0.05),
    "sparse matrix": same_matrix,
    "leading block": leading_block,
    "leaves": same_leaves,
    "classes": near_classes,
    "scores": near_scores,
    "strengths": close_strengths,
    "neighbours": equal_share("nearest", 0.999),
    "choice": lambda ours, theirs: (f"its choice {int(theirs['best'])}, ours {int(ours['best'])}", True),
}


def register(name: str, entry: dict[str, Any]) -> None:
    """Register one comparison as a row."""

    def measure(task: Task) -> Found:
        given = globals()[entry["inputs"]](task.quick, **{key: entry[key] for key in ("size", "set") if key in entry})
        truth = {"truth": given["truth"]} if "truth" in given else {}
        agree = partial(_agree, AGREE[entry["agree"]], truth)
        return compare(task, given, entry["ours"], Side(**entry["peer"]), agree, entry.get("repeats", 5))

    conditions = ("answers-agree", *entry.get("conditions", ()))
    how = {"rests_on": tuple(entry["rests_on"]), "data": entry.get("data", True), "timeout": 7200}
    row("speed", name, entry["text"], conditions=conditions, **how)(measure)


def _agree(agree: Agreement, truth: Arrays, ours: Arrays, theirs: Arrays) -> tuple[str, bool]:
    return agree({**ours, **truth}, theirs)


for _name, _entry in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items():
    register(_name, _entry)
