"""Threads: how many to use, work in several threads, and BLAS limited to one thread for small products.

Two BLAS threads that wait for each other can be many times slower than one, in every iteration. BLAS therefore runs on
one thread unless a single product is large enough to pay for the hand-over.
"""

import math
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, wraps
from itertools import pairwise
from numbers import Integral
from pathlib import Path
from threading import current_thread, local, main_thread
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ._config import settings
from .errors import InputError

if TYPE_CHECKING:
    from ._native import Team

P = ParamSpec("P")
T = TypeVar("T")
SEVERAL = 4  # threads from which on a copy of the process pays next to what has threads of its own
MANY = 2_000  # documents of which what can be done beside is worth a copy
FEW = 4  # threads that share what is partly Python's; with 16, looking for groups took a third longer than with 4
LARGE_PRODUCT = 2e10  # floating-point operations; about a third of a second on one core

CGROUP = Path("/sys/fs/cgroup")

_limit: ContextVar[int | None] = ContextVar("threads", default=None)  # set by the n_jobs of an enclosing call
_team: "ContextVar[Team | None]" = ContextVar("team", default=None)  # of an enclosing `helpers`
_worker = local()
_process = SimpleNamespace(copied=False)


@lru_cache(maxsize=1)
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


@contextmanager
def blas_threads(operations: float = 0.0) -> Iterator[None]:
    """Limit BLAS to one thread inside the block, unless one product needs at least `LARGE_PRODUCT` operations.

    The caller's own limit is never raised, and is restored at the end. Setting and restoring a limit costs about 25 µs;
    where BLAS has one thread already, as inside another such block, a look costs 5 µs: put loops inside a block.
    """
    blas = _blas()
    if operations >= LARGE_PRODUCT or all(library.num_threads == 1 for library in blas.lib_controllers):
        yield
        return
    with blas.limit(limits=1):
        yield


def core_count() -> int:
    """Return how many cores this process may use: those of its affinity, and no more than its container has."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return int(min(cores, container_cores()))


@lru_cache(maxsize=1)
def container_cores() -> float:
    """Return the limit of the control group, in whole cores; infinite where there is none."""
    try:
        quota, period = (CGROUP / "cpu.max").read_text().split()
    except (OSError, ValueError):
        try:  # version 1
            quota, period = ((CGROUP / "cpu" / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        except OSError:
            return math.inf
    limited = quota.strip().isdigit() and int(period) > 0  # "max" or −1 where it is not
    return max(1, round(int(quota) / int(period))) if limited else math.inf


def thread_count(n_jobs: Any = None) -> int:
    """Return how many threads to use: `n_jobs`, or one for each core that this process may use.

    As in joblib, −1 means all cores, −2 all but one. Without `n_jobs`, the number is that of the enclosing call, or of
    ``grampus.config(threads=…)`` or ``GRAMPUS_THREADS``, or one for each core; in the last case ``OMP_NUM_THREADS`` is
    an upper limit.
    """
    cores = core_count()
    n_jobs = n_jobs if n_jobs is not None else _limit.get() or settings().threads
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
        return min(cores, int(limit)) if limit.isdigit() and int(limit) > 0 else cores
    asked = 0 if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) else int(n_jobs)
    if asked == 0:
        raise InputError(f"n_jobs must be a whole number other than 0, or None; got {n_jobs!r}.")
    return max(1, asked if asked > 0 else cores + 1 + asked)


def limits_threads(function: Callable[P, T]) -> Callable[P, T]:
    """Make the `n_jobs` of a function, or of the object of a method, the limit for everything that it calls."""

    @wraps(function)
    def limited(*args: P.args, **options: P.kwargs) -> T:
        token = _limit.set(thread_count(options.get("n_jobs", getattr(args[0], "n_jobs", None) if args else None)))
        try:
            return function(*args, **options)
        finally:
            _limit.reset(token)

    return limited


def in_threads(function: Callable[[int, int], object], n: int, n_jobs: int | None = None, least: int = 1) -> None:
    """Call ``function(start, stop)`` for pieces of ``range(n)`` in several threads; a piece has at least `least` items.

    The pieces must not depend on each other, so that the result is the same for every number of threads.
    """
    threads = _threads_for(max(1, n // max(least, 1)), n_jobs)
    if threads == 1:
        function(0, n)
        return
    pieces = min(4 * threads, n // max(least, 1))  # more than threads, so that unequal ones even out
    bounds = [n * i // pieces for i in range(pieces + 1)]
    for done in [_pool(threads).submit(function, a, b) for a, b in pairwise(bounds) if b > a]:
        done.result()


def results_in_threads(function: Callable[[int], T], n: int, n_jobs: int | None = None) -> Iterator[T]:
    """Yield ``function(0)``, …, ``function(n − 1)`` in this order, computed in several threads."""
    threads = _threads_for(n, n_jobs)
    if threads <= 1:
        yield from map(function, range(n))
        return
    waiting = [_pool(threads).submit(function, i) for i in range(n)]
    try:
        for done in waiting:
            yield done.result()
    finally:  # after an error, or when the caller stops early
        for done in waiting:
            done.cancel()


def results_in_few_threads(function: Callable[[int], T], n: int) -> Iterator[T]:
    """Yield the same where much of the work is Python's: more than a few threads only wait for its lock."""
    return results_in_threads(function, n, min(FEW, thread_count()))


