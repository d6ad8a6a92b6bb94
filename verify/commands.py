"""Measurements that are a command, or a set of tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from verify.registry import Figure

ROOT = Path(__file__).parents[1]


def run_tests(*arguments: str, needs: int = 1) -> Figure:
    """Run some of the tests; pass when all of them did and there were at least `needs`, none skipped."""
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    closing = run.stdout.strip().splitlines()[-1] if run.stdout.strip() else run.stderr.strip()[-200:]
    found = re.search(r"(\d+) passed", closing)
    passed = int(found[1]) if found else 0
    whole = run.returncode == 0 and passed >= needs and "skipped" not in closing
    return Figure(f"{passed} tests passed", whole, "" if whole else closing)


def clone_and(*commands: str) -> Figure:
    """Clone the repository into an empty folder and run commands there, one after the other."""
    steps = []
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "grampus"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        environment = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
        for command in commands:
            began = time.perf_counter()
            run = subprocess.run(
                command.split(), cwd=clone, capture_output=True, text=True, check=False, env=environment
            )
            steps.append(f"{command}: {time.perf_counter() - began:.0f} s")
            if run.returncode:
                return Figure("; ".join(steps), False, (run.stdout + run.stderr).strip()[-500:])
    return Figure("; ".join(steps), True)
