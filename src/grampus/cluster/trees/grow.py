"""Grow a tree: repeatedly split the leaf with the largest score."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..._array import Array
from ..._check import check_choice, check_integer
from ..._parallel import blas_threads
from ...gram import Eigenpairs, Gram, eigenpairs
from .cuts import CUTS, TIE, snapped
from .node import CentredPart, InputCentred, Part
from .tree import Node, Split, Tree

logger = logging.getLogger(__name__)

CHOICES = ("scatter", "size", "gain")
_TOLERANCE = 1e-10  # of the components' residuals


@dataclass(frozen=True)
class Proposal:
    """A proposed division of a node: the part of each of its documents, 0 … p−1, and the split."""

    parts: NDArray[np.intp]
    split: Split


Divide = Callable[[Part, int], Proposal | None]


@dataclass(eq=False)
class _Leaf:
    """A node that has not been split."""

    index: int
    part: Part
    scatter: float
    proposal: Proposal | None = None
    n_components: int = 0
    children: tuple[_Leaf, ...] = ()
    hopeless: bool = False


def grow(root: Part, n_clusters: int, divide: Divide, choose: str = "scatter", n_components: int = 1) -> Tree:
    """Divide leaves until there are at least `n_clusters` of them, or none can be divided.

    With l components there are ⌈(k−1)/(2^l−1)⌉ splits (`pddp`, Table 1). If empty sign patterns leave fewer than k
    leaves, more splits follow, with as few components as needed: there are never more than ⌈(k−1)/(2^l−1)⌉(2^l−1) + 1
    leaves.

    Parameters
    ----------
    root : Part
        All documents.
    n_clusters : int
        k.
    divide : callable
        Proposes how to divide a node along a number of components, or returns None if its documents do not differ.
    choose : "scatter", "size" or "gain"
        Which leaf is next: the one with the largest scatter (as in the paper), with most documents, or with the
        largest gain (every leaf is divided in advance: about twice the work).
    n_components : int
        l.
    """
    check_choice(choose, "choose", CHOICES)
    top = _Leaf(0, root, root.scatter)
    leaves = [top]
    nodes = [_node(top, -1, 0)]
    order, planned = 0, -(-(n_clusters - 1) // (2**n_components - 1))
    with blas_threads():
        while len(leaves) < n_clusters:
            room = n_clusters - len(leaves)
            now = n_components if order < planned else min(n_components, (room + 1).bit_length() - 1)
            leaf = _next(leaves, divide, choose, now)
            if leaf is None:
                break
            nodes.extend(_split(leaf, nodes, order))
            place = leaves.index(leaf)
            leaves[place : place + 1] = leaf.children
            leaf.children = ()  # release the parts
            order += 1
    logger.debug("tree: %d splits, %d leaves", order, len(leaves))
    return Tree(tuple(nodes), n_clusters, len(leaves) >= n_clusters)


def _next(leaves: list[_Leaf], divide: Divide, choose: str, n_components: int) -> _Leaf | None:
    """Return the leaf to divide, with its proposal; None if no leaf can be divided."""
    while True:
        if choose == "gain":
            for leaf in leaves:
                _try(leaf, divide, n_components)
        able = [leaf for leaf in leaves if not leaf.hopeless]
        if not able:
            return None
        best = max(able, key=lambda leaf: _merit(leaf, choose))
        _try(best, divide, n_components)
        if not best.hopeless:
            return best


def _merit(leaf: _Leaf, choose: str) -> float:
    if choose == "gain":
        return leaf.scatter - sum(child.scatter for child in leaf.children)
    return leaf.scatter if choose == "scatter" else float(len(leaf.part))


def _try(leaf: _Leaf, divide: Divide, n_components: int) -> None:
    """Compute a leaf's proposal and the parts it would have."""
    if leaf.hopeless or (leaf.proposal is not None and leaf.n_components == n_components):
        return
    able = len(leaf.part) > 1 and leaf.scatter > leaf.part.floor
    leaf.proposal, leaf.n_components = divide(leaf.part, n_components) if able else None, n_components
    if leaf.proposal is None:
        leaf.hopeless = True
        return
    parts = leaf.proposal.parts
    parts_of = [leaf.part.take(np.flatnonzero(parts == part)) for part in range(int(parts.max()) + 1)]
    leaf.children = tuple(_Leaf(-1, part, part.scatter) for part in parts_of)


