"""Sums of similarities between documents and clusters, for a batch of partitions at once.

Kernel k-means needs S[p, c, i] = Σ_{j∈c} w_j K_ij for every partition p, cluster c and document i, and
W[p, c] = Σ_{i∈c} w_i S[p, c, i]. Two ways to have them:

* `HeldSums` stores S. After the first iteration only the documents that moved cost: their rows of K are added to the
  cluster they joined and taken from the one they left. For a stored matrix, or any Gram through products.
* `FactorSums` stores the clusters' sums in feature space, terms × clusters, and makes S a tile of documents at a time.
  For linear Grams: each iteration costs one pass over the stored entries, whatever n is.

A label of −1 keeps a document out of every cluster; it is still assigned to one, which predicts it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._array import Array, dot, is_sparse, mean_row_size, tiles
from ..._parallel import in_threads
from ...errors import InputError
from ...gram import Features, Gram

Labels = NDArray[np.int32]
# Two distances that differ by less than this share of their size are a tie, whatever order they were summed in.
JOINS = -2  # the label of a document that is to join the nearest of those that have one
TIE = 1e-12
_CONVERTED = 32 * 2**20  # bytes of a stored float32 matrix that are widened at a time


@dataclass(frozen=True)
class Rule:
    """How documents are assigned.

    Attributes
    ----------
    adjusted : bool
        Leave-one-out distances (`dominance`, Eqn 12) instead of plain ones (Eqn 4).
    tolerance : float
        Distances that differ by no more than this share of K_ii + ‖μ_c‖², c the nearest cluster, are a tie. The lowest
        cluster number wins, so that equal documents end up together; with `adjusted`, a document stays unless another
        cluster gains it something (Eqn 12).
    shift : float
        The trailing shift σ of the Gram. Sums are those of the Gram below it, which keeps objectives comparable and
        lets a stored matrix be used as it is; σ enters where distances are made.
    spherical : bool
        Assign to the centroid with the largest cosine, x·μ_c/‖μ_c‖, instead of the nearest one: k-means as
        `validation` runs it on texts (KM-S, KM-P). Without shift and `adjusted` only.
    centroid : float
        How much ‖μ_c‖² counts in a distance, more than 0 and at most 1: 1 as in Eqn 4, ½ when every pair of a cluster
        counts once.
    """

    adjusted: bool = False
    tolerance: float = TIE
    shift: float = 0.0
    spherical: bool = False
    centroid: float = 1.0

    def extent(self, diagonal: Array) -> Array:
        """Return how large the distances of each document are, as far as the document decides it."""
        return np.sqrt(np.abs(diagonal)) if self.spherical else np.abs(diagonal)


RULES = {
    "plain": Rule(),  # `dominance`, Eqn 4
    "adjusted": Rule(adjusted=True),  # AA, `dominance`, Eqn 12
    "cosine": Rule(spherical=True),  # KM-S and KM-P, `validation`, §4
}


def check_rule(name: Any) -> Rule:
    """Return a rule of the table by its name."""
    if not isinstance(name, str) or name not in RULES:
        raise InputError(f"rule must be one of {', '.join(map(repr, RULES))}; got {name!r}.")
    return RULES[name]


@dataclass(frozen=True)
class State:
    """A batch of partitions with the figures of their clusters.

    Attributes
    ----------
    labels : array of shape (partitions, n)
    sizes : array of shape (partitions, k)
        Sum of the members' weights.
    within : array of shape (partitions, k)
        W, the sum of similarities inside each cluster, without the shift.
    squares : array of shape (partitions, k)
        What a shift of 1 adds to W: Σ w·min(w, 1), so that a weight of 3 is the same as three copies.
    """

    labels: Labels
    sizes: Array
    within: Array
    squares: Array

    def part(self, partitions: Any = slice(None), documents: Any = slice(None)) -> State:
        """Return some of the partitions, seen at some of the documents."""
        return State(
            self.labels[partitions][:, documents],
            self.sizes[partitions],
            self.within[partitions],
            self.squares[partitions],
        )


class Sums(ABC):
    """What the engine asks of either way."""

    def __init__(self, diagonal: Array, weights: Array, k: int) -> None:
        self.diagonal, self.weights, self.k = diagonal, weights, k
        self.units = np.minimum(weights, 1.0)

    @property
    @abstractmethod
    def bytes_per_start(self) -> int:
        """How much memory one partition takes."""

    @abstractmethod
    def start(self, labels: Labels) -> None:
        """Begin with these partitions."""

    @abstractmethod
    def move(self, old: Labels, new: Labels) -> None:
        """Follow the documents that changed cluster."""

    @abstractmethod
    def keep(self, chosen: NDArray[np.bool_]) -> None:
        """Go on with some of the partitions."""

    @abstractmethod
    def within(self, labels: Labels) -> Array:
        """Return W, shape (partitions, k)."""

    def state(self, labels: Labels) -> State:
        """Return the partitions with their clusters' figures."""
        sizes, squares = (
            group_sums(np.broadcast_to(w, labels.shape), labels, self.k)
            for w in (self.weights, self.weights * self.units)
        )
        return State(labels, sizes, self.within(labels), squares)

    @abstractmethod
    def assign(self, state: State, rule: Rule) -> tuple[Labels, Array]:
        """Return each document's next cluster and its sum of similarities to it, both (partitions, n)."""

    def members(self, labels: Labels, chosen: Array | None = None, sign: float = 1.0) -> sp.csr_array:
        """Return the weighted membership matrix (partitions·k, n), of all members or of those `chosen`."""
        inside = labels >= 0 if chosen is None else chosen & (labels >= 0)
        partition, document = np.nonzero(inside)
        rows = partition * self.k + labels[partition, document]
        weights = sign * self.weights[document]
        return sp.csr_array((weights, (rows, document)), shape=(len(labels) * self.k, labels.shape[1]))


