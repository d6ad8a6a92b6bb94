"""Ours: every contingency table from one product."""

import numpy as np

from grampus.metrics import anmi


def run(inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {"anmi": np.array(anmi(inputs["partitions"]))}
