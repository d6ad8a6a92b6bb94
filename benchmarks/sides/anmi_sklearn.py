"""The peer: scikit-learn's score in a loop over pairs."""

from itertools import combinations

import numpy as np
from sklearn.metrics import normalized_mutual_info_score


def run(inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    scores = [
        normalized_mutual_info_score(a, b, average_method="geometric") for a, b in combinations(inputs["partitions"], 2)
    ]
    return {"anmi": np.mean(scores)}
