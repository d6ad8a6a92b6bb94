"""Settings of the process: the memory budget, read from the caller, the environment or the machine, and threads."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from .errors import InputError, MemoryBudgetError

ENVIRONMENT = "GRAMPUS_MEMORY"
DEVICE = "GRAMPUS_DEVICE"
WORKERS = "GRAMPUS_WORKERS"
THREADS = "GRAMPUS_THREADS"
DEVICES = ("cpu", "cuda", "auto")
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", re.ASCII)
_FALLBACK = 4 * 10**9
_SMALLEST = 10**6
# About the cache of one core: larger tiles are no faster, and would break the memory promises for small inputs.
_TILE = 4 * 2**20


class Settings(NamedTuple):
    """The settings in force."""

    memory: int
    tile: int
    threads: int | None = None
    device: str = "cpu"
    max_memory: int | None = None
    timeout: float | None = None
    workers: int | None = None


def parse_size(size: Any, name: str = "memory") -> int:
    """Turn ``"4GB"``, ``"512 MiB"`` or a number of bytes into bytes."""
    if isinstance(size, str):
        match = _SIZE.fullmatch(size)
        unit = match[2].upper() if match else None
        if match is None or unit not in _UNITS:
            raise InputError(f"{name} must be bytes or a size like '4GB' or '512MiB'; got {size!r}.")
        size = float(match[1]) * _UNITS[unit]
    if isinstance(size, bool) or not isinstance(size, (int, float)) or not _SMALLEST <= size < float("inf"):
        raise InputError(f"{name} must be a finite size of at least 1MB; got {size!r}.")
    return int(size)


def format_size(size: float) -> str:
    """Format a number of bytes: ``format_size(3.2e9) == '3.2 GB'``."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError("unreachable")


