"""Scores of agreement: the time of ANMI."""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np

from grampus import metrics
from lab import Found, Task
from lab.promises import promise


@promise(
    "anmi",
    "ANMI of 250 partitions of 2,225 documents: processor seconds; and the difference from the mean over pairs of 40.",
    rests_on=("metrics",),
    conditions=("anmi-seconds", "anmi-difference"),
)
def anmi(task: Task) -> Found:
    partitions = np.random.default_rng(0).integers(0, 5, (task.trials(250, 20), 2225))
    metrics.anmi(partitions[:2])
    began = time.process_time()
    metrics.anmi(partitions)
    seconds = time.process_time() - began
    pairs = [metrics.nmi(a, b) for a, b in combinations(partitions[:40], 2)]
    difference = abs(metrics.anmi(partitions[:40]) - float(np.mean(pairs)))
    return Found(f"{seconds:.2f} s, difference {difference:.1e}", {"seconds": seconds, "difference": difference})
