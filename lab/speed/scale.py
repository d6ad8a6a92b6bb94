"""Collections in pieces: equal answers however they are cut and wherever they are, memory, time, and lost workers.

Documents are generated: 35 words each, of 20 topics, half of the words the topic's own, by Zipf's law. Their files are
kept in .lab/scale, and a fit that several rows need is made once. Ratios of time are ratios of processor time, of all
processes together, because the machine may have other work; wall time is given next to it.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lab import Found, Task, data, row
from lab.harness import SCRATCH
from lab.speed.peers import THREADS
from lab.speed.whole import drawn_words, generated

FILE = 100_000  # documents of a file
FILES = SCRATCH / "scale"


def generate(count: int) -> list[Path]:
    """Write `count` documents as JSON lines with their topics, in files of 100,000; keep files that are there."""
    FILES.mkdir(parents=True, exist_ok=True)
    files = [FILES / f"part-{first // FILE:05d}-{min(FILE, count - first)}.jsonl" for first in range(0, count, FILE)]
    for first, file in zip(range(0, count, FILE), files, strict=True):
        if not file.exists():
            words, topics = drawn_words(min(FILE, count - first), (1, first))
            lines = [
                json.dumps({"text": " ".join(some), "label": str(topic)}) + "\n"
                for some, topic in zip(words.tolist(), topics.tolist(), strict=True)
            ]
            file.with_suffix(".part").write_text("".join(lines), encoding="utf-8")
            file.with_suffix(".part").replace(file)
    return files


@contextmanager
def documents(count: int) -> Iterator[str]:
    """Give a folder with links to the files of so many documents, which is a scratch folder, too."""
    with tempfile.TemporaryDirectory() as place:
        for file in generate(count):
            Path(place, file.name).symlink_to(file)
        yield place


FIT = """
import hashlib, json, sys, time
from contextlib import ExitStack
from pathlib import Path
import numpy as np
import grampus
from grampus import DocumentClusterer
from grampus.documents import Effort
from grampus.run.dask import connected
from grampus.text import read_pieces

if __name__ == "__main__":
    source, k, scratch, dask, workers, labels = sys.argv[1:7]
    began, client, cleanup = time.perf_counter(), None, ExitStack()
    grampus.config(workers=max(int(workers), 1))
    if dask not in ("none", "processes"):
        client = cleanup.enter_context(connected(dask, int(workers)))
        client.wait_for_workers(int(workers))
    Path(sys.argv[0]).with_name("ready").touch()
    model = DocumentClusterer(k if k == "auto" else int(k), embed=None, effort=Effort(stability=False), random_state=0)
    model.fit(read_pieces(source, text="text", label="label"), scratch=scratch or None, client=client)
    found = {"seconds": time.perf_counter() - began, "names": [cluster.name for cluster in model.clusters_]}
    found["labels"] = hashlib.sha256(model.labels_.astype(np.int32).tobytes()).hexdigest()
    if labels:
        np.save(labels, model.labels_.astype(np.int32))
    cleanup.close()
    print(json.dumps(found))
"""


@dataclass
class Killer:
    """Kills a worker of a fit, or the whole of it, at moments in seconds after its workers are connected."""

    moments: list[float]
    whole: bool = False
    made: int = 0

    def __call__(self, process: int, seconds: float) -> None:
        """Kill what is due; a moment without a worker waits for one."""
        below = family(process)
        workers = below if self.whole else [one for one in below if b"spawn_main" in _words(one)]
        if self.moments and seconds >= self.moments[0] and workers:
            self.moments.pop(0)
            self.made += 1
            for victim in reversed(below) if self.whole else random.Random(self.made).sample(workers, 1):
                with suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)


def fit(
    source: str, k: str = "20", scratch: str = "", dask: str = "none", workers: int = 0, *, labels: str = "",
    harm: Killer | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Fit a fresh process to files; return what it printed, its processor time, and the largest memory.

    Memory is that of the process and its children together, shared pages once. `labels` is where to save the labels.
    """
    with tempfile.TemporaryDirectory() as folder:
        program, ready = Path(folder, "fit.py"), Path(folder, "ready")
        program.write_text(FIT, encoding="utf-8")
        words = [sys.executable, str(program), source, k, scratch, dask, str(workers), labels]
        before, memory, began = sum(os.times()[2:4]), 0.0, 0.0
        process = subprocess.Popen(words, env=os.environ | THREADS, stdout=subprocess.PIPE, text=True)
        while process.poll() is None:
            memory = max(memory, sum(map(_memory, family(process.pid))))
            began = began or (time.monotonic() if ready.exists() else 0.0)
            if harm is not None and began:
                harm(process.pid, time.monotonic() - began)
            time.sleep(0.3)
        out = process.communicate()[0]
    if process.returncode:
        raise RuntimeError(f"the fit of {source} ended with status {process.returncode}")
    used = {"cpu": sum(os.times()[2:4]) - before, "memory": memory / 1e6}
    return {**json.loads(out.strip().splitlines()[-1]), **used}


