"""Do the tests notice a wrong program? Seeded mutants of the algorithms, each against the tests of its module."""

from __future__ import annotations

import compileall
import hashlib
import json
import os
import random
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from py_compile import PycInvalidationMode

from lab import Found, Task
from lab.harness import ROOT, SCRATCH, write
from lab.mutants import Mutant, mutants, mutated
from lab.promises import promise

PACKAGES = ("cluster", "gram", "kernels", "metrics", "select")
NUMBER = 200
LIMIT = 600.0  # processor seconds; the tests of a module take less than a fifth of it
MEMORY = 12 * 2**30
LOADED = (
    "numpy", "scipy.sparse", "scipy.linalg", "scipy.optimize", "sklearn.base", "sklearn.metrics",
    "sklearn.utils.estimator_checks", "joblib", "threadpoolctl", "pytest",
)  # fmt: skip


def module_of(path: Path, source: Path) -> str:
    """Return the name of a module below grampus."""
    return ".".join(path.relative_to(source).with_suffix("").parts)


def met_by(module: str, table: dict[str, dict[str, list[str]]]) -> list[str]:
    """Return the test files of a module: those of the longest name that fits."""
    names = [name for name in table if module == name or module.startswith(f"{name}.")]
    return [f"tests/{file}" for file in table[max(names, key=len)]["tests"]]


def drawn(source: Path, seed: int, number: int) -> list[tuple[str, Mutant]]:
    """Return a seeded sample of all mutants, in the order of the draw: a part of it is a sample, too."""
    places = sorted(path for package in PACKAGES for path in (source / package).rglob("*.py"))
    everything = [(module_of(path, source), one) for path in places for one in mutants(path.read_text("utf-8"))]
    return random.Random(seed).sample(everything, min(number, len(everything)))


class _First:
    """Remembers the first test that failed."""

    def __init__(self) -> None:
        self.failed = ""

    def pytest_runtest_logreport(self, report: object) -> None:
        if getattr(report, "failed", False):
            self.failed = self.failed or str(getattr(report, "nodeid", ""))

    def pytest_collectreport(self, report: object) -> None:
        self.pytest_runtest_logreport(report)


def tried(folder: Path, tests: Sequence[str]) -> tuple[str, float]:
    """Run tests on the package in a folder, in a fork; return the test that failed, or "", and the processor seconds.

    A run that takes more than LIMIT processor seconds, or dies, counts as a failed test.
    """
    answer, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(answer)
        _run_tests(folder, tests, write_end)
    os.close(write_end)
    with os.fdopen(answer) as stream:
        text = stream.read()
    _, status, usage = os.wait4(child, 0)
    seconds = usage.ru_utime + usage.ru_stime
    if not text:
        return f"ended by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "ended early", seconds
    return str(json.loads(text)), seconds


def _run_tests(folder: Path, tests: Sequence[str], answer: int) -> None:
    """Run the tests in this process, which ends with them."""
    import resource  # not on Windows, where nothing forks either

    import pytest

    resource.setrlimit(resource.RLIMIT_CPU, (int(LIMIT), int(LIMIT) + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.chdir(folder)
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    sys.path[:0] = [str(folder / "src"), str(folder)]
    first = _First()
    words = [
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-m",
        "not slow",
        "-o",
        "addopts=--import-mode=importlib",
    ]
    code = pytest.main([*words, *tests], plugins=[first])
    os.write(answer, json.dumps(first.failed or ("" if code == 0 else f"status {int(code)}")).encode())
    os._exit(0)


def shadow(folder: Path) -> Path:
    """Copy the package, compiled, and the tests to a folder."""
    ignored = shutil.ignore_patterns("__pycache__", ".hypothesis")
    for name in ("src", "tests", "lab"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)
    # compiled once, and compared with the sources by hash: a mutant is never taken for its module
    compileall.compile_dir(folder / "src", quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
    return folder


def _hash(paths: Sequence[Path]) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:16]


class Outcomes:
    """The outcomes so far.

    A killed mutant stays killed while its module and the test that failed are the same; one that survived, while its
    module and all its tests are.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, source: str, number: int) -> Path:
        """Return where the outcome of a mutant is kept."""
        return self.folder / f"{hashlib.sha256(f'{number} {source}'.encode()).hexdigest()[:24]}.json"

    def load(self, source: str, number: int, tests: Sequence[str]) -> str | None:
        """Return what killed the mutant, "" if nothing did, or None if it must be tried."""
        try:
            killed, digest = json.loads(self.path(source, number).read_text("utf-8"))
        except (OSError, ValueError):
            return None
        return str(killed) if digest == self.digest(killed, tests) else None

    def save(self, source: str, number: int, tests: Sequence[str], killed: str) -> None:
        """Keep an outcome."""
        write(self.path(source, number), json.dumps([killed, self.digest(killed, tests)]))

    @staticmethod
    def digest(killed: str, tests: Sequence[str]) -> str:
        """Return a hash of the tests that an outcome rests on."""
        file = killed.partition("::")[0]
        return _hash([ROOT / name for name in ([file] if file in tests else tests)])


def outcome(place: Path, module: str, one: Mutant, tests: Sequence[str]) -> tuple[str, float]:
    """Put a mutant in the place of its module, try it, and put the module back."""
    path = place.joinpath("src", "grampus", *module.split(".")).with_suffix(".py")
    source = path.read_text("utf-8")
    path.write_text(mutated(source, one.number), "utf-8")
    try:
        return tried(place, tests)
    finally:
        path.write_text(source, "utf-8")


@promise(
    "mutation",
    f"{NUMBER} seeded mutants of gram, kernels, cluster, select and metrics: the share the module's own tests notice.",
    rests_on=PACKAGES,
    conditions=("mutants-killed", "mutants-tried"),
    timeout=6 * 3600.0,
)
def mutation(task: Task) -> Found:
    for name in LOADED:
        __import__(name)
    sys.dont_write_bytecode = True
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    source = ROOT / "src" / "grampus"
    record = Outcomes(SCRATCH / "mutants")
    passing: set[str] = set()
    killed, survivors = 0, []
    sample = drawn(source, task.seed, task.trials(NUMBER, 12))
    with tempfile.TemporaryDirectory() as folder:
        place = shadow(Path(folder))
        for done, (module, one) in enumerate(sample):
            tests = met_by(module, table)
            text = source.joinpath(*module.split(".")).with_suffix(".py").read_text("utf-8")
            by = record.load(text, one.number, tests)
            if by is None:
                by, seconds = outcome(place, module, one, tests)
                if "::" in by and by not in passing:
                    if (failed := tried(place, [by])[0]) != "":
                        raise AssertionError(f"{failed} fails on the program as it is")
                    passing.add(by)
                record.save(text, one.number, tests, by)
                said = f"{module}:{one.line} {one.kind}: {by or 'SURVIVED'} ({seconds:.0f} s)"
                print(f"  {done + 1} {said}", file=sys.stderr, flush=True)
            killed += bool(by)
            survivors += [] if by else [f"{module}:{one.line} {one.kind}: {one.text}"]
    share = 100.0 * killed / len(sample)
    write(SCRATCH / "mutants" / "survivors.txt", "".join(f"{line}\n" for line in sorted(survivors)))
    notes = ["Mutants that no test noticed:", *(f"`{line}`" for line in sorted(survivors))]
    measures = {"killed": share, "mutants": float(len(sample))}
    return Found(f"{killed} of {len(sample)} killed ({share:.1f} %)", measures, notes=notes if survivors else [])
