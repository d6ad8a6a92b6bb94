"""Scores of agreement: scikit-learn's values, and the time of ANMI."""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from grampus import metrics
from lab import Found, Task
from lab.promises import promise


@promise(
    "agreement-scikit-learn",
    "NMI and ARI of 5,000 random pairs of partitions against scikit-learn's.",
    rests_on=("metrics",),
    conditions=("agreement-scikit-learn",),
)
def scikit_learn(task: Task) -> Found:
    rng = np.random.default_rng(0)
    worst = 0.0
    for _ in range(task.trials(5000, 300)):
        n, classes, clusters = rng.integers(1, 400), *rng.integers(1, 60, 2)
        a, b = rng.integers(0, classes, n), rng.integers(0, clusters, n)
        if rng.random() < 0.5:
            b = np.where(rng.random(n) < rng.random(), a, b)
        expected = normalized_mutual_info_score(a, b, average_method="geometric")
        worst = max(worst, abs(metrics.nmi(a, b) - expected), abs(metrics.anmi([a, b]) - expected))
        worst = max(worst, abs(metrics.ari(a, b) - adjusted_rand_score(a, b)))
    return Found(f"largest difference {worst:.1e}", {"difference": worst})


@promise(
    "anmi",
    "ANMI of 250 partitions of 2,225 documents: seconds, and the difference from the mean over all pairs.",
    rests_on=("metrics",),
    conditions=("anmi-seconds", "anmi-difference"),
)
def anmi(task: Task) -> Found:
    partitions = np.random.default_rng(0).integers(0, 5, (task.trials(250, 20), 2225))
    metrics.anmi(partitions[:2])
    began = time.perf_counter()
    ours = metrics.anmi(partitions)
    seconds = time.perf_counter() - began
    difference = abs(ours - float(np.mean([metrics.nmi(a, b) for a, b in combinations(partitions, 2)])))
    return Found(f"{seconds:.2f} s, difference {difference:.1e}", {"seconds": seconds, "difference": difference})
