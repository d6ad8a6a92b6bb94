"""The tree of an edited run: the branches that were found, restricted to the documents of each cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._array import members_of_clusters
from .records import Branch, Level

T = TypeVar("T")


def preorder(branches: Sequence[Branch]) -> list[int]:
    """Return the branches from the root, each before its children and these in their order."""
    return _depth_first(0, lambda index: branches[index].children) if branches else []


def _depth_first(root: T, below: Callable[[T], Sequence[T]]) -> list[T]:
    order, waiting = [], [root]
    while waiting:
        order.append(waiting.pop())
        waiting.extend(reversed(below(order[-1])))
    return order


def part_of(branches: Sequence[Branch], parts: Sequence[int]) -> NDArray[np.int32]:
    """Return the place in `parts` of the part that each branch is in; −1 outside, and in one more entry at the end."""
    found = np.full(len(branches) + 1, -1, dtype=np.int32)
    found[list(parts)] = np.arange(len(parts))
    for branch in branches[1:]:
        if found[branch.index] < 0:
            found[branch.index] = found[branch.parent]
    return found


@dataclass(frozen=True, eq=False)
class Plant:
    """A tree to cut parts from and to graft branches on.

    Attributes
    ----------
    branches : tuple of Branch
    position : array
        Position of each branch in preorder.
    """

    branches: tuple[Branch, ...]
    position: NDArray[np.intp]

    @classmethod
    def of(cls, branches: Sequence[Branch]) -> Plant:
        """Return the plant of a tree."""
        position = np.empty(len(branches), dtype=np.intp)
        position[preorder(branches)] = np.arange(len(branches))
        return cls(tuple(branches), position)

    def renamed(self, index: int, name: str) -> Plant:
        """Return the tree with another name of a branch."""
        made = list(self.branches)
        made[index] = replace(made[index], name=name)
        return Plant(tuple(made), self.position)

    def parts(self, leaves: NDArray[np.intp], count: int) -> list[int]:
        """Return the branches into which documents in these leaves are divided first: `count`, or a few more.

        The split with the lowest order comes first; branches without documents do not count.
        """
        below = members_below(self, leaves)
        if not below[0]:
            return []
        parts = [self._divided(0, below)]
        while len(parts) < count:
            open_ = [part for part in parts if self.branches[part].children]
            if not open_:
                break
            first = min(open_, key=lambda part: (self.branches[part].order, self.position[part]))
            inside = [self._divided(child, below) for child in self.branches[first].children if below[child]]
            parts = [part for part in parts if part != first] + inside
        return parts

    def _divided(self, branch: int, below: NDArray[np.intp]) -> int:
        """Return the first branch below that divides the documents, or holds them as a leaf."""
        while True:
            inside = [child for child in self.branches[branch].children if below[child]]
            if len(inside) != 1:
                return branch
            branch = inside[0]

    def grafted(self, leaves: NDArray[np.intp], members: NDArray[np.intp], grafts: Sequence[Any]) -> tuple[Plant, int]:
        """Return the tree with other branches for some documents, and the index of the first of them.

        They grow where most of the documents were; what else was in that leaf gets a leaf of its own, and `leaves` is
        changed accordingly.
        """
        made = list(self.branches)
        home = home_of(self, members_below(self, leaves[members]))
        others = np.setdiff1d(np.flatnonzero(leaves == home), members)
        children = list(made[home].children)
        if len(others):
            children.append(len(made))
            made.append(replace(made[home], index=len(made), parent=home, children=(), order=-1, gain=0.0))
            leaves[others] = len(made) - 1
        first, top = len(made), max(branch.order for branch in made) + 1
        children.append(first)
        order = made[home].order if made[home].order >= 0 else top
        made[home] = replace(made[home], children=tuple(children), order=order)
        inside: dict[int, list[int]] = {}
        for number, graft in enumerate(grafts):
            if number:
                inside.setdefault(graft.parent, []).append(first + number)
        for number, graft in enumerate(grafts):
            parent, own = first + graft.parent if number else home, tuple(inside.get(number, ()))
            order = -1 if graft.order < 0 else top + 1 + graft.order
            named = (graft.height, graft.gain, -1, graft.name, graft.words)
            made.append(Branch(first + number, parent, own, 0, order, *named))
        return Plant.of(made), first


def members_below(plant: Plant, leaves: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return how many of the documents in these leaves are below each branch."""
    counts = np.bincount(leaves[leaves >= 0], minlength=len(plant.branches))
    for branch in sorted(plant.branches[1:], key=lambda one: -plant.position[one.index]):
        counts[branch.parent] += counts[branch.index]
    return counts


