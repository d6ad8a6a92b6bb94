"""Gram matrices as operators: sources, transforms, and what can be read off them.

A source (`DenseGram`, `LinearGram`, `FunctionGram`) holds or computes similarities; a transform (`shift`, `normalise`,
`power`, `centre`, `empirical_map`, `self_tune`) is a Gram over another Gram. All of them answer ``block``,
``diagonal``, ``@``, ``take``, ``extend`` and ``dense``, and all pass ``grampus.testing.check_gram``.
"""

from .base import Gram
from .eigen import eigenvalues
from .factor import factor, unshifted
from .fit import centre, empirical_map, normalise, power, self_tune, shift
from .objective import dominance_ratio, indicator, objective
from .sources import DenseGram, FunctionGram, LinearGram
from .transforms import Transformed

__all__ = [
    "DenseGram",
    "FunctionGram",
    "Gram",
    "LinearGram",
    "Transformed",
    "centre",
    "dominance_ratio",
    "eigenvalues",
    "empirical_map",
    "factor",
    "indicator",
    "normalise",
    "objective",
    "power",
    "self_tune",
    "shift",
    "unshifted",
]
