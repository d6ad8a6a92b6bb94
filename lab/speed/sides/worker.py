"""Time one side: ``worker.py SCRIPT INPUTS OUTPUTS REPORT WARMUPS FUNCTION [PACKAGE…]``.

Runs in any environment that has NumPy and SciPy; it imports neither Grampus nor the harness. A side is a function of
the inputs that prepares and returns what is timed.
"""

import json
import runpy
import sys
import time
import warnings
from importlib import metadata
from pathlib import Path

import numpy as np


def csr(inputs):
    """Return the sparse rows among the inputs."""
    import scipy.sparse as sp

    return sp.csr_array((inputs["data"], inputs["indices"], inputs["indptr"]), shape=tuple(inputs["shape"]))


def strings(inputs):
    """Return the texts among the inputs: code points end to end."""
    return ["".join(map(chr, part)) for part in np.split(inputs["points"], inputs["ends"][:-1])]


def main(script, given, got, report, warmups, function, *packages):
    warnings.simplefilter("ignore")
    inputs = {file.stem: np.load(file) for file in Path(given).glob("*.npy")}
    run = runpy.run_path(script)[function](inputs)
    for _ in range(int(warmups)):
        run()
    began = time.perf_counter()
    outputs = run()
    seconds = time.perf_counter() - began
    for name, array in outputs.items():
        np.save(Path(got) / f"{name}.npy", array)
    versions = {package: metadata.version(package) for package in packages}
    Path(report).write_text(json.dumps({"seconds": seconds, "versions": versions}), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
