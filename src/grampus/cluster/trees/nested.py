"""A tree around a flat clustering: how its clusters merge, and which parts they have."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _native
from ..._array import Array, members_of_clusters, sum_rows
from ..._check import check_integer, check_partition
from ..._parallel import blas_threads, results_in_few_threads
from ...errors import InputError
from ...gram import Gram
from .grow import Cutting, grow
from .node import Part
from .tree import Node, Split, Tree

SMALLEST = 10  # documents a part of a cluster should have on average


def nested_tree(
    gram: Gram, labels: Any, parts: int = 4, *, above: Sequence[Any] = (), below: Sequence[Any] = ()
) -> Tree:
    """Build a tree around the clusters of a partition: ``tree.cut(k)`` is the partition.

    Above the clusters, the two whose union raises the objective least are merged repeatedly: Ward's rule in feature
    space, n_a n_b/(n_a + n_b) ‖μ_a − μ_b‖². Below, each cluster is divided along its principal direction
    where that lowers the objective of the projections most (PDDP_OCPC, `pddp`), into at most `parts` parts of 10
    documents or more on average. Splits are numbered from the top: merges first, then the parts by what they gain.
    Costs one product and the splits; deterministic.

    Parameters
    ----------
    gram : Gram
        A trailing shift is ignored.
    labels : array of shape (n,)
        Equal labels form a cluster; documents labelled −1 are left out.
    parts : int
        Maximum number of parts of a cluster; 1 for none.
    above, below : sequence of arrays of shape (n,)
        Coarser and finer partitions that nest with this one, the nearest first. Clusters that are in one coarser
        cluster are merged before others; the parts of a cluster are its finer clusters, merged by the same rule.

    Returns
    -------
    Tree
        Leaves of one cluster are next to each other.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.cluster import nested_tree
    >>> from grampus.gram import LinearGram
    >>> tree = nested_tree(LinearGram(np.array([[0.0], [1.0], [9.0], [20.0]])), [2, 2, 1, 0])
    >>> tree.cut(2).tolist(), tree.cut(3).tolist()
    ([0, 0, 0, 1], [0, 0, 1, 2])
    """
    base, _ = gram.split_shift()
    clusters = check_partition(labels, len(base))
    parts = check_integer(parts, "parts", low=1)
    inside = np.flatnonzero(clusters >= 0)
    groups = [_groups(clusters, partition) for partition in above]
    if len(inside) < len(base):
        above, below = ([np.asarray(partition)[inside] for partition in given] for given in (above, below))
        tree = nested_tree(base.take(inside), clusters[inside], parts, above=above, below=below)
        nodes = tuple(replace(node, members=inside[node.members]) for node in tree.nodes)
        return Tree(nodes, tree.n_clusters, tree.complete)
    with blas_threads():
        if below:
            return _given_parts(base, clusters, groups, below)
        subtrees = _subtrees(base, clusters, parts) if parts > 1 else ()
        k = int(clusters.max()) + 1
        return _assemble(members_of_clusters(clusters, k), *merges(Sums.of(base, clusters, k), groups), subtrees)


def _groups(clusters: NDArray[np.intp], coarse: Any) -> NDArray[np.intp]:
    """Return the coarse cluster of every cluster; refuse partitions that do not nest."""
    groups = _inside(clusters, check_partition(coarse, len(clusters)))
    if groups is None:
        raise InputError("Partitions above must be unions of clusters: one cluster is in two of them.")
    return groups


def _inside(finer: NDArray[np.intp], coarser: NDArray[np.intp]) -> NDArray[np.intp] | None:
    """Return the coarser cluster that each finer one is inside of; None if one is in two of them."""
    known = finer >= 0
    found = np.full(int(finer.max()) + 1, -1, dtype=np.intp)
    found[finer[known]] = coarser[known]
    return found if (found[finer[known]] == coarser[known]).all() else None


def _given_parts(
    base: Gram, clusters: NDArray[np.intp], groups: Sequence[NDArray[np.intp]], below: Sequence[Any]
) -> Tree:
    """Return the tree of clusters and of the finer clusters inside them; all is known of sums between the finest."""
    *finer, finest = (check_partition(partition, len(clusters)) for partition in below)
    levels = [_inside(finest, partition) for partition in (clusters, *finer)]
    if any(level is None for level in levels):
        raise InputError("Partitions below must be parts of clusters: one of their clusters is in two.")
    members = members_of_clusters(finest, int(finest.max()) + 1)
    known = [level for level in levels if level is not None]
    sums = Sums.of(base, finest, len(members))
    return _tree_of(sums, members, [*known, np.arange(len(members))], groups)


def _tree_of(
    sums: "Sums", members: Sequence[NDArray[np.intp]], levels: Sequence[NDArray[np.intp]], groups: Any = ()
) -> Tree:
    """Return the tree of some groups of documents, given the cluster of every group at each level, the last theirs."""
    near, *far = levels
    parts = members_of_clusters(near, int(near.max()) + 1)
    subtrees = [
        _tree_of(
            sums.take(part),
            [members[group] for group in part.tolist()],
            [np.unique(level[part], return_inverse=True)[1] for level in far],
        )
        for part in (parts if far else ())
    ]
    whole = [np.sort(np.concatenate([members[group] for group in part.tolist()])) for part in parts]
    return _assemble(whole, *merges(sums.joined(near, len(parts)), groups), subtrees)


class Sums(NamedTuple):
    """All that Ward's rule needs of some groups of documents.

    Attributes
    ----------
    between : array of shape (k, k)
        Σ K_ij over the documents i of one group and j of another.
    traces : array of shape (k,)
        Σ K_ii over the documents of a group.
    sizes : array of shape (k,)
    """

    between: Array
    traces: Array
    sizes: Array

    @classmethod
    def of(cls, base: Gram, groups: NDArray[np.intp], k: int) -> "Sums":
        """Return the sums of groups 0 … k−1, of explicit features where these are the fewer numbers."""
        ones, rows = np.ones(len(base)), base.features()
        if rows is not None and rows.rows.shape[1] <= len(base):
            sums = rows.sum_by(groups, k, ones)
            between = sums.T @ sums
        else:
            between = sum_rows(base.sum_by(groups, k), groups, k, ones)
        some = np.flatnonzero(groups >= 0)
        traces = np.bincount(groups[some], weights=base.diagonal()[some].astype(np.float64), minlength=k)
        return cls(between, traces, np.bincount(groups[some], minlength=k).astype(np.float64))

    def take(self, some: NDArray[np.intp]) -> "Sums":
        """Return those of some groups."""
        return Sums(self.between[np.ix_(some, some)], self.traces[some], self.sizes[some])

    def joined(self, into: NDArray[np.intp], k: int) -> "Sums":
        """Return those of k unions of groups."""
        of = np.equal.outer(np.arange(k), into).astype(np.float64)
        return Sums(of @ self.between @ of.T, of @ self.traces, of @ self.sizes)


def merges(sums: Sums, groups: Sequence[NDArray[np.intp]] = ()) -> tuple[list[float], list[tuple[int, int]]]:
    """Return the scatter of every cluster and of every union, and which two were joined to make each union.

    Clusters that are in one group are joined before others, by the first of the `groups` first.
    """
    k, total = len(sums.sizes), (sums.between + sums.between.T) / 2.0
    scatter = (sums.traces - np.diag(total) / sums.sizes).tolist()
    order = _native.ward(total, sums.sizes, np.array(groups, dtype=np.int64).reshape(len(groups), k))
    joins = [(one, other) for one, other in order.tolist()]
    mass, traces = [*sums.sizes.tolist()], [*sums.traces.tolist()]
    members = [np.eye(k, dtype=bool)[c] for c in range(k)]
    for one, other in joins:
        members.append(members[one] | members[other])
        mass.append(mass[one] + mass[other])
        traces.append(traces[one] + traces[other])
        scatter.append(float(traces[-1] - total[np.ix_(members[-1], members[-1])].sum() / mass[-1]))
    return scatter, joins


def _subtrees(base: Gram, clusters: NDArray[np.intp], parts: int) -> list[Tree]:
    whole = Part.of(base)

    def divided(cluster: int) -> Tree:
        inside = np.flatnonzero(clusters[whole.members] == cluster)
        count = max(1, min(parts, len(inside) // SMALLEST))
        return grow(whole.take(inside), count, Cutting("projection"))

    return list(results_in_few_threads(divided, int(clusters.max()) + 1))


def _assemble(
    members: Sequence[NDArray[np.intp]],
    scatter: list[float],
    joins: list[tuple[int, int]],
    subtrees: Sequence[Tree],
) -> Tree:
    """Assign indices to the nodes from the root down and to the splits in order; without subtrees, none is divided."""
    k, everyone = len(members), list(members)
    for a, b in joins:
        everyone.append(np.sort(np.concatenate([everyone[a], everyone[b]])))
    nodes: list[Node] = []

    def add(parent: int, depth: int, members: NDArray[np.intp], spread: float) -> int:
        nodes.append(Node(len(nodes), parent, (), depth, members, spread, -1, None))
        if parent >= 0:
            nodes[parent] = replace(nodes[parent], children=(*nodes[parent].children, len(nodes) - 1))
        return len(nodes) - 1

    place = {len(everyone) - 1: add(-1, 0, everyone[-1], scatter[-1])}
    for step, (a, b) in reversed(list(enumerate(joins))):
        top = place[k + step]
        gain = scatter[k + step] - scatter[a] - scatter[b]
        nodes[top] = replace(nodes[top], order=len(joins) - 1 - step, split=_split(gain))
        # The larger one first; of equal ones, the one with the earlier document.
        for child in sorted((a, b), key=lambda part: (-len(everyone[part]), everyone[part][0])):
            place[child] = add(top, nodes[top].depth + 1, everyone[child], scatter[child])
    if subtrees:
        _divide(nodes, [place[c] for c in range(k)], subtrees, len(joins), add)
    leaves = sum(1 for node in nodes if node.is_leaf)
    return Tree(tuple(nodes), leaves, True)


def _divide(nodes: list[Node], tops: list[int], subtrees: Sequence[Tree], order: int, add: Any) -> None:
    """Add the parts below their clusters, those with the largest gain first."""
    open_: list[tuple[int, Tree, Node]] = [
        (top, tree, tree.root) for top, tree in zip(tops, subtrees, strict=True) if not tree.root.is_leaf
    ]
    while open_:
        top, tree, inner = open_.pop(max(range(len(open_)), key=lambda i: (open_[i][2].gain, -open_[i][0])))
        nodes[top] = replace(nodes[top], order=order, split=_split(inner.gain))
        order += 1
        for child in (tree.nodes[index] for index in inner.children):
            place = add(top, nodes[top].depth + 1, child.members, child.scatter)
            if not child.is_leaf:
                open_.append((place, tree, child))


def _split(gain: float) -> Split:
    """Return a split that records its gain only; new documents are assigned to clusters, not routed by it."""
    none = np.empty(0)
    return Split(np.empty((0, 0)), none, none, np.empty(0, np.intp), none, none, float("nan"), gain)
