"""Choosing k: fpc's numbers, sets with a known answer, 20ng."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from grampus import choose_k
from grampus.select import Splits
from grampus.text import Weighting
from lab import Found, Task
from lab.promises import promise
from tests import memory

RESTS_ON = ("select", "cluster")
FPC = (0.976, 0.671, 0.541, 0.490, 0.460)  # fpc 2.2-10, prediction.strength(iris[, 1:4], 2, 6, M = 50), set.seed(1)


def iris_strengths(n_splits: int) -> Any:
    """Return our mean uncorrected strengths on iris, k = 2 … 6, with plain k-means and centroid classification."""
    from sklearn.datasets import load_iris

    x = load_iris().data
    x = x - x.mean(axis=0)
    splits = Splits(n_splits, init="documents", n_init=1)
    return choose_k(
        x, kernel="linear|shift(0)", ks=range(2, 7), scheme="KKM-S", splits=splits, null=False, random_state=0
    ).strength.mean(axis=0)


@promise(
    "fpc-strengths",
    "fpc's prediction.strength on iris, k = 2…6: difference of the uncorrected means.",
    rests_on=RESTS_ON,
    conditions=("fpc-strengths",),
)
def fpc(task: Task) -> Found:
    ours = iris_strengths(task.trials(500, 50))
    worst = float(np.abs(ours - FPC).max())
    text = ", ".join(f"{a:.3f} ({b})" for a, b in zip(ours, FPC, strict=True))
    return Found(f"{text}; largest difference {worst:.3f}, fpc in brackets", {"difference": worst})


def structureless(number: int) -> tuple[Any, str]:
    """Return a set without clusters, and its kernel: a round cloud, a stretched one, a box, or texts of one topic."""
    rng = np.random.default_rng([701, number])
    n, d = int(rng.integers(150, 400)), int(rng.integers(2, 11))
    kind = number % 4
    if kind == 0:
        return rng.normal(size=(n, d)), "linear"
    if kind == 1:
        return rng.normal(size=(n, d)) * np.exp(rng.normal(size=d)), "linear"
    if kind == 2:
        return rng.uniform(-1, 1, size=(n, d)), "linear"
    words = 1.0 / np.arange(1, 2001)
    counts = np.array([rng.multinomial(rng.integers(40, 150), words / words.sum()) for _ in range(n)])
    return _weighted(counts), "cosine"


def mixture(number: int) -> tuple[Any, str, int]:
    """Return one set of k = 2 … 8 well-separated clusters, its kernel and k: Gaussian clouds or texts of k topics."""
    rng = np.random.default_rng([702, number])
    k = 2 + number % 7
    if (number // 7) % 2 == 0:
        d = int(rng.integers(2, 11))
        while True:  # centres at least seven standard deviations apart
            centres = 8.0 * rng.normal(size=(k, d))
            apart = np.linalg.norm(centres[:, None] - centres, axis=2) + 99.0 * np.eye(k)
            if apart.min() > 7:
                break
        sizes = rng.integers(30, 80, k)
        clouds = [c + rng.normal(size=(size, d)) for c, size in zip(centres, sizes, strict=True)]
        return np.concatenate(clouds), "linear", k
    common = 1.0 / np.arange(1, 2001)
    rows = []
    for _ in range(k):
        topic = 0.7 * common / common.sum()
        topic[rng.choice(2000, 60, replace=False)] += 0.3 / 60
        rows += [rng.multinomial(rng.integers(60, 150), topic) for _ in range(50)]
    return _weighted(np.array(rows)), "cosine", k


def _weighted(counts: Any) -> sp.csr_array:
    kept = counts[:, (counts > 0).sum(axis=0) >= 3]
    return sp.csr_array(Weighting("dominance", dtype=np.float64).fit_transform(sp.csr_array(kept)))


def draws(task: Task, n_splits: int, *, mixed: bool) -> Found:
    """Choose k on so many generated sets and count the right answers."""
    wrong, count = [], task.trials(100, 4)
    for number in range(count):
        x, kernel, k = mixture(number) if mixed else (*structureless(number), 1)
        how = {"kernel": kernel, "splits": Splits(n_splits), "random_state": number}
        best = task.step(f"mixed {mixed} {number}", partial(_best, x, how))
        wrong += [] if best == k else [f"draw {number}: {best} for {k}"]
    return Found(f"{count - len(wrong)} of {count}", {"right": count - len(wrong)}, notes=wrong)


def _best(x: Any, how: dict[str, Any]) -> int:
    return int(choose_k(x, **how).best)


@promise(
    "no-structure",
    "Sets without structure for which one cluster is chosen, of 100 draws.",
    rests_on=RESTS_ON,
    conditions=("right-of-100",),
    timeout=7200,
)
def no_structure(task: Task) -> Found:
    return draws(task, 20, mixed=False)


@promise(
    "mixtures",
    "Well-separated mixtures with k = 2…8 for which k is found, of 100 draws.",
    rests_on=RESTS_ON,
    conditions=("right-of-100",),
    timeout=7200,
)
def mixtures(task: Task) -> Found:
    return draws(task, 50, mixed=True)


@promise(
    "choose-k-20ng",
    "20ng (18,846 documents), 200 splits, k = 2…10, null test, 4 GB budget: seconds and memory.",
    rests_on=RESTS_ON,
    conditions=("choose-k-seconds", "choose-k-memory"),
    data=True,
)
def newsgroups(task: Task) -> Found:
    setup = f"""
        import time
        import numpy as np
        import grampus
        from lab import data
        from grampus.text import TermVectorizer
        words = list(data.texts("20ng")[0])[::{task.trials(1, 20)}]
        x = TermVectorizer("lfc", min_df=3, dtype=np.float64).fit_transform(words)
        input_bytes = x.data.nbytes + x.indices.nbytes + x.indptr.nbytes
        data.texts.cache_clear()
        del words
        grampus.config(memory="4GB")
    """
    work = """
        began = time.perf_counter()
        found = grampus.choose_k(x, random_state=0)
        print("seconds", time.perf_counter() - began)
        print("prototypes", len(found.reduction))
        print("best", found.best)
    """
    found = memory.rise(setup, work)
    rise = found["rise"] / 1e9
    text = f"{found['seconds']:.0f} s, {rise:.2f} GB, {found['prototypes']:.0f} prototypes; k = {found['best']:.0f}"
    return Found(text, {"seconds": found["seconds"], "rise_gb": rise})
