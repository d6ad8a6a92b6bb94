"""Gram matrices as operators: sources, transforms, and what can be read off them.

A source (`DenseGram`, `LinearGram`, `FunctionGram`) holds or computes similarities; a transform (`shift`, `normalise`,
`power`, `centre`, `empirical_map`, `self_tune`) is a Gram over another; `nystrom` makes one of low rank. All answer
``block``, ``diagonal``, ``@``, ``take``, ``extend`` and ``dense``, and all pass ``grampus.testing.check_gram``.
"""

from .base import Gram
from .eigen import eigenvalues
from .error import Estimate, relative_error
from .factor import factor, unshifted
from .fit import centre, empirical_map, normalise, power, self_tune, shift
from .lowrank import NystromGram, nystrom
from .objective import dominance_ratio, indicator, objective
from .sources import DenseGram, FunctionGram, LinearGram
from .transforms import Transformed

__all__ = [
    "DenseGram",
    "Estimate",
    "FunctionGram",
    "Gram",
    "LinearGram",
    "NystromGram",
    "Transformed",
    "centre",
    "dominance_ratio",
    "eigenvalues",
    "empirical_map",
    "factor",
    "indicator",
    "normalise",
    "nystrom",
    "objective",
    "power",
    "relative_error",
    "self_tune",
    "shift",
    "unshifted",
]
