"""Kernel k-means document by document, straight from `dominance` Eqns 3, 4 and 12, with the stated rules for ties and
empty clusters. K is the matrix with its shift; `sigma` is that shift, for the unshifted objective."""

import numpy as np

from tests.reference.naive import objective


def distance(K, i, members, centroid=1.0):
    m = len(members)
    return K[i, i] + centroid * K[np.ix_(members, members)].sum() / m**2 - 2 * K[i, members].sum() / m


def step(K, labels, k, *, adjusted=False, sigma=0.0, centroid=1.0, tie=1e-12, filled=None):
    """Return the labels after one batch update; `filled` notes the empty clusters that got a document."""
    n = len(K)
    groups = [np.flatnonzero(labels == c) for c in range(k)]
    new = labels.copy()
    for i in range(n):
        own = labels[i]
        d = np.full(k, np.inf)
        for c in range(k):
            members = groups[c]
            if adjusted and c == own:
                members = members[members != i]
                d[c] = distance(K, i, members, centroid) if len(members) else -np.inf
            elif len(members):
                d[c] = distance(K, i, members, centroid)
        nearest = groups[int(d.argmin())]
        limit = d.min() + tie * (abs(K[i, i] - sigma) + centroid * abs(K[np.ix_(nearest, nearest)].mean()))
        if not adjusted or d[own] > limit:
            new[i] = np.flatnonzero(d <= limit)[0]
    # an empty cluster takes the document farthest, without the shift, from the centroid it was assigned to
    plain = K - sigma * np.eye(n)
    joined = [groups[c] for c in new]
    far = np.array([distance(plain, i, g) for i, g in enumerate(joined)])
    least = np.array([tie * (abs(plain[i, i]) + abs(plain[np.ix_(g, g)].mean())) for i, g in enumerate(joined)])
    movable = np.abs(far) > least
    for c in range(k):
        if (new == c).any():
            continue
        counts = np.bincount(new, minlength=k)
        usable = np.where(movable & (counts[new] > 1), far, -np.inf)
        best = int(usable.argmax())
        if usable[best] > -np.inf:
            i = int(np.flatnonzero(usable >= usable[best] - least[best])[0])
            new[i] = c
            movable[i] = False
            if filled is not None:
                filled.append(c)
    return new


def run(K, labels, k, *, adjusted=False, sigma=0.0, centroid=1.0, max_iter=100, filled=None):
    """Return labels, outcome, moves and unshifted objectives of every iteration."""
    plain = K - sigma * np.eye(len(K))
    labels, before, cycles = np.array(labels), None, 0
    moves, values = [], []
    for _ in range(max_iter):
        values.append(objective(plain, labels))
        new = step(K, labels, k, adjusted=adjusted, sigma=sigma, centroid=centroid, filled=filled)
        moves.append(int((new != labels).sum()))
        cycles = cycles + 1 if before is not None and (new == before).all() else 0
        labels, before = new, labels
        if moves[-1] == 0:
            return labels, "converged", moves, values
        if cycles >= 5:
            return labels, "oscillated", moves, values
    return labels, "max_iter", moves, values
