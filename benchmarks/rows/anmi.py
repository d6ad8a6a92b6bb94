"""Mean agreement of many partitions, against a plain loop over pairs."""

from __future__ import annotations

import numpy as np

from benchmarks.registry import Arrays, Side, largest_difference, row


@row(
    "anmi",
    "Mean NMI over all pairs of 250 partitions of 2225 documents in 5 clusters.",
    ours=Side("grampus.metrics.anmi", "anmi_grampus.py", packages=("numpy", "scipy", "grampus")),
    peers=[
        Side(
            "scikit-learn, loop over pairs",
            "anmi_sklearn.py",
            promise=10,
            warmups=0,
            packages=("numpy", "scikit-learn"),
        )
    ],
    agreement=largest_difference("anmi", 1e-12),
)
def inputs(quick: bool) -> Arrays:
    """Partitions that agree in part, as restarts do: each changes a third of one partition's labels."""
    generator = np.random.default_rng(0)
    trials, documents, clusters = (20, 500, 5) if quick else (250, 2225, 5)
    partitions = np.tile(generator.integers(0, clusters, documents), (trials, 1))
    moved = generator.random(partitions.shape) < 1 / 3
    partitions[moved] = generator.integers(0, clusters, int(moved.sum()))
    return {"partitions": partitions}
