"""Thread policy: small products never fan out over BLAS threads.

Two threads that wait for each other can be many times slower than one, and users pay for it in every iteration. BLAS is
therefore held to one thread unless a single product is large enough to repay the hand-over.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from itertools import pairwise
from numbers import Integral
from typing import Any, TypeVar

from .errors import InputError

T = TypeVar("T")
LARGE_PRODUCT = 2e10  # floating-point operations; about a third of a second on one core


@lru_cache(maxsize=1)
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def blas_threads(operations: float = 0.0) -> Iterator[None]:
    """Hold BLAS to one thread inside the block, unless one product needs at least `LARGE_PRODUCT` operations.

    Inside the block the caller's own limit is never raised; it is restored afterwards.
    """
    if operations >= LARGE_PRODUCT:
        yield
        return
    with _controller().limit(limits=1, user_api="blas"):
        yield


_asked: ContextVar[Any] = ContextVar("threads", default=None)


@contextmanager
def using_threads(n_jobs: Any) -> Iterator[None]:
    """Use so many threads inside the block, as ``n_jobs`` of an estimator asks; None changes nothing."""
    if n_jobs is not None:
        thread_count(n_jobs)  # raises for a number that is none
    token = _asked.set(_asked.get() if n_jobs is None else n_jobs)
    try:
        yield
    finally:
        _asked.reset(token)


def thread_count(n_jobs: Any = None) -> int:
    """Return how many threads to use: those asked for, or one for each core this process may use.

    As in joblib, −1 means all cores, −2 all but one. Without a number, the surrounding ``using_threads`` decides, and
    then ``OMP_NUM_THREADS`` is an upper limit.
    """
    n_jobs = _asked.get() if n_jobs is None else n_jobs
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
        return min(cores, int(limit)) if limit.isdigit() and int(limit) > 0 else cores
    asked = 0 if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) else int(n_jobs)
    if asked == 0:
        raise InputError(f"n_jobs must be a whole number other than 0, or None; got {n_jobs!r}.")
    return max(1, asked if asked > 0 else cores + 1 + asked)


def in_threads(function: Callable[[int, int], object], n: int, n_jobs: int | None = None, least: int = 1) -> None:
    """Call ``function(start, stop)`` over pieces of ``range(n)``, each in a thread; pieces hold at least `least`.

    The pieces must not depend on each other, so the result is the same for every number of threads.
    """
    threads = min(thread_count(n_jobs), max(1, n // max(least, 1)))
    if threads == 1:
        function(0, n)
        return
    pieces = 4 * threads  # more pieces than threads even out unequal work
    bounds = [n * i // pieces for i in range(pieces + 1)]
    for done in [_pool(threads).submit(function, a, b) for a, b in pairwise(bounds) if b > a]:
        done.result()


def results_in_threads(function: Callable[[int], T], n: int, n_jobs: int | None = None) -> Iterator[T]:
    """Yield ``function(0)``, …, ``function(n − 1)``, in this order, each as soon as it and those before it are done."""
    threads = min(thread_count(n_jobs), n)
    if threads <= 1:
        yield from map(function, range(n))
        return
    waiting = [_pool(threads).submit(function, i) for i in range(n)]
    try:
        for done in waiting:
            yield done.result()
    finally:  # after an error, or when nobody wants the rest
        for done in waiting:
            done.cancel()


@lru_cache(maxsize=4)
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return the pool of so many threads; making one anew costs more than many a piece of work."""
    return ThreadPoolExecutor(threads, thread_name_prefix="grampus")


if hasattr(os, "register_at_fork"):  # a child process has none of its parent's threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
