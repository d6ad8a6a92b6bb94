"""The centroids of a fitted clustering in feature space, and the distances of documents to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._array import Array
from ...errors import InputError
from ...gram import Gram

_ROUNDING = 1e-14


class Margins(NamedTuple):
    """The cluster of each document, the nearest other cluster (−1 if there is none), and the margin."""

    nearest: NDArray[np.intp]
    second: NDArray[np.intp]
    margin: Array


def margins(squared: Array, own: NDArray[np.intp] | None = None) -> Margins:
    """Compare the squared distances of documents to their own cluster and to the nearest other one.

    The margin is 1 − d²(own) / d²(second), clipped to [0, 1]: 0 on the border, 1 on the centroid or for one cluster.

    Parameters
    ----------
    squared : array of shape (n, k)
    own : array of shape (n,), optional
        The clusters of the documents; the nearest ones by default, the lowest number in a tie.
    """
    rows = np.arange(len(squared))
    nearest = squared.argmin(axis=1) if own is None else own
    if squared.shape[1] == 1:
        return Margins(nearest, np.full(len(rows), -1), np.ones(len(rows)))
    others = squared.copy()
    others[rows, nearest] = np.inf
    second = others.argmin(axis=1)
    apart = others[rows, second]
    ratio = np.divide(squared[rows, nearest], apart, out=np.ones(len(rows)), where=apart > 0)
    return Margins(nearest, second, np.clip(1.0 - ratio, 0.0, 1.0))


@dataclass(frozen=True)
class Centroids:
    """μ_c = Σ_{j∈c} w_j φ(x_j) / n_c for every cluster.

    Attributes
    ----------
    gram : Gram
        The fitted Gram.
    labels : array of shape (n,)
        Cluster of every fitted document, −1 for none.
    shares : array of shape (n,)
        w_j / n_c, c the document's cluster; 0 for documents without one.
    norms : array of shape (k,)
        ‖μ_c‖² in the fitted Gram, its shift included; infinite for an empty cluster.
    similarities : array of shape (n, k)
        φ(x_i)·μ_c of the fitted documents, without the shift: the one product K Z that everything else is derived from.
    """

    gram: Gram
    labels: NDArray[np.intp]
    shares: Array
    norms: Array
    similarities: Array = field(repr=False)

    @classmethod
    def of(cls, gram: Gram, labels: NDArray[np.intp], k: int, weights: Array) -> Centroids:
        """Return the centroids of a partition; costs one product."""
        base, sigma = gram.split_shift()
        inside = np.flatnonzero(labels >= 0)
        clusters = labels[inside]
        sizes = np.bincount(clusters, weights=weights[inside], minlength=k)
        shares = np.zeros(len(labels))
        size = sizes[clusters]
        shares[inside] = np.divide(weights[inside], size, out=np.zeros(len(size)), where=size > 0)
        similar = base.sum_by(labels, k, shares)
        part = shares[inside] * similar[inside, clusters]
        part += sigma * shares[inside] * np.minimum(weights[inside], 1.0) / np.where(size > 0, size, 1.0)
        norms = np.where(sizes > 0, np.bincount(clusters, weights=part, minlength=k), np.inf)
        return cls(gram, labels, shares, norms, similar)

    def fitted(self) -> Array:
        """Return the squared distances of the fitted documents to every centroid, (n, k), without the shift.

        The shift enters through the centroids' norms alone, as for new documents.
        """
        return self._squared(self.similarities, self.gram.split_shift()[0].diagonal())

    def new(self, documents: Any, *, unknown: str = "refused") -> Iterator[Array]:
        """Yield the squared distances of new documents to every centroid, a batch of rows at a time.

        An unknown self-similarity is "refused"; or "left out", so that all distances of the document lack the same
        number; or "relative", which puts the nearest centroid at 0.
        """
        for sums, known in self._compared(documents):
            own = known
            if own is None and unknown == "refused":
                raise InputError(
                    "Distances need the self-similarities K(x, x) of the new documents; got only their similarities to "
                    "the fitted ones. Give the pair (similarities, self-similarities)."
                )
            if own is None:
                own = (2.0 * sums - self.norms).max(axis=1) if unknown == "relative" else np.zeros(len(sums))
            yield self._squared(sums, own)

    def cosines(self, documents: Any) -> Iterator[Array]:
        """Yield φ(x)·μ_c / ‖μ_c‖ of new documents, a batch of rows at a time: their cosines but for their own length.

        A cluster that is empty, or whose centroid is 0, has −∞.
        """
        usable = np.isfinite(self.norms) & (self.norms > 0)
        lengths = np.sqrt(np.where(usable, self.norms, 1.0))
        for sums, _ in self._compared(documents):
            yield np.where(usable, sums / lengths, -np.inf)

    def _compared(self, documents: Any) -> Iterator[tuple[Array, Array | None]]:
        """Yield φ(x)·μ_c of new documents and their self-similarities, if these are known."""
        explicit = self.gram.split_shift()[0].features()
        directions = None if explicit is None else explicit.sum_by(self.labels, len(self.norms), self.shares)
        for part in self.gram.compare(documents):
            yield part.sum_by(self.labels, len(self.norms), self.shares, directions), part.diagonal

    def _squared(self, sums: Array, diagonal: Array) -> Array:
        size = self.norms + diagonal.astype(np.float64)[:, None]
        squared = 2.0 * sums
        np.subtract(size, squared, out=squared)
        least = np.abs(size, out=size)
        least *= _ROUNDING
        squared[np.abs(squared) < least] = 0.0  # a document on its centroid is at distance 0
        squared[:, np.isinf(self.norms)] = np.inf
        return squared
