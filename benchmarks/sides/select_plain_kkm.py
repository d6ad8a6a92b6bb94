"""The peer: what a careful user writes with NumPy, one half after the other; 5 splits of `validation`, Fig. 3."""

import numpy as np
import scipy.sparse as sp

SPLITS, KS = 5, range(2, 11)


def prepare(inputs: dict[str, np.ndarray]) -> np.ndarray:
    x = sp.csr_array((inputs["data"], inputs["indices"], inputs["indptr"]), shape=tuple(inputs["shape"]))
    lengths = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())
    x = sp.diags_array(1 / np.where(lengths > 0, lengths, 1)) @ x
    return (x @ x.T).toarray()


def cluster(matrix: np.ndarray, labels: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Kernel k-means on a shifted matrix; stops after five two-cycles. Returns labels and ‖μ_c‖²."""
    n, before, cycles = len(matrix), None, 0
    for _ in range(100):
        members = np.zeros((n, k))
        members[np.arange(n), labels] = 1
        sizes = np.maximum(members.sum(axis=0), 1)
        sums = matrix @ members
        norms = np.einsum("ic,ic->c", sums, members) / sizes**2
        new = (norms - 2 * sums / sizes).argmin(axis=1)
        if np.array_equal(new, labels):
            break
        cycles = cycles + 1 if before is not None and np.array_equal(new, before) else 0
        before, labels = labels, new
        if cycles == 5:
            break
    return labels, norms


def predict(cross: np.ndarray, labels: np.ndarray, norms: np.ndarray, k: int) -> np.ndarray:
    members = np.zeros((len(labels), k))
    members[np.arange(len(labels)), labels] = 1
    sizes = np.maximum(members.sum(axis=0), 1)
    return (norms - 2 * (cross @ members) / sizes).argmin(axis=1)


def strength(clusters: np.ndarray, predicted: np.ndarray, k: int) -> float:
    table = np.bincount(clusters * k + predicted, minlength=k * k).reshape(k, k)
    sizes = table.sum(axis=1)
    kept = sizes > 1
    return float(((table * (table - 1)).sum(axis=1)[kept] / (sizes * (sizes - 1))[kept]).min())


def select(matrix: np.ndarray, splits: int) -> dict[str, np.ndarray]:
    n, rng = len(matrix), np.random.default_rng(0)
    shifted = matrix - np.eye(n) * np.trace(matrix) / n
    means = []
    for k in KS:
        pairs = [rng.integers(0, k, (2, n - n // 2)) for _ in range(50)]
        chance = np.mean([strength(one, other, k) for one, other in pairs])
        found = []
        for split in range(splits):
            order = np.random.default_rng(split).permutation(n)
            a, b = order[: n // 2], order[n // 2 :]
            labels_a, norms = cluster(shifted[np.ix_(a, a)], rng.integers(0, k, len(a)), k)
            labels_b, _ = cluster(shifted[np.ix_(b, b)], rng.integers(0, k, len(b)), k)
            found.append(strength(labels_b, predict(matrix[np.ix_(b, a)], labels_a, norms, k), k))
        means.append((np.mean(found) - chance) / (1 - chance))
    return {"ks": np.array(KS), "means": np.array(means)}


def run(matrix: np.ndarray) -> dict[str, np.ndarray]:
    return select(matrix, SPLITS)
