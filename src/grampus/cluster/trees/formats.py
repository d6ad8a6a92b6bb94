"""A tree in other people's formats: SciPy's linkage, Newick, JSON, Graphviz, and text for a terminal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._array import Array
from ...errors import InputError

if TYPE_CHECKING:
    from .tree import Node, Tree


def _names(tree: Tree, names: Sequence[str] | None) -> dict[int, str]:
    """Return the name of every leaf by its node's index."""
    leaves = tree.leaves
    given = [str(number) for number in range(len(leaves))] if names is None else [str(name) for name in names]
    if len(given) != len(leaves):
        raise InputError(f"names must hold one name for each of the {len(leaves)} leaves; got {len(given)}.")
    return {leaf.index: name for leaf, name in zip(leaves, given, strict=True)}


def linkage(tree: Tree, of: str) -> Array:
    """Return SciPy's linkage matrix: rows (a, b, height, observations below)."""
    if of not in ("leaves", "documents"):
        raise InputError(f"of must be 'leaves' or 'documents'; got {of!r}.")
    singles = len(tree.leaves) if of == "leaves" else tree.root.size
    joins: list[tuple[float, float, float, float]] = []
    # (number, height, observations) of what has been joined below each node
    done: dict[int, tuple[int, float, int]] = {}

    def join(parts: list[tuple[int, float, int]], height: float) -> tuple[int, float, int]:
        total = parts[0]
        for part in parts[1:]:
            joins.append((total[0], part[0], height, total[2] + part[2]))
            total = (singles + len(joins) - 1, height, total[2] + part[2])
        return total[0], height, total[2]

    for number, leaf in enumerate(tree.leaves):
        own = [(number, 0.0, 1)] if of == "leaves" else [(int(member), 0.0, 1) for member in leaf.members]
        done[leaf.index] = join(own, 0.0)
    # Low nodes first; a node is never lower than what it holds, also where a Gram is not positive semi-definite.
    for node in sorted(tree.splits, key=lambda node: node.order, reverse=True):
        parts = [done[child] for child in node.children]
        done[node.index] = join(parts, max([node.scatter, *(part[1] for part in parts)]))
    return _in_order(np.array(joins, dtype=np.float64).reshape(-1, 4), singles)


def _in_order(joins: Array, singles: int) -> Array:
    """Put the rows in rising order of height, as SciPy wants them, and renumber what they join."""
    order = np.argsort(joins[:, 2], kind="stable")
    number = np.arange(singles + len(joins))
    number[singles + order] = singles + np.arange(len(joins))
    joins = joins[order]
    joins[:, :2] = np.sort(number[joins[:, :2].astype(np.intp)], axis=1)
    return joins


def newick(tree: Tree, names: Sequence[str] | None) -> str:
    """Return Newick's format; every name is quoted where it has to be."""
    named = _names(tree, names)
    texts: dict[int, str] = {}
    for node in reversed(tree.nodes):
        inside = (
            f"({','.join(texts[child] for child in node.children)})" if node.children else _label(named[node.index])
        )
        above = tree.nodes[node.parent].scatter - node.scatter if node.parent >= 0 else 0.0
        texts[node.index] = f"{inside}:{max(above, 0.0):.6g}" if node.parent >= 0 else inside
    return texts[0] + ";"


def _label(name: str) -> str:
    plain = name and all(character.isalnum() or character in "._-" for character in name)
    return name if plain else "'" + name.replace("'", "''") + "'"


def to_dict(tree: Tree, members: bool) -> dict[str, Any]:
    """Return nested plain values."""
    number = {leaf.index: label for label, leaf in enumerate(tree.leaves)}
    made: dict[int, dict[str, Any]] = {}
    for node in reversed(tree.nodes):
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


def json_text(tree: Tree, members: bool, indent: int | None) -> str:
    """Return JSON."""
    return json.dumps(to_dict(tree, members), indent=indent, allow_nan=False)


def _words(node: Node) -> str:
    """Describe a node in a few words."""
    text = f"{node.size} document{'s' if node.size != 1 else ''}, scatter {_number(node.scatter)}"
    return text if node.is_leaf else f"{text}, gain {_number(node.gain)}"


def _number(value: float) -> str:
    return f"{0.0 if abs(value) < 1e-12 else value:.3g}"


def graphviz(tree: Tree, names: Sequence[str] | None) -> str:
    """Return Graphviz's DOT language."""
    named = _names(tree, names)
    lines = ["digraph tree {", "  node [shape=box];"]
    for node in tree.nodes:
        title = named[node.index] + "\n" if node.is_leaf else ""
        text = (title + _words(node)).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        lines.append(f'  {node.index} [label="{text}"];')
        lines.extend(f"  {node.index} -> {child};" for child in node.children)
    return "\n".join([*lines, "}"])


def render(tree: Tree, names: Sequence[str] | None) -> str:
    """Return one line for each node, indented by depth."""
    named = _names(tree, names)
    lines: list[str] = []
    waiting = [(tree.root, "", "")]
    while waiting:
        node, lead, below = waiting.pop()
        title = f"[{named[node.index]}] " if node.is_leaf else ""
        lines.append(f"{lead}{title}{_words(node)}")
        for child in reversed(node.children):
            last = child == node.children[-1]
            waiting.append(
                (tree.nodes[child], below + ("└── " if last else "├── "), below + ("    " if last else "│   "))
            )
    return "\n".join(lines)
