"""Divisive trees: PDDP against HiPart and a plain loop of SciPy's svds; kernel PDDP beside kernel k-means."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.registry import Agreement, Arrays, Side, row
from grampus.text import TermVectorizer
from reproductions import data

PACKAGES = ("numpy", "scipy", "grampus")


def _laid_out(x: Any, k: int) -> Arrays:
    """Return weighted terms in pieces that any environment reads."""
    return {"data": x.data, "indices": x.indices, "indptr": x.indptr, "shape": np.array(x.shape), "k": np.array(k)}


def _relative_objective(least: float) -> object:
    def compare(ours: Arrays, theirs: Arrays) -> Agreement:
        mine, other = float(ours["objective"]), float(theirs["objective"])
        return Agreement(f"objective {mine:.2f} against {other:.2f}", mine <= other * (1 + least))

    return compare


def _same_leaves(ours: Arrays, theirs: Arrays) -> Agreement:
    pairs = len(set(zip(ours["labels"].tolist(), theirs["labels"].tolist(), strict=True)))
    k = len(np.unique(ours["labels"]))
    same = pairs == k == len(np.unique(theirs["labels"]))
    return Agreement(f"{k} leaves, {'the same' if same else f'{pairs} pairs of them meet'}", same)


@row(
    "pddp-hipart",
    "PDDP, k = 20, 3000 documents of MODAPTE; HiPart is given them dense.",
    ours=Side("grampus PDDP", "pddp_grampus.py", packages=PACKAGES),
    peers=[
        Side("HiPart PDDP", "pddp_hipart.py", environment="peers", promise=40, warmups=0, packages=("numpy", "HiPart"))
    ],
    agreement=_relative_objective(0.01),
    repeats=3,
)
def hipart(quick: bool) -> Arrays:
    texts, _ = data.texts("r52_raw_9052")
    chosen = np.sort(np.random.default_rng(0).permutation(len(texts))[: 600 if quick else 3000])
    terms = TermVectorizer("lfc", min_df=2, dtype=np.float64)
    return _laid_out(sp.csr_array(terms.fit_transform([texts[i] for i in chosen])), 20)


@row(
    "pddp-svds",
    "PDDP, k = 52, all 9052 documents of MODAPTE, against a loop of scipy svds on the centred operator (tol 1e-10).",
    ours=Side("grampus PDDP", "pddp_grampus.py", packages=PACKAGES),
    peers=[Side("scipy svds, plain loop", "pddp_svds.py", promise=1.4, packages=("numpy", "scipy"))],
    agreement=_same_leaves,
    repeats=9,
)
def svds(quick: bool) -> Arrays:
    x = data.modapte().x
    return _laid_out(x[::8], 8) if quick else _laid_out(x, 52)


@row(
    "kpddp-gaussian",
    "KPDDP with a Gaussian kernel, k = 25, 3034 documents (REUT4), beside kernel k-means' best of 10 starts; the "
    "promise is at most three times its time.",
    ours=Side("grampus KPDDP", "kpddp_grampus.py", packages=PACKAGES),
    peers=[Side("grampus kernel k-means, 10 starts", "kpddp_kkm.py", promise=1 / 3, packages=PACKAGES)],
    agreement=_relative_objective(0.05),
    repeats=3,
)
def gaussian(quick: bool) -> Arrays:
    x = data.reut(4).x
    return _laid_out(x[::8] if quick else x, 25)
