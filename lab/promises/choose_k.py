"""Choosing k: sets with a known answer."""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from grampus import choose_k
from grampus.select import Splits
from grampus.text import Weighting
from lab import Found, Task
from lab.promises import promise


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


def chosen(number: int, mixed: bool) -> list[int]:
    """Return the k that is chosen for a drawn set, and the right one."""
    x, kernel, k = mixture(number) if mixed else (*structureless(number), 1)
    return [int(choose_k(x, kernel=kernel, splits=Splits(50 if mixed else 20), random_state=number).best), k]


@promise("mixtures")
def mixtures(task: Task) -> Found:
    count, wrong = task.trials(100, 4), list[tuple[bool, str]]()
    for mixed in (True, False):
        for number in range(count):
            best, k = task.step(f"mixed {mixed} {number}", partial(chosen, number, mixed))
            wrong += [] if best == k else [(mixed, f"draw {number}: {best} for {k}")]
    right = [count - sum(kind is mixed for kind, _ in wrong) for mixed in (True, False)]
    figure = f"{right[0]} of {count} mixtures, {right[1]} of {count} sets without structure"
    return Found(figure, {"right": min(right)}, notes=[text for _, text in wrong])
