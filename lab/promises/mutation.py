"""Do the tests notice a wrong program? Seeded mutants of the algorithms, each against the tests that reach it.

The tests of its own module come first, those that reach the changed statement; if none fails, some quick ones of all
other files follow.
"""

from __future__ import annotations

import ast
import compileall
import hashlib
import json
import os
import shutil
import sys
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Any

from lab import Found, Task
from lab.harness import ROOT, SCRATCH, write
from lab.mutants import Mutant, mutants, mutated
from lab.promises import promise

PACKAGES = ("cluster", "gram", "kernels", "metrics", "select")
NUMBER = 200
LIMIT = 600.0  # processor seconds; the tests of a module take less than a fifth of it
OTHERS = ("unit", "property", "contract", "reference")  # folders of the tests of all modules
MOST, LONGEST = 60, 40.0  # tests of other modules, and their seconds together
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
    """Return a seeded sample of all mutants, in the order of the draw: a part of it is a sample, too.

    Each mutant has its number by what it says, so that a changed module changes the draw of its own mutants only.
    """
    ranked, seen = list[tuple[str, str, Mutant]](), defaultdict[str, int](int)
    for path in sorted(path for package in PACKAGES for path in (source / package).rglob("*.py")):
        module = module_of(path, source)
        for one in mutants(path.read_text("utf-8")):
            said = f"{seed} {module} {one.kind} {one.text}"
            seen[said] += 1
            ranked.append((hashlib.sha256(f"{said} {seen[said]}".encode()).hexdigest(), module, one))
    return [(module, one) for _, module, one in sorted(ranked, key=lambda found: found[0])[:number]]


class _First:
    """Runs chosen tests only, quick ones first, and remembers the first that failed."""

    def __init__(self, chosen: dict[str, float] | None = None) -> None:
        self.chosen, self.failed = chosen, ""

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self.chosen is None:
            return
        chosen, files = self.chosen, defaultdict[str, float](float)
        items[:] = [item for item in items if item.nodeid in chosen]
        for item in items:
            files[item.nodeid.partition("::")[0]] += chosen[item.nodeid]
        items.sort(key=lambda item: (files[file := item.nodeid.partition("::")[0]], file, chosen[item.nodeid]))

    def pytest_runtest_logreport(self, report: object) -> None:
        if getattr(report, "failed", False):
            self.failed = self.failed or str(getattr(report, "nodeid", ""))

    def pytest_collectreport(self, report: object) -> None:
        self.pytest_runtest_logreport(report)


class _Lines:
    """Notes which lines of the packages each test reaches, and how long it takes."""

    def __init__(self, folder: Path) -> None:
        import coverage

        self.source, self.seconds, self.failed = folder / "src" / "grampus", dict[str, float](), set[str]()
        self.counted = coverage.Coverage(data_file=None, config_file=False, source=[str(self.source)])
        self.counted.start()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.counted.switch_context(nodeid)

    def pytest_runtest_logfinish(self) -> None:
        self.counted.switch_context("")

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:  # without a mutant: it needs what is not there
            self.failed.add(report.nodeid)

    def found(self) -> dict[str, Any]:
        """Return the tests, their seconds, and for each module the numbers of the tests that reach a line."""
        self.counted.stop()
        tests, data = [test for test in self.seconds if test not in self.failed], self.counted.get_data()
        number = {test: at for at, test in enumerate(tests)}
        lines: dict[str, dict[int, list[int]]] = {}
        for file in sorted(data.measured_files()):
            module = module_of(Path(file), self.source)
            if module.startswith(PACKAGES):
                reached = data.contexts_by_lineno(file).items()
                lines[module] = {line: [number[one] for one in some if one in number] for line, some in reached}
        return {"tests": tests, "seconds": [self.seconds[test] for test in tests], "lines": lines}


def in_fork(function: Callable[[], Any]) -> tuple[Any, str, float]:
    """Run a function in a fork; return its answer, or None and how the fork ended, and the processor seconds."""
    answer, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(answer)
        try:
            quiet = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(quiet, stream)
            text = json.dumps(function())
            with os.fdopen(write_end, "w") as stream_out:
                stream_out.write(text)
        finally:
            os._exit(0)
    os.close(write_end)
    with os.fdopen(answer) as stream_in:
        text = stream_in.read()
    _, status, usage = os.wait4(child, 0)
    how = f"ended by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "ended early"
    return (json.loads(text) if text else None), how, usage.ru_utime + usage.ru_stime


def tried(folder: Path, tests: Sequence[str], chosen: dict[str, float] | None = None) -> tuple[str, float]:
    """Run tests on the package in a folder, in a fork; return the test that failed, or "", and the processor seconds.

    A run that takes far longer than the tests did, or dies, counts as a failed test.
    """
    limit = LIMIT if chosen is None else 30.0 + 5.0 * sum(chosen.values())

    def run() -> str:
        first = _First(chosen)
        code = _run_tests(folder, ["-x", *tests], limit, first)
        return first.failed or ("" if code == 0 or (code == 5 and chosen is not None) else f"status {code}")

    found, how, seconds = in_fork(run)
    return how if found is None else found, seconds


def reached(folder: Path, test: str) -> dict[str, Any]:
    """Run a test file; return its tests, and which lines of which modules each of them reaches."""

    def run() -> dict[str, Any]:
        lines = _Lines(folder)
        _run_tests(folder, [test], 3 * LIMIT, lines)
        return lines.found()

    found, how, _ = in_fork(run)
    assert found is not None, f"{test} {how}"
    return dict(found)


