"""Measure one line in this process: ``python -m verify.worker MODULE FUNCTION RESULT.json``."""

from __future__ import annotations

import importlib
import json
import resource
import sys
import time
from dataclasses import asdict
from pathlib import Path

from verify.registry import Figure


def main(module: str, function: str, result: str) -> None:
    """Call the function and write its figure with the time and the peak of resident memory."""
    measure = getattr(importlib.import_module(module), function)
    start = time.perf_counter()
    figure = measure()
    seconds = time.perf_counter() - start
    if not isinstance(figure, Figure):
        raise TypeError(f"{module}.{function} must return a Figure; got {type(figure).__name__}")
    record = asdict(figure) | {"seconds": seconds, "peak_mb": peak_mb()}
    Path(result).write_text(json.dumps(record), encoding="utf-8")


def peak_mb() -> float | None:
    """Return the largest resident memory of this process and of any it waited for, in MB, where the system tells."""
    # Of this process not by getrusage: across exec its figure starts from the parent's memory.
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    own = next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))
    return max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)


if __name__ == "__main__":
    main(*sys.argv[1:])
