"""The environment of processes that a test interrupts: coverage.py may wait for ever for a lock it held then."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager


def environment() -> dict[str, str]:
    """Return the environment without what makes coverage.py follow a process."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_PROCESS")}


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGINT interrupt this process and those it starts; shells ignore it for jobs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
