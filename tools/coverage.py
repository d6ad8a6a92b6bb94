"""Compare the coverage of the tests with its limits: Python by coverage.py, C++ by gcov.

`python -m tools.coverage python` reads .coverage/data*, as `make coverage` leaves them; `python -m tools.coverage
native TESTS` runs tests with a build that counts (GRAMPUS_COVERAGE), in build/coverage. Both print the least covered
files and fail below the limits.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "coverage"
LIMITS = {"python": (97.0, 93.0), "native": (97.0, 93.0)}  # per cent of lines and of branches
SHOWN = 12


@dataclass(frozen=True)
class Counted:
    """How much of a file was run."""

    name: str
    lines: int
    lines_run: int
    branches: int
    branches_run: int
    missing: str

    @property
    def open(self) -> int:
        """Lines and branches that were not run."""
        return self.lines - self.lines_run + self.branches - self.branches_run


def share(run: int, all_: int) -> float:
    """Return a share in per cent; of nothing, everything was run.

    Examples
    --------
    >>> from tools.coverage import share
    >>> share(3, 4), share(0, 0)
    (75.0, 100.0)
    """
    return 100.0 * run / all_ if all_ else 100.0


def verdict(files: list[Counted], limits: tuple[float, float]) -> tuple[str, bool]:
    """Return a report on files and whether both limits hold.

    Examples
    --------
    >>> from tools.coverage import Counted, verdict
    >>> text, holds = verdict([Counted("a.py", 100, 98, 10, 9, "7, 9")], (97.0, 93.0))
    >>> print(text.splitlines()[-1], holds)
    lines 98.0 % (at least 97), branches 90.0 % (at least 93) False
    """
    worst = sorted((file for file in files if file.open), key=lambda file: (-file.open, file.name))[:SHOWN]
    shown = [
        f"{share(file.lines_run, file.lines):5.1f} % {share(file.branches_run, file.branches):5.1f} % {file.name}: "
        f"{file.missing}"
        for file in worst
    ]
    lines = share(sum(file.lines_run for file in files), sum(file.lines for file in files))
    branches = share(sum(file.branches_run for file in files), sum(file.branches for file in files))
    last = f"lines {lines:.1f} % (at least {limits[0]:.0f}), branches {branches:.1f} % (at least {limits[1]:.0f})"
    return "\n".join([*shown, last]), lines >= limits[0] and branches >= limits[1]


def python_files() -> list[Counted]:
    """Return what coverage.py has counted."""
    command = [sys.executable, "-m", "coverage"]
    if list((ROOT / ".coverage").glob("data.*")):
        subprocess.run([*command, "combine", "--quiet", "--append"], cwd=ROOT, check=True)
    report = ROOT / ".coverage" / "report.json"
    subprocess.run([*command, "json", "--quiet", "-o", str(report)], cwd=ROOT, check=True)
    files: dict[str, Any] = json.loads(report.read_text("utf-8"))["files"]
    return [_python(name, value) for name, value in files.items()]


def _python(name: str, value: dict[str, Any]) -> Counted:
    total = value["summary"]
    jumps = [f"{a}→{b}" for a, b in value["missing_branches"]]
    missing = ", ".join([*map(str, value["missing_lines"]), *jumps])
    return Counted(
        name,
        total["num_statements"],
        total["covered_lines"],
        total["num_branches"],
        total["covered_branches"],
        missing if len(missing) < 100 else f"{missing[:99]}…",
    )


def native_files() -> list[Counted]:
    """Return what gcov has counted in the sources of the extension; a template counts once, whatever it is made for."""
    lines: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    branches: dict[str, dict[tuple[int, int], int]] = defaultdict(lambda: defaultdict(int))
    notes = sorted(BUILD.rglob("*.gcno"))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["gcov", "--json-format", "--branch-probabilities", *map(str, notes)],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        for path in Path(folder).glob("*.gcov.json.gz"):
            for file in json.loads(gzip.decompress(path.read_bytes()))["files"]:
                if "/src/grampus/_native/" not in file["file"]:
                    continue
                name = file["file"].rsplit("/", 1)[1]
                for line in file["lines"]:
                    number = line["line_number"]
                    lines[name][number] += line["count"]
                    plain = [one for one in line["branches"] if not one["throw"]]
                    for place, one in enumerate(plain):
                        branches[name][number, place] += one["count"]
    return [_native(name, lines[name], branches[name]) for name in sorted(lines)]


def _native(name: str, lines: dict[int, int], branches: dict[tuple[int, int], int]) -> Counted:
    unrun = [number for number, count in sorted(lines.items()) if not count]
    half = sorted({number for (number, _), count in branches.items() if not count and lines[number]})
    missing = ", ".join([*map(str, unrun), *(f"{number}→" for number in half)])
    return Counted(name, len(lines), len(lines) - len(unrun), len(branches), sum(map(bool, branches.values())), missing)


RUN = """
import sys, pytest
sys.meta_path[:] = [one for one in sys.meta_path if not type(one).__module__.startswith("_editable")]
sys.path.insert(0, sys.argv[1])
import grampus._native._core as core
assert core.__file__.startswith(sys.argv[1]), core.__file__
raise SystemExit(pytest.main(sys.argv[2:]))
"""


def run_counting(tests: list[str]) -> None:
    """Run tests with the package in build/coverage: an editable installation would find its own first."""
    command = [sys.executable, "-c", RUN, str(BUILD / "src"), "-q", "-p", "no:cacheprovider", "-n", "0", *tests]
    subprocess.run(command, cwd=ROOT, check=True)


def main(arguments: list[str]) -> int:
    """Run the command."""
    kind, tests = (arguments or [""])[0], arguments[1:]
    if kind not in LIMITS or (tests != []) != (kind == "native"):
        sys.stderr.write("usage: python -m tools.coverage python | native TESTS\n")
        return 2
    if kind == "native":
        run_counting(tests)
    text, holds = verdict(python_files() if kind == "python" else native_files(), LIMITS[kind])
    sys.stdout.write(f"{text}\n")
    return 0 if holds else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
