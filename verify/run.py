"""Run a line in its own process, or find that nothing changed since it was run."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from benchmarks.commit import commit
from verify.registry import Line

ROOT = Path(__file__).parents[1]
STORE = ROOT / ".verify"
VERSIONS = ("numpy", "scipy", "scikit-learn", "PyStemmer", "charset-normalizer", "numba", "pyarrow", "duckdb")


@dataclass
class Result:
    """How a line ended. `status` is passed, failed, crashed, timed out or not run."""

    status: str
    value: str = ""
    detail: str = ""
    seconds: float | None = None
    peak_mb: float | None = None
    date: str = ""
    commit: str = ""
    key: str = ""
    older: bool = False  # measured before a later change of what it rests on

    @property
    def bad(self) -> bool:
        return self.status in ("failed", "crashed", "timed out")


def key_of(line: Line, root: Path = ROOT) -> str:
    """Return a hash of all that the line's figure depends on."""
    digest = hashlib.sha256()
    digest.update(" ".join([platform.python_version(), *map(_version, VERSIONS)]).encode())
    for watched in (*line.sources, line.module.replace(".", "/") + ".py", *line.watches):
        path = root / watched
        files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
        for file in files:
            if "__pycache__" not in file.parts and not file.parent.name.endswith(".egg-info"):
                digest.update(f"\0{file.relative_to(root).as_posix()}\0".encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()


def _version(package: str) -> str:
    try:
        return f"{package}={metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return f"{package} absent"


def held_back(line: Line) -> bool:
    """Whether the line needs the corpora and they are not here."""
    return line.needs_data and not os.environ.get("GRAMPUS_DATA")


def stored(line: Line, key: str, store: Path = STORE) -> Result | None:
    """Return the line's last figure, marked `older` if it was measured for another key; none after a crash."""
    if held_back(line):
        return None
    try:
        result = Result(**json.loads((store / f"{line.id}.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    result.older = result.key != key
    return result if result.status in ("passed", "failed") else None


def run(line: Line, key: str, store: Path = STORE, root: Path = ROOT) -> Result:
    """Measure the line in a fresh process and store how it ended; what it printed is in ``ID.log``."""
    if held_back(line):
        return Result("not run", detail="GRAMPUS_DATA not set")
    store.mkdir(exist_ok=True)
    figure = store / f"{line.id}.figure"
    figure.unlink(missing_ok=True)
    result = _measure(line, figure, store / f"{line.id}.log", root)
    result.key, result.commit = key, commit(root)
    result.date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    part = store / f"{line.id}.part"
    part.write_text(json.dumps(asdict(result), indent=1), encoding="utf-8")
    part.replace(store / f"{line.id}.json")
    figure.unlink(missing_ok=True)
    return result


def _measure(line: Line, figure: Path, log: Path, root: Path) -> Result:
    command = [sys.executable, "-m", "verify.worker", line.module, line.function, str(figure)]
    environment = {"OPENBLAS_NUM_THREADS": "1"} | os.environ
    with log.open("w", encoding="utf-8") as output:
        # Its own session: a line may start processes, and they must end with it.
        process = subprocess.Popen(
            command,
            cwd=root,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(line.timeout)
        except subprocess.TimeoutExpired:
            return Result("timed out", detail=f"no figure after {line.timeout:g} s", seconds=line.timeout)
        finally:
            _end(process)
    if status or not figure.exists():
        said = [text.strip() for text in log.read_text(encoding="utf-8", errors="replace").splitlines()]
        return Result("crashed", detail=f"exit status {status}: {next(filter(None, reversed(said)), 'no message')}")
    measured = json.loads(figure.read_text(encoding="utf-8"))
    return Result("passed" if measured.pop("passed") else "failed", **measured)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the line's whole session: nothing when all of it is gone already."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()
