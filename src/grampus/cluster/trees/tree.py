"""Tree: the result of divisive clustering, immutable, with a record of every split."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._array import Array
from ..._check import check_integer, check_number
from ..._draw import Drawable
from ..._frame import data_frame
from ...errors import InputError
from .cuts import snapped
from .formats import Outline, graphviz, linkage, newick, render_outline

CLOSE = 1e-6  # relative eigengap below which another machine may split differently


@dataclass(frozen=True, eq=False)
class Split:
    """How a node was divided.

    Attributes
    ----------
    coefficients : array of shape (members, c)
        Functionals of the members' similarities: the score of a document x is Σ_j K(x, j) coefficients_j − offset. For
        a cut they are the principal directions in feature space, of unit length; for 2-means the centroids.
    offset : array of shape (c,)
        Subtracted from the scores.
    thresholds : array of shape (c,), or empty
        Threshold of each direction: scores up to it go left. Empty for a split by nearest centroid.
    patterns : array of shape (children,)
        Bit j is set if the child is right of threshold j.
    ties : array of shape (c,)
        Scores this close to zero count as zero.
    eigenvalues : array of shape (l,)
        Variance along the directions; empty for bisecting k-means.
    eigengap : float
        Smallest gap between the neighbouring eigenvalues involved, relative to the largest; NaN for bisecting k-means.
        Below 1e-6 the directions are hardly determined.
    gain : float
        Decrease of the objective: the node's scatter minus its children's.
    input_centred : bool
        Whether K is the kernel of vectors centred by the node's mean (polynomial kernels, `pddp` Eqn 4).

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.cluster import pddp
    >>> from grampus.gram import LinearGram
    >>> split = pddp(LinearGram(np.array([[0.0], [1.0], [9.0]])), 2).root.split
    >>> round(split.gain, 6), split.thresholds.tolist(), round(split.eigengap, 6)
    (48.166667, [0.0], 1.0)
    """

    coefficients: Array
    offset: Array
    thresholds: Array
    patterns: NDArray[np.intp]
    ties: Array
    eigenvalues: Array
    eigengap: float
    gain: float
    input_centred: bool = False

    @property
    def nearest(self) -> bool:
        """Whether documents go to the child with the nearest centroid, not by thresholds."""
        return len(self.thresholds) == 0

    def choose(self, scores: Array) -> NDArray[np.intp]:
        """Return the position of the child that each row of scores (r, c), before the offset, belongs to.

        A pattern without fitted documents goes to the child whose thresholds it misses by least.
        """
        scores = scores - self.offset
        if self.nearest:
            return np.asarray(scores.argmax(axis=1))
        scores = snapped(scores, self.ties)
        right = scores > self.thresholds
        bits = (self.patterns[:, None] >> np.arange(len(self.thresholds))) & 1
        wrong = right[:, None, :] != bits.astype(bool)
        missed = np.where(wrong, np.abs(scores - self.thresholds)[:, None, :] + np.finfo(float).tiny, 0.0)
        return np.asarray(missed.sum(axis=2).argmin(axis=1))


@dataclass(frozen=True, eq=False)
class Node:
    """A set of documents, and its parts if it was split.

    Attributes
    ----------
    index : int
        Its index in ``Tree.nodes``.
    parent : int
        −1 for the root.
    children : tuple of int
        Empty for a leaf.
    depth : int
        Number of splits above it.
    members : array of int
        Its documents, in increasing order.
    scatter : float
        Squared distances to the centroid: trace(K) − eᵀKe/n (`pddp`, Eqn 6, corrected).
    order : int
        Index of its split in the order of splitting, from 0; −1 for a leaf.
    split : Split or None
        How it was divided.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.cluster import pddp
    >>> from grampus.gram import LinearGram
    >>> root = pddp(LinearGram(np.array([[0.0], [1.0], [9.0]])), 2).root
    >>> root.size, root.children, root.is_leaf
    (3, (1, 2), False)
    """

    index: int
    parent: int
    children: tuple[int, ...]
    depth: int
    members: NDArray[np.intp] = field(repr=False)
    scatter: float
    order: int
    split: Split | None = field(repr=False)

    @property
    def size(self) -> int:
        """The number of documents."""
        return len(self.members)

    @property
    def is_leaf(self) -> bool:
        """Whether it was not split."""
        return not self.children

    @property
    def gain(self) -> float:
        """The gain of its split; 0 for a leaf."""
        return self.split.gain if self.split else 0.0

    @property
    def eigengap(self) -> float:
        """The relative eigengap of its split; NaN where there is none."""
        return self.split.eigengap if self.split else float("nan")


@dataclass(frozen=True, eq=False)
class Tree(Drawable):
    """A hierarchy of clusters, from the root with all documents down.

    Attributes
    ----------
    nodes : tuple of Node
        The root first; children come after their parent.
    n_clusters : int
        The requested number of leaves.
    complete : bool
        False if the tree stopped with fewer leaves because none could be divided.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.cluster import pddp
    >>> from grampus.gram import LinearGram
    >>> tree = pddp(LinearGram(np.array([[0.0], [1.0], [9.0], [12.0]])), 3)
    >>> tree.labels.tolist(), tree.cut(2).tolist()
    ([0, 0, 1, 2], [0, 0, 1, 1])
    >>> print(tree)
    4 documents, scatter 105, gain 100
    ├── [0] 2 documents, scatter 0.5
    └── 2 documents, scatter 4.5, gain 4.5
        ├── [1] 1 document, scatter 0
        └── [2] 1 document, scatter 0
    """

    nodes: tuple[Node, ...]
    n_clusters: int
    complete: bool

    def __len__(self) -> int:
        return len(self.nodes)

    def __str__(self) -> str:
        return self.render()

    @property
    def root(self) -> Node:
        """The node of all documents."""
        return self.nodes[0]

    @property
    def leaves(self) -> tuple[Node, ...]:
        """The leaves from left to right; their positions are the labels."""
        return tuple(node for node in self.walk() if node.is_leaf)

    @property
    def splits(self) -> tuple[Node, ...]:
        """The split nodes, in the order of splitting."""
        return tuple(sorted((node for node in self.nodes if not node.is_leaf), key=lambda node: node.order))

    @property
    def labels(self) -> NDArray[np.intp]:
        """The leaf of every document."""
        return self._labels(self.leaves)

    @property
    def objective(self) -> float:
        """The k-means objective of the leaves: the sum of their scatters."""
        return float(sum(node.scatter for node in self.leaves))

    @property
    def close_calls(self) -> tuple[Node, ...]:
        """The split nodes whose relative eigengap is below 1e-6: their directions are hardly determined."""
        return tuple(node for node in self.splits if node.eigengap < CLOSE)

    def walk(self, until: frozenset[int] | None = None) -> Iterator[Node]:
        """Yield the nodes from the root down, left before right; nodes in `until` are not entered."""
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            yield node
            if until is None or node.index not in until:
                waiting.extend(self.nodes[child] for child in reversed(node.children))

    def _labels(self, parts: tuple[Node, ...]) -> NDArray[np.intp]:
        labels = np.empty(self.root.size, dtype=np.intp)
        for number, node in enumerate(parts):
            labels[node.members] = number
        return labels

    def parts(self, n_clusters: int | None = None, *, gain: float | None = None) -> tuple[Node, ...]:
        """Return the nodes that make up a coarser partition, from left to right.

        Parameters
        ----------
        n_clusters : int, optional
            Undo the last splits, keeping the fewest that give at least this many parts.
        gain : float, optional
            Keep a split only if it and all splits above it gained at least this much.
        """
        if (n_clusters is None) == (gain is None):
            raise InputError("A cut needs exactly one of n_clusters and gain.")
        if gain is not None:
            least = check_number(gain, "gain")
            kept = {node.index for node in self.splits if node.gain >= least}
        else:
            k = check_integer(n_clusters, "n_clusters", low=1, high=len(self.leaves), of=" (the leaves of the tree)")
            count, kept = 1, set()
            for node in self.splits:
                if count >= k:
                    break
                kept.add(node.index)
                count += len(node.children) - 1
        ends = frozenset(node.index for node in self.nodes if node.index not in kept)
        return tuple(node for node in self.walk(ends) if node.index in ends)

    def cut(self, n_clusters: int | None = None, *, gain: float | None = None) -> NDArray[np.intp]:
        """Return the labels of a coarser partition, numbered from left to right; see `parts`.

        With l components a split makes up to 2^l parts at once, so there may be more than `n_clusters`.

        Parameters
        ----------
        n_clusters : int, optional
            Undo the last splits until this many parts are left.
        gain : float, optional
            Undo splits with a smaller gain.
        """
        return self._labels(self.parts(n_clusters, gain=gain))

    def linkage(self, of: str = "leaves") -> Array:
        """Return SciPy's linkage matrix, for ``scipy.cluster.hierarchy.dendrogram``.

        Parameters
        ----------
        of : "leaves" or "documents"
            What is joined: the leaves (k − 1 rows; observation i is label i), or the documents (n − 1 rows; those of
            one leaf are joined at height 0).

        Notes
        -----
        The height of a node is its scatter. A split into more than two parts becomes joins at one height.
        """
        return linkage(self.leaves, self.splits, of)

    def outline(self, names: Sequence[str] | None = None) -> list[Outline]:
        """Return the nodes in the form that the writers take.

        Parameters
        ----------
        names : sequence of str, optional
            One for each leaf; its label by default.
        """
        leaves = self.leaves
        given = [str(number) for number in range(len(leaves))] if names is None else [str(name) for name in names]
        if len(given) != len(leaves):
            raise InputError(f"names must hold one name for each of the {len(leaves)} leaves; got {len(given)}.")
        named = {leaf.index: name for leaf, name in zip(leaves, given, strict=True)}
        return [
            Outline(named.get(node.index, ""), node.size, node.scatter, tuple(node.children), _note(node))
            for node in self.nodes
        ]

    def newick(self, names: Any = None) -> str:
        """Return the tree in Newick's format; branch lengths are differences of scatter, at least 0.

        Parameters
        ----------
        names : sequence of str, optional
            One for each leaf; its label by default.
        """
        return newick(self.outline(names))

    def to_dict(self, *, members: bool = True) -> dict[str, Any]:
        """Return the tree as nested plain values, with or without the documents of the leaves.

        Parameters
        ----------
        members : bool
            Whether the documents of the leaves are listed.
        """
        number = {leaf.index: label for label, leaf in enumerate(self.leaves)}
        made: dict[int, dict[str, Any]] = {}
        for node in reversed(self.nodes):
            entry: dict[str, Any] = {"node": node.index, "size": node.size, "scatter": node.scatter}
            if node.split is not None:
                entry |= {
                    "order": node.order,
                    "gain": node.gain,
                    "eigengap": None if np.isnan(node.eigengap) else node.eigengap,
                    "thresholds": node.split.thresholds.tolist(),
                    "children": [made[child] for child in node.children],
                }
            else:
                entry["label"] = number[node.index]
                if members:
                    entry["members"] = node.members.tolist()
            made[node.index] = entry
        return made[0]

    def json(self, *, members: bool = True, indent: int | None = None) -> str:
        """Return ``to_dict`` as JSON.

        Parameters
        ----------
        members : bool
            Whether the documents of the leaves are listed.
        indent : int, optional
            Number of spaces per level.
        """
        return json.dumps(self.to_dict(members=members), indent=indent, allow_nan=False)

    def graphviz(self, names: Any = None) -> str:
        """Return the tree in Graphviz's DOT language.

        Parameters
        ----------
        names : sequence of str, optional
            A name for each leaf.
        """
        return graphviz(self.outline(names))

    def render(self, names: Any = None) -> str:
        """Return the tree as text for a terminal; leaves carry their label in brackets.

        Parameters
        ----------
        names : sequence of str, optional
            A name for each leaf.
        """
        return render_outline(self.outline(names))

    def to_frame(self) -> Any:
        """Return one row for each node as a pandas DataFrame; pandas is an extra (``grampus[frames]``)."""
        number = {node.index: label for label, node in enumerate(self.leaves)}
        kept = ("parent", "depth", "size", "scatter", "order", "gain", "eigengap")
        columns = {name: [getattr(node, name) for node in self.nodes] for name in kept}
        columns["threshold"] = [tuple(node.split.thresholds.tolist()) if node.split else () for node in self.nodes]
        columns["label"] = [number.get(node.index, -1) for node in self.nodes]
        return data_frame(columns, range(len(self.nodes)), "node")


def _note(node: Node) -> str:
    gain = "" if node.is_leaf else f", gain {_number(node.gain)}"
    return f", scatter {_number(node.scatter)}{gain}"


def _number(value: float) -> str:
    return f"{0.0 if abs(value) < 1e-12 else value:.3g}"
