"""Other packages, each imported by the function that needs it."""

import numpy as np
from worker import csr


def tslearn(inputs):
    """Return five starts of its own; all are needed to compare objectives."""
    from tslearn.clustering import KernelKMeans

    matrix = inputs["matrix"].astype(np.float64)

    def run():
        objectives = []
        for seed in range(5):
            model = KernelKMeans(n_clusters=5, kernel="precomputed", n_init=1, max_iter=100, tol=0, random_state=seed)
            labels = model.fit(matrix[:, :, None]).labels_
            within = [matrix[np.ix_(labels == c, labels == c)].sum() / max((labels == c).sum(), 1) for c in range(5)]
            objectives.append(np.trace(matrix) - sum(within))
        return {"objective": np.array(objectives)}

    return run


def hipart(inputs):
    """Return PDDP on dense rows, which HiPart needs; making them dense is not timed."""
    from HiPart.clustering import PDDP

    x, k = csr(inputs).toarray(), int(inputs["k"])

    def run():
        labels = PDDP(max_clusters_number=k, min_sample_split=1, visualization_utility=False).fit_predict(x)
        _, labels = np.unique(labels, return_inverse=True)
        parts = [x[labels == c] for c in range(labels.max() + 1)]
        return {"objective": np.array(sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts))}

    return run
