"""Measure one line in this process: ``python -m verify.worker MODULE FUNCTION RESULT.json``."""

from __future__ import annotations

import importlib
import json
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
    """Return the largest resident memory of this process so far, in MB, where the system tells."""
    # Not getrusage: across exec its figure starts from the parent's memory.
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


if __name__ == "__main__":
    main(*sys.argv[1:])
