"""Run a side in a fresh process, in its own environment, with the same threads as every other side."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.registry import Arrays, Side

ROOT = Path(__file__).parents[1]
PEERS = ROOT / ".bench" / "peers"
REQUIREMENTS = ROOT / "requirements" / "bench.txt"
THREADS = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "2",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "2",
}


class NotHere(Exception):  # noqa: N818  (a notice, not an error)
    """The side's environment is not on this machine; the message says what to install."""


class Failed(Exception):  # noqa: N818
    """The side crashed, ran out of time or answered badly."""


@dataclass(frozen=True)
class Answer:
    """What one process gave."""

    seconds: float
    outputs: dict[str, NDArray[Any]]
    versions: dict[str, str]


@cache
def interpreter(environment: str) -> str:
    """Return the program that runs a side of this environment; build the peers' one when it is not there."""
    if environment == "main":
        return sys.executable
    if environment == "R":
        found = shutil.which("Rscript")
        if found is None:
            raise NotHere("Rscript is not installed (Debian: r-base-core, r-cran-kernlab, r-cran-fpc)")
        return found
    if environment != "peers":
        raise ValueError(f"environment must be main, peers or R; got {environment!r}")
    python, stamp = PEERS / "bin" / "python", PEERS / "requirements.txt"
    if not stamp.exists() or stamp.read_text() != REQUIREMENTS.read_text():
        venv.create(PEERS, with_pip=True, clear=True)
        done = subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "-r", REQUIREMENTS],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise NotHere(f"the peers' environment could not be built: {last_line(done.stderr)}")
        shutil.copy(REQUIREMENTS, stamp)
    return str(python)


def run(side: Side, inputs: Arrays, timeout: float) -> Answer:
    """Time `side` once, after its warm-ups, in a fresh process."""
    program = interpreter(side.environment)
    with TemporaryDirectory() as name:
        folder = Path(name)
        worker, given, got = _exchange(folder, inputs, in_r=side.environment == "R")
        report = folder / "report.json"
        command: list[str | Path] = [
            program,
            worker,
            side.path,
            given,
            got,
            report,
            str(side.warmups),
            *side.packages,
        ]
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | THREADS
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"no answer after {timeout:.0f} s") from None
        if done.returncode:
            raise Failed(f"exit status {done.returncode}: {last_line(done.stderr)}")
        said = json.loads(report.read_text(encoding="utf-8"))
        return Answer(said["seconds"] * side.extrapolate, _outputs(got), said["versions"])


def _exchange(folder: Path, inputs: Arrays, *, in_r: bool) -> tuple[Path, Path, Path]:
    """Write the inputs; return the worker, where the inputs are and where the outputs shall be."""
    here = Path(__file__).parent
    given, got = folder / "inputs", folder / "outputs"
    if not in_r:
        np.savez(given.with_suffix(".npz"), **dict(inputs))  # type: ignore[arg-type]  # names, not allow_pickle
        return here / "worker.py", given.with_suffix(".npz"), got.with_suffix(".npz")
    given.mkdir()
    got.mkdir()
    for name, array in inputs.items():
        np.savetxt(given / f"{name}.csv", np.atleast_1d(array), delimiter=",", fmt="%.17g")
    return here / "worker.R", given, got


def _outputs(got: Path) -> dict[str, NDArray[Any]]:
    if got.is_dir():
        return {file.stem: np.loadtxt(file, delimiter=",") for file in got.glob("*.csv")}
    with np.load(got, allow_pickle=False) as stored:
        return dict(stored)


def last_line(text: str) -> str:
    """Return the last line that says something."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no message")
