"""The transforms as functions: each learns what it needs from the whole collection and returns a Gram."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._array import Array, tiles
from .._check import check_integer, check_number
from .._parallel import blas_threads
from ..errors import InputError
from .base import Gram
from .eigen import smallest_eigenvalue
from .sources import LinearGram
from .transforms import Centred, Mapped, Normalised, Powered, SelfTuned, Shifted

SHIFT_RULE = "sigma must be a number, 'psd', or left out (the shift that brings the trace to 0)"
ORDER_RULE = "order must be 0, a positive number or inf"


def check_shift(sigma: Any) -> float | str | None:
    """Return a shift's parameter in its one form, or raise."""
    if sigma is None or (isinstance(sigma, str) and sigma == "psd"):
        return sigma
    try:
        return check_number(sigma, "sigma")
    except InputError:
        raise InputError(f"{SHIFT_RULE}; got {sigma!r}.") from None


def check_order(order: Any) -> float:
    """Return the order t of a normalisation in its one form, or raise."""
    if not isinstance(order, (bool, str)) and isinstance(order, (int, float, np.number)) and order >= 0:
        try:
            return float(order)
        except OverflowError:
            raise InputError(f"{ORDER_RULE}; got a number with too many digits.") from None
    raise InputError(f"{ORDER_RULE}; got {order!r}.")


def shift(gram: Gram, sigma: float | str | None = None) -> Gram:
    """Add σ to every self-similarity: K + σI.

    Parameters
    ----------
    gram : Gram
    sigma : float or "psd", optional
        Left out, σ = −trace/n, so that the trace becomes 0: the diagonal shift DS that frees kernel k-means from a
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


def normalise(gram: Gram, order: float = 0) -> Gram:
    """Divide each similarity by the power mean of order t of the two self-similarities (`normalised`, Eqn 6).

    Order 0 is the cosine, order ∞ divides by the larger one. Positive semi-definite Grams stay so for every order.
    A document whose self-similarity is 0 gets similarity 0 to everything.

    Parameters
    ----------
    gram : Gram
        Similarities of the collection.
    order : float
        t of the power mean: 0 is the cosine, infinity divides by the larger self-similarity.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram, normalise
    >>> normalise(LinearGram(np.array([[1.0], [2.0]])), 1).dense()
    array([[1. , 0.8],
           [0.8, 1. ]])
    """
    order = check_order(order)
    self_similarity = gram.diagonal().astype(np.float64)
    _require_self_similarity(gram, self_similarity)
    return Normalised(gram, order, self_similarity)


def power(gram: Gram, exponent: float) -> Gram:
    """Raise every similarity to the power p > 0 (`dominance`, subpolynomial kernel, for 0 < p < 1).

    Similarities must not be negative. The self-similarities are checked at once, the others when they are computed.

    Parameters
    ----------
    gram : Gram
        Similarities of the collection.
    exponent : float
        p; between 0 and 1 it lifts small similarities against the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import DenseGram, power
    >>> power(DenseGram(np.array([[1.0, 0.25], [0.25, 1.0]])), 0.5).dense()
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    powered = Powered(gram, check_number(exponent, "exponent", above=0))
    powered.diagonal()
    return powered


def centre(gram: Gram) -> Gram:
    """Move the collection's mean to the origin of feature space; row sums become 0.

    Parameters
    ----------
    gram : Gram
        Similarities of the collection.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram, centre
    >>> centre(LinearGram(np.array([[1.0], [3.0]]))).dense()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    return Centred(gram, (gram @ np.ones(len(gram))) / len(gram))


def empirical_map(gram: Gram) -> Gram:
    """Describe each document by its similarities to all others, scaled to unit length (`dominance`, §4.2).

    Costs one blocked pass for the norms; each product then costs two products of `gram`.

    Parameters
    ----------
    gram : Gram
        Similarities of the collection.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import DenseGram, empirical_map
    >>> empirical_map(DenseGram(np.array([[0.0, 2.0], [2.0, 0.0]]))).dense()
    array([[1., 0.],
           [0., 1.]])
    """
    with blas_threads():
        return Mapped(gram, gram._weighted_squares(np.ones(len(gram))))


def self_tune(gram: Gram, neighbours: int = 7) -> Gram:
    """Turn squared distances into similarities with a width of its own for every document (`normalised`, §4.2).

    Parameters
    ----------
    gram : Gram
        Squared distances of the collection.
    neighbours : int
        The width of a document is its distance to this neighbour.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import DenseGram, self_tune
    >>> self_tune(DenseGram(np.array([[0.0, 4.0], [4.0, 0.0]])), 1).dense().round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """
    neighbours = check_integer(neighbours, "neighbours", low=1)
    n = len(gram)
    if neighbours >= n:
        raise InputError(
            f"selftuning({neighbours}) needs more than {neighbours} documents to find that many neighbours; got {n}. "
            "Use fewer neighbours."
        )
    widths = np.empty(n)
    for rows in tiles(n, 16 * n):
        block = gram.block(rows)
        if block.min() < 0:
            raise InputError(f"self_tune needs squared distances of at least 0; an entry is {block.min():g}.")
        # The document itself is there at distance 0, so the p-th neighbour is at position p.
        widths[rows] = np.sqrt(np.partition(block, neighbours, axis=1)[:, neighbours])
    smallest = widths[widths > 0].min(initial=np.inf)
    widths[widths == 0] = smallest if math.isfinite(smallest) else 1.0
    return SelfTuned(gram, neighbours, widths)


def _require_self_similarity(gram: Gram, diagonal: Array) -> None:
    """Refuse a diagonal that cannot normalise: negative, or 0 for a document that does resemble another."""
    low = int(diagonal.argmin())
    if diagonal[low] < 0:
        raise InputError(
            f"normalise needs self-similarities of at least 0; document {low} has {diagonal[low]:g}. "
            "Put normalise before shift."
        )
    limit = 1e-30 if gram.dtype == np.float32 else 1e-290
    positive = diagonal[diagonal > 0]
    if positive.size and not (positive.min() >= limit and positive.max() <= 1 / limit):
        odd = positive.min() if positive.min() < limit else positive.max()
        raise InputError(
            f"normalise needs self-similarities between {limit:g} and {1 / limit:g} in {gram.dtype}; got {odd:g}. "
            "Scale the data, or use float64."
        )
    empty = np.flatnonzero(diagonal == 0)
    if isinstance(gram, LinearGram) and not (gram.features[empty] != 0).sum():
        return  # no features, no similarities: nothing need be read
    for part in tiles(len(empty), 16 * len(gram)):
        block = gram.block(empty[part])
        if block.any():
            first = int(empty[part][np.flatnonzero(block.any(axis=1))[0]])
            raise InputError(
                f"normalise needs a positive self-similarity for every document that resembles another; document "
                f"{first} has 0. Put normalise before shift."
            )
