"""Thread policy: small products never fan out over BLAS threads.

Two threads that wait for each other can be many times slower than one, and users pay for it in every iteration. BLAS is
therefore held to one thread unless a single product is large enough to repay the hand-over.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

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
