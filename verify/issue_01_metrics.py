"""Part 1: the scores of agreement."""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from grampus import metrics
from verify import Figure, line


@line(
    issue=1,
    name="metrics-published",
    text="The spectral column of `strings`, table 1, from its contingency table: VI 1.523 bits, error .498, "
    "accuracy .502, recall .341, precision .500.",
)
def published() -> Figure:
    table = metrics.ContingencyTable.from_counts([[373, 0, 1], [262, 7, 2], [112, 0, 0]])
    scores = (
        metrics.variation_of_information(table),
        metrics.error_rate(table),
        metrics.accuracy(table),
        metrics.recall(table),
        metrics.precision(table),
    )
    rounded = [f"{score:.3f}" for score in scores]
    return Figure(", ".join(rounded), rounded == ["1.523", "0.498", "0.502", "0.341", "0.500"])


@line(
    issue=1,
    name="metrics-scikit-learn",
    text="NMI and ARI of 5,000 random pairs of partitions equal scikit-learn's to 1e-12.",
)
def scikit_learn() -> Figure:
    generator = np.random.default_rng(0)
    worst = 0.0
    for _ in range(5000):
        n, classes, clusters = generator.integers(1, 400), *generator.integers(1, 60, 2)
        a, b = generator.integers(0, classes, n), generator.integers(0, clusters, n)
        if generator.random() < 0.5:
            b = np.where(generator.random(n) < generator.random(), a, b)
        table = metrics.contingency_table(a, b)
        expected = normalized_mutual_info_score(a, b, average_method="geometric")
        worst = max(worst, abs(metrics.nmi(table) - expected), abs(metrics.anmi([a, b]) - expected))
        worst = max(worst, abs(metrics.ari(table) - adjusted_rand_score(a, b)))
    return Figure(f"largest difference {worst:.1e}", worst <= 1e-12)


@line(
    issue=1,
    name="anmi",
    text="ANMI of 250 partitions of 2,225 documents: under 2 s, and equal to the mean over the 31,125 pairs.",
)
def anmi() -> Figure:
    partitions = np.random.default_rng(0).integers(0, 5, (250, 2225))
    metrics.anmi(partitions[:2])
    start = time.perf_counter()
    ours = metrics.anmi(partitions)
    seconds = time.perf_counter() - start
    pairs = [metrics.nmi(a, b) for a, b in combinations(partitions, 2)]
    difference = abs(ours - float(np.mean(pairs)))
    return Figure(f"{seconds:.2f} s, difference {difference:.1e}", seconds < 2 and difference <= 1e-12)
