"""Clustering: functions on a Gram that return frozen results, and thin estimators over them."""

from .bisecting import BisectingKernelKMeans, bisecting_kernel_kmeans
from .estimator import KernelKMeans, Membership, Representatives
from .kernel_kmeans import kernel_kmeans
from .nested import nested_tree
from .pddp import PDDP, pddp
from .results import Clustering, History, Outcome, Runs
from .tree import Node, Split, Tree

__all__ = [  # noqa: RUF022  (plainly sorted)
    "BisectingKernelKMeans",
    "Clustering",
    "History",
    "KernelKMeans",
    "Membership",
    "Node",
    "Outcome",
    "PDDP",
    "Representatives",
    "Runs",
    "Split",
    "Tree",
    "bisecting_kernel_kmeans",
    "kernel_kmeans",
    "nested_tree",
    "pddp",
]
