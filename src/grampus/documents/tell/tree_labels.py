"""The tree of a run: named records."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..._array import Array
from ...cluster import Node, Tree
from ...describe import Cluster, Name, Wording
from ...describe.names import begin_tree
from ...persist import Branch, Level
from ..given.inputs import Inputs

HEADS = 3  # clusters that the name of a union without words in common shows

Clusters = Sequence[Cluster | Name]  # what has a title and further words


def begin_branches(
    tree: Tree, k: int, inputs: Inputs, labels: NDArray[np.intp], wording: Wording | None
) -> Callable[[Clusters], tuple[tuple[Branch, ...], Array]]:
    """Return what makes records of the tree, with short labels, and the leaf of every document, of k named clusters."""
    whole = {node.index: int(labels[node.members[0]]) for node in tree.parts(k)}
    leaf_of = np.full(len(labels), -1, dtype=np.int32)
    for leaf in tree.leaves:
        leaf_of[leaf.members] = leaf.index
    begun = None
    if wording is not None:
        parents = [node.parent for node in tree.nodes]
        begun = begin_tree(wording, leaf_of, parents, {0, *whole})
    counts = np.bincount(inputs.group, minlength=len(labels))

    def made(clusters: Clusters) -> tuple[tuple[Branch, ...], Array]:
        known = {index: (clusters[cluster].name, *clusters[cluster].words) for index, cluster in whole.items()}
        known.setdefault(0, (_heads(list(range(len(clusters))), clusters),))
        names = given_names(known, len(tree.nodes)) if begun is None else begun(known)
        named = filled_names(tree.nodes, clusters, whole, names)
        records = (
            Branch(
                node.index, node.parent, node.children, int(counts[node.members].sum()), node.order,
                float(node.scatter), float(node.gain), whole.get(node.index, -1), named[node.index].name,
                named[node.index].words,
            )
            for node in tree.nodes
        )  # fmt: skip
        return tuple(records), leaf_of[inputs.group]

    return made


def level_records(tree: Tree, levels: Mapping[str, NDArray[np.intp]]) -> tuple[Level, ...]:
    """Return which branches are the clusters of every level, in the order of their numbers."""
    found = []
    for name, labels in levels.items():
        sizes = np.bincount(labels[labels >= 0])
        whole = (node for node in reversed(tree.nodes) if _is_whole(node, labels, sizes))
        at = {int(labels[node.members[0]]): node.index for node in whole}
        found.append(Level(name, tuple(at[c] for c in range(len(sizes)))))
    return tuple(found)


def _is_whole(node: Node, labels: NDArray[np.intp], sizes: NDArray[np.intp]) -> bool:
    """Return whether the documents of a node are those of one cluster."""
    first = labels[node.members[0]]
    return first >= 0 and len(node.members) == sizes[first] and bool((labels[node.members] == first).all())


def given_names(known: Mapping[int, Sequence[str]], count: int) -> list[Name]:
    """Return the names of so many nodes, '' for those that are not known."""
    return [Name(title, tuple(words), (), ()) for title, *words in (known.get(node) or ("",) for node in range(count))]


def filled_names(
    nodes: Sequence[Node | Branch], clusters: Clusters, whole: dict[int, int], names: list[Name]
) -> list[Name]:
    """Name the nodes that have no name after the clusters inside them, or the node that they are a part of."""
    names = list(names)
    below = {index: [cluster] for index, cluster in whole.items()}
    for node in reversed(nodes):
        if inside := sorted(cluster for child in node.children for cluster in below.get(child, ())):
            below.setdefault(node.index, inside)
    for node in nodes:
        if not names[node.index].name:
            inside = below.get(node.index, [])
            name = _heads(inside, clusters) if inside else f"part of {names[node.parent].name}"
            names[node.index] = names[node.index]._replace(name=name)
    return names


def _heads(numbers: list[int], clusters: Clusters) -> str:
    """Name a union by the first words of its clusters, the largest first."""
    heads = [clusters[number].name for number in numbers[:HEADS]]
    return " + ".join(heads) + (f" + {len(numbers) - HEADS} more" if len(numbers) > HEADS else "")
