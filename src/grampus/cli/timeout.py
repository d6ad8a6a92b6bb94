"""``--timeout``: stop a command after some seconds as Ctrl-C would, with its own words and status."""

from __future__ import annotations

import _thread
from threading import Timer

STATUS = 124  # as timeout(1) reports it
_passed: list[float] = []


def stop_after(seconds: float) -> None:
    """Interrupt the main thread after so many seconds, unless the process ends before."""

    def stop() -> None:
        _passed.append(seconds)
        _thread.interrupt_main()

    timer = Timer(seconds, stop)
    timer.daemon = True
    timer.start()


def passed() -> float | None:
    """Return the limit that has passed; None where the person interrupted. Asked once."""
    return _passed.pop() if _passed else None
