"""Kernel k-means: one batch engine, its starts, its rules, and single moves after convergence.

Other layers use the names listed here: `Batch` runs partitions, `RULES` defines how documents are assigned.
"""

from .batch import Batch
from .centroids import Centroids
from .seeding import plus_plus, random_partition, row_reader
from .state import JOINS, RULES, Labels, Rule

__all__ = ["JOINS", "RULES", "Batch", "Centroids", "Labels", "Rule", "plus_plus", "random_partition", "row_reader"]
