"""Ours: all starts in lockstep."""

import numpy as np

from grampus.cluster import kernel_kmeans
from grampus.gram import DenseGram


def prepare(inputs: dict[str, np.ndarray]) -> tuple[DenseGram, np.ndarray]:
    return DenseGram(inputs["matrix"]), inputs["starts"]


def run(state: tuple[DenseGram, np.ndarray]) -> dict[str, np.ndarray]:
    gram, starts = state
    runs = kernel_kmeans(gram, 5, init=starts, n_init=len(starts)).runs
    return {"labels": runs.labels, "objectives": runs.objective}
