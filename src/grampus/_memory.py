"""Resident memory of this process: what it has now, and the most it had."""

import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any


def resident() -> int | None:
    """Return the resident memory of this process in bytes; None where the system does not tell.

    Linux and Windows report what is resident now. Elsewhere (macOS, the BSDs) this is the peak since the start, which
    is what a limit is compared with anyway.

    Examples
    --------
    >>> from grampus._memory import resident
    >>> resident() > 1_000_000
    True
    """
    return _reader()()


@cache
def _reader() -> Callable[[], int | None]:
    """Return the way of this system to ask."""
    if sys.platform == "win32":
        return _windows()
    return _linux if os.path.exists("/proc/self/statm") else _largest


def _linux() -> int | None:
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _largest() -> int | None:
    """Return the peak, from getrusage."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak  # bytes on macOS only


def _windows() -> Callable[[], int | None]:
    """Return a reader of the working set, through psapi."""
    import ctypes

    class Counters(ctypes.Structure):
        _fields_ = [
            ("cb", ctypes.c_uint32),
            ("faults", ctypes.c_uint32),
            *((name, ctypes.c_size_t) for name in ("peak", "now", "a", "b", "c", "d", "e", "f")),
        ]

    library: Any = getattr(ctypes, "windll")  # noqa: B009  (not on other systems)
    process = ctypes.c_void_p(-1)  # this one

    def read() -> int | None:
        counters = Counters(cb=ctypes.sizeof(Counters))
        done = library.psapi.GetProcessMemoryInfo(process, ctypes.byref(counters), counters.cb)
        return int(counters.now) if done else None

    return read
