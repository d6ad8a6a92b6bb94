"""PDDP from its definition, on dense matrices: whole eigendecompositions, every cut tried (`pddp`, §2 and §4)."""

import numpy as np


def scatter(points):
    """The explicit sum of squares."""
    return float(((points - points.mean(axis=0)) ** 2).sum())


def kernel_scatter(K):
    """Squared distances to the centroid, document by document; K may have negative entries."""
    n = len(K)
    centre = K.sum() / n**2
    return float(sum(K[i, i] - 2 * K[i].sum() / n + centre for i in range(n)))


def components(K, count):
    """Leading eigenpairs of HKH, all of it in memory."""
    n = len(K)
    H = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(H @ K @ H)
    return values[::-1][:count], vectors[:, ::-1][:, :count]


def explained(K, left):
    """Objective of two parts, less the trace: to be minimised."""
    return -sum(K[np.ix_(part, part)].sum() / part.sum() for part in (left, ~left) if part.any())


def best_cut(projections, objective, tie=1e-9):
    """Try every cut between different projections; return the parts of the first best one."""
    values = np.sort(projections)
    apart = np.diff(values) > tie * np.abs(values).max()
    tried = []
    for threshold in ((values[1:] + values[:-1]) / 2)[apart]:
        left = projections <= threshold
        tried.append((objective(left), left))
    return min(tried, key=lambda pair: pair[0])


def projection_objective(projections):
    """The 2-means objective of the projections, explicitly."""
    return lambda left: sum(((part - part.mean()) ** 2).sum() for part in (projections[left], projections[~left]))


def tree_leaves(K, k, cut="zero"):
    """Grow a binary tree; return its leaves as sets."""
    leaves = [np.arange(len(K))]
    while len(leaves) < k:
        worst = max(range(len(leaves)), key=lambda i: kernel_scatter(K[np.ix_(leaves[i], leaves[i])]))
        members = leaves.pop(worst)
        part = K[np.ix_(members, members)]
        values, vectors = components(part, 1)
        projections = np.sqrt(values[0]) * vectors[:, 0]
        if cut == "zero":
            left = projections <= 0
        elif cut == "projection":
            left = best_cut(projections, projection_objective(projections))[1]
        else:
            left = best_cut(projections, lambda left, part=part: explained(part, left))[1]
        leaves += [members[left], members[~left]]
    return {frozenset(leaf.tolist()) for leaf in leaves}
