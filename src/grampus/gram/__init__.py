"""Gram matrices as operators: sources, transforms, low rank, eigenpairs and diagnostics.

A source (`DenseGram`, `LinearGram`, `SparseGram`, `FunctionGram`) stores or computes similarities; a transform
(`shift`, `normalise`, `power`, `centre`, `empirical_map`, `self_tune`) is a Gram over another; `nystrom` and
`principal` return one of low rank; `weighted_sum` and `product` combine several, as in ``a + 0.5 * b``. All have the
methods ``block``, ``diagonal``, ``@``, ``sum_by``, ``take``, ``extend``, ``compare``, ``features``, ``split_shift``,
``cost`` and ``documents``, and pass ``grampus.testing.check_gram``.
"""

from .algebra import product, weighted_sum
from .answers import ComparedDocuments, Cost, Features
from .base import Gram, require_gram
from .collection import Collection
from .diagnostics import Estimate, dominance_ratio, objective, relative_error
from .eigen import Eigenpairs, eigenpairs, eigenvalues
from .graph import neighbour_graph
from .lowrank import NystromGram, nystrom
from .plan import Plan, plan, quick_products, quick_rows
from .principal import PrincipalGram, at_rank, principal
from .sources import DenseGram, FunctionGram, LinearGram, SparseGram
from .transforms.base import Transformed
from .transforms.centre import centre
from .transforms.map import empirical_map
from .transforms.normalise import normalise
from .transforms.power import power
from .transforms.selftuning import self_tune
from .transforms.shift import shift
from .transforms.stored import store

__all__ = [
    "Collection", "ComparedDocuments", "Cost", "DenseGram", "Eigenpairs", "Estimate", "Features", "FunctionGram",
    "Gram", "LinearGram", "NystromGram", "Plan", "PrincipalGram", "SparseGram", "Transformed", "at_rank", "centre",
    "dominance_ratio", "eigenpairs", "eigenvalues", "empirical_map", "neighbour_graph", "normalise", "nystrom",
    "objective", "plan", "power", "principal", "product", "quick_products", "quick_rows", "relative_error",
    "require_gram", "self_tune", "shift", "store", "weighted_sum",
]  # fmt: skip
