"""Register rows, run each in a process of its own, and keep its result with what made it."""

import hashlib
import importlib
import json
import math
import os
import pkgutil
import platform
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from lab.found import Found

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "grampus"
RESULTS = ROOT / "lab" / "results"  # written with --save only
SCRATCH = ROOT / ".lab"  # ignored by git
SECTIONS = ("promises", "speed", "quality", "papers")
VERSIONS = ("numpy", "scipy", "scikit-learn")
TABLE: dict[str, Any] = tomllib.loads((ROOT / "lab" / "rows.toml").read_text(encoding="utf-8"))
WITNESSES = {"one-answer": "answers", "label-hashes": "labels"}  # rows that compare hashes, and where these stand
Function = Callable[["Task"], Found]


@dataclass(frozen=True)
class Row:
    """One measurement: its name, what it shows, the modules it rests on and the conditions it must meet.

    A row that follows from answers alone, not from how long they take, names its `witness`: a row that hashes answers.
    """

    section: str
    name: str
    function: Function
    shows: str
    rests_on: Sequence[str]
    conditions: Sequence[str] = ()
    data: bool = False
    hours: float = 1.0
    witness: str = ""

    @property
    def module(self) -> str:
        """The module that defines the row."""
        return str(getattr(self.function, "func", self.function).__module__)

    def own(self) -> list[Path]:
        """Return the row's own file and its table."""
        file = Path(str(sys.modules[self.module].__file__))
        return [path for path in (file, file.with_suffix(".toml")) if path.exists()]

    def sources(self, root: Path = SOURCES) -> list[Path]:
        """Return the files the result rests on: the named modules or packages, the row's own file and its table."""
        found = self.own()
        for name in self.rests_on:
            place = root.joinpath(*name.split("."))
            files = [place.with_suffix(".py")] if place.with_suffix(".py").is_file() else sorted(place.rglob("*.py"))
            if not files:
                raise ValueError(f"row {self.name!r} rests on {name!r}, which is no module of Grampus")
            found += files
        return found

    def key(self, quick: bool = False, root: Path = SOURCES) -> str:
        """Return a hash of the sources; a result with another key is stale."""
        return hashed(self.sources(root), b"quick" if quick else b"")

    def answers(self) -> str:
        """Return a hash of how the row measures and of the answers that its witness must find; '' without a witness."""
        if not self.witness:
            return ""
        table = ROOT / "lab" / "promises" / f"{WITNESSES[self.witness]}.toml"
        found = tomllib.loads(table.read_text(encoding="utf-8"))
        answers = {name: value for name, value in found.items() if not name.endswith(", page")}  # in other words, maybe
        return hashed(self.own(), json.dumps(answers, sort_keys=True).encode())


def hashed(files: Sequence[Path], begins: bytes) -> str:
    """Return the first digits of a hash of files."""
    digest = hashlib.sha256(begins)
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


ROWS: dict[tuple[str, str], Row] = {}
TIMES = ("seconds", "run")  # names of what a step took
CHECKED = 5  # of so many steps one is computed anew by ``--check``, and the first


def row(section: str, name: str, **entry: Any) -> Callable[[Function], Function]:
    """Register the decorated function as a row; its `entry` is the one of rows.toml unless it is given."""

    def register(function: Function) -> Function:
        if (section, name) in ROWS:
            raise ValueError(f"names of rows must differ; {section} {name!r} exists already")
        ROWS[section, name] = Row(section, name, function, **(entry or TABLE[section][name]))
        return function

    return register


def discover() -> list[Row]:
    """Import every module of the sections and return their rows, section by section."""
    for section in SECTIONS:
        package = importlib.import_module(f"lab.{section}")
        for found in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"lab.{section}.{found.name}")
    return sorted(ROWS.values(), key=lambda found: SECTIONS.index(found.section))


@dataclass
class Task:
    """What a row is given: the size and seed, and `step`, which keeps the parts of a long computation."""

    quick: bool = False
    seed: int = 0
    store: Path = field(default_factory=lambda: SCRATCH / "steps")
    before: Path | None = None  # steps of older sources; one in `CHECKED` is computed anew and must be equal
    checked: int = 0

    def trials(self, full: int, quick: int) -> int:
        """Return how many trials to run."""
        return quick if self.quick else full

    def step(self, name: str, function: Callable[[], Any]) -> Any:
        """Return the step's value, computed now or by an interrupted run of the same sources. It must be plain JSON."""
        path = self.store / f"{hashlib.sha256(f'{self.seed} {name}'.encode()).hexdigest()[:24]}.json"
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            pass
        older = None if self.before is None else self.before / path.name
        older = older if older is not None and older.exists() else None
        if older is not None and int(path.stem, 16) % CHECKED and self.checked:
            write(path, older.read_text(encoding="utf-8"))
            return json.loads(path.read_text(encoding="utf-8"))
        began = time.perf_counter()
        value = json.loads(json.dumps(function()))
        print(f"  {name}: {time.perf_counter() - began:.1f} s", file=sys.stderr, flush=True)
        if older is not None and not same(json.loads(older.read_text(encoding="utf-8")), value):
            raise RuntimeError(f"the step {name!r} has changed since; run the row without --check")
        self.checked += 1
        write(path, json.dumps(value))
        return value


