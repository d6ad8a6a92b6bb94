"""New documents down a tree: at every split they go where a fitted document with their scores would have gone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._array import Array, dot, take_rows
from ..._config import tile_rows
from ...errors import InputError
from ...gram import Gram, factor, unshifted
from ...kernels import Kernel
from ..crossing import is_linear, new_parts
from .node import InputCentred, Members
from .tree import Node, Tree

Scores = Callable[[Node, Members], Array]
_NEW_TILE = 16  # tiles' worth of similarities between new and fitted documents are held at a time


def descend(tree: Tree, count: int, scores: Scores, parts: tuple[Node, ...] | None = None) -> NDArray[np.intp]:
    """Return the leaf, or the part of a coarser cut, that each of `count` new documents comes to.

    Parameters
    ----------
    scores : callable
        ``scores(node, rows)`` returns the scores of some of the new documents at a node, (rows, c).
    """
    ends = {node.index: label for label, node in enumerate(tree.leaves if parts is None else parts)}
    labels = np.empty(count, dtype=np.intp)
    waiting = [(tree.root, np.arange(count))]
    while waiting:
        node, rows = waiting.pop()
        if node.index in ends:
            labels[rows] = ends[node.index]
            continue
        assert node.split is not None
        child = node.split.choose(scores(node, rows))
        for position, index in enumerate(node.children):
            there = rows[child == position]
            if len(there):
                waiting.append((tree.nodes[index], there))
    return labels


@dataclass(frozen=True)
class Router:
    """A fitted tree with what is needed to compare new documents with the fitted ones.

    Attributes
    ----------
    tree : Tree
    gram : Gram
    kernel : Kernel
    inputs : InputCentred or None
    """

    tree: Tree
    gram: Gram
    kernel: Kernel
    inputs: InputCentred | None = None

    def predict(self, documents: Any, parts: tuple[Node, ...] | None = None) -> NDArray[np.intp]:
        """Return the label of every new document."""
        source = self.kernel.source
        found = [np.empty(0, dtype=np.intp)]
        explicit = new_parts(self.kernel, self.gram, documents)
        if explicit is not None:
            for part, scale in explicit:
                found.append(descend(self.tree, part.shape[0], self._explicit(part, scale), parts))
            return np.concatenate(found)
        fitted = self.gram.source.collection  # type: ignore[attr-defined]
        new = source._collect_new(documents, fitted)
        for part in source._parts(new, _NEW_TILE * tile_rows(8 * len(self.gram))):
            cross, _ = self.gram.extend(source._cross(part, fitted), source._diagonal(part))
            found.append(descend(self.tree, len(cross), self._compared(part, cross), parts))
        return np.concatenate(found)

    def direction(self, node: Node) -> Array:
        """Return a split's functionals as vectors over the features, (m, c)."""
        if not is_linear(self.kernel):
            raise InputError(f"Only linear and cosine kernels have directions over terms; got '{self.kernel}'.")
        if node.split is None:
            raise InputError(f"Node {node.index} is a leaf: nothing divides it.")
        return self._direction(node)

    def _direction(self, node: Node) -> Array:
        explicit = factor(unshifted(self.gram)[0])
        assert explicit is not None
        assert node.split is not None
        weights = node.split.coefficients * explicit.scale[node.members, None]
        return dot(explicit.features[node.members].T, weights)

    def _explicit(self, new: Any, scale: Array) -> Scores:
        """Use the directions themselves: O(stored entries), no block of similarities."""

        def scores(node: Node, rows: Members) -> Array:
            return dot(new[rows], self._direction(node)) * scale[rows, None]

        return scores

    def _compared(self, new: Any, cross: Array) -> Scores:
        """Use the similarities to the members of each node."""

        def scores(node: Node, rows: Members) -> Array:
            assert node.split is not None
            if node.split.input_centred:
                assert self.inputs is not None
                return self.inputs.cross(take_rows(new, rows), node.members) @ node.split.coefficients
            similar = cross[np.ix_(rows, node.members)].astype(np.float64, copy=False)
            return similar @ node.split.coefficients

        return scores
