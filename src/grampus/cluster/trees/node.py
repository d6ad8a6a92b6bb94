"""The documents of one node of a tree: products, prefix sums, parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._array import Array, Index, column_sums, dot, is_sparse, row_squares, scale_rows, tiles
from ...gram import Collection, Cost, DenseGram, Features, Gram, LinearGram, centre, quick_products
from ...kernels import Kernel

Members = NDArray[np.intp]
_ROUNDING = {"float64": 1e-13, "float32": 1e-6}  # of the trace: a smaller scatter is 0
_BLOCK = 128  # rows of features whose similarities to each other are formed at a time
_PRODUCTS = 200  # vectors that a tree multiplies at its root, about
_START = 1  # a separate stream: vectors that the iteration draws later must differ from the start


class Part:
    """The documents of a node, in canonical order: explicit rows in float64, or a part of the Gram.

    Parameters
    ----------
    gram : Gram
        Similarities of these documents.
    members : array of shape (n,)
        Their indices in the fitted collection; not necessarily increasing.
    documents : Collection
        Their names.
    rounding : float
        Relative to the trace; scatter and eigenvalues below it are 0.
    """

    def __init__(self, gram: Gram, members: Members, documents: Collection, rounding: float) -> None:
        self._gram, self.members, self.documents, self.rounding = gram, members, documents, rounding
        explicit = gram.features()
        self.rows: Any = None if explicit is None else _scaled(explicit)
        self.diagonal = gram.diagonal().astype(np.float64) if self.rows is None else row_squares(self.rows)

    @classmethod
    def of(cls, gram: Gram) -> Part:
        """Return all documents of a Gram."""
        ordered, order = gram.canonical()
        if ordered.features() is not None:  # in float64, which a stored matrix need not be
            return cls(ordered, order, ordered.documents(), _ROUNDING["float64"])
        rounding = _ROUNDING[gram.dtype.name]
        return cls(quick_products(ordered, _PRODUCTS), order, ordered.documents(), rounding)

    def __len__(self) -> int:
        return len(self.members)

    @property
    def gram(self) -> Gram:
        """The documents as a Gram."""
        return self._gram if self.rows is None else LinearGram.trusted(self.rows).named(self.documents)

    @property
    def start(self) -> Array:
        """The start vector of the search for components; independent of the original order of documents."""
        return np.random.default_rng([len(self), _START]).standard_normal(len(self))

    @cached_property
    def _columns(self) -> Any:
        return self.rows.T

    @cached_property
    def _total(self) -> Array:
        return np.asarray(self._columns @ np.ones(len(self)))

    def product(self, v: Array) -> Array:
        """Return Kv for one vector."""
        if self.rows is not None:
            return np.asarray(self.rows @ (self._columns @ v))
        return np.asarray(self._gram._matmul(v[:, None]), dtype=np.float64)[:, 0]

    def dense(self) -> Array:
        """Return K in float64; dense rows are centred first, which keeps the components and avoids cancellation."""
        if self.rows is None:
            return self._gram.dense().astype(np.float64, copy=False)
        if is_sparse(self.rows):
            return dot(self.rows, self._columns)
        centred = self.rows - self.rows.mean(axis=0)
        return centred @ centred.T

    def sums(self) -> Array:
        """Return Ke, the row sums."""
        return self.product(np.ones(len(self))) if self.rows is None else np.asarray(self.rows @ self._total)

    @cached_property
    def scatter(self) -> float:
        """trace(K) − eᵀKe/n (`pddp`, Eqn 6, where the last term must not be doubled).

        Dense rows are centred first, which preserves small differences of large numbers.
        """
        if self.rows is None:
            return float(self.diagonal.sum() - self.sums().sum() / len(self))
        if is_sparse(self.rows):
            return float(self.diagonal.sum() - self._total @ self._total / len(self))
        mean = self._total / len(self)
        return float(sum(np.square(self.rows[part] - mean).sum() for part in tiles(len(self), 16 * len(mean))))

    @property
    def floor(self) -> float:
        """The rounding error of a scatter of 0; smaller for dense rows, whose scatter is exact."""
        trace = float(np.abs(self.diagonal).sum())
        if self.rows is None or is_sparse(self.rows):
            return self.rounding * trace
        return self.rounding * float(np.sqrt(trace * self.scatter))

    def earlier_sums(self, order: Members) -> Array:
        """Return Σ K_ij over the documents j before i in an order, in one pass (`pddp`, Lemma 1)."""
        out = np.empty(len(order))
        if self.rows is None:
            for part in tiles(len(order), 8 * len(order)):
                block = self._gram.block(order[part], order[: part.stop]).astype(np.float64, copy=False)
                out[part] = np.tril(block, part.start - 1).sum(axis=1)
            return out
        running = np.zeros(self.rows.shape[1])
        for first in range(0, len(order), _BLOCK):
            rows = self.rows[order[first : first + _BLOCK]]
            inside = np.tril(dot(rows, rows.T), -1)
            out[first : first + _BLOCK] = rows @ running + inside.sum(axis=1)
            running += column_sums(rows)
        return out

    def take(self, index: Members) -> Part:
        """Return some of the documents."""
        gram = LinearGram.trusted(self.rows[index]) if self.rows is not None else self._gram.take(index)
        return Part(gram, self.members[index], self.documents.take(index), self.rounding)


class CentredPart(Gram):
    """H K H of the documents of a node, H = I − 11ᵀ/n: its eigenvectors are the principal components."""

    def __init__(self, part: Part) -> None:
        super().__init__(len(part), np.float64)
        self.part = part

    def _matmul(self, v: Any) -> Array:
        images = [_centred(self.part.product(_centred(column))) for column in v.T]
        return images[0][:, None] if len(images) == 1 else np.stack(images, axis=1)

    def _block(self, rows: Index, cols: Index) -> Array:
        matrix = self.part.dense()
        matrix = matrix - matrix.mean(axis=0)
        matrix -= matrix.mean(axis=1, keepdims=True)
        return matrix[rows][:, cols]

    def _diagonal(self) -> Array:
        return self._block(slice(None), slice(None)).diagonal()

    def cost(self) -> Cost:
        """Return the cost of the node's Gram: centring adds little."""
        return self.part.gram.cost().filling(len(self))