def same(one: Any, other: Any) -> bool:
    """Return whether two values of a step are equal but for times and the last digits, which processors differ in."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(name in TIMES or same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other or (isinstance(one, float) and isinstance(other, float) and math.isclose(one, other))


@dataclass
class Record:
    """A stored result. `status` is done, crashed, timed out or not run; conditions are judged when it is read."""

    status: str
    figure: str = ""
    measures: dict[str, float] = field(default_factory=dict)
    body: str = ""
    detail: str = ""
    made: dict[str, Any] = field(default_factory=dict)
    key: str = ""
    answers: str = ""


def records(section: str, folder: Path) -> dict[str, Any]:
    """Return the stored results of a section by the names of their rows."""
    try:
        return dict(json.loads((folder / f"{section}.json").read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def load(found: Row, folder: Path) -> Record | None:
    """Return the stored result of a row, or None."""
    stored = records(found.section, folder).get(found.name)
    return None if stored is None else Record(**stored)


def stands(found: Row, record: Record, folder: Path = RESULTS) -> bool:
    """Return whether a result is that of today's sources, or of others that give the same answers.

    Its witness must then have found, on today's sources, every hash that was recorded when the row was measured.
    """
    if record.key == found.key():
        return True
    if not found.witness or record.answers != found.answers():
        return False
    witness = ROWS["promises", found.witness]
    seen = load(witness, folder)
    return seen is not None and seen.key == witness.key() and seen.measures.get("different") == 0


def store(found: Row, record: Record, folder: Path) -> None:
    """Put a result into the file of its section."""
    kept = records(found.section, folder) | {found.name: asdict(record)}
    text = json.dumps(dict(sorted(kept.items())), indent=1, ensure_ascii=False)
    write(folder / f"{found.section}.json", f"{text}\n")


def run(found: Row, quick: bool = False, seed: int = 0, folder: Path = SCRATCH, older: str = "") -> Record:
    """Run a row in a fresh process and store the result; a row that crashed or ran too long has one, too.

    `older` is the key of sources whose steps stand if those that are computed anew are equal.
    """
    if found.data and not os.environ.get("GRAMPUS_DATA"):
        return Record("not run", detail="set GRAMPUS_DATA to the folder of the corpora")
    place = folder / found.section
    place.mkdir(parents=True, exist_ok=True)
    key, answer, log = found.key(quick), place / f"{found.name}.answer", place / f"{found.name}.log"
    answer.unlink(missing_ok=True)
    words = [found.module, found.section, found.name, str(answer), str(seed), key]
    record = Record("crashed", made=provenance(found, quick), key=key, answers=found.answers())
    environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ, "LAB_QUICK": "1" if quick else "", "LAB_OLDER": older}
    record.made |= {"command": f"{record.made['command']} --check"} if older else {}
    began = time.perf_counter()
    with log.open("w", encoding="utf-8") as output:
        how: dict[str, Any] = {"stdout": output, "stderr": subprocess.STDOUT, "start_new_session": True}
        # A session of its own: processes that a row starts must end with it.
        process = subprocess.Popen([sys.executable, "-m", "lab.worker", *words], cwd=ROOT, env=environment, **how)
        try:
            process.wait(3600 * found.hours)
        except subprocess.TimeoutExpired:
            record.status, record.detail = "timed out", f"no result after {found.hours:g} hours"
        finally:
            _end(process)
    if record.status == "crashed" and answer.exists():
        vars(record).update(json.loads(answer.read_text(encoding="utf-8")))
    elif record.status == "crashed":
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        record.detail = lines[-1] if lines else f"exit status {process.returncode}"
    record.made |= {"seconds": round(time.perf_counter() - began, 1)}
    answer.unlink(missing_ok=True)
    store(found, record, folder)
    return record


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the session of a row, whatever it left behind."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def provenance(found: Row, quick: bool) -> dict[str, Any]:
    """Return what a reader needs to repeat and to judge a result."""
    return {
        "command": f"python -m lab {found.section} --only {found.name}" + (" --quick" if quick else ""),
        "commit": commit(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": f"{_cpu()}, {os.cpu_count()} cores",
        "versions": {"python": platform.python_version()} | {name: metadata.version(name) for name in VERSIONS},
        "load": round(os.getloadavg()[0], 1),
    }


def commit(root: Path = ROOT) -> str:
    """Return the short name of the commit, with "-dirty" where a source differs from it."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False).stdout.strip()

    dirty = git("status", "--porcelain", "--untracked-files=no", "--", "src", "lab", ":!lab/results")
    return git("rev-parse", "--short", "HEAD") + ("-dirty" if dirty else "") or "unknown"


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def printed(*words: str, **how: Any) -> str:
    """Run Python in a fresh process; return what it prints."""
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, **how)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return done.stdout


def write(path: Path, text: str) -> None:
    """Write a file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
