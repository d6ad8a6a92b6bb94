"""Kernel k-means with every sum computed afresh from the Gram matrix: weights, predictions, cosines and joins included.

K is the matrix without its shift. Labels of −1 are predicted only; −2 first joins the nearest labelled document.
"""

import numpy as np


def comparison(K, labels, k, rule, weights, tie=1e-12):
    """Return what is compared, (n, k), what is a tie for each document, the sums S, the sizes and W."""
    adjusted, shift, spherical, centroid = rule
    members = np.eye(k)[np.maximum(labels, 0)] * (weights * (labels >= 0))[:, None]
    one = np.minimum(weights, 1.0)
    S, sizes, squares = K @ members, members.sum(axis=0), one @ members
    W = np.einsum("ic,ic->c", members, S)
    own, inside = np.maximum(labels, 0), labels >= 0
    rows = np.arange(len(K))
    with np.errstate(all="ignore"):
        if spherical:
            d = np.where(sizes > 0, np.where(W > 0, -S / np.sqrt(W), 0.0), np.inf)
            return d, lambda least: tie * np.sqrt(np.abs(K.diagonal())), S, sizes, W
        norms = np.where(sizes > 0, centroid * (W + shift * squares) / sizes**2, np.inf)
        d = np.where(sizes > 0, norms - 2 * S / sizes, np.inf)
        if adjusted:
            rest = sizes[own] - one
            similar = S[rows, own]
            inner = W[own] - 2 * one * similar + one**2 * K.diagonal() + shift * (squares[own] - one**2)
            without = centroid * inner / rest**2 - 2 * (similar - one * K.diagonal()) / rest
            d[rows, own] = np.where(inside, np.where(rest <= 1e-12 * one, -np.inf, without), d[rows, own])
        else:
            d[rows, own] -= np.where(inside, 2 * shift * one / sizes[own], 0.0)
    return d, lambda least: tie * (np.abs(K.diagonal()) + np.abs(norms[least])), S, sizes, W


def step(K, labels, k, rule, weights):
    """Return the next cluster of every document, those outside too."""
    d, tie, S, sizes, W = comparison(K, labels, k, rule, weights)
    least = d.argmin(axis=1)
    rows = np.arange(len(K))
    limit = d[rows, least] + tie(least)
    chosen = (d <= limit[:, None]).argmax(axis=1)
    if rule[0]:
        own = np.maximum(labels, 0)
        chosen = np.where((labels >= 0) & (d[rows, own] <= limit), own, chosen)
    new = np.where(labels >= 0, chosen, labels)
    # an empty cluster takes the document farthest from the centroid it was assigned to
    with np.errstate(all="ignore"):
        norms = np.where(sizes > 0, W / sizes**2, np.inf)
        far = K.diagonal() + norms[chosen] - 2 * S[rows, chosen] / np.where(sizes > 0, sizes, 1)[chosen]
        least = 1e-12 * (np.abs(K.diagonal()) + np.abs(norms[chosen]))
    movable = (labels >= 0) & (np.abs(far) > least)
    for c in range(k):
        counts = np.bincount(new[new >= 0], minlength=k)
        if counts[c]:
            continue
        usable = np.where(movable & (counts[np.maximum(new, 0)] > 1), far, -np.inf)
        best = usable.argmax()
        if np.isneginf(usable[best]):
            break
        i = (usable >= usable[best] - least[best]).argmax()
        new[i], movable[i] = c, False
    return new, chosen


def join(K, labels):
    """Let every document marked −2 join the nearest labelled one; the lowest label in a tie."""
    labels = labels.copy()
    centres = np.flatnonzero(labels >= 0)
    centres = centres[np.argsort(labels[centres])]
    for i in np.flatnonzero(labels == -2):
        d = K[centres, centres] - 2 * K[centres, i]
        tie = 1e-12 * (abs(K[i, i]) + abs(K[centres[d.argmin()], centres[d.argmin()]]))
        labels[i] = labels[centres[(d <= d.min() + tie).argmax()]]
    return labels


def run(K, start, k, rule, weights, max_iter=100):
    """Return labels, predictions, outcome, moves and objectives (one more than moves)."""

    def objective(labels):
        _, _, _, sizes, W = comparison(K, labels, k, rule, weights)
        return (weights * K.diagonal())[labels >= 0].sum() - (W[sizes > 0] / sizes[sizes > 0]).sum()

    labels, before, cycles, moves = join(K, start), None, 0, []
    values, outcome = [objective(labels)], "MAX_ITER"
    while len(moves) < max_iter:
        new, _ = step(K, labels, k, rule, weights)
        moves.append(int((new != labels).sum()))
        cycles = cycles + 1 if before is not None and (new == before).all() else 0
        labels, before = new, labels
        values.append(objective(labels))
        if moves[-1] == 0 or cycles >= 5:
            outcome = "OSCILLATED" if moves[-1] else "CONVERGED"
            break
    predicted = np.where(labels >= 0, labels, step(K, labels, k, rule, weights)[1])
    return labels, predicted, outcome, moves, values
