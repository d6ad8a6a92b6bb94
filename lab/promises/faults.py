"""Faults injected at every site: the n-th call of a kind fails, until the command succeeds (lab/injector.py)."""

import errno
import hashlib
import importlib
import json
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import Any

from lab import Found, Table, Task, printed
from lab.harness import ROOT
from lab.injector import KILL, TEMPORARY, Fault, Job, Server, Trial, loaded, shim, spread
from lab.promises import promise

WRITES = ("write", "sync", "rename", "mkdir", "unlink", "lock")  # every site is tried; of other kinds MOST
MOST = 50
ERRORS = {
    "open": errno.EACCES, "read": errno.EIO, "write": errno.ENOSPC, "sync": errno.EIO, "rename": errno.EACCES,
    "mkdir": errno.ENOSPC, "unlink": errno.EACCES, "lock": errno.ENOLCK, "alloc": errno.ENOMEM, "memory": 0,
    "interrupt": 0,
}  # fmt: skip
FAULTS = [Fault(kind, error) for kind, error in ERRORS.items()]
FAULTS += [Fault("write", errno.ENOSPC, lasting=True), Fault("write", errno.EIO)]
TOGETHER = (",".join(WRITES), "open,read,alloc", "memory,interrupt")  # kinds of one process
KILLS = {"memory": 20, "open": 4, "write": 9, "sync": 9, "rename": 9, "mkdir": 2, "unlink": 2}  # kills at each kind


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
    Job("cluster, new", (*CLUSTER, "--out", "new", "--report", "new.html"), ("new", "new.html")),
    Job("cluster, over an older run", (*CLUSTER, "--out", "run", "--report", "run.html", "--results", "table.csv"),
        ("run", "run.html", "table.csv")),
    Job("update", ("update", "run", "new.csv", "--threads", "1", "--report", "run.html"), ("run", "run.html")),
    Job("update --delete", ("update", "run", "--delete", "ids.txt", "--threads", "1"), ("run", "run.html")),
    Job("edit", ("edit", "run", "--rename", "0=Sea", "--merge", "1,2"), ("run",)),
    Job("report", ("report", "run", "--out", "run.html"), ("run.html",)),
    Job("assign", ("assign", "run", "new.csv", "--results", "table.csv", "--threads", "1"), ("table.csv",)),
    Job("checkpoint", (), ("checkpoint",), _choose_k, may_keep=("checkpoint",)),
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
    return "new" if found == server.expected[name] else "broken: neither old nor new"


Judge = Callable[[Server, Job, Fault, Trial], tuple[str, str]]


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
        certain = [name for name in job.outputs if name not in job.may_keep or fault.kind != "unlink"]
        wrong = [name for name in certain if summary(server.folder / name) != server.expected[name]]
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


def tried(server: Server, job: Job, fault: Fault, most: int, judged: Judge) -> dict[str, Any]:
    """Fail calls of a kind in turn, all of them or so many; return how the job ended, and what is wrong with it."""
    ends: Counter[str] = Counter()
    defects: list[str] = []
    count = server.trial(job, replace(fault, error=max(fault.error, 0)), 2**40).seen  # none fails
    server.restore()
    for number in spread(count, most):
        trial = server.trial(job, fault, number)
        how, wrong = judged(server, job, fault, trial)
        ends[how] += 1
        if wrong:
            defects.append(f"{job.name}, {fault} {number} of {count}: {how}: {wrong} [{trial.errors.strip()[:160]}]")
        if how != "refused, all as before":
            server.restore()
    return {"fault": str(fault), "sites": sum(ends.values()), "of": count, "ends": dict(ends), "defects": defects}


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
    server.expected = {name: summary(server.folder / name) for name in job.outputs}
    server.restore()
    return server


