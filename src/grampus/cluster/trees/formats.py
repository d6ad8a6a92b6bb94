"""Writers of trees: SciPy's linkage, Newick, Graphviz, and text for a terminal.

Newick, Graphviz and text are written from `Outline` nodes, which any kind of tree can be turned into.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._array import Array
from ..._names import number_of
from ...errors import InputError


@dataclass(frozen=True)
class Outline:
    """A node in the form the writers take; a tree is a sequence of nodes, the root first.

    Attributes
    ----------
    label : str
        Name of the node; "" for none.
    size : int
        Number of documents below it.
    height : float
        Branch lengths in Newick are differences of heights, at least 0.
    children : tuple of int
        Positions in the sequence, after the node's own.
    note : str
        Text added after the size.

    Examples
    --------
    >>> from grampus.cluster.trees.formats import Outline, newick, render_outline
    >>> tree = [Outline("", 3, 2.0, (1, 2)), Outline("whales", 2, 0.5, ()), Outline("birds", 1, 0.0, ())]
    >>> print(render_outline(tree))
    3 documents
    ├── [whales] 2 documents
    └── [birds] 1 document
    >>> newick(tree)
    '(whales:1.5,birds:2);'
    """

    label: str
    size: int
    height: float
    children: tuple[int, ...]
    note: str = ""

    def __str__(self) -> str:
        return f"{number_of(self.size, 'document')}{self.note}"


def linkage(leaves: Sequence[Any], splits: Sequence[Any], of: str) -> Array:
    """Return SciPy's linkage matrix: rows (a, b, height, observations below).

    Parameters
    ----------
    leaves, splits : sequence of Node
        From left to right; in the order of the splits.
    of : "leaves" or "documents"
    """
    if of not in ("leaves", "documents"):
        raise InputError(f"of must be 'leaves' or 'documents'; got {of!r}.")
    singles = len(leaves) if of == "leaves" else sum(leaf.size for leaf in leaves)
    joins: list[tuple[float, float, float, float]] = []
    # (number, height, observations) of what has been joined below each node
    done: dict[int, tuple[int, float, int]] = {}

    def join(parts: list[tuple[int, float, int]], height: float) -> tuple[int, float, int]:
        total = parts[0]
        for part in parts[1:]:
            joins.append((total[0], part[0], height, total[2] + part[2]))
            total = (singles + len(joins) - 1, height, total[2] + part[2])
        return total[0], height, total[2]

    for number, leaf in enumerate(leaves):
        observations = [(number, 0.0, 1)] if of == "leaves" else [(int(member), 0.0, 1) for member in leaf.members]
        done[leaf.index] = join(observations, 0.0)
    # Low nodes first; a node is never lower than its children, even if the Gram is not positive semi-definite.
    for node in sorted(splits, key=lambda node: node.order, reverse=True):
        parts = [done[child] for child in node.children]
        done[node.index] = join(parts, max([node.scatter, *(part[1] for part in parts)]))
    return _in_order(np.array(joins, dtype=np.float64).reshape(-1, 4), singles)


def _in_order(joins: Array, singles: int) -> Array:
    """Sort the rows by increasing height, as SciPy requires, and renumber what they join."""
    order = np.argsort(joins[:, 2], kind="stable")
    number = np.arange(singles + len(joins))
    number[singles + order] = singles + np.arange(len(joins))
    joins = joins[order]
    joins[:, :2] = np.sort(number[joins[:, :2].astype(np.intp)], axis=1)
    return joins


def newick(nodes: Sequence[Outline]) -> str:
    """Return a tree in Newick's format; labels are quoted where necessary."""
    texts = [""] * len(nodes)
    for i in reversed(range(len(nodes))):
        node = nodes[i]
        below = ",".join(f"{texts[child]}:{max(node.height - nodes[child].height, 0.0):.6g}" for child in node.children)
        texts[i] = (f"({below})" if below else "") + _quoted(node.label)
    return texts[0] + ";"


def _quoted(name: str) -> str:
    plain = all(character.isalnum() or character in "._-" for character in name)
    return name if plain else "'" + name.replace("'", "''") + "'"


def graphviz(nodes: Sequence[Outline]) -> str:
    """Return a tree in Graphviz's DOT language."""
    lines = ["digraph tree {", "  node [shape=box];"]
    for i, node in enumerate(nodes):
        text = f"{node.label}\n{node}" if node.label else str(node)
        escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        lines.append(f'  {i} [label="{escaped}"];')
        lines.extend(f"  {i} -> {child};" for child in node.children)
    return "\n".join([*lines, "}"])


def render_outline(nodes: Sequence[Outline]) -> str:
    """Return one line for each node, indented by depth."""
    lines: list[str] = []
    waiting = [(0, "", "")]
    while waiting:
        i, lead, below = waiting.pop()
        node = nodes[i]
        lines.append(f"{lead}[{node.label}] {node}" if node.label else f"{lead}{node}")
        for child in reversed(node.children):
            last = child == node.children[-1]
            waiting.append((child, below + ("└── " if last else "├── "), below + ("    " if last else "│   ")))
    return "\n".join(lines)
