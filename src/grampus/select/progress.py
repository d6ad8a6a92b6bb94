"""How far a long selection is, and how long it will still take."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Progress:
    """What a callback is told.

    Attributes
    ----------
    stage : str
        "reduction", "splits" or "null".
    done : float
        Share of the stage that is finished, from 0 to 1; the first call of a stage has 0 and an estimate.
    elapsed : float
        Seconds since the stage began.
    remaining : float
        Seconds that the stage will probably still take.

    Examples
    --------
    >>> from grampus.select import Progress
    >>> print(Progress("splits", done=0.25, elapsed=10.0, remaining=30.0))
    splits: 25 %, 30 s left
    """

    stage: str
    done: float
    elapsed: float
    remaining: float

    def __str__(self) -> str:
        return f"{self.stage}: {100 * self.done:.0f} %, {spell_seconds(self.remaining)} left"


def spell_seconds(seconds: float) -> str:
    """Write a time for people."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Meter:
    """Counts the work of one stage and tells a callback."""

    def __init__(self, stage: str, total: float, callback: Callable[[Progress], None] | None) -> None:
        self.stage, self.total, self.callback = stage, total, callback
        self.done = 0.0
        self.began = time.perf_counter()

    @property
    def elapsed(self) -> float:
        """Seconds since the stage began."""
        return time.perf_counter() - self.began

    def estimate(self, seconds: float) -> None:
        """Say, before the work starts, how long it will take."""
        logger.info("%s: about %s", self.stage, spell_seconds(seconds))
        if self.callback is not None:
            self.callback(Progress(self.stage, 0.0, 0.0, seconds))
        self.began = time.perf_counter()

    def add(self, work: float) -> None:
        """Note finished work."""
        self.done += work
        share = min(1.0, self.done / self.total) if self.total > 0 else 1.0
        if self.callback is not None:
            self.callback(Progress(self.stage, share, self.elapsed, self.elapsed * (1.0 - share) / max(share, 1e-9)))
