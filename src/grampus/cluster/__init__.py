"""Clustering: functions on a Gram that return frozen results, and thin estimators over them."""

from .kernel_kmeans import kernel_kmeans
from .results import Clustering, History, Outcome, Runs

__all__ = ["Clustering", "History", "Outcome", "Runs", "kernel_kmeans"]
