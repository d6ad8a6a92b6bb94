"""Time one side in this process: ``worker.py SCRIPT INPUTS.npz OUTPUTS.npz REPORT.json WARMUPS [PACKAGE…]``.

Runs in any environment that has NumPy; it must not import Grampus or the harness.
"""

import json
import runpy
import sys
import time
from importlib import metadata

import numpy as np


def main(script: str, inputs_file: str, outputs_file: str, report_file: str, warmups: str, *packages: str) -> None:
    with np.load(inputs_file, allow_pickle=False) as stored:
        inputs = dict(stored)
    side = runpy.run_path(script)
    state = side["prepare"](inputs) if "prepare" in side else inputs
    for _ in range(int(warmups)):
        side["run"](state)
    start = time.perf_counter()
    outputs = side["run"](state)
    seconds = time.perf_counter() - start
    np.savez(outputs_file, **outputs)
    versions = {package: metadata.version(package) for package in packages}
    with open(report_file, "w", encoding="utf-8") as file:
        json.dump({"seconds": seconds, "versions": versions}, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