class HeldSums(Sums):
    """S stored, (partitions, k, n) in float64."""

    def __init__(self, gram: Gram, diagonal: Array, weights: Array, k: int, matrix: Array | None = None) -> None:
        super().__init__(diagonal, weights, k)
        self.gram, self.matrix = gram, matrix
        self.sums = np.empty((0, k, len(diagonal)))

    @property
    def bytes_per_start(self) -> int:
        return 8 * self.k * len(self.diagonal)

    def start(self, labels: Labels) -> None:
        self.sums = np.zeros((len(labels), self.k, labels.shape[1]))
        self._add(self.members(labels))

    def move(self, old: Labels, new: Labels) -> None:
        moved = old != new
        # Where more than half moved it is cheaper to begin anew, and rounding does not pile up.
        anew = 2 * moved.sum(axis=1) > (new >= 0).sum(axis=1)
        self.sums[anew] = 0.0
        moved[anew] = False
        joined = self.members(new, moved | anew[:, None])
        self._add(joined + self.members(old, moved, sign=-1.0))

    def _add(self, coefficients: sp.csr_array) -> None:
        """Add coefficients · K to S, touching only the clusters that changed."""
        changed = np.flatnonzero(np.diff(coefficients.indptr))
        flat = self.sums.reshape(-1, self.sums.shape[2])
        part = coefficients[changed]
        if self.matrix is None:
            flat[changed] += (self.gram @ part.T).T
            return
        step = max(1, _CONVERTED // (8 * len(self.matrix)))
        if self.matrix.dtype == np.float64:
            step = len(self.matrix)
        for start in range(0, len(self.matrix), step):
            cols = slice(start, start + step)
            flat[changed, cols] += part @ self.matrix[:, cols].astype(np.float64, copy=False)

    def keep(self, chosen: NDArray[np.bool_]) -> None:
        self.sums = self.sums[chosen]

    def within(self, labels: Labels) -> Array:
        own = np.take_along_axis(self.sums, np.maximum(labels, 0)[:, None], axis=1)[:, 0]
        return group_sums(own * self.weights, labels, self.k)

    def assign(self, state: State, rule: Rule) -> tuple[Labels, Array]:
        labels, chosen = np.empty_like(state.labels), np.empty(state.labels.shape)
        step = max(1, 2**22 // (8 * self.sums[0].size))  # a few partitions at a time stay in the cache
        for start in range(0, len(labels), step):
            part = slice(start, start + step)
            labels[part], chosen[part] = assign(self.sums[part], state.part(part), self.diagonal, self.weights, rule)
        return labels, chosen


class FactorSums(Sums):
    """Cluster sums in feature space, (features, partitions·k) in float64; S is made tile by tile."""

    def __init__(self, factor: Features, diagonal: Array, weights: Array, k: int, n_jobs: int | None = None) -> None:
        super().__init__(diagonal, weights, k)
        self.factor, self.n_jobs = factor, n_jobs
        self.centroids = np.empty((factor.rows.shape[1], 0))

    @property
    def bytes_per_start(self) -> int:
        return 8 * self.k * max(len(self.diagonal), 3 * self.factor.rows.shape[1])  # with the copies of a change

    def _collect(self, coefficients: sp.csr_array) -> Array:
        """Return coefficients · S X, transposed to (features, partitions·k)."""
        used = np.unique(coefficients.indices)
        scaled = sp.csr_array(coefficients[:, used] * self.factor.scale[used])
        return dot(scaled, self.factor.rows[used]).T

    def start(self, labels: Labels) -> None:
        self.centroids = np.ascontiguousarray(self._collect(self.members(labels)))

    def move(self, old: Labels, new: Labels) -> None:
        moved = old != new
        anew = 2 * moved.sum() > (new >= 0).sum()
        if anew:
            self.start(new)
        elif moved.any():
            self.centroids += self._collect(self.members(new, moved) + self.members(old, moved, sign=-1.0))

    def keep(self, chosen: NDArray[np.bool_]) -> None:
        self.centroids = np.ascontiguousarray(self.centroids[:, np.repeat(chosen, self.k)])

    def within(self, labels: Labels) -> Array:
        return np.einsum("tc,tc->c", self.centroids, self.centroids).reshape(-1, self.k)

    def assign(self, state: State, rule: Rule) -> tuple[Labels, Array]:
        labels, chosen = np.empty_like(state.labels), np.empty(state.labels.shape)
        x, columns = self.factor.rows, self.centroids.shape[1]

        def piece(start: int, stop: int) -> None:
            for part in tiles(stop - start, 8 * (3 * columns + 2 * mean_row_size(x))):
                rows = slice(start + part.start, start + part.stop)
                product = dot(x[rows], self.centroids) * self.factor.scale[rows, None]
                sums = np.ascontiguousarray(product.T).reshape(-1, self.k, product.shape[0])
                inner = state.part(documents=rows)
                labels[:, rows], chosen[:, rows] = assign(sums, inner, self.diagonal[rows], self.weights[rows], rule)

        in_threads(piece, x.shape[0], self.n_jobs, least=max(1, 2**20 // max(columns, 1)))
        return labels, chosen


def group_sums(values: Array, labels: Labels, k: int) -> Array:
    """Sum values (partitions, n) over the members of each cluster: (partitions, k). Labels of −1 are left out."""
    cells = np.arange(len(labels))[:, None] * (k + 1) + (labels + 1)  # the first cell of each row is for −1
    sums = np.bincount(cells.ravel(), weights=values.ravel(), minlength=len(labels) * (k + 1))
    return np.ascontiguousarray(sums.reshape(-1, k + 1)[:, 1:])


def group_counts(labels: Labels, k: int) -> NDArray[np.intp]:
    """Return how many members each cluster has: (partitions, k)."""
    cells = np.arange(len(labels))[:, None] * (k + 1) + (labels + 1)  # the first cell of each row is for −1
    return np.bincount(cells.ravel(), minlength=len(labels) * (k + 1)).reshape(-1, k + 1)[:, 1:].copy()


def centroid_norms(state: State, shift: float) -> Array:
    """Return ‖μ_c‖² = (W + σ Σ w min(w, 1))/n_c², infinite for an empty cluster: (partitions, k)."""
    filled = state.sizes > 0
    norms = np.full(state.sizes.shape, np.inf)
    return np.divide(state.within + shift * state.squares, state.sizes**2, out=norms, where=filled)


def comparison(state: State, rule: Rule) -> tuple[Array, Array, Array]:
    """Return offset, slope and extent of every cluster: what is compared is offset + slope · S, the least is taken.

    d(i, c) − K_ii = ‖μ_c‖² − 2 S/n_c (`dominance`, Eqn 4), the norm times the rule's weight; or −S/√W, the negated
    cosine but for ‖x_i‖ (`validation`, §4). An empty cluster's offset is infinite. The extent is the cluster's part in
    the size of a distance.
    """
    filled = state.sizes > 0
    if rule.spherical:
        roots = np.sqrt(np.maximum(state.within, 0.0))
        slope = np.divide(-1.0, roots, out=np.zeros_like(roots), where=filled & (roots > 0))
        return np.where(filled, 0.0, np.inf), slope, np.zeros_like(slope)
    norms = rule.centroid * centroid_norms(state, rule.shift)
    return norms, np.divide(-2.0, state.sizes, out=np.zeros_like(state.sizes), where=filled), np.abs(norms)


def assign(sums: Array, state: State, diagonal: Array, weights: Array, rule: Rule) -> tuple[Labels, Array]:
    """Choose the nearest cluster for every document of a tile; see `comparison` for distances and `Rule` for ties.

    Parameters
    ----------
    sums : array of shape (partitions, k, r)
    state : State
        Labels of shape (partitions, r).
    diagonal, weights : array of shape (r,)
        Self-similarities without the shift, and weights.
    """
    offset, slope, extent = comparison(state, rule)
    distance = sums * slope[:, :, None]
    distance += offset[:, :, None]
    inside = state.labels >= 0
    current = np.maximum(state.labels, 0).astype(np.intp)

    def take(values: Array) -> Array:
        return np.take_along_axis(values, current, axis=1)

    own = distance[:, 0]
    if rule.adjusted or rule.shift:
        own = np.take_along_axis(distance, current[:, None], axis=1)[:, 0]
        if rule.adjusted:
            similar = np.take_along_axis(sums, current[:, None], axis=1)[:, 0]
            own = np.where(inside, _left_out(similar, state, take, diagonal, weights, rule), own)
        else:
            one = np.minimum(weights, 1.0)
            own += np.where(inside, rule.shift * one * take(slope), 0.0)  # K_ii + σ is among its own sums
        np.put_along_axis(distance, current[:, None], own[:, None], axis=1)
    least = distance.argmin(axis=1)
    size = rule.extent(diagonal) + np.take_along_axis(extent, least, axis=1)
    limit = np.take_along_axis(distance, least[:, None], axis=1)[:, 0] + rule.tolerance * size
    nearest = (distance <= limit[:, None]).argmax(axis=1)
    labels = np.where(inside & (own <= limit), current, nearest) if rule.adjusted else nearest
    return labels.astype(np.int32), np.take_along_axis(sums, labels[:, None], axis=1)[:, 0]


def _left_out(
    similar: Array, state: State, take: Callable[[Array], Array], diagonal: Array, weights: Array, rule: Rule
) -> Array:
    """Return each document's distance to its own cluster without itself (`dominance`, Eqn 12).

    A document that is alone in its cluster never leaves it: its distance is −∞. A weight above 1 stands for copies, of
    which one is left out.
    """
    one = np.minimum(weights, 1.0)
    size = take(state.sizes) - one
    alone = size <= 1e-12 * one
    size = np.where(alone, 1.0, size)
    within = take(state.within) - 2.0 * one * similar + one**2 * diagonal
    within += rule.shift * (take(state.squares) - one**2)
    return np.where(alone, -np.inf, rule.centroid * within / size**2 - 2.0 * (similar - one * diagonal) / size)


def stored_entries(features: Any) -> int:
    """Return how many numbers a pass over the features reads."""
    return int(features.nnz) if is_sparse(features) else int(features.size)
