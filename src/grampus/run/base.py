"""What a runner is, the one that works in this thread, and what all processes share."""

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from threading import Thread
from typing import Any

import numpy as np

Function = Callable[..., Any]

PIECE_BYTES = 4_000_000  # of text in a piece, for processes and Dask workers
KILLED = (
    "A worker process was killed, most likely for lack of memory. Use fewer of them: grampus.config(workers=1), or "
    "GRAMPUS_WORKERS=1."
)
LOOK = 0.5  # seconds between two looks of a worker whether its parent lives


class Runner(ABC):
    """Maps functions over pieces.

    Attributes
    ----------
    workers : int
        Pieces that are worked on at the same time.
    piece_bytes : int or None
        Size of the pieces that texts are cut into; None where they stay in one piece.
    """

    workers: int = 1
    piece_bytes: int | None = None

    @abstractmethod
    def map(self, function: Function, pieces: Iterable[Any], *shared: Any) -> Iterator[Any]:
        """Yield ``function(piece, *shared)`` for every piece, in their order."""

    def cut(self, sizes: Any) -> list[slice]:
        """Return the pieces of documents of these sizes, in bytes: one, unless the runner has several workers.

        Parameters
        ----------
        sizes : array of shape (n,)
        """
        n = len(sizes)
        if self.piece_bytes is None or n == 0:
            return [slice(0, n)]
        reached = np.cumsum(sizes, dtype=np.int64) // self.piece_bytes
        starts = [0, *(np.flatnonzero(np.diff(reached)) + 1).tolist(), n]
        return [slice(a, b) for a, b in pairwise(starts) if b > a]


class ThisThread(Runner):
    """Work in this thread, on everything in one piece.

    Examples
    --------
    >>> from grampus.run import ThisThread
    >>> list(ThisThread().map(lambda texts, sign: sign.join(texts), [["a", "b"], ["c"]], "-"))
    ['a-b', 'c']
    """

    def __init__(self, piece_bytes: int | None = None) -> None:
        self.piece_bytes = piece_bytes

    def map(self, function: Function, pieces: Iterable[Any], *shared: Any) -> Iterator[Any]:
        """Yield a function of every piece, in their order."""
        for piece in pieces:
            yield function(piece, *shared)


def end_with(parent: int) -> None:
    """End this process as soon as the one that started it is gone, also where that was killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK)
        os._exit(1)

    if os.name == "posix":
        Thread(target=watch, name="grampus-parent", daemon=True).start()
