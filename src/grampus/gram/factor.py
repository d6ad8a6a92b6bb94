"""Explicit features below a Gram, where there are some, and what lies below its trailing shift."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._array import Array
from .base import Gram
from .sources import LinearGram
from .transforms import Normalised, Shifted


@dataclass(frozen=True)
class Factor:
    """K = diag(scale) X Xᵀ diag(scale), nothing copied.

    Attributes
    ----------
    features : array or sparse array of shape (n, m)
    scale : array of shape (n,)
    """

    features: Any
    scale: Array


def factor(gram: Gram) -> Factor | None:
    """Return the explicit form of a linear Gram, also under ``normalise(0)``, or None for any other.

    Parameters
    ----------
    gram : Gram
        Any Gram.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram, factor, normalise
    >>> factor(normalise(LinearGram(np.array([[2.0], [4.0]])))).scale
    array([0.5 , 0.25])
    """
    if isinstance(gram, LinearGram):
        return Factor(gram.features, np.ones(len(gram)))
    if isinstance(gram, Normalised) and gram.order == 0:
        below = factor(gram.base)
        return None if below is None else Factor(below.features, below.scale * gram.scale)
    return None


def unshifted(gram: Gram) -> tuple[Gram, float]:
    """Split a Gram into what lies below its trailing shifts and their sum σ.

    Parameters
    ----------
    gram : Gram
        Similarities of the collection.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram, shift, unshifted
    >>> unshifted(shift(LinearGram(np.eye(2)), -0.5))
    (LinearGram(n=2, dtype=float64), -0.5)
    """
    sigma = 0.0
    while isinstance(gram, Shifted):
        sigma += gram.sigma
        gram = gram.base
    return gram, sigma
