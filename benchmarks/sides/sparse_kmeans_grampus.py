"""Ours: centroids as terms × clusters, threads over rows."""

import numpy as np
import scipy.sparse as sp

from grampus.cluster import kernel_kmeans
from grampus.gram import Gram
from grampus.kernels import parse_kernel


def prepare(inputs: dict[str, np.ndarray]) -> tuple[Gram, np.ndarray, int]:
    x = sp.csr_array((inputs["data"], inputs["indices"], inputs["indptr"]), shape=tuple(inputs["shape"]))
    return parse_kernel("cosine").gram(x), inputs["start"], int(inputs["iterations"])


def run(state: tuple[Gram, np.ndarray, int]) -> dict[str, np.ndarray]:
    gram, start, iterations = state
    # scikit-learn assigns once more after its last iteration
    result = kernel_kmeans(gram, 20, init=start, n_init=1, max_iter=iterations + 1)
    return {"labels": result.labels, "objective": np.array(result.objective)}