@contextmanager
def helpers(n: int, n_jobs: int | None = None, least: int = 1) -> "Iterator[Team]":
    """Let other threads help with compiled loops over n items; each thread has at least `least`.

    A thread that is busy elsewhere is not waited for.
    """
    from ._native import Team  # brings NumPy, which the command's help does without

    team = Team()
    threads = _threads_for(max(1, n // least), n_jobs)
    waiting = [_pool(threads).submit(team.help) for _ in range(threads - 1)]
    token = _team.set(team)
    try:
        yield team
    finally:
        _team.reset(token)
        team.dismiss()
        for helper in waiting:
            if not helper.cancel():
                helper.result()


def team() -> "Team":
    """Return the threads of the enclosing `helpers`; outside of any, this thread alone."""
    from ._native import Team

    return _team.get() or Team()


def meanwhile(function: Callable[[], T]) -> Callable[[], T]:
    """Begin a call in another thread and return what waits for its result; with one thread, it is called then.

    For a compiled loop, next to which Python goes on; two loops of Python would only take turns.
    """
    return function if _threads_for(2, None) < 2 else _pool(thread_count()).submit(function).result


def _threads_for(pieces: int, n_jobs: int | None) -> int:
    """Return how many threads share the pieces; one inside a piece, which would wait for its own pool for ever."""
    return 1 if getattr(_worker, "busy", False) else min(thread_count(n_jobs), pieces)


@lru_cache(maxsize=4)
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return a pool that is kept: starting one costs more than many pieces of work."""
    return ThreadPoolExecutor(threads, "grampus", lambda: setattr(_worker, "busy", True))


def begin_copies() -> None:
    """Let this process be copied from now on, where the system can: it is the command's own."""
    _process.copied = sys.platform == "linux"


def may_copy() -> bool:
    """Return whether this process may be copied: it is the command's own, and nobody wants one or limits its memory.

    By its main thread alone: where others work, as in the app, one may hold a lock that its copy would wait for.
    """
    now = settings()
    single = now.workers == 1 or now.max_memory is not None  # the limit is watched in this process
    return _process.copied and not single and current_thread() is main_thread()


def spares_copies(documents: int) -> bool:
    """Return whether copies of this process, with threads of their own, are worth it next to what else uses threads."""
    return documents >= MANY and thread_count() >= SEVERAL and may_copy()


def work_alone() -> None:
    """Let this thread start no others and make no copies, whatever is asked for: it is one of many copies."""
    _worker.busy, _process.copied = True, False


if hasattr(os, "register_at_fork"):  # a child process has none of its parent's threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
