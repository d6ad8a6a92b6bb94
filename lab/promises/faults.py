"""Faults injected at every site: the n-th call of a kind fails, until the command succeeds (lab/injector.py)."""

from __future__ import annotations

import errno
import hashlib
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import Any

from lab import Found, Task
from lab.found import Table
from lab.harness import ROOT
from lab.injector import KILL, TEMPORARY, Fault, Job, Server, Trial, loaded, shim, spread
from lab.promises import promise

WRITES = ("write", "sync", "rename", "mkdir", "unlink", "lock")  # every site is tried; of other kinds MOST
MOST = 50
FAULTS = (
    Fault("open", errno.EACCES),
    Fault("read", errno.EIO),
    Fault("write", errno.ENOSPC),
    Fault("write", errno.ENOSPC, lasting=True),
    Fault("write", errno.EIO),
    Fault("sync", errno.EIO),
    Fault("rename", errno.EACCES),
    Fault("mkdir", errno.ENOSPC),
    Fault("unlink", errno.EACCES),
    Fault("lock", errno.ENOLCK),
    Fault("alloc", errno.ENOMEM),
    Fault("memory"),
    Fault("interrupt"),
)


TOGETHER = (",".join(WRITES), "open,read,alloc", "memory,interrupt")  # kinds of one process


def _choose_k() -> None:
    """Choose k with a checkpoint, as a program would: its errors are the library's."""
    from grampus.cli.main import _fail, _message

    try:
        from grampus import choose_k
        from grampus.select import Splits
        from grampus.text import TermVectorizer, read_corpus

        terms = TermVectorizer().fit_transform(read_corpus("news.csv").texts)
        choose_k(terms, ks=(2, 3), splits=Splits(4), null=False, random_state=0, n_jobs=1, checkpoint="checkpoint")
    except KeyboardInterrupt:
        sys.exit(_fail("Interrupted.", 130))
    except Exception as error:
        sys.exit(_fail(_message(error), 1))
    sys.exit(0)


CLUSTER = ("cluster", "news.csv", "-k", "3", "--no-stability", "--method", "kernel-kmeans", "--settings", "few.toml",
           "--threads", "1", "--seed", "2")  # fmt: skip
RESUMED = "cluster --scratch, resumed"
PARTS = (*CLUSTER[:2], "-q", *CLUSTER[2:])
JOBS = (
    Job("cluster, new", (*CLUSTER, "--out", "new", "--report", "new.html"), ("new", "new.html"), fresh=True),
    Job("cluster, over an older run", (*CLUSTER, "--out", "run", "--report", "run.html", "--results", "table.csv"),
        ("run", "run.html", "table.csv")),
    Job("update", ("update", "run", "new.csv", "--threads", "1", "--report", "run.html"), ("run", "run.html")),
    Job("update --delete", ("update", "run", "--delete", "ids.txt", "--threads", "1"), ("run", "run.html")),
    Job("edit", ("edit", "run", "--rename", "0=Sea", "--merge", "1,2"), ("run",)),
    Job("report", ("report", "run", "--out", "run.html"), ("run.html",)),
    Job("assign", ("assign", "run", "new.csv", "--results", "table.csv", "--threads", "1"), ("table.csv",)),
    Job("checkpoint", (), ("checkpoint",), _choose_k, fresh=True, may_keep=("checkpoint",)),
    Job("cluster --scratch", (*PARTS, "--scratch", "scratch", "--out", "run", "--tables", "tables"),
        ("run", "tables", "scratch"), may_keep=("scratch",)),
    Job(RESUMED, (*PARTS, "--scratch", "scratch", "--out", "run"), ("run", "scratch"), may_keep=("scratch",)),
    Job("cluster --dask", (*PARTS, "--dask", "threads", "--out", "run", "--tables", "tables"), ("run", "tables"),
        without=("alloc",)),  # a thread of Dask's that cannot start for lack of memory is waited for, by Python itself
)  # fmt: skip


