"""Ours: KKM-S on digits without a shift, one start from random documents: k-means and centroid classification."""

import numpy as np

from grampus import choose_k


def run(inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    x = inputs["x"] - inputs["x"].mean(axis=0)
    found = choose_k(
        x,
        kernel="linear|shift(0)",
        ks=range(2, 16),
        scheme="KKM-S",
        n_splits=20,
        init="documents",
        n_init=1,
        null=False,
        random_state=0,
    )
    return {"means": found.strength.mean(axis=0), "best": np.array(found.best)}
