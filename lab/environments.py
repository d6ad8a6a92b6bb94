"""Environments of their own for what a row compares with: other packages, and older versions of this one."""

import subprocess
import tarfile
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

from lab.found import Unavailable
from lab.harness import ROOT, SCRATCH


def environment(name: str, requirements: Path | None = None, commit: str = "") -> str:
    """Return the interpreter of .lab/NAME, built when it is missing or its requirements have changed.

    It holds the packages of a file of requirements, or Grampus as it was at a commit.
    """
    place = SCRATCH / name
    python, stamp = place / "bin" / "python", place / "requirements.txt"
    wanted = requirements.read_text(encoding="utf-8") if requirements else commit
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return str(python)
    venv.create(place, with_pip=True, clear=True)
    with TemporaryDirectory() as folder:
        what = ["-r", str(requirements)] if requirements else [_source(commit, Path(folder))]
        install = [str(python), "-m", "pip", "install", "--quiet", *what]
        done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"the environment {name} could not be built: {done.stderr.strip()[-200:]}")
    stamp.write_text(wanted, encoding="utf-8")
    return str(python)


def _source(commit: str, folder: Path) -> str:
    """Write the tree of a commit into a folder."""
    packed = folder / "source.tar"
    words = ["git", "archive", "--output", str(packed), commit]
    if subprocess.run(words, cwd=ROOT, capture_output=True, check=False).returncode:
        raise Unavailable(f"the commit {commit} is not in this clone: git fetch --unshallow")
    with tarfile.open(packed) as archive:
        archive.extractall(folder / "source", filter="data")
    return str(folder / "source")
