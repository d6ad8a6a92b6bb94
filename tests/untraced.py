"""The environment of processes that a test interrupts: coverage.py may wait for ever for a lock it held then."""

from __future__ import annotations

import os


def environment() -> dict[str, str]:
    """Return the environment without what makes coverage.py follow a process."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_PROCESS")}
