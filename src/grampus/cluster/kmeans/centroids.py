"""The centroids of a fitted clustering in feature space, and the distances of documents to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._array import Array, dot, row_squares
from ...errors import InputError
from ...gram import Gram, factor, indicator, unshifted
from ...kernels import Kernel
from ..crossing import new_blocks, new_parts

_ROUNDING = 1e-14


class Margins(NamedTuple):
    """The cluster of each document, the nearest other one (−1 if there is none), and the margin between them."""

    nearest: NDArray[np.intp]
    second: NDArray[np.intp]
    margin: Array


def margins(squared: Array, own: NDArray[np.intp] | None = None) -> Margins:
    """Compare the squared distances of documents to their own cluster and to the nearest other one.

    The margin is 1 − d²(own) / d²(second), within 0 and 1: 0 on the border, 1 on the centroid or with a single cluster.

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
    coefficients : sparse array of shape (n, k)
        w_j / n_c for the members of c.
    norms : array of shape (k,)
        ‖μ_c‖² in the fitted Gram, its shift included; infinite for an empty cluster.
    weight : float
        How much they count when the nearest centroid is looked for; see `kernel_kmeans`.
    """

    gram: Gram
    coefficients: sp.csr_array
    norms: Array
    weight: float = 1.0

    @classmethod
    def of(cls, gram: Gram, labels: NDArray[np.intp], k: int, weights: Array, weight: float = 1.0) -> Centroids:
        """Return the centroids of a partition; costs one product."""
        base, sigma = unshifted(gram)
        sizes = np.bincount(labels, weights=weights, minlength=k)
        members = indicator(labels, k)
        members.data = weights / sizes[labels]
        own = members.data * (base @ members)[np.arange(len(labels)), labels]
        own += sigma * weights * np.minimum(weights, 1.0) / sizes[labels] ** 2  # as in the engine's centroid_norms
        norms = np.where(sizes > 0, np.bincount(labels, weights=own, minlength=k), np.inf)
        return cls(gram, members, norms, weight)

    def fitted(self) -> Array:
        """Return the squared distances of the fitted documents to every centroid, (n, k), without the shift.

        The shift enters through the centroids' norms alone, as for new documents.
        """
        base, _ = unshifted(self.gram)
        return self._squared(base @ self.coefficients, base.diagonal())

    def new(self, kernel: Kernel, documents: Any, *, unknown: str = "refused") -> Iterator[Array]:
        """Yield the squared distances of new documents to every centroid, some rows at a time.

        A self-similarity that is not known is "refused"; or "left out", so that every distance of the document lacks
        the same number; or "relative", the number that puts the nearest centroid at 0.
        """
        explicit = new_parts(kernel, self.gram, documents)
        if explicit is not None:
            centroids = self._explicit()
            for new, scale in explicit:
                yield self._squared(dot(new, centroids) * scale[:, None], row_squares(new) * scale**2)
            return
        shift = unshifted(self.gram)[1]
        for cross, diagonal in new_blocks(kernel, self.gram, documents):
            if diagonal is None and unknown == "refused":
                raise InputError(
                    "Distances need the self-similarities K(x, x) of the new documents; got only their similarities to "
                    "the fitted ones. Give the pair (similarities, self-similarities)."
                )
            sums = np.asarray(dot(cross, self.coefficients))
            if diagonal is None:
                own = (2.0 * sums - self.norms).max(axis=1) if unknown == "relative" else np.zeros(len(sums))
            else:
                own = diagonal - shift
            yield self._squared(sums, own)

    def nearest(self, squared: Array) -> NDArray[np.intp]:
        """Return the cluster that is chosen at these squared distances; the lowest number in a tie."""
        if self.weight != 1.0:
            squared = squared - (1.0 - self.weight) * np.where(np.isinf(self.norms), 0.0, self.norms)
        return squared.argmin(axis=1)

    def _squared(self, sums: Array, diagonal: Array) -> Array:
        size = self.norms + diagonal.astype(np.float64)[:, None]
        squared = size - 2.0 * sums
        squared[np.abs(squared) < _ROUNDING * np.abs(size)] = 0.0  # a document on its centroid is at distance 0
        return np.where(np.isinf(self.norms), np.inf, squared)

    def _explicit(self) -> Array:
        """Return the centroids themselves, where there are features: (features, k)."""
        explicit = factor(unshifted(self.gram)[0])
        assert explicit is not None
        return dot(explicit.features.T, sp.diags_array(explicit.scale) @ self.coefficients)
