"""How much memory a piece of work needs beyond its input, measured in a fresh process."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

# Linux forgets the high-water mark of resident memory when told to, so the peak of the work alone can be read.
_HARNESS = """
import gc, json, pathlib, sys
def _resident(key):
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(key)
{setup}
gc.collect()
pathlib.Path("/proc/self/clear_refs").write_text("5")
_before = _resident("VmRSS")
{work}
print(json.dumps(dict(rise=_resident("VmHWM") - _before, input=int(input_bytes))))
"""


def available() -> bool:
    return Path("/proc/self/clear_refs").exists()


def rise(setup: str, work: str) -> dict[str, float]:
    """Return the bytes that `work` adds to the resident memory at its peak, and the numbers it prints by name.

    `setup` must define `input_bytes`.
    """
    script = _HARNESS.format(setup=textwrap.dedent(setup), work=textwrap.dedent(work))
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    *said, measured = run.stdout.splitlines()
    numbers = {name: float(value) for name, value in (text.split() for text in said)}
    return {**numbers, **json.loads(measured)}


def least_rise(setup: str, work: str) -> float:
    """Return what `work` adds, in units of its input: the least of three processes.

    The system may take pages away that a process has not used for a while; getting them back only adds.
    """
    measured = [rise(setup, work) for _ in range(3)]
    return min(one["rise"] / one["input"] for one in measured)
