"""The peer: what a careful user writes with NumPy, one start after the other."""

import numpy as np


def cluster(matrix: np.ndarray, labels: np.ndarray, k: int, max_iter: int = 100) -> tuple[np.ndarray, float]:
    n = len(matrix)
    for _ in range(max_iter):
        members = np.zeros((n, k), dtype=matrix.dtype)
        members[np.arange(n), labels] = 1
        sizes = np.maximum(members.sum(axis=0), 1)
        sums = matrix @ members
        within = np.einsum("ic,ic->c", sums, members)
        new = (within / sizes**2 - 2 * sums / sizes).argmin(axis=1)
        if np.array_equal(new, labels):
            break
        labels = new
    return labels, float(np.trace(matrix) - (within / sizes).sum())


def run(inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    found = [cluster(inputs["matrix"], start, 5) for start in inputs["starts"]]
    return {"labels": np.array([labels for labels, _ in found]), "objectives": np.array([value for _, value in found])}
