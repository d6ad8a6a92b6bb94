"""Gram matrices as operators: sources, transforms, and what can be read off them.

A source (`DenseGram`, `LinearGram`, `SparseGram`, `FunctionGram`) holds or computes similarities; a transform (`shift`,
`normalise`, `power`, `centre`, `empirical_map`, `self_tune`) is a Gram over another; `nystrom` and `principal` make one
of low rank. All answer ``block``, ``diagonal``, ``@``, ``take``, ``extend``, ``dense``, and pass
``grampus.testing.check_gram``.
"""

from .base import Gram
from .eigen import Eigenpairs, eigenpairs, eigenvalues
from .error import Estimate, relative_error
from .factor import factor, unshifted
from .fit import centre, empirical_map, normalise, power, self_tune, shift
from .graph import neighbour_graph
from .lowrank import NystromGram, nystrom
from .objective import dominance_ratio, indicator, objective
from .principal import PrincipalGram, principal
from .sources import DenseGram, FunctionGram, LinearGram, SparseGram
from .transforms import Transformed

__all__ = [
    "DenseGram",
    "Eigenpairs",
    "Estimate",
    "FunctionGram",
    "Gram",
    "LinearGram",
    "NystromGram",
    "PrincipalGram",
    "SparseGram",
    "Transformed",
    "centre",
    "dominance_ratio",
    "eigenpairs",
    "eigenvalues",
    "empirical_map",
    "factor",
    "indicator",
    "neighbour_graph",
    "normalise",
    "nystrom",
    "objective",
    "power",
    "principal",
    "relative_error",
    "self_tune",
    "shift",
    "unshifted",
]
