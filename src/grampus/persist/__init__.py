"""Runs: everything a clustering of documents found, saved in a folder whose every byte is checked."""

from .compare import Comparison, compare_runs
from .records import Branch, Choice, Documents, Layout, Level, Provenance, RunEvidence
from .run import Run

__all__ = [
    "Branch",
    "Choice",
    "Comparison",
    "Documents",
    "Layout",
    "Level",
    "Provenance",
    "Run",
    "RunEvidence",
    "compare_runs",
]
