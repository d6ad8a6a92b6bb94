"""What Grampus promises beyond what tests can show: sizes, memory, time, other packages' numbers, killed processes."""

from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from lab.found import Unavailable
from lab.harness import row

promise = partial(row, "promises")


def open_browser() -> AbstractContextManager[Any]:
    """Return Chromium as the tests drive it."""
    from tests.browser import browser, chromium

    if chromium() is None:
        raise Unavailable("chromium is not installed (make browser)")
    return browser()