def home_of(plant: Plant, below: NDArray[np.intp]) -> int:
    """Return the deepest branch with more than half of the documents."""
    home = 0
    while True:
        inside = [child for child in plant.branches[home].children if 2 * below[child] > below[0]]
        if not inside:
            return home
        home = inside[0]


@dataclass(eq=False)
class _Twig:
    """A branch of the new tree: what it comes from, and what grows on it."""

    source: int
    sources: set[int]
    cluster: int = -1
    name: str = ""
    words: tuple[str, ...] = ()
    twigs: list[_Twig] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Regrown:
    """A tree around the clusters of an edited run, the leaf of every document, and the levels."""

    tree: tuple[Branch, ...]
    leaves: NDArray[np.int32]
    levels: tuple[Level, ...]


def regrow(
    plant: Plant,
    leaves: NDArray[np.intp],
    labels: NDArray[np.intp],
    named: Sequence[tuple[str, tuple[str, ...]]],
    levels: Sequence[Level],
) -> Regrown:
    """Return the tree whose clusters are `labels`: above them what was found, below them their parts.

    `named` has the name and further words of every cluster.

    A cluster grows where most of its documents are. Below it, branches without documents of the cluster are left out,
    and documents without a place are in its largest leaf.
    """
    at_home: dict[int, list[_Twig]] = {}
    places: list[tuple[dict[int, _Twig], int]] = []  # of every cluster: what grows on its leaves, and the largest one
    groups = members_of_clusters(labels, len(named))
    for members, (number, (name, words)) in zip(groups, enumerate(named), strict=True):
        below = members_below(plant, leaves[members])
        made = _grown(plant, [branch for branch in plant.branches if below[branch.index]])
        twig = made.get(0, _Twig(0, set()))
        twig.cluster, twig.name, twig.words = number, name, words
        at_home.setdefault(home_of(plant, below), []).append(twig)
        ends = {one.source: one for one in made.values() if not one.twigs} or {-1: twig}
        places.append((ends, min(ends, key=lambda leaf: (-below[leaf], plant.position[leaf]))))
    root = _grown(plant, plant.branches, at_home)[0]
    order = _depth_first(root, lambda twig: twig.twigs)
    index = {id(twig): number for number, twig in enumerate(order)}
    new = np.full(len(labels), -1, dtype=np.int32)
    for members, (ends, largest) in zip(groups, places, strict=True):
        leaf_of = np.full(len(plant.branches) + 1, -1, dtype=np.int32)  # by the old leaf; the last one is for no place
        leaf_of[list(ends)] = [index[id(end)] for end in ends.values()]
        new[members] = leaf_of[np.where(leaves[members] >= 0, leaves[members], largest)]
    tree = _branches(plant, order, index, new)
    return Regrown(tree, new, _levels(levels, plant, root, index, tree))


