"""Single moves after convergence, to a local optimum of the unshifted objective."""

import numpy as np
from numpy.typing import NDArray

from ..._array import Array
from ...gram import Gram

CHAIN = 20  # moves of a chain, at most
TURNS = 3  # moves of one document before the sums are recomputed
MOST = 100  # moves per document, in total


def polish_labels(
    gram: Gram, diagonal: Array, labels: NDArray[np.intp], k: int, weights: Array, tolerance: float
) -> tuple[NDArray[np.intp], float]:
    """Move one document at a time while that lowers the objective; return the labels and the gain.

    Moving i from a to b lowers the objective by w_i n_a/(n_a − w_i) d(i, a) − w_i n_b/(n_b + w_i) d(i, b) (first
    variation). When no single move helps, chains of up to `CHAIN` best moves, each document at most once, are tried
    and kept up to their best point (Dhillon, Guan & Kogan 2002). Documents alone in their cluster stay.

    Where entries, products and diagonal of a Gram differ by rounding, two moves may seem to help in turn, without end.
    The sums are therefore recomputed after n moves, or when a document has moved `TURNS` times, and the moves since
    then are undone if they did not lower the objective by `tolerance`. `MOST` × n moves are the limit in any case.
    """
    walk = _Walk(gram, diagonal, labels.astype(np.intp), k, weights)
    first = lowest = walk.objective()
    made, more = 0, True
    while more and made < MOST * len(labels):
        before = walk.labels.copy()
        moves, more = walk.descend(tolerance)
        if moves == 0:
            break
        made += moves
        walk = _Walk(gram, diagonal, walk.labels, k, weights)
        if not lowest - walk.objective() > tolerance:
            return before, first - lowest
        lowest = walk.objective()
    return walk.labels, first - lowest


class _Walk:
    """A partition with the sums that single moves need: S (n, k), sizes and within.

    A move changes two clusters. What joining them costs is recomputed for every document, the cheapest other cluster
    only for documents that had one of the two: a move takes time in proportion to n, whatever k is.
    """

    def __init__(self, gram: Gram, diagonal: Array, labels: NDArray[np.intp], k: int, weights: Array) -> None:
        self.gram, self.diagonal, self.weights = gram, diagonal, weights
        self.labels = labels
        self.sums = np.asfortranarray(gram.sum_by(self.labels, k, weights))  # those of a cluster are read together
        self.sizes = np.bincount(self.labels, weights=weights, minlength=k)
        to_cluster = self.sums[np.arange(len(labels)), self.labels]
        self.within = np.bincount(self.labels, weights=weights * to_cluster, minlength=k)
        self.loss, self.cost = np.empty(len(labels)), np.empty((k, len(labels)))
        for cluster in range(k):
            self.update(cluster)
        self.cheapest = self.cost.argmin(axis=0)
        self.lowest = self.cost[self.cheapest, np.arange(len(labels))]

    def objective(self) -> float:
        """Return Σ w_i K_ii − Σ_c W_c / n_c."""
        mean = np.divide(self.within, self.sizes, out=np.zeros(len(self.sizes)), where=self.sizes > 0)
        return float(self.weights @ self.diagonal - mean.sum())

    def descend(self, tolerance: float) -> tuple[int, bool]:
        """Move while that helps; return the number of moves, and whether more may help.

        Stops early after n moves, or when a document has moved `TURNS` times.
        """
        moved = np.zeros(len(self.labels), dtype=np.intp)
        while moved.sum() < len(moved) and moved.max() < TURNS:
            documents = self.best(tolerance) or self.chain(tolerance)
            if not documents:
                return int(moved.sum()), False
            moved[documents] += 1
        return int(moved.sum()), True

    def update(self, cluster: int) -> None:
        """Recompute what leaving and joining a cluster changes: loss (n,) and cost (k, n), infinite for its own."""
        size, w = self.sizes[cluster], self.weights
        filled = size if size > 0 else 1.0
        far = self.diagonal + self.within[cluster] / filled**2 - 2.0 * self.sums[:, cluster] / filled
        self.cost[cluster] = w * size / np.where(size + w > 0, size + w, 1.0) * far
        members = np.flatnonzero(self.labels == cluster)
        weights = w[members]
        rest = size - weights
        alone = rest <= 1e-12 * size
        loss = weights * size / np.where(alone, 1.0, rest) * far[members]
        self.loss[members] = np.where(alone | (weights == 0), -np.inf, loss)
        self.cost[cluster, members] = np.inf

    def compare(self, document: int, clusters: tuple[int, int]) -> None:
        """Find the cheapest other cluster of every document, after two clusters have changed."""
        stale = (self.cheapest == clusters[0]) | (self.cheapest == clusters[1])
        stale[document] = True
        for cluster in clusters:
            cheaper = self.cost[cluster] < self.lowest
            self.cheapest[cheaper] = cluster
            np.minimum(self.lowest, self.cost[cluster], out=self.lowest)
        rows = np.flatnonzero(stale)
        costs = self.cost[:, rows]
        self.cheapest[rows] = costs.argmin(axis=0)
        self.lowest[rows] = costs.min(axis=0)

    def gains(self, locked: NDArray[np.bool_]) -> tuple[int, int, float]:
        """Return the best single move: document, cluster, gain."""
        document = int((np.where(locked, -np.inf, self.loss) - self.lowest).argmax())
        gain = (-np.inf if locked[document] else self.loss[document]) - self.cost[:, document]
        return document, int(gain.argmax()), float(gain.max())

    def apply(self, document: int, cluster: int) -> None:
        """Move a document; costs one row of the Gram."""
        row = self.gram.block([document])[0].astype(np.float64, copy=False)
        w, old = self.weights[document], self.labels[document]
        squared = self.diagonal[document]
        self.within[old] += w * (w * squared - 2.0 * self.sums[document, old])
        self.within[cluster] += w * (w * squared + 2.0 * self.sums[document, cluster])
        self.sums[:, old] -= w * row
        self.sums[:, cluster] += w * row
        self.sizes[old] -= w
        self.sizes[cluster] += w
        self.labels[document] = cluster
        self.update(int(old))
        self.update(cluster)
        self.compare(document, (int(old), cluster))

    def best(self, tolerance: float) -> list[int]:
        """Make the best single move if it lowers the objective; return the moved document."""
        document, cluster, gain = self.gains(np.zeros(len(self.labels), dtype=bool))
        if not gain > tolerance:
            return []
        self.apply(document, cluster)
        return [document]

    def chain(self, tolerance: float) -> list[int]:
        """Try a chain of best moves, good or bad; keep it up to its best point and return the moved documents."""
        locked = np.zeros(len(self.labels), dtype=bool)
        made: list[tuple[int, int]] = []
        total, best, kept = 0.0, tolerance, 0
        for _ in range(CHAIN):
            document, cluster, gain = self.gains(locked)
            if not np.isfinite(gain):
                break
            made.append((document, int(self.labels[document])))
            self.apply(document, cluster)
            locked[document] = True
            total += gain
            if total > best:
                best, kept = total, len(made)
        for document, old in reversed(made[kept:]):
            self.apply(document, old)
        return [document for document, _ in made[:kept]]
