"""Which of two ways takes longer, on a machine that does other things too."""

import time
from collections.abc import Callable


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
