"""Runs: everything a clustering of documents found, saved in a folder whose every byte is checked."""

from .compare import Comparison, compare_runs
from .edits import Edit, Graft
from .records import Branch, Change, Choice, Documents, Layout, Level, Provenance, RunEvidence, Update
from .run import Run, change_run
from .trends import Share, trends

__all__ = [
    "Branch", "Change", "Choice", "Comparison", "Documents", "Edit", "Graft", "Layout", "Level", "Provenance", "Run",
    "RunEvidence", "Share", "Update", "change_run", "compare_runs", "trends",
]  # fmt: skip
