"""Groups of documents to name, and how much words and phrases tell about each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array

Flags = NDArray[np.bool_]
RARE = 0.01  # added to shares of documents, so that a word of one or two documents tells little
SLAB = 2**20  # scores, things × groups, that are computed at a time; there are half a dozen arrays of that size


@dataclass(frozen=True)
class Groups:
    """Groups of documents to name: unions of atoms, the parts of the finest partition.

    Attributes
    ----------
    members : array of shape (groups, atoms)
        Which atoms a group consists of.
    rivals : tuple of arrays of shape (groups, atoms)
        What the group must be told from: a word must be rarer in each of these.
    parts : list of lists of int
        The groups that a group consists of, as far as they are named, too.
    parents : list of int
        The group that a group is a part of, or −1. Parents come first.
    """

    members: Flags
    rivals: tuple[Flags, ...]
    parts: list[list[int]]
    parents: list[int]


def telling(inside: Array, outside: Array) -> Array:
    """Return how much words tell about a group: a log (a / b), from the shares of documents that contain them.

    a is the share inside and b that outside; 0.02 is added to both in the fraction.
    """
    return inside * np.log((inside + RARE) / (outside + RARE))


def telling_scores(held: Any, sizes: Array, groups: Groups, read: Array | None = None) -> Array:
    """Score every row of `held`, (things, atoms): in how many documents of each atom it occurs; (things, groups).

    `read` is the number of documents of each atom that were looked at, all of them by default.
    """
    weight = np.ones(len(sizes)) if read is None else sizes / np.maximum(read, 1)

    def share(which: Flags) -> Array:
        return np.asarray((held @ (which * weight).T) / np.maximum(which @ sizes, 1.0))

    inside = share(groups.members)
    outside = np.maximum.reduce([share(rivals) for rivals in groups.rivals])
    shared = inside.copy()
    for group, parts in enumerate(groups.parts):
        if len(parts) > 1:  # what all parts share: the geometric mean
            shared[:, group] = np.exp(np.log(inside[:, parts] + RARE).mean(axis=1)) - RARE
    return telling(np.maximum(shared, 0.0), outside)


def slabs(groups: Groups, things: int) -> Iterator[tuple[range, Groups]]:
    """Yield some groups at a time, as the first of Groups with their parts; for so many things no slab is large."""
    step = max(1, SLAB // max(things, 1))
    for start in range(0, len(groups.parents), step):
        own = range(start, min(start + step, len(groups.parents)))
        index = list(own) + sorted({part for group in own for part in groups.parts[group]} - {*own})
        place = {group: at for at, group in enumerate(index)}
        parts = [[place[part] for part in groups.parts[group]] for group in own] + [[]] * (len(index) - len(own))
        rivals = tuple(flags[index] for flags in groups.rivals)
        yield own, Groups(groups.members[index], rivals, parts, [-1] * len(index))