def contents(place: Path) -> dict[str, str]:
    """Return a digest of every file below a place, by its path."""
    files = [place] if place.is_file() else sorted(file for file in place.rglob("*") if file.is_file())
    return {str(file.relative_to(place)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def summary(place: Path, stray: bool = False) -> str:
    """Return what an output says apart from times; an error for one that is not whole, or has `stray` files."""
    from grampus.persist import Run

    if not place.exists() or (place.is_dir() and not any(place.iterdir())):
        return "absent"
    if place.is_dir() and not (place / "manifest.json").exists():
        return json.dumps(contents(place))
    if place.is_dir():
        run = Run.load(place)
        named = {entry["file"] for entry in json.loads((place / "manifest.json").read_bytes())["arrays"].values()}
        others = sorted({file.name for file in place.iterdir()} - named - {"manifest.json"})
        assert stray or not others, f"stray files {others}"
        kept = [run.evidence.labels.tolist(), list(run.documents.ids), len(run.history), run.provenance.seed]
        return json.dumps([*kept, [str(edit) for edit in run.edits]])
    raw = place.read_bytes()
    if place.suffix == ".html":
        assert raw.endswith(b"</html>\n"), "the page is cut"
        return "a page"
    return hashlib.sha256(raw).hexdigest()


def state(server: Server, job: Job, name: str, stray: bool = False) -> str:
    """Return whether an output is old, new, absent or neither; after a kill, a run may have `stray` files."""
    place, before = server.folder / name, server.before / name
    if not place.exists():
        return "broken: it is gone" if before.exists() else "old"
    if before.exists() and contents(place) == contents(before):
        return "old"
    if name in job.may_keep:
        return "part"
    try:
        found = summary(place, stray)
    except Exception as error:
        return f"broken: {error}"
    if stray and before.exists() and found == summary(before):
        return "old"
    return "new" if found == server.expected[job.name][name] else "broken: neither old nor new"


def judge(server: Server, job: Job, fault: Fault, trial: Trial) -> tuple[str, str]:  # noqa: PLR0911  (one an end)
    """Return what kind of end this was, and what is wrong with it ("" if nothing)."""
    # Where old arrays cannot be removed the command fails, since they may hold what was to be forgotten.
    kept = fault.kind == "unlink" and trial.status > 0
    states = {name: state(server, job, name, stray=kept) for name in job.outputs}
    broken = [f"{name} {found}" for name, found in states.items() if found.startswith("broken")]
    known = {path.name for path in server.before.iterdir()} | set(job.outputs)
    places = [*server.folder.iterdir(), *(server.folder / TEMPORARY).iterdir()]
    left = sorted(path.name for path in places if path.name not in known and not path.name.startswith("dask-scratch"))
    lines = trial.errors.splitlines()
    if trial.status < 0:
        return "crashed", f"signal {-trial.status} after {trial.seconds:.0f} s"
    if "Traceback" in trial.errors or "bug in Grampus" in trial.errors or 70 <= trial.status < 80:
        return "traceback", (lines or ["?"])[-1][:200]
    if broken:
        return "broken", "; ".join(broken)
    if left and fault.kind != "unlink":
        return "left", ", ".join(left)
    if trial.status == 0:
        expected = server.expected[job.name]
        certain = [name for name in job.outputs if name not in job.may_keep or fault.kind != "unlink"]
        wrong = [name for name in certain if summary(server.folder / name) != expected[name]]
        return ("absorbed", f"status 0 but not new: {', '.join(wrong)}" if wrong else "")
    finished = set(states.values()) == {"new"}  # what fails then is standard output
    unnamed = fault.kind in WRITES and lines == [f"Error: {os.strerror(fault.error)}"] and not finished
    if len(lines) != 1 or not lines[0].startswith("Error: ") or len(lines[0]) < 12 or unnamed:
        return "message", repr(trial.errors[:300])
    if "part" in states.values():
        again = server.trial(job, None, 0)
        return "refused, continued afterwards", "" if again.status == 0 else f"not continued: {again.errors[:160]}"
    if "new" in states.values():
        return "refused, an output was written before", ""
    return "refused, all as before", ""


def attack(server: Server, job: Job, fault: Fault, most: int) -> dict[str, Any]:
    """Fail every call of a kind in turn, until the job succeeds without a fault; return what happened."""
    ends: Counter[str] = Counter()
    defects: list[str] = []
    count = server.trial(job, fault, 2**40).seen  # none fails
    server.restore()
    numbers = spread(count, most)
    for number in numbers:
        trial = server.trial(job, fault, number)
        how, wrong = judge(server, job, fault, trial)
        ends[how] += 1
        if wrong:
            defects.append(f"{job.name}, {fault} {number} of {count}: {how}: {wrong} [{trial.errors.strip()[:160]}]")
        if how != "refused, all as before":
            server.restore()
    return {"fault": str(fault), "sites": len(numbers), "of": count, "ends": dict(ends), "defects": defects}


def prepare(place: Path, library: Any, job: Job) -> Server:
    """Make sources and an older run, import whatever the job needs, and find out what it writes."""
    from tests.end_to_end.test_command import write_sources

    server = Server(place / "work", place / "before", library)
    server.before.mkdir(parents=True)
    write_sources(server.before)
    (server.before / "few.toml").write_text("[effort]\nn_init = 2\n", encoding="utf-8")
    shutil.rmtree(server.before / "news")
    (server.before / TEMPORARY).mkdir()
    shutil.copytree(server.before, server.folder)
    for words in ((*CLUSTER, "--out", "run", "--report", "run.html", "--results", "table.csv"),
                  (*PARTS, "--scratch", "scratch", "--tables", "tables")):  # fmt: skip
        other = tuple("1" if before == "--seed" else word for before, word in pairwise(("", *words)))
        assert server.trial(Job("old", other, ()), None, 0).status == 0
    shutil.rmtree(server.before)
    shutil.copytree(server.folder, server.before)
    needed = place / "modules"
    # What the command imports when it runs, this process imports now.
    assert server.trial(Job(job.name, (), (), partial(_listed, job, needed)), None, 0).status == 0, job
    for name in needed.read_text(encoding="utf-8").split():
        importlib.import_module(name)
    server.expected[job.name] = {name: summary(server.folder / name) for name in job.outputs}
    server.restore()
    return server


def _listed(job: Job, place: Path) -> None:
    """Run a job, then write down which modules it imported."""
    from grampus.cli import main

    try:
        job.function() if job.function else main(list(job.words))
    except SystemExit as end:
        names = [name for name, module in sys.modules.items() if getattr(module, "__spec__", None) is not None]
        place.write_text("\n".join(name for name in names if name != "__main__"), encoding="utf-8")
        sys.exit(end.code)


def serve(how: str, name: str, most: int) -> None:
    """Attack one job with the faults of some kinds, or kill it; print a line of JSON for each."""
    library = loaded()
    scratch = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # no waiting for a disk
    with tempfile.TemporaryDirectory(dir=scratch) as place:
        os.environ["GRAMPUS_CACHE"] = f"{place}/cache"
        job = next(job for job in JOBS if job.name == name)
        server = prepare(Path(place), library, job)
        if "open" not in how and "dask" not in job.name:  # what is read once is read in every trial of that kind
            server.warm(job)
        for fault, few in KILLS if how == "kill" else ():
            print(json.dumps(killed(server, job, fault, min(few, most))), flush=True)
        for fault in [fault for fault in FAULTS if fault.kind in how.split(",") and fault.kind not in job.without]:
            every = most == MOST and fault.kind in WRITES
            print(json.dumps(attack(server, job, fault, 10**6 if every else most)), flush=True)


KILLS = (
    (Fault("memory", KILL), 20), (Fault("open", KILL), 4), (Fault("write", KILL), 9), (Fault("sync", KILL), 9),
    (Fault("rename", KILL), 9), (Fault("mkdir", KILL), 2), (Fault("unlink", KILL), 2),
)  # fmt: skip
NOT_TWICE, NEXT = ("update", "edit"), Job("next", ("edit", "run", "--rename", "0=Next"), ())
KILLED = ("cluster, new", "cluster, over an older run", "update", "edit", "checkpoint", RESUMED)


def killed(server: Server, job: Job, fault: Fault, most: int) -> dict[str, Any]:
    """Kill a job at calls of a kind, spread over all of them; then run it again."""
    ends: Counter[str] = Counter()
    defects: list[str] = []
    count = server.trial(job, replace(fault, error=0), 2**40).seen
    server.restore()
    for number in spread(count, most):
        trial = server.trial(job, fault, number)
        states = {name: state(server, job, name, stray=True) for name in job.outputs}
        wrong = [f"{name} {found}" for name, found in states.items() if found.startswith("broken")]
        wrong += [] if trial.status == -signal.SIGKILL else [f"status {trial.status}"]
        ends["new" if "new" in states.values() else "part" if "part" in states.values() else "old"] += 1
        if not wrong:
            done = job.name in NOT_TWICE and "new" in states.values()  # then another edit must be possible
            again = server.trial(NEXT if done else job, None, 0)
            wrong += [] if again.status == 0 else [f"afterwards: {again.errors[:160]}"]
            later = {} if again.status or done else {name: summary(server.folder / name) for name in job.outputs}
            wrong += [] if done or later == server.expected[job.name] else ["afterwards other results"]
            locks = [path.name for path in server.folder.iterdir() if path.name.endswith(".lock")]
            wrong += [f"{', '.join(locks)} is left after the next run"] if locks else []
        defects += [f"{job.name}, {fault} {number} of {count}: {'; '.join(wrong)}"] if wrong else []
        server.restore()
    return {"fault": str(fault), "sites": sum(ends.values()), "of": count, "ends": dict(ends), "defects": defects}


def attacked(how: str, name: str, most: int) -> list[dict[str, Any]]:
    """Attack one job in a process with the shim; return what happened, fault by fault."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "LD_PRELOAD": shim(folder), "PYTHONHASHSEED": "0"}
        command = [sys.executable, "-m", "lab.promises.faults", how, name, str(most)]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@promise(
    "injection",
    "The n-th write, fsync, rename, mkdir, unlink or lock fails, for every n until the command succeeds; and up to 50 "
    "each of the opens, reads, large allocations and places in Python (MemoryError, KeyboardInterrupt): how often "
    "there is not one line and a status, or an output is neither old nor new, or something is left behind.",
    rests_on=("_files", "persist", "cli", "select.checkpoint", "report", "scale", "documents.scaled"),
    conditions=("nothing-fails",),
    timeout=6 * 3600,
)
def injection(task: Task) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        shim(folder)  # say early that there is no compiler
    most = task.trials(MOST, 4)

    jobs = [job for job in JOBS if job.name != RESUMED]

    def attacks(pair: tuple[str, Job]) -> Any:
        kinds, job = pair
        return task.step(f"{job.name}: {kinds}", partial(attacked, kinds, job.name, most))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        parts = list(pool.map(attacks, product(TOGETHER, jobs)))  # the writes of all commands first
    every = [[found for part in parts[at :: len(jobs)] for found in part] for at in range(len(jobs))]
    rows = [
        (
            job.name,
            found["fault"],
            found["sites"],
            found["of"],
            ", ".join(f"{n} {how}" for how, n in found["ends"].items()),
        )
        for job, part in zip(jobs, every, strict=True)
        for found in part
        if found["of"]
    ]
    defects: list[str] = [defect for part in every for found in part for defect in found["defects"]]
    tried, sites = (sum(int(row[at]) for row in rows) for at in (2, 3))
    table = Table("What became of the command", ("command", "fault", "sites tried", "sites", "ends"), rows)
    figure = f"{tried - len(defects):,} of {tried:,} sites tried end as stated ({sites:,} sites)"
    return Found(figure, {"failed": len(defects), "sites": tried}, [table], notes=defects[:50])


@promise(
    "kills",
    "kill -9 at 200 points of clustering, saving, updating, editing and choosing k with a checkpoint, each at a call "
    "of the C library or of Python: how often an output is neither old nor new, or the next run fails, gives another "
    "result, or meets a lock.",
    rests_on=("_files", "persist", "cli", "select.checkpoint", "scale", "documents.scaled"),
    conditions=("nothing-fails", "kill-points"),
    timeout=2 * 3600,
)
def kills(task: Task) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        shim(folder)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        most = task.trials(100, 1)
        every = list(pool.map(lambda name: task.step(name, partial(attacked, "kill", name, most)), KILLED))
    rows = []
    for name, part in zip(KILLED, every, strict=True):
        ends = sum((Counter(found["ends"]) for found in part), Counter[str]())
        rows.append((name, sum(ends.values()), *(ends[how] for how in ("old", "new", "part"))))
    defects: list[str] = [defect for part in every for found in part for defect in found["defects"]]
    points = sum(int(str(row[1])) for row in rows)
    table = Table("What was found after the kill", ("command", "points", "old", "new", "checkpoint to continue"), rows)
    figure = f"{len(defects)} of {points} kill points broken"
    return Found(figure, {"failed": len(defects), "points": points}, [table], notes=defects[:50])


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], int(sys.argv[3]))
