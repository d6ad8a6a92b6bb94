"""How much a word tells about a group of documents: more often inside than outside, and in all parts of it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._array import Array, is_sparse

Flags = NDArray[np.bool_]

RARE = 0.01  # added to shares of documents, so that a word of one or two documents tells little


@dataclass(frozen=True)
class Groups:
    """Groups of documents to name: unions of atoms, the parts of the finest partition.

    Attributes
    ----------
    members : array of shape (groups, atoms)
        Which atoms a group consists of.
    rivals : list of lists of int
        What the group must be told from: a word must be rarer in the rest of each of these groups, which contain it;
        −1 is all documents.
    parts : list of lists of int
        The groups that a group consists of, as far as they are named, too.
    parents : list of int
        The group that a group is a part of, or −1. Parents come first.
    """

    members: Flags
    rivals: list[list[int]]
    parts: list[list[int]]
    parents: list[int]


def telling(inside: Array, outside: Array) -> Array:
    """Return how much words tell about a group: a log (a / b), from the shares of documents that contain them.

    a is the share inside and b that outside; 0.01 is added to both in the fraction.
    """
    return inside * np.log((inside + RARE) / (outside + RARE))


def scores(held: Any, sizes: Array, groups: Groups, read: Array | None = None) -> Any:
    """Score every row of `held`, (things, atoms): in how many documents of each atom it occurs.

    Returns a sparse array (things, groups), by columns, with the things that occur in each group. `read` is the number
    of documents of each atom that were looked at, all of them by default.
    """
    weight = np.ones(len(sizes)) if read is None else sizes / np.maximum(read, 1)
    held = sp.csr_array(held)
    counts = sp.csc_array(held @ sp.csc_array((groups.members * weight).T))
    counts.sort_indices()
    every, total = np.asarray(held @ weight), float(sizes.sum())
    documents = groups.members @ sizes
    inside = counts.data / np.maximum(np.repeat(documents, np.diff(counts.indptr)), 1.0)
    values = np.empty_like(inside)
    for group, parts in enumerate(groups.parts):
        column = slice(counts.indptr[group], counts.indptr[group + 1])
        things = counts.indices[column]
        outside = np.zeros(len(things))
        for rival in groups.rivals[group]:
            around = every[things] if rival < 0 else column_values(counts, counts.data, rival, things)
            others = (total if rival < 0 else float(documents[rival])) - float(documents[group])
            outside = np.maximum(outside, np.maximum(around - counts.data[column], 0.0) / max(others, 1.0))
        shared = inside[column]
        if len(parts) > 1:  # what all parts share: the geometric mean
            logs = sum(np.log(column_values(counts, inside, part, things) + RARE) for part in parts)
            shared = np.maximum(np.exp(logs / len(parts)) - RARE, 0.0)
        values[column] = telling(shared, outside)
    return sp.csc_array((values, counts.indices, counts.indptr), shape=counts.shape)


def column_values(table: Any, values: Array, column: int, rows: Array) -> Array:
    """Return the values of a column of a sparse table at some of its rows, 0 where there is none."""
    at = slice(table.indptr[column], table.indptr[column + 1])
    known = table.indices[at]
    if not len(known):
        return np.zeros(len(rows))
    place = np.minimum(np.searchsorted(known, rows), len(known) - 1)
    return np.where(known[place] == rows, values[at][place], 0.0)


def occurrences(present: Any, atoms: NDArray[np.intp], k: int, documents: Array) -> Any:
    """Return in how many documents of each atom every term occurs, (terms, atoms)."""
    inside = np.flatnonzero(atoms >= 0)
    groups = sp.csr_array((documents[inside], (atoms[inside], inside)), shape=(k, len(atoms)))
    return (groups @ (present if is_sparse(present) else sp.csr_array(present))).T
