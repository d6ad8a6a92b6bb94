"""The documents of one node of a tree, as the splits see them: products, sums in an order, parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._array import Array, Index, column_sums, dot, is_sparse, row_squares, scale_rows, tiles
from ..._config import settings
from ...gram import DenseGram, Gram, LinearGram, centre, factor
from ...gram.factor import Factor
from ...kernels import Gaussian, Kernel, Linear, Polynomial

Members = NDArray[np.intp]
_ROUNDING = {"float64": 1e-13, "float32": 1e-6}  # of the trace: a scatter below it is 0
_BLOCK = 128  # rows of features whose similarities to each other are formed at a time


class Space(ABC):
    """n documents in feature space, held so that a part of them can be taken.

    Attributes
    ----------
    members : array of shape (n,)
        Their numbers in the fitted collection; not always in rising order.
    diagonal : array of shape (n,)
    start : array of shape (n,)
        Where the search for components starts. It depends on the documents' content, not on their order.
    rounding : float
        Relative to the trace; scatter and eigenvalues below it are 0.
    probe : bool
        Whether the start may depend on the order after all, where documents are mirror images of each other: then
        multiple eigenvalues must be looked for.
    """

    members: Members
    diagonal: Array
    start: Array
    rounding: float
    probe = False

    def __len__(self) -> int:
        return len(self.members)

    @property
    def floor(self) -> float:
        """What rounding can make of a scatter of 0."""
        return self.rounding * float(np.abs(self.diagonal).sum())

    @property
    @abstractmethod
    def gram(self) -> Gram:
        """The documents as a Gram."""

    @abstractmethod
    def product(self, v: Array) -> Array:
        """Return Kv for one vector."""

    @abstractmethod
    def dense(self) -> Array:
        """Return K in float64, up to a centring."""

    @abstractmethod
    def sums(self) -> Array:
        """Return Ke, the row sums."""

    @abstractmethod
    def earlier_sums(self, order: Members) -> Array:
        """Return Σ K_ij over the documents j before i in an order, in that order: one pass."""

    @abstractmethod
    def take(self, index: Members) -> Space:
        """Return some of the documents."""

    def scatter(self) -> float:
        """Return trace(K) − eᵀKe/n (`pddp`, Eqn 6, where the last term must not be doubled)."""
        return float(self.diagonal.sum() - self.sums().sum() / len(self))


def _centred(v: Array) -> Array:
    return np.asarray(v - np.add.reduce(v) / len(v))


class CentredNode(Gram):
    """H K H of the documents of a node, H = I − 11ᵀ/n: its eigenvectors are the principal components."""

    def __init__(self, node: Space) -> None:
        super().__init__(len(node), np.float64)
        self.node = node

    def _matmul(self, v: Any) -> Array:
        images = [_centred(self.node.product(_centred(column))) for column in v.T]
        return images[0][:, None] if len(images) == 1 else np.stack(images, axis=1)

    def _block(self, rows: Index, cols: Index) -> Array:
        matrix = self.node.dense()
        matrix = matrix - matrix.mean(axis=0)
        matrix -= matrix.mean(axis=1, keepdims=True)
        return matrix[rows][:, cols]

    def _diagonal(self) -> Array:
        return self._block(slice(None), slice(None)).diagonal()


class FeatureSpace(Space):
    """Explicit features, dense or CSR, in float64: products are X(Xᵀv)."""

    rounding = _ROUNDING["float64"]

    def __init__(self, features: Any, members: Members, start: Array, diagonal: Array) -> None:
        self.features, self.members, self.start, self.diagonal = features, members, start, diagonal
        self._columns = features.T
        self._total = np.asarray(self._columns @ np.ones(len(members)))
        self._scatter: float | None = None

    @classmethod
    def of(cls, explicit: Factor, seed: int) -> FeatureSpace:
        """Return the whole collection. Sparse rows are put into an order that only their content decides."""
        features, direction = _widened(explicit), np.random.default_rng(seed)
        start = np.asarray(features @ direction.standard_normal(features.shape[1]))
        members = np.arange(len(start))
        if is_sparse(features):
            members = np.argsort(start, kind="stable")
            features, start = features[members], start[members]
        return cls(features, members, start, row_squares(features))

    @property
    def gram(self) -> Gram:
        """A linear Gram."""
        return LinearGram(self.features)

    def product(self, v: Array) -> Array:
        """Return X(Xᵀv)."""
        return np.asarray(self.features @ (self._columns @ v))

    def dense(self) -> Array:
        """Return XXᵀ, of dense rows less their mean: the components are the same, and nothing cancels."""
        if is_sparse(self.features):
            return dot(self.features, self._columns)
        centred = self.features - self.features.mean(axis=0)
        return centred @ centred.T

    def sums(self) -> Array:
        """Return X(Xᵀe)."""
        return np.asarray(self.features @ self._total)

    @property
    def floor(self) -> float:
        """What rounding can make of 0; less for dense rows, whose scatter is exact."""
        if is_sparse(self.features):
            return super().floor
        return self.rounding * float(np.sqrt(self.diagonal.sum() * self.scatter()))

    def scatter(self) -> float:
        """Return Σ‖x‖² − ‖Σx‖²/n; dense rows are centred first, which keeps small differences of large numbers."""
        if self._scatter is None:
            self._scatter = self._sum_of_squares()
        return self._scatter

    def _sum_of_squares(self) -> float:
        if is_sparse(self.features):
            return float(self.diagonal.sum() - self._total @ self._total / len(self))
        mean = self._total / len(self)
        return float(sum(np.square(self.features[rows] - mean).sum() for rows in tiles(len(self), 16 * len(mean))))

    def earlier_sums(self, order: Members) -> Array:
        """Add up the centroid as the documents pass, `_BLOCK` of them at a time (`pddp`, Lemma 1)."""
        out, running = np.empty(len(order)), np.zeros(self.features.shape[1])
        for first in range(0, len(order), _BLOCK):
            rows = self.features[order[first : first + _BLOCK]]
            inside = np.tril(dot(rows, rows.T), -1)
            out[first : first + _BLOCK] = rows @ running + inside.sum(axis=1)
            running += column_sums(rows)
        return out

    def take(self, index: Members) -> FeatureSpace:
        """Copy the rows."""
        return FeatureSpace(self.features[index], self.members[index], self.start[index], self.diagonal[index])


class GramSpace(Space):
    """Any Gram: held as a matrix in float64 where that fits, otherwise through its products."""

    probe = True

    def __init__(self, gram: Gram, members: Members, seeds: Array, rounding: float) -> None:
        self._gram, self.members, self.seeds, self.rounding = gram, members, seeds, rounding
        self.matrix = gram.matrix if isinstance(gram, DenseGram) and gram.dtype == np.float64 else None
        self.diagonal = gram.diagonal().astype(np.float64, copy=False)

    @classmethod
    def of(cls, gram: Gram, seed: int) -> GramSpace:
        """Return the whole collection."""
        n, rounding = len(gram), _ROUNDING[gram.dtype.name]
        fits = 8 * n * n <= settings().memory // 4
        if fits and not (isinstance(gram, DenseGram) and gram.dtype == np.float64):
            gram = DenseGram._trusted(gram.dense().astype(np.float64, copy=False))
        # Row sums do not depend on the order of the documents: they decide which seed each one gets.
        rank = np.empty(n, dtype=np.intp)
        rank[np.argsort(gram @ np.ones(n), kind="stable")] = np.arange(n)
        return cls(gram, np.arange(n), np.random.default_rng(seed).standard_normal(n)[rank], rounding)

    @property
    def start(self) -> Array:  # type: ignore[override]
        """K times a random vector."""
        return self.product(self.seeds)

    @property
    def gram(self) -> Gram:
        """The Gram."""
        return self._gram

    def product(self, v: Array) -> Array:
        """Return Kv."""
        return self.matrix @ v if self.matrix is not None else self._gram @ v

    def dense(self) -> Array:
        """Return K."""
        return self._gram.dense().astype(np.float64, copy=False)

    def sums(self) -> Array:
        """Return Ke."""
        return self.product(np.ones(len(self)))

    def earlier_sums(self, order: Members) -> Array:
        """Read the lower triangle of the ordered Gram, tile by tile: n²/2 entries."""
        out = np.empty(len(order))
        for rows in tiles(len(order), 8 * len(order)):
            block = self._gram.block(order[rows], order[: rows.stop]).astype(np.float64, copy=False)
            out[rows] = np.tril(block, rows.start - 1).sum(axis=1)
        return out

    def take(self, index: Members) -> GramSpace:
        """Copy the part of a matrix, or take it from the Gram."""
        return GramSpace(self._gram.take(index), self.members[index], self.seeds[index], self.rounding)


def space(gram: Gram, seed: int = 0) -> Space:
    """Return the documents of a Gram: through its features where it has some, else as a matrix or by products."""
    explicit = factor(gram)
    return GramSpace.of(gram, seed) if explicit is None else FeatureSpace.of(explicit, seed)


def _widened(explicit: Factor) -> Any:
    """Return the scaled features in float64, shared with the input where nothing changes."""
    features = explicit.features
    if features.dtype != np.float64:
        features = features.astype(np.float64)
    return features if (explicit.scale == 1.0).all() else scale_rows(explicit.scale, features)


@dataclass(frozen=True)
class InputCentred:
    """Nodes of a polynomial kernel whose vectors are centred before the kernel is applied (`pddp`, Eqn 4).

    The Gram of φ(a − c), c the node's mean, is (HLH + coef0)^d with L the linear Gram of the node. It is not a
    function of the node's own Gram: the vectors are needed.

    Attributes
    ----------
    features : array or sparse array of shape (n, m)
    kernel : Polynomial
    """

    features: Any
    kernel: Polynomial

    def space(self, node: Space) -> GramSpace:
        """Return the documents of a node, centred in the input space."""
        below = centre(LinearGram(self.features[node.members])).dense().astype(np.float64, copy=False)
        matrix = (below + self.kernel.coef0) ** self.kernel.degree
        seeds = node.seeds if isinstance(node, GramSpace) else node.start
        return GramSpace(DenseGram._trusted((matrix + matrix.T) / 2.0), node.members, seeds, node.rounding)

    def cross(self, new: Any, members: Members) -> Array:
        """Return the similarities of new documents to those of a node, all less the node's mean."""
        rows = self.features[members]
        mean = column_sums(rows) / len(members)
        inner = dot(new, rows.T).astype(np.float64, copy=False)
        inner = inner - np.asarray(new @ mean)[:, None] - np.asarray(rows @ mean) + mean @ mean
        return (inner + self.kernel.coef0) ** self.kernel.degree


def input_centred(kernel: Kernel, gram: Gram) -> InputCentred | None:
    """Return how nodes of a plain polynomial kernel are centred; None for any other kernel.

    For linear and Gaussian kernels centring the vectors changes nothing. Of a precomputed or a transformed kernel the
    vectors are not enough, or not there.
    """
    if isinstance(kernel, Polynomial) and not kernel.transforms and kernel.degree > 1:
        return InputCentred(gram.source.collection, kernel)  # type: ignore[attr-defined]
    return None


def unaffected_by_input_centring(kernel: Kernel) -> bool:
    """Say whether centring the vectors leaves a kernel's centred Gram as it is."""
    if kernel.transforms:
        return False
    return isinstance(kernel, (Linear, Gaussian)) or (isinstance(kernel, Polynomial) and kernel.degree == 1)