def machine_memory() -> int:
    """Return the memory this process may use: the machine's, or its control group's if that is smaller."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _FALLBACK
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
    except OSError:
        return total
    return min(total, int(limit)) if limit.isdigit() else total


def _initial() -> Settings:
    device = _check_device(os.environ.get(DEVICE) or "cpu", f"{DEVICE}: device")
    value, threads, workers = os.environ.get(ENVIRONMENT), _counted(THREADS), _counted(WORKERS)
    if value is None:
        return Settings(max(machine_memory() // 2, _SMALLEST), _TILE, threads, device, workers=workers)
    try:
        return Settings(parse_size(value), _TILE, threads, device, workers=workers)
    except InputError as error:
        raise InputError(f"{ENVIRONMENT}: {error}") from None


def _counted(name: str) -> int | None:
    """Return the number of the environment, if there is one."""
    asked = os.environ.get(name)
    if not asked:
        return None
    return _positive(int(asked) if asked.isdigit() else asked, f"{name} must be a positive whole number")


def _check_device(name: Any, what: str = "device") -> str:
    if name in DEVICES:
        return str(name)
    raise InputError(f"{what} must be 'cpu', 'cuda' or 'auto'; got {name!r}.")


_settings: Settings | None = None


def settings() -> Settings:
    """Return the settings in force; the environment is read at first use."""
    global _settings  # noqa: PLW0603  (one process-wide budget, as the machine has one memory)
    if _settings is None:
        _settings = _initial()
    return _settings


class config:  # noqa: N801  (read and used as a function)
    """Set the memory budget, the number of threads and the device, for the process or for a ``with`` block.

    Nothing in Grampus silently grows beyond the budget: work is cut into tiles, or refused with an error that names
    the size and a way out. The default is half of the machine's memory, or ``GRAMPUS_MEMORY`` if that is set.
    Results depend on neither. The budget is for arrays; `max_memory` is for the whole process, with Python, the
    packages, the texts and everything that is small by itself.

    Parameters
    ----------
    memory : int or str, optional
        Bytes, or a size like ``"4GB"``. Left out, the budget stays as it is.
    threads : int, optional
        How many threads to use where a call gives no ``n_jobs``; by default (or by ``GRAMPUS_THREADS``) one for each
        core that the process may use, and at most ``OMP_NUM_THREADS``. Left out, the number stays as it is.
    tile : int, optional
        The size in bytes of one tile of a Gram matrix; the default suits all but experiments.
    device : "cpu", "cuda" or "auto", optional
        Where kernel k-means and large products run: on the processor (the default, or ``GRAMPUS_DEVICE``), on a GPU
        (needs the extra ``gpu``), or on a GPU if there is one.
    max_memory : int or str, optional
        Refuse to fit documents where the resident memory of the process is predicted to grow beyond this; by default
        beyond the machine's memory. See ``grampus.documents.predict_cost``.
    timeout : float, optional
        Refuse to fit documents where that is predicted to take more than twice as many seconds.
    workers : int, optional
        Processes that share the work on texts: reading files, cleaning, counting; 1 for this process alone. By default
        (or by ``GRAMPUS_WORKERS``) as many as threads where there are many texts or reading takes long, else one.

    Attributes
    ----------
    memory : int
        The budget in force, in bytes.
    threads : int or None
        The number of threads, if one was set.
    device : str
        The device that was set.
    max_memory, timeout : int or float, or None
        The limits that were set.
    workers : int or None
        The number of processes, if one was set.

    Examples
    --------
    >>> import grampus
    >>> with grampus.config(memory="2GB") as budget:
    ...     budget.memory
    2000000000
    """

    def __init__(
        self,
        *,
        memory: int | str | None = None,
        threads: int | None = None,
        tile: int | None = None,
        device: str | None = None,
        max_memory: int | str | None = None,
        timeout: float | None = None,
        workers: int | None = None,
    ) -> None:
        global _settings  # noqa: PLW0603
        self._before = settings()
        given = Settings(memory, tile, threads, device, max_memory, timeout, workers)._asdict()  # type: ignore[arg-type]
        set_now = {name: _CHECKS[name](value) for name, value in given.items() if value is not None}
        _settings = self._before._replace(**set_now)
        self.memory, self.tile, self.threads, self.device, self.max_memory, self.timeout, self.workers = _settings

    def __repr__(self) -> str:
        return f"config(memory='{format_size(self.memory)}')"

    def __enter__(self) -> config:
        return self

    def __exit__(self, *_: object) -> None:
        global _settings  # noqa: PLW0603
        _settings = self._before


def _positive(value: Any, rule: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    raise InputError(f"{rule}; got {value!r}.")


def _seconds(value: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < float("inf"):
        return float(value)
    raise InputError(f"timeout must be a finite number of seconds above 0; got {value!r}.")


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "memory": parse_size,
    "tile": partial(_positive, rule="tile must be a positive whole number of bytes"),
    "threads": partial(_positive, rule="threads must be a positive whole number"),
    "device": _check_device,
    "max_memory": partial(parse_size, name="max_memory"),
    "timeout": _seconds,
    "workers": partial(_positive, rule="workers must be a positive whole number"),
}


def require_memory(size: float, what: str, instead: str) -> None:
    """Raise MemoryBudgetError if `size` bytes do not fit in the budget."""
    budget = settings().memory
    if size > budget:
        raise MemoryBudgetError(
            f"{what} needs {format_size(size)}, more than the memory budget of {format_size(budget)}. "
            f"{instead}, or raise the budget: grampus.config(memory='{format_size(size * 1.1)}')."
        )


def may_keep(size: float) -> bool:
    """Return whether something of `size` bytes may be kept for speed: within a quarter of the budget."""
    return size <= settings().memory // 4


def tile_rows(row_bytes: int) -> int:
    """Return how many rows of `row_bytes` bytes make a tile: at least one, which must fit in the budget."""
    now = settings()
    require_memory(row_bytes, "One row of a tile", "Use fewer documents or columns")
    return max(1, min(now.tile, now.memory // 4) // max(row_bytes, 1))