def _split(leaf: _Leaf, nodes: list[Node], order: int) -> list[Node]:
    """Turn a leaf's proposal into a split of its node; return the new nodes."""
    assert leaf.proposal is not None
    parent = nodes[leaf.index]
    for offset, child in enumerate(leaf.children):
        child.index = len(nodes) + offset
    gain = leaf.scatter - sum(child.scatter for child in leaf.children)
    split = replace(leaf.proposal.split, gain=gain)
    rising = np.argsort(leaf.part.members, kind="stable")
    split = replace(split, coefficients=np.ascontiguousarray(split.coefficients[rising]))
    children = tuple(child.index for child in leaf.children)
    nodes[leaf.index] = replace(parent, children=children, order=order, split=split)
    return [_node(child, leaf.index, parent.depth + 1) for child in leaf.children]


def _node(leaf: _Leaf, parent: int, depth: int) -> Node:
    return Node(leaf.index, parent, (), depth, np.sort(leaf.part.members), leaf.scatter, -1, None)


@dataclass(frozen=True)
class Cutting:
    """Division along principal components: one row of the table cut × centring.

    Attributes
    ----------
    cut : "zero", "full" or "projection"
    inputs : InputCentred, optional
        For polynomial kernels whose nodes are centred in the input space.
    """

    cut: str
    inputs: InputCentred | None = None

    def __call__(self, node: Part, n_components: int) -> Proposal | None:
        """Divide by the sign pattern of the projections on `n_components` components, each less its threshold."""
        part = node if self.inputs is None else self.inputs.part(node)
        pairs = eigenpairs(
            CentredPart(part),
            min(n_components, len(part)),
            start=part.start,
            tolerance=_TOLERANCE,
            floor=part.floor,
            probe=part.rows is None,  # for a matrix, find mirror images: documents may be identified by position only
        )
        count = len(pairs.values)
        if count == 0:
            return None
        coefficients = pairs.vectors / np.sqrt(pairs.values)
        scores = np.stack([part.product(column) for column in coefficients.T], axis=1)
        offset = scores.mean(axis=0)
        projections = scores - offset
        ties = TIE * np.abs(projections).max(axis=0)
        projections = snapped(projections, ties)
        thresholds = np.array([CUTS[self.cut](column, node) for column in projections.T])
        codes = (projections > thresholds) @ (1 << np.arange(count))
        patterns, parts = np.unique(codes, return_inverse=True)
        if len(patterns) < 2:
            return None
        split = Split(
            coefficients, offset, thresholds, patterns.astype(np.intp), ties, pairs.values, _gap(pairs), 0.0,
            self.inputs is not None,
        )  # fmt: skip
        return Proposal(parts.reshape(-1).astype(np.intp), split)


def _gap(found: Eigenpairs) -> float:
    """Return the smallest distance between neighbours among λ₁ … λ_{l+1}, relative to λ₁."""
    values = np.append(found.values, max(found.following, 0.0))
    return float(-np.diff(values).max() / values[0])


def by_centroids(node: Part, parts: NDArray[np.intp], initial: Split | None) -> Split:
    """Return a split by the nearest centroid of its parts, with the eigenvalues of the initial cut."""
    count = int(parts.max()) + 1
    coefficients = np.zeros((len(node), count))
    coefficients[np.arange(len(node)), parts] = 1.0 / np.bincount(parts)[parts]
    norms = np.array([column @ node.product(column) for column in coefficients.T])
    # K(x,·)μ_c − ‖μ_c‖²/2 is largest for the nearest centroid
    values, gap = (initial.eigenvalues, initial.eigengap) if initial else (np.empty(0), float("nan"))
    return Split(coefficients, norms / 2.0, np.empty(0), np.arange(count), np.zeros(count), values, gap, 0.0)


def start_partition(gram: Gram, n_clusters: int, documents: Array) -> NDArray[np.intp]:
    """Return k parts of some documents by plain PDDP, as a start for kernel k-means; the others get part 0."""
    labels = np.zeros(len(gram), dtype=np.intp)
    part = gram if len(documents) == len(gram) else gram.take(documents)
    labels[documents] = grow(Part.of(part.split_shift()[0]), n_clusters, Cutting("zero")).labels
    return labels


def check_clusters(n_clusters: object, n: int) -> int:
    """Return k, from 1 to the number of documents."""
    return check_integer(n_clusters, "n_clusters", low=1, high=n, of=" (the number of documents)")
