"""The meaning of groups: the direction in which the documents of each differ from all, and how near a text is to it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array, sum_rows, unit_rows

Encode = Callable[[Sequence[str]], Any]
LOOKED_AT = 10_000  # documents at most to see how well names say what they are about


@dataclass(frozen=True)
class DocumentMeaning:
    """The rows of documents, and the encoder that made them.

    Parameters
    ----------
    rows : array of shape (n, d)
        One for each document, near where two mean the same.
    encode : callable
        Returns such a row for each of some texts.
    counts : array of shape (n,)
        The number of equal documents that each row represents.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.describe.direction import DocumentMeaning
    >>> rows = {"whale": [1.0, 0.0], "bird": [0.0, 1.0]}
    >>> meaning = DocumentMeaning(np.eye(2), lambda texts: [rows[text] for text in texts], np.ones(2))
    >>> directions = meaning.directions(np.array([0, 1]), np.eye(2, dtype=bool))
    >>> meaning.closeness(["whale", "bird"], directions).round(2).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """

    rows: Any
    encode: Encode
    counts: Array

    @cached_property
    def mean(self) -> Array:
        """The mean of all documents."""
        return np.asarray(self.counts @ self.rows / max(float(self.counts.sum()), 1.0), dtype=np.float64)

    def directions(self, atoms: NDArray[np.intp], members: NDArray[np.bool_]) -> Array:
        """Return the mean of each union of atoms less that of all documents, of unit length, (groups, d)."""
        atom_sums = sum_rows(self.rows, atoms, members.shape[1], self.counts)
        sizes = np.bincount(atoms[atoms >= 0], weights=self.counts[atoms >= 0], minlength=members.shape[1])
        means = (members @ atom_sums) / np.maximum(members @ sizes, 1e-12)[:, None]
        return unit_rows(means - self.mean)

    def closeness(self, texts: Sequence[str], directions: Array) -> Array:
        """Return the cosine of the meaning of each text with each direction, (texts, groups).

        Words are unlike documents in the same way, whatever they mean, so the mean of all texts is taken off.
        """
        rows = self.centred(np.asarray(self.encode(texts), dtype=np.float64).reshape(len(texts), -1))
        return unit_rows(rows - rows.mean(axis=0)) @ directions.T

    def recognised(self, labels: NDArray[np.intp], names: Sequence[str]) -> tuple[Array, Array]:
        """Return the share of the documents of each cluster that its name alone puts there, and that its centre would.

        A document belongs to the name, or the centre, whose meaning is nearest. At most 10,000 are looked at.
        """
        directions = self.directions(labels, np.eye(len(names), dtype=bool))
        said = self.centred(np.asarray(self.encode(names), dtype=np.float64))
        inside = np.flatnonzero(labels >= 0)
        inside = inside[:: len(inside) // LOOKED_AT + 1]
        rows, own = np.asarray(self.rows[inside], dtype=np.float64) - self.mean, labels[inside]
        weights = self.counts[inside]
        every = np.maximum(np.bincount(own, weights=weights, minlength=len(names)), 1e-12)
        right = ((rows @ some.T).argmax(axis=1) == own for some in (said, directions))
        by_name, by_centre = (np.bincount(own, weights=weights * some, minlength=len(names)) / every for some in right)
        return by_name, by_centre

    def centred(self, rows: Array) -> Array:
        """Return rows less the mean of all documents, of unit length."""
        return unit_rows(unit_rows(rows) - self.mean)
