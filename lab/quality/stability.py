"""How many splits stability needs: what 20 of them change, next to what another seed of 50 changes."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from grampus import TermVectorizer, parse_kernel
from grampus.cluster import kernel_kmeans
from grampus.select import Splits, stability
from lab import Found, Task, data, row


@row(
    "quality",
    "stability-splits",
    "Largest difference in a cluster's stability: 50 splits and another seed, 20 splits and 50; bbc (k = 5) and every "
    "fourth post of 20ng (k = 20).",
    rests_on=("select", "cluster"),
    data=True,
)
def splits(task: Task) -> Found:
    texts, measures = [], {}
    for name, k, step in (("bbc", 5, 1), ("20ng", 20, 4)):
        x = TermVectorizer("lec", min_df=3, dtype=np.float64).fit_transform(list(data.texts(name)[0])[::step])
        gram = parse_kernel("cosine|principal(30)|normalise").gram(x)
        labels = kernel_kmeans(gram, k, polish=True, random_state=0).labels

        def measured(n: int, seed: int, gram: Any = gram, labels: Any = labels) -> tuple[Any, float]:
            began = time.process_time()
            found = stability(gram, labels, splits=Splits(n), random_state=seed).clusters
            return found, time.process_time() - began

        (many, slow), (other, _), (few, quick) = measured(50, 0), measured(50, 1), measured(20, 0)
        apart, fewer = float(np.abs(many - other).max()), float(np.abs(many - few).max())
        texts.append(f"{name}: {apart:.3f} and {fewer:.3f}, {slow:.1f} and {quick:.1f} CPU s")
        measures[f"{name} 20 splits"], measures[f"{name} another seed"] = fewer, apart
    return Found("; ".join(texts), measures)