def _grown(
    plant: Plant, branches: Sequence[Branch], at_home: Mapping[int, list[_Twig]] | None = None
) -> dict[int, _Twig]:
    """Return what grows on branches: a twig of their own where they divide something, else the one thing on them.

    Without clusters at home on them, branches with nothing on them are ends.
    """
    made: dict[int, _Twig] = {}
    for branch in sorted(branches, key=lambda b: -plant.position[b.index]):
        twigs = [*(at_home or {}).get(branch.index, ()), *(made[child] for child in branch.children if child in made)]
        if len(twigs) == 1:
            if twigs[0].cluster < 0:  # a cluster knows the branches that hold it
                twigs[0].sources.add(branch.index)
            made[branch.index] = twigs[0]
        elif twigs or at_home is None:
            made[branch.index] = _Twig(branch.index, {branch.index}, name=branch.name, words=branch.words, twigs=twigs)
    return made


def _branches(
    plant: Plant, order: Sequence[_Twig], index: Mapping[int, int], leaves: NDArray[np.int32]
) -> tuple[Branch, ...]:
    """Return twigs as records: sizes as in the leaves, splits numbered from the top and those of clusters last."""
    parent, is_part = [-1] * len(order), [twig.cluster >= 0 for twig in order]
    for number, twig in enumerate(order):
        for other in twig.twigs:
            parent[index[id(other)]] = number
            is_part[index[id(other)]] |= is_part[number]
    below = [number for number, twig in enumerate(order) if twig.twigs]
    below.sort(key=lambda number: (is_part[number], plant.branches[order[number].source].order, number))
    rank = {number: place for place, number in enumerate(below)}
    sizes = np.bincount(leaves[leaves >= 0], minlength=len(order))
    for number in range(len(order) - 1, 0, -1):
        sizes[parent[number]] += sizes[number]
    made = []
    for number, twig in enumerate(order):
        source = plant.branches[twig.source]
        children = tuple(index[id(other)] for other in twig.twigs)
        size, at, gain = int(sizes[number]), rank.get(number, -1), source.gain if children else 0.0
        named = (twig.cluster, twig.name, twig.words)
        made.append(Branch(number, parent[number], children, size, at, source.height, gain, *named))
    return tuple(made)


def _levels(
    levels: Sequence[Level], plant: Plant, root: _Twig, index: Mapping[int, int], tree: Sequence[Branch]
) -> tuple[Level, ...]:
    """Return the levels of the new tree: the clusters, and above and below them the branches that are left."""
    clusters = {branch.index for branch in plant.branches if branch.cluster >= 0}
    shown = tuple(b.index for b in sorted((b for b in tree if b.cluster >= 0), key=lambda b: b.cluster))
    regrown, above = [], True
    for level in levels:
        if set(level.branches) == clusters:
            above = False
            regrown.append(Level(level.name, shown))
        else:
            chosen = _level(level.branches, root, index, above)
            order = sorted(chosen, key=lambda at: (chosen[at], -tree[at].size, at))
            regrown.append(Level(level.name, tuple(order)))
    return tuple(regrown)


def _level(branches: Sequence[int], root: _Twig, index: Mapping[int, int], above: bool) -> dict[int, int]:
    """Return the branches of a level, those that are left of the old ones, else whole clusters or leaves.

    Each comes with its number in the old level, as old ones keep their order; new ones are last.
    """
    number = {branch: place for place, branch in enumerate(branches)}
    wanted = set(branches)
    holds: dict[int, bool] = {}
    for twig in reversed(_depth_first(root, lambda twig: twig.twigs)):
        holds[id(twig)] = bool(twig.sources & wanted) or any(holds[id(other)] for other in twig.twigs)
    chosen: dict[int, int] = {}
    waiting = [(root, False)]
    while waiting:
        twig, inside = waiting.pop()
        inside, held = inside or twig.cluster >= 0, twig.sources & wanted
        whole = (held and (above or inside)) or (inside and (above or not holds[id(twig)]))
        if whole or not twig.twigs:
            chosen[index[id(twig)]] = min((number[one] for one in held), default=len(branches))
        else:
            waiting.extend((other, inside) for other in twig.twigs)
    return chosen
