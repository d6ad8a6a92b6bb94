"""The peer: HiPart's PDDP, which needs dense data; making it dense is not timed."""

import numpy as np
import scipy.sparse as sp
from HiPart.clustering import PDDP


def prepare(inputs: dict[str, np.ndarray]) -> tuple[np.ndarray, int]:
    parts = (inputs["data"], inputs["indices"], inputs["indptr"])
    return sp.csr_array(parts, shape=tuple(inputs["shape"])).toarray(), int(inputs["k"])


def run(state: tuple[np.ndarray, int]) -> dict[str, np.ndarray]:
    x, k = state
    labels = PDDP(max_clusters_number=k, min_sample_split=1, visualization_utility=False).fit_predict(x)
    _, labels = np.unique(labels, return_inverse=True)
    parts = [x[labels == c] for c in range(labels.max() + 1)]
    objective = sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts)
    return {"labels": labels, "objective": np.array(objective)}
