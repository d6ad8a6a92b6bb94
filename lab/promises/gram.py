"""Grams: memory of products, the dominance ratio of a published set, and the memory budget."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import grampus
from grampus.gram import dominance_ratio
from grampus.kernels import parse_kernel
from grampus.select import Splits
from lab import Found, Task, data
from lab.promises import promise
from tests import memory
from tests.unit.test_memory import TERMS, WORK

RESTS_ON = ("gram", "kernels")


def products(kernel: str, documents: int) -> Found:
    """Measure how far a product raises the resident memory, for two precisions of the right-hand side."""
    rise = {}
    for dtype in ("float32", "float64"):
        found = memory.rise(TERMS.format(n=documents, dtype=dtype, kernel=kernel), WORK.format(kernel=kernel))
        rise[dtype] = found["rise"] / found["input"]
    text = ", ".join(f"{times:.2f} × the input ({dtype} V)" for dtype, times in rise.items())
    return Found(text, {"rise": max(rise.values())})


@promise(
    "memory-of-products",
    "(linear|normalise|shift) @ V, 200,000 × 50,000 sparse float32, 20 columns: rise of resident memory.",
    rests_on=RESTS_ON,
    conditions=("memory-of-products",),
)
def memory_of_products(task: Task) -> Found:
    return products("linear|normalise|shift", task.trials(200_000, 20_000))


@promise(
    "memory-of-map",
    "map at 20,000 rows, norms included: rise of resident memory.",
    rests_on=RESTS_ON,
    conditions=("memory-of-products",),
)
def memory_of_map(task: Task) -> Found:
    return products("linear|map", task.trials(20_000, 5_000))


@promise(
    "dominance-ratio",
    "dominance_ratio of bbc, weighted (1 + ln tf)(1 + ln(n/df)), cosine; 24.18 was published.",
    rests_on=("gram", "text"),
    conditions=("dominance-ratio-low", "dominance-ratio-high"),
    data=True,
)
def ratio(task: Task) -> Found:
    found = dominance_ratio(parse_kernel("cosine").gram(data.documents("bbc").x))
    return Found(f"{found:.2f}", {"ratio": found})


def work(quick: bool) -> dict[str, Callable[[], Any]]:
    """Return what must not become slower with a larger budget."""
    from grampus.cluster import pddp

    rng, n = np.random.default_rng(0), 800 if quick else 4000
    x = rng.random((n, 60)) * (rng.random((n, 60)) < 0.2)
    v = rng.random((n, 10))

    def product(spelling: str) -> Any:
        return parse_kernel(spelling).gram(x) @ v

    found: dict[str, Callable[[], Any]] = {
        spelling: partial(product, spelling)
        for spelling in ("cosine|shift|map", "cosine|centre", "cosine|principal(30)", "gaussian(1)|nystrom(100)")
    }
    for spelling in ("cosine", "cosine|shift|map"):
        model = grampus.KernelKMeans(10, kernel=spelling, n_init=3, random_state=0)
        found[f"kernel k-means, {spelling}"] = partial(model.fit, x)
    found["PDDP, cosine"] = lambda: pddp(parse_kernel("cosine").gram(x), 10)
    found["choose_k, cosine|shift"] = lambda: grampus.choose_k(
        x, kernel="cosine|shift", ks=(2, 3, 4), splits=Splits(5), null=False, random_state=0
    )
    return found


@promise(
    "larger-budget",
    "CPU time with a budget of 8 GB over the time with 30 MB: map, centre, principal, nystrom, kernel k-means, PDDP, "
    "choose_k; n = 4,000, best of three.",
    rests_on=("gram", "cluster", "select"),
    conditions=("larger-budget",),
)
def larger_budget(task: Task) -> Found:
    ratios = {}
    for name, run in work(task.quick).items():
        seconds = {}
        for budget in ("30MB", "8GB"):
            with grampus.config(memory=budget):
                run()
                seconds[budget] = min(_cpu_seconds(run) for _ in range(task.trials(3, 1)))
        ratios[name] = seconds["8GB"] / max(seconds["30MB"], 0.01)
    worst = max(ratios, key=ratios.__getitem__)
    notes = ["; ".join(f"{name} {value:.2f}" for name, value in ratios.items()) + "."]
    return Found(f"at most {ratios[worst]:.2f} × ({worst})", {"ratio": ratios[worst]}, notes=notes)


def _cpu_seconds(run: Callable[[], Any]) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began
