"""Time ours and a peer by turns, each in a fresh process with the same threads, and compare the answers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab import Found, Task, Unavailable
from lab.harness import ROOT, SCRATCH

Arrays = Mapping[str, NDArray[Any]]
SIDES = Path(__file__).parent / "sides"
PEERS = SCRATCH / "peers"
REQUIREMENTS = ROOT / "requirements" / "bench.txt"
THREADS = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "2"}


@dataclass(frozen=True)
class Side:
    """A function of a script in sides/; a script in R defines ``run`` and perhaps ``prepare``.

    `peers` means the pinned environment of other packages. A side may do a part of the work: its seconds are
    multiplied by `extrapolate`. `packages` are those whose versions are reported.
    """

    script: str
    function: str = "run"
    name: str = ""
    peers: bool = False
    warmups: int = 0
    extrapolate: float = 1.0
    packages: Sequence[str] = ("numpy", "scipy")


def interpreter(side: Side) -> str:
    """Return the program that runs a side; build the environment of the peers when it is missing."""
    if side.script.endswith(".R"):
        found = shutil.which("Rscript")
        if found is None:
            raise Unavailable("Rscript is not installed (Debian: r-base-core, r-cran-kernlab, r-cran-fpc)")
        return found
    if not side.peers:
        return sys.executable
    python, stamp = PEERS / "bin" / "python", PEERS / "requirements.txt"
    if not stamp.exists() or stamp.read_text() != REQUIREMENTS.read_text():
        venv.create(PEERS, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "-r", str(REQUIREMENTS)]
        done = subprocess.run(install, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Unavailable(f"the environment of the peers could not be built: {done.stderr.strip()[-200:]}")
        shutil.copy(REQUIREMENTS, stamp)
    return str(python)


def run(side: Side, inputs: Arrays) -> tuple[float, dict[str, Any], dict[str, str]]:
    """Time a side once, after its warm-ups, in a fresh process; return seconds, outputs and versions."""
    in_r = side.script.endswith(".R")
    with TemporaryDirectory() as name:
        given, got, report = (Path(name) / part for part in ("inputs", "outputs", "report.json"))
        given.mkdir()
        got.mkdir()
        for key, array in inputs.items():
            if in_r:
                np.savetxt(given / f"{key}.csv", np.atleast_1d(array), delimiter=",", fmt="%.17g")
            else:
                np.save(given / f"{key}.npy", array)
        worker = SIDES / ("worker.R" if in_r else "worker.py")
        places = (worker, SIDES / side.script, given, got, report)
        words = [interpreter(side), *map(str, places), str(side.warmups)]
        words += [*side.packages] if in_r else [side.function, *side.packages]
        environment = dict(os.environ) | THREADS
        if side.peers:
            environment.pop("PYTHONPATH", None)
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{side.script}, exit status {done.returncode}: {done.stderr.strip()[-300:]}")
        told = json.loads(report.read_text(encoding="utf-8"))
        outputs = {file.stem: np.loadtxt(file, delimiter=",") for file in got.glob("*.csv")}
        outputs |= {file.stem: np.load(file) for file in got.glob("*.npy")}
    return told["seconds"] * side.extrapolate, outputs, told["versions"]


Agreement = Callable[[Arrays, Arrays], tuple[str, bool]]


def compare(task: Task, inputs: Arrays, ours: str, peer: Side, agree: Agreement, repeats: int) -> Found:
    """Time both sides by turns and compare their last answers."""
    mine = Side("ours.py", ours, warmups=1, packages=("numpy", "scipy", "grampus"))
    pairs = [(run(mine, inputs), run(peer, inputs)) for _ in range(task.trials(repeats, 1))]
    # Neighbours in time share the state of the machine: the ratio is taken pair by pair.
    figures = {
        "ratio": [b[0] / a[0] for a, b in pairs],
        "ours": [a[0] for a, _ in pairs],
        "peer": [b[0] for _, b in pairs],
    }
    spread = {k: f"{median(v):.3g} ({min(v):.3g}–{max(v):.3g})" for k, v in figures.items()}
    told, agrees = agree(pairs[-1][0][1], pairs[-1][1][1])
    versions = ", ".join(f"{name} {version}" for name, version in (pairs[-1][0][2] | pairs[-1][1][2]).items())
    extrapolated = f", extrapolated ×{peer.extrapolate:.3g}" if peer.extrapolate != 1 else ""
    notes = [f"Ours {spread['ours']} s, theirs {spread['peer']} s{extrapolated}; {told}; {versions}."]
    measures = {k: median(v) for k, v in figures.items()} | {"agrees": float(agrees)}
    return Found(f"{spread['ratio']} × {peer.name}{extrapolated}", measures, notes=notes)


def equal_share(key: str, least: float) -> Agreement:
    """Agree when at least the share `least` of the entries called `key` is equal."""

    def compare(ours: Arrays, theirs: Arrays) -> tuple[str, bool]:
        share = float(np.mean(ours[key] == theirs[key]))
        return f"{share:.4%} equal", share >= least

    return compare


def not_worse(key: str, slack: float) -> Agreement:
    """Agree when our mean objective is at most the share `slack` above theirs."""

    def compare(ours: Arrays, theirs: Arrays) -> tuple[str, bool]:
        mine, other = float(np.mean(ours[key])), float(np.mean(theirs[key]))
        return f"{key} {mine:.5g} against {other:.5g}", mine <= other * (1 + slack)

    return compare
