"""Textbook twins of the selection code: pair by pair, document by document."""

import numpy as np


def prediction_strength(clusters, predicted):
    """`validation`, Eqn 1, with the n × n matrix M of pairs that are together in both."""
    clusters, predicted = np.asarray(clusters), np.asarray(predicted)
    together = (clusters[:, None] == clusters) & (predicted[:, None] == predicted)
    np.fill_diagonal(together, False)
    shares = []
    for cluster in np.unique(clusters):
        members = np.flatnonzero(clusters == cluster)
        if len(members) >= 2:
            shares.append(together[np.ix_(members, members)].sum() / (len(members) * (len(members) - 1)))
    return min(shares, default=0.0)


def reduce(matrix, rate, p):
    """Seeds, neighbourhoods and K′ of a stored matrix (`validation`, Eqns 3 and 4)."""
    n = len(matrix)
    members = []
    for i in range(n):
        near = sorted(
            (j for j in range(n) if j != i), key=lambda j: (matrix[i, i] + matrix[j, j] - 2 * matrix[i, j], j)
        )
        members.append([i, *near[:p]])
    compact = [matrix[np.ix_(m, m)].mean().round(10) for m in members]  # neighbours of each other share theirs
    ranked = sorted(range(n), key=lambda i: (-compact[i], i))
    seeds = ranked[rate - 1 :: rate][: n // rate]
    chosen = [members[i] for i in seeds]
    reduced = [[matrix[np.ix_(a, b)].mean() for b in chosen] for a in chosen]
    return np.array(seeds), np.array(chosen), np.array(reduced)


def kernel_kmeans(matrix, sigma, labels, k, centroid=1.0, max_iter=100):
    """Plain loops of kernel k-means on one half; None if a cluster becomes empty, else the final labels."""
    n, cycles, before = len(matrix), 0, None
    for _ in range(max_iter):
        if len(np.unique(labels)) < k:
            return None
        shifted = matrix + sigma * np.eye(n)
        d = np.array(
            [
                [
                    centroid * shifted[np.ix_(labels == c, labels == c)].mean() - 2 * shifted[i, labels == c].mean()
                    for c in range(k)
                ]
                for i in range(n)
            ]
        )
        new = d.argmin(axis=1)
        if (new == labels).all():
            return new
        cycles = cycles + 1 if before is not None and (new == before).all() else 0
        before, labels = labels, new
        if cycles >= 5:
            break
    return labels if len(np.unique(labels)) == k else None


def nearest_centroid(matrix, sigma, train, labels, new, k, centroid=1.0):
    """Classify `new` documents by the centroids of the training ones."""
    block = matrix[np.ix_(train, train)] + sigma * np.eye(len(train))
    found = []
    for i in new:
        d = [
            centroid * block[np.ix_(labels == c, labels == c)].mean() - 2 * matrix[i, train[labels == c]].mean()
            for c in range(k)
        ]
        found.append(int(np.argmin(d)))
    return np.array(found)
