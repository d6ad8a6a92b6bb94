"""Exact sums: numbers on a grid that is coarse enough for float64 to add them without rounding.

Whole multiples of a power of two add exactly in float64 while the sum stays below 2⁵³ multiples. Exact addition is
associative, so a sum over documents has the same bits for every cut into pieces, order of documents, number of threads
and instruction set. Rounding happens once, document by document, when a number is put on the grid.
"""

from __future__ import annotations

import math

import numpy as np

from .._array import Array

_DIGITS = 53  # binary digits of a float64
SINGLE = 24  # of a float32: multiples of 2⁻²⁴ up to 1 are float32 numbers


def exact_step(count: int, largest: float = 1.0, finest: int = SINGLE) -> float:
    """Return the finest step, a power of two, on which `count` numbers up to `largest` add exactly.

    Parameters
    ----------
    count : int
        Numbers in the longest sum.
    largest : float
        Bound of their modulus.
    finest : int
        The step is at least 2 to the power of minus this.

    Examples
    --------
    >>> from grampus.scale import exact_step
    >>> exact_step(1000) == 2.0**-24, exact_step(2**40) == 2.0**-12
    (True, True)
    """
    room = math.ceil(math.log2(max(count, 1) * max(largest, 1e-300))) + 1
    return 2.0 ** -min(finest, _DIGITS - room)


def snap(values: Array, step: float) -> Array:
    """Round numbers to the grid of a step, ties to even; float64.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.scale import snap
    >>> snap(np.array([0.3, -0.9]), 0.25).tolist()
    [0.25, -1.0]
    """
    return np.rint(np.asarray(values, dtype=np.float64) / step) * step
