"""Collections in parts: equal answers however they are cut and wherever they are, memory, time, and lost workers.

Documents are generated: 35 words each, of 20 topics, half of the words the topic's own, by Zipf's law. Their files are
kept in .lab/scale, and a fit that several rows need is made once. Ratios of time are ratios of processor time, of all
processes together, because the machine may have other work; wall time is given next to it.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from statistics import mean, pstdev
from typing import Any

import numpy as np

from lab import Found, Task, Unavailable, data
from lab import row as any_row
from lab.harness import SCRATCH
from lab.speed.compare import THREADS

RESTS = ("scale", "documents", "cluster", "gram", "text", "_native")
FILE = 100_000  # documents of a file
TOPICS, WORDS, LENGTH = 20, 30_000, 35
FILES = SCRATCH / "scale"
SPARK_PYTHON = "GRAMPUS_SPARK"  # names a Python with pyspark; by default that of the lab
row = partial(any_row, "speed", rests_on=RESTS, timeout=6 * 3600)


def generate(folder: Path, count: int) -> list[Path]:
    """Write `count` documents as JSON lines with their topics, in files of 100,000; keep files that are there."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"part-{first // FILE:05d}-{min(FILE, count - first)}.jsonl" for first in range(0, count, FILE)]
    own = np.array([np.random.default_rng(topic).permutation(WORDS) for topic in range(TOPICS)])
    share = np.cumsum(1.0 / np.arange(1, WORDS + 1))
    names = np.array([f"w{number}x" for number in range(WORDS)])
    for first, file in zip(range(0, count, FILE), files, strict=True):
        if file.exists():
            continue
        rng = np.random.default_rng((1, first))
        size = min(FILE, count - first)
        group = rng.integers(0, TOPICS, size)
        drawn = np.searchsorted(share / share[-1], rng.random((size, LENGTH)))
        chosen = np.where(rng.random((size, LENGTH)) < 0.5, own[group[:, None], drawn], drawn)
        part = file.with_suffix(".part")
        with part.open("w", encoding="utf-8") as out:
            for topic, words in zip(group.tolist(), names[chosen].tolist(), strict=True):
                out.write(json.dumps({"text": " ".join(words), "label": str(topic)}) + "\n")
        part.replace(file)
    return files


@contextmanager
def documents(count: int) -> Iterator[str]:
    """Give a folder with links to the files of so many documents, which is a scratch folder, too."""
    with tempfile.TemporaryDirectory() as place:
        for file in generate(FILES, count):
            Path(place, file.name).symlink_to(file)
        yield place


FIT = """
import hashlib, json, resource, sys, time
from pathlib import Path
import numpy as np
from grampus import DocumentClusterer
from grampus.documents import Effort
from grampus.text import read_pieces

if __name__ == "__main__":
    source, k, scratch, dask, workers, seed, labels = sys.argv[1:8]
    began, client, seen = time.perf_counter(), None, []
    if dask != "none":
        from grampus.scale.dask import connect
        client = connect(dask, int(workers))
        client.wait_for_workers(int(workers))
    Path(sys.argv[0]).with_name("ready").touch()
    model = DocumentClusterer(k if k == "auto" else int(k), effort=Effort(stability=False), random_state=int(seed))
    show = lambda step, done, total: seen.append((step, done, time.perf_counter() - began, time.process_time()))
    model.fit(read_pieces(source, text="text", label="label"), scratch=scratch or None, client=client, progress=show)
    seconds, collection = time.perf_counter() - began, model.run_.provenance.collection
    if client is not None:
        cluster = client.cluster
        client.close()
        cluster.close()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    if labels:
        np.save(labels, model.labels_.astype(np.int32))
    print(json.dumps({
        "labels": hashlib.sha256(model.labels_.astype(np.int32).tobytes()).hexdigest(),
        "names": [cluster.label for cluster in model.clusters_],
        "k": model.n_clusters_,
        "objective": model.run_.evidence.objective,
        "seconds": seconds,
        "cpu": sum(one.ru_utime + one.ru_stime for one in used),
        "memory": used[0].ru_maxrss / 1000,
        "collection": collection,
        "steps": seen,
    }))
"""


def fit(
    source: str,
    k: str = "20",
    scratch: str = "",
    dask: str = "none",
    workers: int = 0,
    *,
    seed: int = 0,
    labels: str = "",
    harm: Callable[[subprocess.Popen[str]], object] | None = None,
) -> dict[str, Any]:
    """Fit a fresh process to files, and return what it printed, with the largest memory of it and its children.

    `labels` is where to save the labels; ``harm(process)`` is called when its workers are connected, and may kill what
    is below it.
    """
    with tempfile.TemporaryDirectory() as folder:
        program, ready = Path(folder, "fit.py"), Path(folder, "ready")
        program.write_text(FIT, encoding="utf-8")
        words = [sys.executable, str(program), source, k, scratch, dask, str(workers), str(seed), labels]
        process = subprocess.Popen(words, env=os.environ | THREADS, stdout=subprocess.PIPE, text=True)
        watch = Watch(process.pid, scratch)
        if harm is not None:
            threading.Thread(target=_harm, args=(process, ready, harm), daemon=True).start()
        out, _ = process.communicate()
        watch.stop()
    if process.returncode:
        raise RuntimeError(f"the fit of {source} ended with status {process.returncode}")
    found: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
    return found | {"memory": max(found["memory"], watch.most / 1e6), "disk": watch.disk / 1e6}


def _harm(process: subprocess.Popen[str], ready: Path, harm: Callable[[subprocess.Popen[str]], object]) -> None:
    """Harm a fit once its workers are connected; one that has ended before is left alone."""
    while process.poll() is None and not ready.exists():
        time.sleep(0.05)
    if process.poll() is None:
        harm(process)


class Watch:
    """The largest memory of a process and its children together, shared pages once, and the disk a job takes."""

    def __init__(self, root: int, folder: str = "") -> None:
        self.root, self.folder, self.most, self.disk, self._end = root, folder, 0.0, 0.0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop looking."""
        self._end.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._end.wait(0.5):
            self.most = max(self.most, sum(map(_memory, family(self.root))))
            self.disk = max(self.disk, _disk(self.folder) if self.folder else 0.0)


def family(root: int) -> list[int]:
    """Return a process and all below it."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue
            parents.setdefault(parent, []).append(int(entry.name))
    found, stack = [], [root]
    while stack:
        found.append(stack.pop())
        stack += parents.get(found[-1], [])
    return found


def _memory(process: int) -> float:
    """Return the bytes of a process: its share of pages that others hold, too."""
    try:
        lines = Path("/proc", str(process), "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(1024.0 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def _disk(folder: str) -> float:
    """Return the bytes of the files of a job in progress, not of those it reads."""
    size = 0.0
    for place, _, names in os.walk(folder):  # which passes over folders that were just removed
        for name in names:
            if "grampus-" in place and ".np" in name:
                with suppress(OSError):
                    size += Path(place, name).stat().st_size
    return size


def answer(found: dict[str, Any]) -> str:
    """Return labels and names as one text, to be counted."""
    return json.dumps([found["labels"], found["names"]])


def recut(files: list[Path], folder: Path, pieces: int) -> str:
    """Write the lines of files as so many files, in the same order; return the pattern."""
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    folder.mkdir()
    for number, some in enumerate(np.array_split(np.arange(len(lines)), pieces)):
        text = "\n".join(lines[at] for at in some.tolist()) + "\n"
        Path(folder, f"cut-{number:03d}.jsonl").write_text(text, encoding="utf-8")
    return str(folder / "*.jsonl")


def written(name: str, folder: Path, step: int) -> list[Path]:
    """Write a set of texts as JSON lines."""
    texts, classes = data.texts(name)
    file = folder / f"{name}.jsonl"
    with file.open("w", encoding="utf-8") as out:
        for text, label in list(zip(texts, classes.tolist(), strict=True))[::step]:
            out.write(json.dumps({"text": text, "label": str(label)}) + "\n")
    return [file]


@row(
    name="scale-equal",
    text="Different answers (labels and names) in parts: bbc, 20ng and 300,000 documents in 1, 3 and 17 files; on "
    "disk, and on Dask with 1, 2 and 4 workers, processes and threads.",
    conditions=("nothing-differs",),
    data=True,
)
def equal(task: Task) -> Found:
    different, seen = 0, list[str]()
    ways = [("none", 0), ("local", 1), ("local", 2), ("local", 4), ("threads", 2)]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        sets = {name: written(name, folder, task.trials(1, 20)) for name in ("bbc", "20ng")}
        sets["300,000"] = generate(FILES, task.trials(300_000, 3_000))
        for name, files in sets.items():
            patterns = [recut(files, folder / f"{len(seen)}-{pieces}", pieces) for pieces in (1, 3, 17)]
            fits = [(pattern, *ways[0]) for pattern in patterns] + [(patterns[1], *way) for way in ways[1:]]
            answers = [
                task.step(f"equal {name} {number}", partial(_answer_of, pattern, place, *way))
                for number, (pattern, *way) in enumerate(fits)
            ]
            different += len(set(answers)) - 1
            seen.append(f"{name}: {len(set(answers))} of {len(answers)} fits")
    return Found("different answers: " + "; ".join(seen), {"different": different})


def _answer_of(source: str, place: str, *way: Any) -> str:
    return answer(fit(source, "20", place, *way))


def sized(task: Task, count: int, k: str = "20", *way: Any, seed: int = 0) -> dict[str, Any]:
    """Fit so many generated documents from disk, or on Dask; once for all rows. Labels are in ``labels_file``."""

    def measure() -> dict[str, Any]:
        place_of_labels = task.store / f"labels-{'-'.join(map(str, (count, k, *way, seed)))}.npy"
        place_of_labels.parent.mkdir(parents=True, exist_ok=True)
        with documents(task.trials(count, 3_000)) as place:
            found = fit(f"{place}/*.jsonl", k, place, *way, seed=seed, labels=str(place_of_labels))
        return found | {"labels_file": str(place_of_labels), "load": os.getloadavg()[1]}

    found: dict[str, Any] = task.step(f"{count:,} documents {k} {way} {seed}", measure)
    return found


def said(found: dict[str, Any]) -> str:
    """Return time and memory in words."""
    return f"{found['seconds']:.0f} s, {found['cpu']:.0f} processor s, {found['memory']:.0f} MB"


def figures(found: dict[str, Any]) -> dict[str, float]:
    """Return time and memory as measures."""
    return {name: found[name] for name in ("seconds", "cpu", "memory")}


def loaded(*found: dict[str, Any]) -> str:
    """Return a note on the load of the machine while wall time was taken."""
    loads = ", ".join(f"{one['load']:.1f}" for one in found)
    return f"Load average of the two cores over the last five minutes of the fits: {loads}; ours alone is 2."


def stages(found: dict[str, Any]) -> dict[str, float]:
    """Return processor seconds of the client up to the end of each step."""
    return {step: cpu for step, _, _, cpu in found["steps"]}


@row(
    name="scale-3m",
    text="3 million documents of 35 words from disk, k = 20: seconds, and the largest memory of all processes.",
    conditions=("scale-3m-seconds", "scale-3m-memory"),
)
def three_million(task: Task) -> Found:
    found = sized(task, 3_000_000)
    ends = "; ".join(f"{step} {cpu:.0f}" for step, cpu in stages(found).items())
    return Found(said(found), figures(found), notes=[loaded(found), f"Processor seconds at the end of steps: {ends}."])


@row(name="scale-10m", text="10 million documents of 35 words from disk, once.")
def ten_million(task: Task) -> Found:
    found = sized(task, 10_000_000)
    text = f"{said(found)}, {found['disk'] / 1e3:.1f} GB of disk"
    return Found(text, figures(found) | {"disk": found["disk"]}, notes=[loaded(found)])


@row(
    name="scale-memory",
    text="Bytes of memory that a further document costs, from 300,000 to 1 million: labels, names and what is missed.",
    conditions=("scale-memory",),
)
def memory(task: Task) -> Found:
    counts = (100_000, 300_000, 1_000_000)
    used = {count: sized(task, count)["memory"] for count in counts}
    each = (used[1_000_000] - used[300_000]) * 1e6 / 700_000
    curve = ", ".join(f"{count:,} documents {size:.0f} MB" for count, size in used.items())
    return Found(f"{each:.0f} bytes ({curve})", {"bytes": each, **{str(count): size for count, size in used.items()}})


@row(
    name="scale-levels-3m",
    text="Levels of 3 million documents, from a sample drawn by content: seconds, the number of clusters, and its "
    "spread over five samples of 100,000.",
    conditions=("scale-levels",),
)
def levels(task: Task) -> Found:
    found = sized(task, 3_000_000, "auto")
    steps: dict[str, list[tuple[float, float]]] = {}
    for step, _, when, cpu in found["steps"]:
        steps.setdefault(step, []).append((when, cpu))
    first, last = steps["finding components"][-1], steps["clustering all"][0]
    seconds, cpu = last[0] - first[0], last[1] - first[1]
    ks = [sized(task, 100_000, "auto", seed=seed)["k"] for seed in range(5)]
    spread = f"five samples: {mean(ks):.1f} ± {pstdev(ks):.1f}"
    text = f"{seconds:.0f} s, {cpu:.0f} processor s, {found['k']} clusters; {spread}"
    return Found(text, {"seconds": seconds, "cpu": cpu, "k": found["k"], "spread": pstdev(ks)}, notes=[loaded(found)])


@row(
    name="scale-dask",
    text="One million documents: Dask with two workers over native threads, processor time of all processes.",
    conditions=("scale-dask",),
)
def dask(task: Task) -> Found:
    theirs, ours = sized(task, 1_000_000), sized(task, 1_000_000, "20", "local", 2)
    ratio, wall = (ours[name] / theirs[name] for name in ("cpu", "seconds"))
    tasks, sent, received = ({"all": sum(table.values()), **table} for table in ours["collection"]["traffic"].values())
    moved = (
        f"{tasks['all']} tasks, {sent['all'] / 1e6:.0f} MB sent, {received['all'] / 1e6:.0f} MB received; k-means: "
        f"{tasks['k-means']} tasks, {sent['k-means'] / 1e3:.0f} kB and {received['k-means'] / 1e3:.0f} kB in "
        f"{ours['collection']['iterations']} iterations."
    )
    text = f"{ratio:.2f} × ({said(ours)}; threads {said(theirs)}); wall time {wall:.2f} ×"
    return Found(
        text,
        {"ratio": ratio, "wall": wall, "different": float(answer(ours) != answer(theirs))},
        notes=[loaded(ours, theirs), moved],
    )


MINI = """
import glob, json, sys
import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.feature_extraction.text import HashingVectorizer
texts = [json.loads(line)["text"] for file in sorted(glob.glob(sys.argv[1])) for line in open(file)]
x = HashingVectorizer(stop_words="english").fit_transform(texts)
np.save(sys.argv[2], MiniBatchKMeans(20, random_state=0, n_init=3).fit_predict(x))
"""


def timed(words: list[str]) -> tuple[float, float, str]:
    """Run a program; return wall seconds, processor seconds of it and its children, and what it printed."""
    began, before = time.perf_counter(), os.times()
    environment = os.environ | THREADS | {"OMP_WAIT_POLICY": "PASSIVE"}  # threads that spin would count as work
    done = subprocess.run(words, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr.strip()[-300:]}")
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - began, cpu, done.stdout


@row(
    name="scale-minibatch",
    text="One million documents against HashingVectorizer and MiniBatchKMeans: NMI with the topics, processor time.",
    conditions=("scale-minibatch-nmi", "scale-minibatch-time"),
)
def minibatch(task: Task) -> Found:
    from grampus.metrics import contingency_table, nmi

    ours = sized(task, 1_000_000)
    with documents(task.trials(1_000_000, 3_000)) as place:
        files = sorted(Path(place).glob("*.jsonl"))
        topics = [json.loads(line)["label"] for file in files for line in file.read_text(encoding="utf-8").splitlines()]
        seconds, cpu, _ = timed([sys.executable, "-c", MINI, f"{place}/*.jsonl", f"{place}/theirs.npy"])
        mine, other = (
            nmi(contingency_table(topics, np.load(file))) for file in (ours["labels_file"], f"{place}/theirs.npy")
        )
    ratio, wall = ours["cpu"] / cpu, ours["seconds"] / seconds
    text = (
        f"NMI {mine:.3f} and {other:.3f}; {ratio:.2f} × its time ({ours['cpu']:.0f} and {cpu:.0f} processor s); wall "
        f"time {wall:.2f} × ({ours['seconds']:.0f} and {seconds:.0f} s)"
    )
    return Found(text, {"nmi": mine - other, "ratio": ratio, "wall": wall}, notes=[loaded(ours)])


SPARK = """
import json, os, sys, time
from pyspark.ml.clustering import KMeans
from pyspark.ml.feature import HashingTF, IDF, Normalizer, Tokenizer
from pyspark.sql import SparkSession
settings = {"spark.driver.memory": "5g", "spark.ui.enabled": "false", "spark.local.dir": sys.argv[3]}
builder = SparkSession.builder.master("local[2]")
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
began = time.perf_counter()
frame = spark.read.json(sys.argv[1])
for stage in (Tokenizer(inputCol="text", outputCol="words"), HashingTF(inputCol="words", outputCol="counts")):
    frame = stage.transform(frame)
frame = IDF(inputCol="counts", outputCol="weights").fit(frame).transform(frame)
frame = Normalizer(inputCol="weights", outputCol="features").transform(frame).selectExpr("features", "md5(text) name")
model = KMeans(k=20, maxIter=int(sys.argv[2]), seed=0).fit(frame.cache())
model.transform(frame).select("name", "prediction").write.csv(sys.argv[3] + "/found")
found = {"seconds": time.perf_counter() - began, "objective": model.summary.trainingCost}
java = open(f"/proc/{spark._jvm.java.lang.ProcessHandle.current().pid()}/stat").read().rpartition(")")[2].split()
print(json.dumps(found | {"cpu": (int(java[11]) + int(java[12])) / os.sysconf("SC_CLK_TCK") + time.process_time()}))
"""


def costs(texts: list[str], *labels: Any) -> list[float]:
    """Return the objective of k-means for each labelling, in the space of Spark: hashed to 2¹⁸, idf, length 1."""
    from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

    counts = HashingVectorizer(n_features=2**18, norm=None, alternate_sign=False).transform(texts)
    rows = TfidfTransformer().fit_transform(counts)
    found = []
    for label in labels:
        sums = np.stack([np.asarray(rows[label == one].sum(axis=0)).ravel() for one in np.unique(label)])
        sizes = np.unique(label, return_counts=True)[1]
        found.append(float(rows.multiply(rows).sum() - ((sums * sums).sum(axis=1) / sizes).sum()))
    return found


@row(
    name="scale-spark",
    text="One million documents against Spark MLlib (HashingTF, IDF, KMeans; local mode), as many iterations: "
    "processor time, and the objective of both answers in Spark's space.",
    conditions=("scale-spark", "scale-spark-objective"),
)
def spark(task: Task) -> Found:
    import hashlib

    python = os.environ.get(SPARK_PYTHON, sys.executable)
    if subprocess.run([python, "-c", "import pyspark"], capture_output=True, check=False).returncode:
        raise Unavailable(
            f"Spark is not installed: apt install default-jre-headless, pip install pyspark; {SPARK_PYTHON} may name "
            "the Python that has it"
        )
    ours = sized(task, 1_000_000)
    with documents(task.trials(1_000_000, 3_000)) as place, tempfile.TemporaryDirectory() as scratch:
        words = [python, "-c", SPARK, f"{place}/*.jsonl", str(ours["collection"]["iterations"]), scratch]
        out = timed(words)[2]
        rows = [line.split(",") for file in Path(scratch, "found").glob("*.csv") for line in file.read_text().split()]
        texts = [
            json.loads(line)["text"]
            for file in sorted(Path(place).glob("*.jsonl"))
            for line in file.read_text(encoding="utf-8").splitlines()
        ]
    theirs, label = json.loads(out.strip().splitlines()[-1]), {name: int(number) for name, number in rows}
    names = (hashlib.md5(text.encode(), usedforsecurity=False).hexdigest() for text in texts)
    mine, other = costs(texts, np.load(ours["labels_file"]), np.array([label[name] for name in names]))
    ratio, wall = theirs["cpu"] / ours["cpu"], theirs["seconds"] / ours["seconds"]
    text = (
        f"{ratio:.1f} × as fast ({ours['cpu']:.0f} and {theirs['cpu']:.0f} processor s); wall time {wall:.1f} × "
        f"({ours['seconds']:.0f} and {theirs['seconds']:.0f} s); objective {mine / other:.3f} × Spark's"
    )
    return Found(text, {"ratio": ratio, "wall": wall, "objective": mine / other}, notes=[loaded(ours)])


class Killer:
    """Kills workers of a Dask cluster at random moments of a fit; the cluster starts others. Counts its victims."""

    def __init__(self, kills: int, span: float, draws: random.Random) -> None:
        self.left, self.span, self.draws, self.made = kills, span, draws, 0

    def __call__(self, process: subprocess.Popen[str]) -> None:
        """Kill workers until enough are killed or the fit has ended."""
        gap = 2 * self.span / (self.left + 1)
        while self.made < self.left and process.poll() is None:
            time.sleep(self.draws.uniform(0, gap))
            workers = [one for one in family(process.pid) if b"spawn_main" in _words(one)]
            if workers and process.poll() is None:
                with suppress(ProcessLookupError):
                    os.kill(self.draws.choice(workers), signal.SIGKILL)
                    self.made += 1


def _words(process: int) -> bytes:
    try:
        return Path("/proc", str(process), "cmdline").read_bytes()
    except OSError:
        return b""


def kill_all(process: subprocess.Popen[str], wait: float) -> None:
    """Kill a fit with its scheduler and workers after a while."""
    time.sleep(wait)
    for one in reversed(family(process.pid)) if process.poll() is None else ():
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


@row(
    name="scale-kills",
    text="Answers of runs whose workers were killed at random moments, 20 in all, and of runs that were killed whole "
    "with their scheduler and resumed, 5 in all; with that of an undisturbed run.",
    conditions=("one-hash",),
)
def kills(task: Task) -> Found:
    draws, killed, cut, runs = random.Random(0), 0, 0, 0
    with tempfile.TemporaryDirectory() as place:
        source = recut(generate(FILES, task.trials(10_000, 3_000)), Path(place, "cut"), 8)
        first = task.step("kills, from disk", lambda: answer(fit(source, "20", place)))
        whole = task.step("kills, undisturbed", lambda: _timed_answer(source, place))
        answers, span = {first, whole["answer"]}, whole["seconds"]

        def harmed() -> dict[str, Any]:
            harm = Killer(7, span, draws)
            return {"answer": answer(fit(source, "20", place, "local", 2, harm=harm)), "made": harm.made}

        def resumed() -> str | None:
            scratch = str(Path(place, f"scratch-{draws.random()}"))
            try:
                fit(source, "20", scratch, "local", 2, harm=partial(kill_all, wait=draws.uniform(0, span)))
            except RuntimeError:
                return answer(fit(source, "20", scratch, "local", 2))
            return None  # it had ended before

        while killed < task.trials(20, 4):
            found = task.step(f"kills, workers {runs}", harmed)
            answers.add(found["answer"])
            killed, runs = killed + found["made"], runs + 1
        tries = 0
        while cut < task.trials(5, 1):
            again = task.step(f"kills, scheduler {tries}", resumed)
            answers |= {again} - {None}
            cut, tries = cut + (again is not None), tries + 1
    text = f"{len(answers)} answers; {killed} workers killed in {runs} runs, {cut} schedulers"
    return Found(text, {"hashes": len(answers), "workers": killed, "schedulers": cut})


def _timed_answer(source: str, place: str) -> dict[str, Any]:
    found = fit(source, "20", place, "local", 2)
    return {"answer": answer(found), "seconds": found["seconds"]}
