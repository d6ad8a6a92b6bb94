"""String kernels, against kernlab, scikit-learn and a plain dynamic programme."""

from __future__ import annotations

import numpy as np

from benchmarks.registry import Agreement, Arrays, Side, largest_difference, row
from reproductions import data

KERNLAB = 60  # documents that kernlab gets, drawn at random; its time is scaled to all pairs of the 757
OURS = ("numpy", "scipy", "grampus")


def laid_out(documents: list[str]) -> Arrays:
    """Code points end to end, and where each document ends."""
    points = np.array([ord(character) for text in documents for character in text])
    return {"points": points, "ends": np.cumsum([len(text) for text in documents])}


def leading_block(ours: Arrays, theirs: Arrays) -> Agreement:
    """Agree when kernlab's matrix is the corner of ours."""
    few = len(theirs["gram"])
    difference = float(np.max(np.abs(ours["gram"][:few, :few] - theirs["gram"]) / theirs["gram"]))
    return Agreement(f"max relative difference {difference:.1e} on {few} documents", difference <= 1e-12)


@row(
    "strings-boundrange",
    "The boundrange(12) Gram matrix of the 757 crude, interest and coffee documents.",
    ours=Side("boundrange(12)", "strings_grampus.py", packages=OURS),
    peers=[
        Side(
            "scikit-learn, characters (1, 12) and product",
            "strings_sklearn.py",
            promise=5,
            warmups=0,
            packages=("scikit-learn", "scipy"),
        )
    ],
    agreement=largest_difference("gram", 1e-6),  # entries reach 1e6
    repeats=3,
)
def boundrange(quick: bool) -> Arrays:
    """All documents, or every tenth."""
    return laid_out(data.strings().x[:: 10 if quick else 1])


@row(
    "strings-kernlab",
    "The same with kernlab's appended newline; kernlab's kernelMatrix on 60 drawn documents, scaled to all pairs.",
    ours=Side("boundrange(12)", "strings_grampus.py", packages=OURS),
    peers=[
        Side(
            "kernlab",
            "strings_kernlab.R",
            environment="R",
            promise=25,
            warmups=0,
            extrapolate=757 * 758 / (KERNLAB * (KERNLAB + 1)),
            packages=("kernlab",),
        )
    ],
    agreement=leading_block,
    repeats=3,
)
def kernlab(quick: bool) -> Arrays:
    """Documents that end in a newline, in random order: the first are as long as any."""
    documents = data.strings().x
    order = np.random.default_rng(0).permutation(len(documents))[: KERNLAB if quick else None]
    return laid_out([documents[i] + "\n" for i in order])


@row(
    "strings-subsequence",
    "The subsequence(3) Gram matrix of 100 of them.",
    ours=Side("subsequence(3)", "subsequence_grampus.py", packages=(*OURS, "numba")),
    peers=[Side("NumPy, one pair at a time", "subsequence_numpy.py", promise=10, warmups=0, packages=("numpy",))],
    agreement=largest_difference("gram", 1e-9),
    repeats=2,
)
def subsequence(quick: bool) -> Arrays:
    """A hundred documents, or ten."""
    return laid_out(data.strings().x[: 10 if quick else 100])
