"""What a careful user writes with NumPy and SciPy."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, svds
from worker import csr


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


def pddp(inputs):
    """Return a loop of svds on the centred operator of a node's sparse rows."""
    x, k = csr(inputs), int(inputs["k"])

    def first_component(part):
        mean, columns = np.asarray(part.mean(axis=0)).ravel(), part.T
        centred = LinearOperator(
            part.shape,
            matvec=lambda v: part @ v.ravel() - mean @ v.ravel(),
            rmatvec=lambda w: columns @ w.ravel() - mean * w.sum(),
            dtype=np.float64,
        )
        start = np.random.default_rng(0).standard_normal(min(part.shape))
        return svds(centred, k=1, tol=1e-10, v0=start)[0][:, 0]

    def scatter(part):
        total = np.asarray(part.sum(axis=0)).ravel()
        return float((part.data**2).sum() - total @ total / part.shape[0])

    def run():
        leaves, scatters = [np.arange(x.shape[0])], [scatter(x)]
        while len(leaves) < k:
            worst = int(np.argmax(scatters))
            members, _ = leaves.pop(worst), scatters.pop(worst)
            component = first_component(x[members])
            for part in (members[component <= 0], members[component > 0]):
                leaves.append(part)
                scatters.append(scatter(x[part]))
        labels = np.empty(x.shape[0], dtype=np.int64)
        for number, members in enumerate(leaves):
            labels[members] = number
        return {"labels": labels}

    return run


def subsequence(inputs, length=3, decay=0.5):
    texts = np.split(inputs["points"], inputs["ends"][:-1])

    def similarity(x, y):
        equal = x[:, None] == y[None, :]
        ended = np.where(equal, decay**2, 0.0)
        for _ in range(length - 1):
            sums = np.zeros((len(x) + 1, len(y) + 1))
            for j in range(1, len(y) + 1):
                sums[1:, j] = decay * sums[1:, j - 1] + ended[:, j - 1]
            for i in range(1, len(x) + 1):
                sums[i] += decay * sums[i - 1]
            ended = np.where(equal, decay**2 * sums[:-1, :-1], 0.0)
        return float(ended.sum())

    def run():
        gram = np.zeros((len(texts), len(texts)))
        for i, x in enumerate(texts):
            for j in range(i, len(texts)):
                gram[i, j] = gram[j, i] = similarity(x, texts[j])
        return {"gram": gram}

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


def choose_k(inputs, splits=5, ks=range(2, 11)):
    """Return five splits of `validation`, Fig. 3, one half after the other."""
    x = csr(inputs)
    lengths = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())
    x = sp.diags_array(1 / np.where(lengths > 0, lengths, 1)) @ x
    matrix = (x @ x.T).toarray()

    def run():
        n, rng, means = len(matrix), np.random.default_rng(0), []
        shifted = matrix - np.eye(n) * np.trace(matrix) / n
        for k in ks:
            pairs = [rng.integers(0, k, (2, n - n // 2)) for _ in range(50)]
            chance = np.mean([strength(one, other, k) for one, other in pairs])
            halves = [np.array_split(np.random.default_rng(split).permutation(n), 2) for split in range(splits)]
            found = [one_split(matrix, shifted, k, *half, rng) for half in halves]
            means.append((np.mean(found) - chance) / (1 - chance))
        return {"ks": np.array(ks), "means": np.array(means)}

    return run
