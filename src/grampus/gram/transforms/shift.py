"""The diagonal shift K + σI."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._array import Array, Index, matches, tiles
from ..._check import check_number
from ...errors import InputError
from ..answers import Cost
from ..base import Gram
from ..eigen import smallest_eigenvalue
from .base import Transformed

SHIFT_RULE = "sigma must be a number, 'psd', or left out (the shift that brings the trace to 0)"


def check_shift(sigma: Any) -> float | str | None:
    """Return the checked parameter of a shift, or raise."""
    if sigma is None or (isinstance(sigma, str) and sigma == "psd"):
        return sigma
    try:
        return check_number(sigma, "sigma")
    except InputError:
        raise InputError(f"{SHIFT_RULE}; got {sigma!r}.") from None


def shift(gram: Gram, sigma: float | str | None = None) -> Gram:
    """Add σ to every self-similarity: K + σI.

    Parameters
    ----------
    gram : Gram
        Similarities of the collection.
    sigma : float or "psd", optional
        By default σ = −trace/n, so that the trace becomes 0: the diagonal shift DS that frees kernel k-means from a
        dominant diagonal (`dominance`, §4.1). ``"psd"`` is the smallest shift that makes an indefinite Gram positive
        semi-definite, σ = max(0, −λ_min).

    Notes
    -----
    A shift changes the objective of a partition by exactly σ(n − k′), k′ its number of non-empty clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram, shift
    >>> shift(LinearGram(np.eye(3))).trace()
    0.0
    """
    sigma = check_shift(sigma)
    if sigma is None:
        return Shifted(gram, -gram.trace() / len(gram))
    if isinstance(sigma, str):
        return Shifted(gram, max(0.0, -smallest_eigenvalue(gram)))
    return Shifted(gram, sigma)


class Shifted(Transformed):
    """K + σI (`dominance`, DS). New documents: the cross block stays, the self-similarity gets σ.

    Commutes with ``take`` because σ was fixed on the whole collection.
    """

    entrywise: ClassVar[bool] = True

    def __init__(self, base: Gram, sigma: float) -> None:
        super().__init__(base)
        self.sigma = float(sigma)

    def _block(self, rows: Index, cols: Index) -> Array:
        block = self.base._block(rows, cols)
        block[matches(rows, cols)] += self.sigma
        return block

    def _diagonal(self) -> Array:
        return self.base._diagonal() + self.dtype.type(self.sigma)

    def _matmul(self, v: Any) -> Array:
        product = self.base._matmul(v)
        if isinstance(v, np.ndarray):
            for part in tiles(len(self), 8 * v.shape[1]):
                product[part] += v.dtype.type(self.sigma) * v[part]
            return product
        rows = np.repeat(np.arange(len(self)), np.diff(v.indptr))
        product[rows, v.indices] += v.dtype.type(self.sigma) * v.data
        return product

    def _sum_by(self, labels: NDArray[np.intp], k: int, weights: Array) -> Array:
        sums = self.base._sum_by(labels, k, weights)
        inside = np.flatnonzero(labels >= 0)
        sums[inside, labels[inside]] += self.sigma * weights[inside]
        return sums

    def _take(self, index: NDArray[np.intp]) -> Gram:
        return Shifted(self.base._take(index), self.sigma)

    def _own_extend(self, cross: Array, diagonal: Array | None) -> tuple[Array, Array | None]:
        return cross, None if diagonal is None else diagonal + self.sigma

    def _weighted_squares(self, weights: Array) -> Array:
        # (K_ii + σ)² = K_ii² + σ(2 K_ii + σ)
        extra = self.sigma * (2.0 * self.base._diagonal().astype(np.float64) + self.sigma)
        return np.maximum(self.base._weighted_squares(weights) + weights * extra, 0.0)

    def split_shift(self) -> tuple[Gram, float]:
        """Return the Gram below, and σ."""
        below, sigma = self.base.split_shift()
        return below, sigma + self.sigma

    def cost(self) -> Cost:
        """Return the cost of the base: the diagonal adds little."""
        return self.base.cost().filling(len(self))

    def non_negative(self) -> bool | None:
        """Return what is known of the base: other entries do not change."""
        return self.base.non_negative()
