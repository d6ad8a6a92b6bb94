"""Route new documents down a tree: at every split they follow fitted documents with the same scores."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._array import Array, take_rows
from ...errors import InputError
from ...gram import ComparedDocuments, Features, Gram
from .node import InputCentred, Members
from .tree import Node, Tree

Scores = Callable[[Node, Members], Array]


def descend(tree: Tree, count: int, scores: Scores, parts: tuple[Node, ...] | None = None) -> NDArray[np.intp]:
    """Return the leaf, or the part of a coarser cut, that each of `count` new documents reaches.

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
    """A fitted tree, with the Gram that compares new documents with the fitted ones.

    Attributes
    ----------
    tree : Tree
    gram : Gram
    inputs : InputCentred or None
    """

    tree: Tree
    gram: Gram
    inputs: InputCentred | None = None

    def predict(self, documents: Any, parts: tuple[Node, ...] | None = None) -> NDArray[np.intp]:
        """Return the label of every new document."""
        found = [np.empty(0, dtype=np.intp)]
        for part in self.gram.compare(documents):
            scores = self._compared(part) if part.features is None else self._explicit(part.features)
            found.append(descend(self.tree, len(part), scores, parts))
        return np.concatenate(found)

    def direction(self, node: Node) -> Array:
        """Return a split's functionals as vectors over the features, (m, c)."""
        base = self.gram.split_shift()[0]
        if base.features() is None or base._compared_with() > 0:
            raise InputError("Only linear and cosine kernels have directions over terms; this Gram has none.")
        if node.split is None:
            raise InputError(f"Node {node.index} is a leaf: nothing divides it.")
        return self._direction(node)

    def _direction(self, node: Node) -> Array:
        explicit = self.gram.split_shift()[0].features()
        assert explicit is not None
        assert node.split is not None
        return explicit.take(node.members).project(node.split.coefficients)

    def _explicit(self, new: Features) -> Scores:
        """Score by the directions themselves: O(stored entries), without a block of similarities."""

        def scores(node: Node, rows: Members) -> Array:
            return new.take(rows).onto(self._direction(node))

        return scores

    def _compared(self, new: ComparedDocuments) -> Scores:
        """Score by the similarities to the members of each node."""

        def scores(node: Node, rows: Members) -> Array:
            assert node.split is not None
            if node.split.input_centred:
                assert self.inputs is not None
                return self.inputs.cross(take_rows(new.documents, rows), node.members) @ node.split.coefficients
            similar = new.cross[np.ix_(rows, node.members)].astype(np.float64, copy=False)
            return similar @ node.split.coefficients

        return scores
