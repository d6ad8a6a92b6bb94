"""Which of two ways takes longer, and what ends soon, on a machine that does other things too."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def no_slower(way: Callable[[], object], peer: Callable[[], object], factor: float, seconds: float = 0.0) -> bool:
    """Return whether a way takes at most ``factor`` times the processor time of a peer.

    Both run in turn, at least three times and at most twelve; their fastest runs count, since other work only slows.
    """
    best = [float("inf"), float("inf")]
    for turn in range(12):
        for i, run in enumerate((way, peer)):
            began = time.process_time()
            run()
            best[i] = min(best[i], time.process_time() - began)
        if turn >= 2 and best[0] <= factor * best[1] + seconds:
            return True
    return False


@contextmanager
def soon(seconds: float = 60.0) -> Iterator[None]:
    """Fail if a block takes more processor time: what ends soon takes a small part of it."""
    began = time.process_time()
    yield
    assert time.process_time() - began < seconds


def refusal(call: Callable[..., Any], *given: Any, **options: Any) -> Exception:
    """Return the error of a call; fail if it waits for something that never comes, or succeeds."""
    found: list[Exception] = []

    def attempt() -> None:
        try:
            call(*given, **options)
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(100)
    assert found
    return found[0]
