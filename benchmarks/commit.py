"""Which sources a figure was made from."""

from __future__ import annotations

import subprocess
from pathlib import Path

# What the commands themselves write: a figure does not rest on it.
WRITTEN = ("reproductions/results", "benchmarks/results", "verify/RESULTS.md", "docs", "README.md")


def commit(root: Path) -> str:
    """Return the short name of the commit, with "-dirty" where a source differs from it."""
    found = _git(root, "rev-parse", "--short", "HEAD")
    changed = _git(root, "status", "--porcelain", "--untracked-files=no", "--", ".", *(f":!{path}" for path in WRITTEN))
    return f"{found}-dirty" if changed else found or "unknown"


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip()
