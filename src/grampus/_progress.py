"""How long work reports its progress: one kind of callable for the whole library."""

import time
from collections.abc import Callable

from .errors import InputError

Progress = Callable[[str, int, int | None], object]
"""Called as ``progress(step, done, total)``: the step's name, units done, and units in all or None if unknown."""


def as_progress(progress: Progress | None) -> Progress:
    """Return the caller's function after checking it, or one that does nothing for None.

    Examples
    --------
    >>> from grampus._progress import as_progress
    >>> as_progress(None)("reading", 1, 2)
    """
    if progress is None:
        return lambda step, done, total: None
    if not callable(progress):
        raise InputError(f"progress must be a function of step, done and total; got {progress!r}.")
    return progress


def throttle(progress: Progress, seconds: float = 0.1) -> Progress:
    """Return a function that passes on at most one call per interval, and always the last of a step.

    Examples
    --------
    >>> from grampus._progress import throttle
    >>> show = throttle(print, seconds=60)
    >>> show("reading", 1, 3), show("reading", 2, 3), show("reading", 3, 3)
    reading 1 3
    reading 3 3
    (None, None, None)
    """
    due = 0.0

    def report(step: str, done: int, total: int | None) -> None:
        nonlocal due
        now = time.monotonic()
        if now >= due or done == total:
            due = now + seconds
            progress(step, done, total)

    return report