def family(root: int) -> list[int]:
    """Return a process and all below it."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, IndexError, ValueError):
            parents.setdefault(int(entry.read_text().rpartition(")")[2].split()[1]), []).append(int(entry.parent.name))
    found = [root]
    for one in found:
        found += parents.get(one, [])
    return found


def _words(process: int) -> bytes:
    with suppress(OSError):
        return Path("/proc", str(process), "cmdline").read_bytes()
    return b""


def _memory(process: int) -> float:
    """Return the bytes of a process: its share of pages that others hold, too."""
    with suppress(OSError):
        lines = Path("/proc", str(process), "smaps_rollup").read_text().splitlines()
        return sum(1024.0 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return 0.0


def answer(found: dict[str, Any]) -> str:
    """Return labels and names as one text, to be counted."""
    return json.dumps([found["labels"], found["names"]])


def recut(lines: list[str], folder: Path, pieces: int) -> str:
    """Write lines as so many files, in the same order; return the pattern."""
    folder.mkdir()
    for number, some in enumerate(np.array_split(np.arange(len(lines)), pieces)):
        text = "\n".join(lines[at] for at in some.tolist()) + "\n"
        Path(folder, f"cut-{number:03d}.jsonl").write_text(text, encoding="utf-8")
    return str(folder / "*.jsonl")


def lines_of(name: str, task: Task) -> list[str]:
    """Return a set of texts, or generated ones, as JSON lines."""
    if name.isdigit():
        files = generate(task.trials(int(name), 3_000))
        return [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    pairs = list(zip(*data.texts(name), strict=True))[:: task.trials(1, 20)]
    return [json.dumps({"text": text, "label": str(label)}) for text, label in pairs]


@row("speed", "scale-equal")
def equal(task: Task) -> Found:
    different, told = 0, list[str]()
    ways = [("processes", 2), ("processes", 4), ("local", 1), ("local", 2), ("local", 4), ("threads", 2)]
    for name in ("bbc", "20ng", "300000"):
        with tempfile.TemporaryDirectory() as place:
            lines = lines_of(name, task)
            patterns = [recut(lines, Path(place, str(pieces)), pieces) for pieces in (1, 3, 17)]
            fits: list[Any] = [(pattern, "none", 0) for pattern in patterns] + [(patterns[1], *way) for way in ways]
            steps = [partial(fit, source, "20", place, *way) for source, *way in fits]
            answers = {answer(task.step(f"equal {name} {number}", step)) for number, step in enumerate(steps)}
        different += len(answers) - 1
        told.append(f"{name}: {len(answers)} of {len(fits)} fits")
    return Found("different answers: " + "; ".join(told), {"different": different})


def sized(task: Task, count: int, *way: Any) -> dict[str, Any]:
    """Fit so many generated documents from disk, or on Dask; once for all rows. Labels are in ``labels_file``."""

    def measure() -> dict[str, Any]:
        labels = task.store / f"labels-{'-'.join(map(str, (count, *way)))}.npy"
        labels.parent.mkdir(parents=True, exist_ok=True)
        with documents(task.trials(count, 3_000)) as place:
            found = fit(f"{place}/*.jsonl", "20", place, *way, labels=str(labels))
        return found | {"labels_file": str(labels), "load": os.getloadavg()[1]}

    return dict(task.step(f"{count:,} documents {way}", measure))


def told(found: dict[str, Any]) -> str:
    """Return time and memory in words."""
    seconds = f"{found['seconds']:.0f} s, {found['cpu']:.0f} processor s, {found['memory']:.0f} MB"
    return f"{seconds} (load average {found['load']:.1f})"


@row("speed", "scale-10m")
def ten_million(task: Task) -> Found:
    found = sized(task, 10_000_000)
    return Found(told(found), {name: found[name] for name in ("seconds", "cpu", "memory")})


@row("speed", "scale-memory")
def memory(task: Task) -> Found:
    used = {count: sized(task, count)["memory"] for count in (100_000, 300_000, 1_000_000)}
    each = (used[1_000_000] - used[300_000]) * 1e6 / 700_000
    curve = ", ".join(f"{count:,} documents {size:.0f} MB" for count, size in used.items())
    return Found(f"{each:.0f} bytes ({curve})", {"bytes": each})


@row("speed", "scale-dask")
def dask(task: Task) -> Found:
    alone, ours = sized(task, 1_000_000), sized(task, 1_000_000, "local", 2)
    ratio, wall = (ours[name] / alone[name] for name in ("cpu", "seconds"))
    text = f"{ratio:.2f} × ({told(ours)}; threads {told(alone)}); wall time {wall:.2f} ×"
    return Found(text, {"ratio": ratio, "wall": wall, "different": float(answer(ours) != answer(alone))})


@row("speed", "scale-kills")
def kills(task: Task) -> Found:
    draws, killed, cut, tries = random.Random(0), 0, 0, 0
    with tempfile.TemporaryDirectory() as place:
        source = recut(lines_of("10000", task), Path(place, "cut"), 8)
        whole = task.step("kills, undisturbed", lambda: fit(source, "20", place, "local", 2))
        answers = {answer(task.step("kills, from disk", lambda: fit(source, "20", place))), answer(whole)}

        def harmed() -> dict[str, Any]:
            harm = Killer(sorted(draws.uniform(0, 2 * whole["seconds"]) for _ in range(7)))
            return {"answer": answer(fit(source, "20", place, "local", 2, harm=harm)), "made": harm.made}

        def resumed() -> str | None:
            scratch = str(Path(place, f"scratch-{draws.random()}"))
            with suppress(RuntimeError):
                fit(source, "20", scratch, "local", 2, harm=Killer([draws.uniform(0, whole["seconds"])], whole=True))
                return None  # it had ended before
            return answer(fit(source, "20", scratch, "local", 2))

        while killed < task.trials(20, 4):
            found = task.step(f"kills, workers {tries}", harmed)
            answers.add(found["answer"])
            killed, tries = killed + found["made"], tries + 1
        while cut < task.trials(5, 1):
            again = task.step(f"kills, scheduler {tries}", resumed)
            answers |= {again} - {None}
            cut, tries = cut + (again is not None), tries + 1
    text = f"{len(answers)} answers; {killed} workers killed, {cut} schedulers"
    return Found(text, {"hashes": len(answers), "workers": killed, "schedulers": cut})


WORKERS, LOOK = 16, 0.05  # processes, and seconds between two looks at their memory


def peak(words: list[str], workers: int) -> float:
    """Return the largest memory of a program and all below it together, shared pages once, in MB."""
    most, process = 0.0, subprocess.Popen(words, env=os.environ | THREADS | {"GRAMPUS_WORKERS": str(workers)})
    while process.poll() is None:
        most = max(most, sum(map(_memory, family(process.pid))))
        time.sleep(LOOK)
    if process.returncode:
        raise RuntimeError(f"{words[:4]} ended with status {process.returncode}")
    return most / 1e6


@row("speed", "workers-memory")
def workers_memory(task: Task) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "many.txt")
        place.write_text(generated(task.trials(200_000, 3_000)), encoding="utf-8")
        words = [sys.executable, "-m", "grampus", "cluster", str(place), "-k", "20", "--meaning", "off"]
        words += ["--no-stability", "-q", "--report", f"{folder}/page.html"]
        alone, shared = (peak(words, workers) for workers in (1, WORKERS))
    text = f"{shared / alone:.2f} × ({shared:.0f} MB with {WORKERS} workers, {alone:.0f} MB alone)"
    return Found(text, {"ratio": shared / alone})