def _listed(job: Job, place: Path) -> None:
    """Run a job, then write down which modules it imported."""
    try:
        job.run()
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
        for kind, few in KILLS.items() if how == "kill" else ():
            print(json.dumps(tried(server, job, Fault(kind, KILL), min(few, most), killed)), flush=True)
        for fault in [fault for fault in FAULTS if fault.kind in how.split(",") and fault.kind not in job.without]:
            every = most == MOST and fault.kind in WRITES
            print(json.dumps(tried(server, job, fault, 10**6 if every else most, judge)), flush=True)


NOT_TWICE, NEXT = ("update", "edit"), Job("next", ("edit", "run", "--rename", "0=Next"), ())
KILLED = ("cluster, new", "cluster, over an older run", "update", "edit", "checkpoint", RESUMED)


def killed(server: Server, job: Job, fault: Fault, trial: Trial) -> tuple[str, str]:
    """Return what a kill left, and what is wrong with it, or with the next run."""
    states = {name: state(server, job, name, stray=True) for name in job.outputs}
    wrong = [f"{name} {found}" for name, found in states.items() if found.startswith("broken")]
    wrong += [] if trial.status == -signal.SIGKILL else [f"status {trial.status}"]
    if not wrong:
        done = job.name in NOT_TWICE and "new" in states.values()  # then another edit must be possible
        again = server.trial(NEXT if done else job, None, 0)
        wrong += [] if again.status == 0 else [f"afterwards: {again.errors[:160]}"]
        later = {} if again.status or done else {name: summary(server.folder / name) for name in job.outputs}
        wrong += [] if done or later == server.expected else ["afterwards other results"]
        locks = [path.name for path in server.folder.iterdir() if path.name.endswith(".lock")]
        wrong += [f"{', '.join(locks)} is left after the next run"] if locks else []
    how = "new" if "new" in states.values() else "part" if "part" in states.values() else "old"
    return how, "; ".join(wrong)


def attacked(how: str, name: str, most: int) -> list[dict[str, Any]]:
    """Attack one job in a process with the shim; return what happened, fault by fault."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "LD_PRELOAD": shim(folder), "PYTHONHASHSEED": "0"}
        found = printed("-m", "lab.promises.faults", how, name, str(most), cwd=ROOT, env=environment)
    return [json.loads(line) for line in found.splitlines()]


def every(task: Task, cases: list[tuple[str, str]], most: int) -> tuple[list[tuple[Any, ...]], list[str]]:
    """Attack jobs in as many processes as there are cores; return lines of a table, and the defects."""
    with tempfile.TemporaryDirectory() as folder:
        shim(folder)  # say early that there is no compiler
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        parts = pool.map(lambda case: task.step(" ".join(case), partial(attacked, case[0], case[1], most)), cases)
        found = [(name, one) for (_, name), part in zip(cases, parts, strict=True) for one in part if one["of"]]
    lines = [
        (name, one["fault"], one["sites"], one["of"], ", ".join(f"{count} {how}" for how, count in one["ends"].items()))
        for name, one in sorted(found, key=lambda pair: pair[0])
    ]
    return lines, [defect for _, one in found for defect in one["defects"]]


COLUMNS = ("command", "fault", "sites tried", "sites", "ends")


@promise("injection")
def injection(task: Task) -> Found:
    names = [job.name for job in JOBS if job.name != RESUMED]
    lines, defects = every(task, list(product(TOGETHER, names)), task.trials(MOST, 4))
    tried, sites = (sum(line[at] for line in lines) for at in (2, 3))
    figure = f"{tried - len(defects):,} of {tried:,} sites tried end as stated ({sites:,} sites)"
    table = Table("What became of the command", COLUMNS, lines)
    return Found(figure, {"failed": len(defects), "sites": tried}, [table], notes=defects[:50])


@promise("kills")
def kills(task: Task) -> Found:
    lines, defects = every(task, [("kill", name) for name in KILLED], task.trials(100, 2))
    points = sum(line[2] for line in lines)
    figure, table = f"{len(defects)} of {points} kill points broken", Table("What the kill left", COLUMNS, lines)
    return Found(figure, {"failed": len(defects), "points": points}, [table], notes=defects[:50])


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], int(sys.argv[3]))
