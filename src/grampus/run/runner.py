"""Runners: who does the map over the pieces of a collection.

What goes over documents is a map over pieces and a reduction. A runner does the map: in this thread, in processes of
this machine, in copies of this one (`run.copies`), or on Dask workers (`run.dask`). Functions are pure and results come
in the order of the pieces, so that an answer depends on neither the runner, nor its workers, nor the pieces.
"""

import os
import pickle
import tempfile
import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from .._config import Settings, config, settings
from .._parallel import core_count, may_copy, thread_count
from ..errors import PartsError
from .base import KILLED, PIECE_BYTES, Function, Runner, ThisThread, end_with
from .copies import Forks, uses_processor

MANY_BYTES = 40_000_000  # of text that others must take over to pay; chosen when each took 3 s to start, not 0.6
COPY_BYTES = 2_000_000  # of text for each copy of this process, at least
LEAST_PIECE = 100_000  # bytes of text that a copy takes at a time
AHEAD = 2  # pieces of every worker that are waited for at a time
# Workers share the processors: each has one thread, in the libraries below as well.
ONE_THREAD = dict.fromkeys(
    ("BLIS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"
)
_SMALL = 1 << 16  # bytes that travel with every piece


class Processes(Runner):
    """Work in processes of this machine; they are started once, kept for later maps, and end with this one.

    Parameters
    ----------
    workers : int
    piece_bytes : int
    """

    def __init__(self, workers: int, piece_bytes: int = PIECE_BYTES) -> None:
        self.workers, self.piece_bytes = workers, piece_bytes

    def map(self, function: Function, pieces: Iterable[Any], *shared: Any) -> Iterator[Any]:
        """Yield a function of every piece, in their order."""
        from joblib.externals.loky import get_reusable_executor
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        with _broadcast(shared) as sent, warnings.catch_warnings():
            # An encoder or a card's context is no leak.
            warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
            here = settings()._replace(threads=1, workers=1)
            pool = get_reusable_executor(self.workers, env=ONE_THREAD, initializer=end_with, initargs=(os.getpid(),))
            waiting: deque[Any] = deque()
            try:
                for piece in pieces:
                    waiting.append(pool.submit(_call, here, function, piece, sent))
                    if len(waiting) == AHEAD * self.workers:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            except TerminatedWorkerError:
                raise PartsError(KILLED) from None
            except KeyboardInterrupt:
                pool.shutdown(wait=False, kill_workers=True)
                raise
            finally:
                for one in waiting:
                    one.cancel()


@contextmanager
def _broadcast(shared: tuple[Any, ...]) -> Iterator[Any]:
    """Give what all pieces share: itself where it is small, else a file that every worker reads once."""
    from joblib.externals.loky.backend import resource_tracker
    from joblib.externals.loky.backend.reduction import dumps  # functions of a script, too

    data = dumps(shared)
    if len(data) <= _SMALL:
        yield shared
        return
    handle, name = tempfile.mkstemp(prefix="grampus-")
    resource_tracker.register(name, "file")  # which removes it where this process is killed
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        yield name
    finally:
        os.unlink(name)
        resource_tracker.unregister(name, "file")


@lru_cache(maxsize=1)
def _shared(name: str) -> tuple[Any, ...]:
    """Return what was broadcast in a file; a worker keeps the last."""
    with open(name, "rb") as file:
        values: tuple[Any, ...] = pickle.load(file)  # noqa: S301  (written by the process that started this one)
    return values


def _call(here: Settings, function: Function, piece: Any, shared: tuple[Any, ...] | str) -> Any:
    """Call a function in a worker, under the settings of the process that asked for it."""
    with config(memory=here.memory, threads=here.threads, workers=1, device=here.device):
        return function(piece, *(_shared(shared) if isinstance(shared, str) else shared))


_runner: ContextVar[Runner | None] = ContextVar("runner", default=None)


@contextmanager
def using(runner: Runner | None) -> Iterator[None]:
    """Let a runner do every map inside the block; None leaves the choice to the size of the work."""
    token = _runner.set(runner)
    try:
        yield
    finally:
        _runner.reset(token)


def runner_for(nbytes: float, *, held: bool = False, compares: bool = False) -> Runner:
    """Return the runner in use; without one, processes where there are enough texts and cores, else this thread.

    Parameters
    ----------
    nbytes : float
        Size of the texts.
    held : bool
        Whether all pieces are in memory, or no more than names of files, so that copies of this process have them.
    compares : bool
        Whether documents are compared, which a card may do, and not only read.
    """
    chosen = _runner.get()
    if chosen is not None:
        return chosen
    workers, copied = settings().workers, held and may_copy() and (uses_processor() or not compares)
    if workers is None:
        workers = min(thread_count(), core_count())
        if copied:
            workers = int(min(workers, nbytes // COPY_BYTES))
        elif nbytes * (1 - 1 / workers) < MANY_BYTES:
            workers = 1
    if workers < 2:
        return ThisThread()
    return Forks(workers, int(max(nbytes / workers, LEAST_PIECE))) if copied else Processes(workers)
