"""Choosing k: prototypes against plain loops, against our own kernel k-means, and against fpc and reval."""

from __future__ import annotations

import numpy as np

from benchmarks.registry import Agreement, Arrays, Side, row
from reproductions import data

SPLITS, FEW = 200, 5
FAR = 0.3  # of scores in [0, 1]: something else was measured
OURS = ("numpy", "scipy", "numba", "grampus")


def _terms(name: str, quick: bool) -> Arrays:
    """The weighted terms of reviews (counts) or classic (texts), as CSR arrays."""
    x = data.documents(name).x
    if quick:
        x = x[::10]
    return {
        "data": x.data,
        "indices": x.indices,
        "indptr": x.indptr,
        "shape": np.array(x.shape),
        "splits": np.array(SPLITS),
    }


def _near_scores(ours: Arrays, theirs: Arrays) -> Agreement:
    """Two schemes, one with few splits: the k that scores highest need not be the same, the scores may not be far."""
    first = [int(side["ks"][side["means"].argmax()]) for side in (ours, theirs)]
    gap = float(np.abs(ours["means"] - theirs["means"]).mean())
    return Agreement(f"highest k {first[0]} and {first[1]}, mean difference of the scores {gap:.2f}", gap < FAR)


def _parts(ours: Arrays, theirs: Arrays) -> Agreement:
    """Show what the parts took on both sides."""
    names = ("reduction", "products", "assignment", "scoring", "total")
    told = [
        ", ".join(f"{n} {float(t):.2f}" for n, t in zip(names, side["parts"], strict=True)) for side in (ours, theirs)
    ]
    return Agreement(f"{_near_scores(ours, theirs).text}; seconds RED-S: {told[0]}; KKM-S: {told[1]}", True)


RED = Side("grampus RED-S", "select_red.py", packages=OURS)
LOOP = Side(
    "plain NumPy loop of KKM-S",
    "select_plain_kkm.py",
    promise=16,
    warmups=0,
    extrapolate=SPLITS / FEW,
    packages=("numpy", "scipy"),
)
for _name in ("reviews", "classic"):

    @row(
        f"choose-k-{_name}",
        f"RED-S on {_name} (200 splits, k = 2…10, one random start) against a NumPy loop over the splits of KKM-S, "
        "extrapolated from 5.",
        ours=RED,
        peers=[LOOP],
        agreement=_near_scores,
        repeats=3,
        timeout=7200.0,
    )
    def against_loop(quick: bool, name: str = _name) -> Arrays:
        return _terms(name, quick)

    @row(
        f"choose-k-parts-{_name}",
        f"RED-S against our own KKM-S on {_name} by parts (200 splits, k = 2…10, one random start).",
        ours=RED,
        peers=[Side("grampus KKM-S", "select_kkm.py", warmups=0, packages=OURS)],
        agreement=_parts,
        repeats=1,
        timeout=7200.0,
    )
    def parts(quick: bool, name: str = _name) -> Arrays:
        return _terms(name, quick)


def _close_strengths(ours: Arrays, theirs: Arrays) -> Agreement:
    """Starts and splits are their own: mean strengths over 20 splits can differ by a few hundredths."""
    gap = np.abs(ours["means"].ravel() - theirs["means"].ravel())
    return Agreement(f"mean strengths differ by {gap.mean():.3f} on average, {gap.max():.3f} at most", gap.mean() < 0.1)


def _shown(ours: Arrays, theirs: Arrays) -> Agreement:
    """Another criterion (misclassified share of a k-NN classifier): its choice is shown."""
    return Agreement(f"its choice {int(theirs['best'])}, ours {int(ours['best'])}", True)


def _digits(quick: bool) -> Arrays:
    from sklearn.datasets import load_digits

    x = load_digits().data
    return {"x": x[::6] if quick else x}


@row(
    "choose-k-fpc",
    "KKM-S with 20 splits, k = 2…15, on digits (1797 × 64, linear kernel) against fpc's prediction.strength (M = 20, "
    "kmeansCBI).",
    ours=Side("grampus KKM-S", "select_digits.py", packages=OURS),
    peers=[Side("fpc prediction.strength", "select_fpc.R", "R", promise=30, warmups=0, packages=("fpc",))],
    agreement=_close_strengths,
    repeats=3,
)
def fpc(quick: bool) -> Arrays:
    return _digits(quick)


@row(
    "choose-k-reval",
    "The same against reval's FindBestClustCV (two folds, 20 repetitions, 10 random labellings, k-means and k-NN).",
    ours=Side("grampus KKM-S", "select_digits.py", packages=OURS),
    peers=[Side("reval", "select_reval.py", "peers", warmups=0, packages=("reval", "scikit-learn", "numpy"))],
    agreement=_shown,
    repeats=1,
)
def reval(quick: bool) -> Arrays:
    return _digits(quick)
