"""The compiled loops under the address and undefined-behaviour sanitizers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from lab import Found, Task, Unavailable
from lab.harness import ROOT
from lab.promises import promise

LIBRARIES = ("libasan.so", "libubsan.so")
TESTS = ("tests/property/test_native.py", "tests/property/test_seeding.py")


def built(folder: Path) -> Path:
    """Compile the loops with the sanitizers; return a copy of the package that uses them."""
    if shutil.which("g++") is None or shutil.which("cmake") is None:
        raise Unavailable("the sanitizers need g++ and cmake")
    options = [f"-DPython_EXECUTABLE={sys.executable}", "-DCMAKE_CXX_COMPILER=g++", "-DGRAMPUS_SANITIZE=ON"]
    subprocess.run(["cmake", "-S", ROOT / "native", "-B", folder / "build", *options], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", folder / "build", "--parallel", "2"], check=True, capture_output=True)
    copy = folder / "src" / "grampus"
    shutil.copytree(ROOT / "src" / "grampus", copy, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for module in (folder / "build").glob("_core*.so"):
        shutil.copy(module, copy / "_native")
    return copy.parent


@promise(
    "sanitizers",
    "The tests of the compiled loops under the address and undefined-behaviour sanitizers.",
    rests_on=("_native",),
    conditions=("nothing-fails",),
)
def sanitizers(task: Task) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        source = built(Path(folder))
        where = (
            subprocess.run(["g++", f"-print-file-name={name}"], check=True, capture_output=True, text=True)
            for name in LIBRARIES
        )
        environment = os.environ | {
            "PYTHONPATH": f"{source}{os.pathsep}{ROOT}",
            "LD_PRELOAD": " ".join(found.stdout.strip() for found in where),
            "ASAN_OPTIONS": "detect_leaks=0",  # the interpreter keeps what it allocates until its end
        }
        words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *TESTS]
        if task.quick:
            words += ["-k", "hostile or phases or subsequence"]
        done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    last = (done.stdout.strip().splitlines() or ["no output"])[-1]
    notes = [] if done.returncode == 0 else [(done.stdout + done.stderr)[-2000:]]
    return Found(last.strip("= "), {"failed": float(done.returncode != 0)}, notes=notes)