def _centred(v: Array) -> Array:
    return np.asarray(v - np.add.reduce(v) / len(v))


def _scaled(explicit: Features) -> Any:
    """Return the scaled features in float64, shared with the input where nothing changes."""
    rows = explicit.rows if explicit.rows.dtype == np.float64 else explicit.rows.astype(np.float64)
    return rows if (explicit.scale == 1.0).all() else scale_rows(explicit.scale, rows)


@dataclass(frozen=True)
class InputCentred:
    """Nodes of a polynomial kernel whose vectors are centred before the kernel is applied (`pddp`, Eqn 4).

    The Gram of φ(a − c), c the node's mean, is (HLH + coef0)^d with L the linear Gram of the node. It is not a
    function of the node's own Gram: the vectors are needed.

    Attributes
    ----------
    features : array or sparse array of shape (n, m)
    similarities : callable
        The kernel as a function of inner products.
    """

    features: Any
    similarities: Callable[[Array], Array]

    def part(self, node: Part) -> Part:
        """Return the documents of a node, centred in the input space."""
        below = centre(LinearGram(self.features[node.members])).dense().astype(np.float64, copy=False)
        matrix = self.similarities(below)
        return Part(DenseGram.trusted((matrix + matrix.T) / 2.0), node.members, node.documents, node.rounding)

    def cross(self, new: Any, members: Members) -> Array:
        """Return the similarities of new documents to those of a node, all centred by the node's mean."""
        rows = self.features[members]
        mean = column_sums(rows) / len(members)
        inner = dot(new, rows.T).astype(np.float64, copy=False)
        inner = inner - np.asarray(new @ mean)[:, None] - np.asarray(rows @ mean) + mean @ mean
        return self.similarities(inner)


def input_centred(kernel: Kernel, gram: Gram) -> InputCentred | None:
    """Return how nodes of a plain polynomial kernel are centred; None for any other kernel.

    For linear and Gaussian kernels, centring the vectors changes nothing. For a precomputed or a transformed kernel the
    vectors are unknown or not sufficient.
    """
    if kernel.of_products is None or kernel.ignores_origin:
        return None
    return InputCentred(gram.source.collection, kernel.of_products)  # type: ignore[attr-defined]
