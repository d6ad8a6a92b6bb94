"""What a careful user writes with NumPy and SciPy."""

import numpy as np


def kernel_kmeans(matrix, labels, k, max_iter=100):
    """Return labels, the squared norms of the centroids and the objective; stops after five two-cycles."""
    n, before, cycles = len(matrix), None, 0
    for _ in range(max_iter):
        members = np.zeros((n, k), dtype=matrix.dtype)
        members[np.arange(n), labels] = 1
        sizes = np.maximum(members.sum(axis=0), 1)
        sums = matrix @ members
        within = np.einsum("ic,ic->c", sums, members)
        new = (within / sizes**2 - 2 * sums / sizes).argmin(axis=1)
        if np.array_equal(new, labels):
            break
        cycles = cycles + 1 if before is not None and np.array_equal(new, before) else 0
        before, labels = labels, new
        if cycles == 5:
            break
    return labels, within / sizes**2, float(np.trace(matrix) - (within / sizes).sum())


def starts(inputs):
    def run():
        found = [kernel_kmeans(inputs["matrix"], start, 5) for start in inputs["starts"]]
        return {"labels": np.array([run[0] for run in found]), "objective": np.array([run[2] for run in found])}

    return run


def strength(clusters, predicted, k):
    """Return the prediction strength of one split (`validation`, Eqn 1)."""
    table = np.bincount(clusters * k + predicted, minlength=k * k).reshape(k, k)
    sizes = table.sum(axis=1)
    kept = sizes > 1
    return float(((table * (table - 1)).sum(axis=1)[kept] / (sizes * (sizes - 1))[kept]).min())


def one_split(matrix, shifted, k, a, b, rng):
    """Cluster both halves and return the strength of the prediction from the first to the second."""
    labels, norms, _ = kernel_kmeans(shifted[np.ix_(a, a)], rng.integers(0, k, len(a)), k)
    others, _, _ = kernel_kmeans(shifted[np.ix_(b, b)], rng.integers(0, k, len(b)), k)
    members = np.eye(k)[labels]
    sums = matrix[np.ix_(b, a)] @ members / np.maximum(members.sum(axis=0), 1)
    return strength(others, (norms - 2 * sums).argmin(axis=1), k)
