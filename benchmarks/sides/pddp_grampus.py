"""Ours: PDDP on the sparse terms, estimator and all."""

import numpy as np
import scipy.sparse as sp

from grampus import PDDP


def prepare(inputs: dict[str, np.ndarray]) -> tuple[sp.csr_array, int]:
    parts = (inputs["data"], inputs["indices"], inputs["indptr"])
    return sp.csr_array(parts, shape=tuple(inputs["shape"])), int(inputs["k"])


def run(state: tuple[sp.csr_array, int]) -> dict[str, np.ndarray]:
    x, k = state
    model = PDDP(k).fit(x)
    return {"labels": model.labels_, "objective": np.array(model.objective_)}
