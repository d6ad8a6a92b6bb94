"""The time left of a command, from a prediction and from what its steps took so far."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread

LOGGED = 30.0  # seconds between two lines of a log
SLOWEST = 20.0  # times as slow as predicted, at most: a busy machine
# What a step that is reported is called in a prediction.
PREDICTED = {
    "reading terms": "reading",
    "looking for groups": "looking for groups",
    "clustering": "clustering",
    "measuring stability": "measuring",
    "describing": "describing",
    "drawing the map": "drawing",
}


class TimeLeft:
    """How long the steps that are left will take, at the pace of those that are done.

    Examples
    --------
    >>> from grampus.cli.waiting import TimeLeft
    >>> left = TimeLeft(clock=iter([0.0, 10.0, 30.0, 40.0]).__next__)
    >>> left.expect([("reading", 10.0), ("clustering", 20.0), ("drawing", 5.0)])
    >>> left.reach("reading terms", 0, 1)
    >>> left.reach("clustering", 0, 10)  # after 20 s, twice as many as were predicted
    >>> left.seconds()
    40.0
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._began = clock, clock()
        self._steps: list[tuple[str, float]] = []
        self._at, self._reached, self._expected = 0, self._began, self._began
        self._step, self._share = "", 0.0

    def expect(self, steps: Sequence[tuple[str, float]]) -> None:
        """Begin with steps that were predicted to take so many seconds each."""
        self._steps, self._at = list(steps), 0
        self._expected = self._reached = self._clock()

    def reach(self, step: str, done: int, total: int | None) -> None:
        """Note that a step has begun, or how far it is."""
        self._step, self._share = step, done / total if total else 0.0
        name = PREDICTED.get(step)
        at = next((at for at, (other, _) in enumerate(self._steps) if other == name), -1)
        if at > self._at:
            self._at, self._reached = at, self._clock()

    def seconds(self) -> float | None:
        """Return the seconds left; None as long as nothing is expected."""
        if not self._steps:
            return None
        walls = [wall for _, wall in self._steps]
        done, spent = sum(walls[: self._at]), self._reached - self._expected
        pace = min(max(spent / done, 1 / SLOWEST), SLOWEST) if done > 0 and spent > 1.0 else 1.0
        current = pace * walls[self._at]
        return max(current - (self._clock() - self._reached), 0.1 * current) + pace * sum(walls[self._at + 1 :])

    def said(self) -> str:
        """Return the time left of all steps in words; empty as long as nothing is expected."""
        seconds = self.seconds()
        return "" if seconds is None else f"{_rough(seconds)} left in all"

    def line(self) -> str:
        """Return a line for a log: the time since the start, the step, how far it is, and the time left."""
        spent = int(self._clock() - self._began)
        parts = [f"{spent // 60}:{spent % 60:02} {self._step or 'starting'}"]
        if 0.0 < self._share < 1.0:
            parts.append(f"{self._share:.0%} of this step")
        parts += [said] if (said := self.said()) else []
        return ", ".join(parts)


def _rough(seconds: float) -> str:
    """Return a duration as people say it."""
    from ..documents.cost import format_time

    return f"about {format_time(seconds)}"


@contextmanager
def every_while(seconds: float, call: Callable[[], object]) -> Iterator[None]:
    """Call a function again and again while the block runs."""
    stop = Event()

    def repeat() -> None:
        while not stop.wait(seconds):
            call()

    thread = Thread(target=repeat, name="grampus-log", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
