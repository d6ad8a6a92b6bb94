"""The tree of a run: named records."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from .._array import Array
from ..cluster import Node, Tree
from ..describe import Cluster, distinguishing_terms, short_label
from ..describe.describe import spelled
from ..persist import Branch, Level
from .inputs import Inputs

HEADS = 3  # clusters that the name of a union shows


def branches(
    tree: Tree, clusters: tuple[Cluster, ...], inputs: Inputs, labels: NDArray[np.intp],
    spelling: Mapping[str, str],
) -> tuple[tuple[Branch, ...], Array]:  # fmt: skip
    """Return the tree as records with short labels, and the leaf of every document."""
    whole = {node.index: int(labels[node.members[0]]) for node in tree.parts(len(clusters))}
    leaf_of = np.full(len(labels), -1, dtype=np.int32)
    for leaf in tree.leaves:
        leaf_of[leaf.members] = leaf.index
    counts = np.bincount(inputs.group, minlength=len(labels))
    named = _unions(tree, clusters, whole)
    _parts(tree, named, inputs, spelling)
    made = tuple(
        Branch(
            node.index, node.parent, node.children, int(counts[node.members].sum()), node.order,
            float(node.scatter), float(node.gain), whole.get(node.index, -1), named[node.index],
        )
        for node in tree.nodes
    )  # fmt: skip
    return made, leaf_of[inputs.group]


def level_records(tree: Tree, levels: Mapping[str, NDArray[np.intp]]) -> tuple[Level, ...]:
    """Return which branches are the clusters of every level, in the order of their numbers."""
    found = []
    for name, labels in levels.items():
        sizes = np.bincount(labels[labels >= 0])
        at = {
            int(labels[node.members[0]]): node.index for node in reversed(tree.nodes) if _is_whole(node, labels, sizes)
        }
        found.append(Level(name, tuple(at[c] for c in range(len(sizes)))))
    return tuple(found)


def _is_whole(node: Node, labels: NDArray[np.intp], sizes: NDArray[np.intp]) -> bool:
    """Return whether the documents of a node are those of one cluster."""
    first = labels[node.members[0]]
    return first >= 0 and len(node.members) == sizes[first] and bool((labels[node.members] == first).all())


def _unions(tree: Tree, clusters: tuple[Cluster, ...], whole: dict[int, int]) -> dict[int, str]:
    """Name the clusters, and unions by the first words of their clusters, the largest first."""
    below = {index: [cluster] for index, cluster in whole.items()}
    for node in reversed(tree.nodes):
        found = [cluster for child in node.children for cluster in below.get(child, ())]
        if found and node.index not in below:
            below[node.index] = sorted(found)
    named = {index: clusters[cluster].label for index, cluster in whole.items()}
    for index, numbers in below.items():
        if index not in named:
            heads = [clusters[number].label.split(", ")[0] for number in numbers[:HEADS]]
            more = f" + {len(numbers) - HEADS} more" if len(numbers) > HEADS else ""
            named[index] = " + ".join(heads) + more
    return named


def _parts(tree: Tree, named: dict[int, str], inputs: Inputs, spelling: Mapping[str, str]) -> None:
    """Name the parts of clusters by the terms that distinguish them."""
    for node in tree.nodes:
        children = [child for child in node.children if child not in named]
        if not children:
            continue
        words = ["" for _ in children]
        if inputs.described is not None and inputs.names is not None:
            members = [tree.nodes[child].members for child in children]
            part = np.repeat(np.arange(len(members)), [len(some) for some in members])
            rows = inputs.described[np.concatenate(members)]
            found = distinguishing_terms(rows, part, inputs.names, 3)
            words = [short_label(spelled(terms, spelling)) for terms in found]
        for child, word in zip(children, words, strict=True):
            named[child] = word or f"part of {named[node.index]}"