def _run_tests(folder: Path, tests: Sequence[str], limit: float, plugin: object) -> int:
    """Run the tests in this process, which must end with them."""
    import resource  # not on Windows, where nothing forks either

    import pytest

    resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.chdir(folder)
    sys.path[:0] = [str(folder / "src"), str(folder)]
    words = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts=--import-mode=importlib"]
    return int(pytest.main([*words, "-m", "not slow", *tests], plugins=[plugin]))


def span(source: str, line: int) -> range:
    r"""Return the lines of the statement of a function at a line; none where it runs once, when the module is imported.

    Examples
    --------
    >>> from lab.promises.mutation import span
    >>> text = "A = 1\ndef f(a=2):\n    if (a\n        > 1):\n        return a"
    >>> [span(text, line) for line in (1, 2, 4, 5)]
    [range(0, 0), range(0, 0), range(3, 5), range(5, 6)]
    """
    found = range(0)
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef):
            continue
        for one in (part for top in node.body for part in ast.walk(top) if isinstance(part, ast.stmt)):
            inner = [part.lineno for part in ast.iter_child_nodes(one) if isinstance(part, ast.stmt)]
            last = min(inner) - 1 if inner else one.end_lineno or one.lineno
            if one.lineno <= line <= last and one.lineno >= found.start:
                found = range(one.lineno, last + 1)
    return found


def covering(source: str, module: str, line: int, files: dict[str, dict[str, Any]]) -> dict[str, float] | None:
    """Return the tests that reach a line, with their seconds; None for all, where it runs on import."""
    lines = span(source, line)
    if not lines:
        return None
    chosen = {}
    for found in files.values():
        known = found["lines"].get(module, {})
        for at in {at for number in lines for at in known.get(str(number), ())}:
            chosen[found["tests"][at]] = found["seconds"][at]
    return chosen


def quick(chosen: dict[str, float]) -> dict[str, float]:
    """Return some tests, the quickest of every file in turn, within `MOST` and `LONGEST`.

    Examples
    --------
    >>> from lab.promises.mutation import quick
    >>> list(quick({"a::1": 9.0, "a::2": 1.0, "b::1": 50.0, "c::1": 3.0}))
    ['a::2', 'c::1', 'a::1']
    """
    files, order = defaultdict[str, int](int), []
    for test, seconds in sorted(chosen.items(), key=lambda pair: (pair[1], pair[0])):
        file = test.partition("::")[0]
        order.append((files[file], seconds, test))
        files[file] += 1
    found, spent = dict[str, float](), 0.0
    for _, seconds, test in sorted(order):
        if len(found) < MOST and spent + seconds <= LONGEST:
            found[test], spent = seconds, spent + seconds
    return found


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


def outcome(
    place: Path, module: str, one: Mutant, tests: Sequence[str], chosen: dict[str, float] | None
) -> tuple[str, float]:
    """Put a mutant in the place of its module, try it, and put the module back."""
    path = place.joinpath("src", "grampus", *module.split(".")).with_suffix(".py")
    source = path.read_text("utf-8")
    if chosen == {}:
        return "", 0.0  # no test reaches it
    path.write_text(mutated(source, one.number), "utf-8")
    try:
        return tried(place, tests if chosen is None else sorted({name.partition("::")[0] for name in chosen}), chosen)
    finally:
        path.write_text(source, "utf-8")


@promise(
    "mutation",
    f"{NUMBER} seeded mutants of gram, kernels, cluster, select and metrics: the share that tests notice.",
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
    every = sorted(f"tests/{kind}/{path.name}" for kind in OTHERS for path in (ROOT / "tests" / kind).glob("test_*.py"))
    passing: set[str] = set()
    killed, survivors = 0, []
    sample = drawn(source, task.seed, task.trials(NUMBER, 12))
    with tempfile.TemporaryDirectory() as folder:
        place = shadow(Path(folder))
        for done, (module, one) in enumerate(sample):
            tests = met_by(module, table)
            text = source.joinpath(*module.split(".")).with_suffix(".py").read_text("utf-8")
            by = record.load(text, one.number, every)
            if by is None:
                files = {name: task.step(f"lines {name} {_hash([ROOT / name])}", partial(reached, place, name))
                         for name in tests}  # fmt: skip
                by, seconds = outcome(place, module, one, tests, covering(text, module, one.line, files))
                if not by:
                    rest = {name: task.step(f"lines {name} {_hash([ROOT / name])}", partial(reached, place, name))
                            for name in every if name not in tests}  # fmt: skip
                    wider = covering(text, module, one.line, rest)
                    by, seconds = outcome(place, module, one, every, {} if wider is None else quick(wider))
                if "::" in by and by not in passing:
                    if (failed := tried(place, [by])[0]) != "":
                        raise AssertionError(f"{failed} fails on the program as it is")
                    passing.add(by)
                record.save(text, one.number, every, by)
                said = f"{module}:{one.line} {one.kind}: {by or 'SURVIVED'} ({seconds:.0f} s)"
                print(f"  {done + 1} {said}", file=sys.stderr, flush=True)
            killed += bool(by)
            survivors += [] if by else [f"{module}:{one.line} {one.kind}: {one.text}"]
    share = 100.0 * killed / len(sample)
    write(SCRATCH / "mutants" / "survivors.txt", "".join(f"{line}\n" for line in sorted(survivors)))
    notes = ["Mutants that no test noticed:", *(f"`{line}`" for line in sorted(survivors))]
    measures = {"killed": share, "mutants": float(len(sample))}
    return Found(f"{killed} of {len(sample)} killed ({share:.1f} %)", measures, notes=notes if survivors else [])
