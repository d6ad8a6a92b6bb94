"""Clustering: functions on a Gram that return frozen results, and thin estimators over them."""

from .estimator import KernelKMeans, Membership, Representatives
from .kernel_kmeans import kernel_kmeans
from .results import Clustering, History, Outcome, Runs

__all__ = [
    "Clustering",
    "History",
    "KernelKMeans",
    "Membership",
    "Outcome",
    "Representatives",
    "Runs",
    "kernel_kmeans",
]
