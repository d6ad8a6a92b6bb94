"""Collections in parts: equal answers however they are cut and wherever they are, memory, time, and lost workers.

Documents are generated: 35 words each, of 20 topics, half of the words the topic's own, by Zipf's law.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from lab import Found, Task, Unavailable, data, row
from lab.speed.compare import THREADS

RESTS = ("scale", "documents", "cluster", "gram", "text", "_native")
FILE = 100_000  # documents of a file
TOPICS, WORDS, LENGTH = 20, 30_000, 35


def generate(folder: str | Path, count: int) -> list[Path]:
    """Write `count` documents as JSON lines with their topics, in files of 100,000."""
    own = np.array([np.random.default_rng(topic).permutation(WORDS) for topic in range(TOPICS)])
    share = np.cumsum(1.0 / np.arange(1, WORDS + 1))
    names = np.array([f"w{number}x" for number in range(WORDS)])
    files = []
    for first in range(0, count, FILE):
        rng = np.random.default_rng((1, first))
        size = min(FILE, count - first)
        group = rng.integers(0, TOPICS, size)
        drawn = np.searchsorted(share / share[-1], rng.random((size, LENGTH)))
        chosen = np.where(rng.random((size, LENGTH)) < 0.5, own[group[:, None], drawn], drawn)
        files.append(Path(folder, f"part-{first // FILE:05d}.jsonl"))
        with files[-1].open("w", encoding="utf-8") as out:
            for topic, words in zip(group.tolist(), names[chosen].tolist(), strict=True):
                out.write(json.dumps({"text": " ".join(words), "label": str(topic)}) + "\n")
    return files


FIT = """
import hashlib, json, resource, sys, time
import numpy as np
from grampus import DocumentClusterer, metrics
from grampus.documents import Effort
from grampus.text import read_pieces

if __name__ == "__main__":
    source, k, scratch, dask, workers = sys.argv[1:6]
    began, client = time.perf_counter(), None
    if dask != "none":
        from grampus.scale.dask import connect
        client = connect(dask, int(workers))
    model = DocumentClusterer(k if k == "auto" else int(k), effort=Effort(stability=k == "auto"))
    seen = []
    show = lambda step, done, total: seen.append((step, done, time.perf_counter() - began))
    model.fit(read_pieces(source, text="text", label="label"), scratch=scratch or None, client=client, progress=show)
    names = [cluster.label for cluster in model.clusters_]
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(json.dumps({
        "labels": hashlib.sha256(model.labels_.astype(np.int32).tobytes()).hexdigest(),
        "names": names,
        "k": model.n_clusters_,
        "objective": model.run_.evidence.objective,
        "seconds": time.perf_counter() - began,
        "cpu": sum(one.ru_utime + one.ru_stime for one in used),
        "memory": used[0].ru_maxrss / 1000,
        "collection": model.run_.provenance.collection,
        "steps": seen[-400:],
    }))
    np.save(sys.argv[6], model.labels_.astype(np.int32)) if len(sys.argv) > 6 else None
    if client is not None:
        cluster = client.cluster
        client.close()
        cluster.close()
"""


def fit(
    source: str,
    k: str = "20",
    scratch: str = "",
    dask: str = "none",
    workers: int = 0,
    *,
    labels: str = "",
    harm: Any = None,
) -> dict[str, Any]:
    """Fit a fresh process to files, and return what it printed, with the largest memory of it and its children.

    `labels` is where to save the labels; ``harm(process)`` is called while it runs, and may kill what is below it.
    """
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "fit.py")
        program.write_text(FIT, encoding="utf-8")
        words = [sys.executable, str(program), source, k, scratch, dask, str(workers), *([labels] if labels else [])]
        process = subprocess.Popen(words, env=os.environ | THREADS, stdout=subprocess.PIPE, text=True)
        watch = Watch(process.pid)
        if harm is not None:
            threading.Thread(target=harm, args=(process,), daemon=True).start()
        out, _ = process.communicate()
        watch.stop()
    if process.returncode:
        raise RuntimeError(f"the fit of {source} ended with status {process.returncode}")
    found: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
    return found | {"memory": max(found["memory"], watch.most / 1e6)}


class Watch:
    """The largest memory of a process and its children together, private and shared pages once."""

    def __init__(self, root: int) -> None:
        self.root, self.most, self._end = root, 0.0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop looking."""
        self._end.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._end.wait(0.25):
            self.most = max(self.most, sum(map(_memory, family(self.root))))


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
    "speed",
    "scale-equal",
    "Different answers (labels and names) in parts: bbc, 20ng and 300,000 documents in 1, 3 and 17 files; on disk, and "
    "on Dask with 1, 2 and 4 workers, processes and threads.",
    rests_on=RESTS,
    conditions=("nothing-differs",),
    data=True,
    timeout=6 * 3600,
)
def equal(task: Task) -> Found:
    different, seen = 0, list[str]()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        sets = {name: written(name, folder, task.trials(1, 20)) for name in ("bbc", "20ng")}
        (folder / "many").mkdir()
        sets["300,000"] = generate(folder / "many", task.trials(300_000, 3_000))
        for name, files in sets.items():
            patterns = [recut(files, folder / f"{len(seen)}-{pieces}", pieces) for pieces in (1, 3, 17)]
            ways = [("none", 0), ("local", 1), ("local", 2), ("local", 4), ("threads", 2)]
            answers = {answer(fit(pattern, "20", place, *ways[0])) for pattern in patterns}
            answers |= {answer(fit(patterns[1], "20", place, *way)) for way in ways[1:]}
            different += len(answers) - 1
            seen.append(f"{name}: {len(answers)}")
    return Found("; ".join(seen), {"different": different})


def sized(task: Task, count: int, place: str, k: str = "20") -> dict[str, Any]:
    """Generate documents and fit them from disk."""
    generate(place, task.trials(count, 3_000))
    return fit(f"{place}/*.jsonl", k, place)


def said(found: dict[str, Any]) -> str:
    """Return time and memory in words."""
    return f"{found['seconds']:.0f} s, {found['cpu']:.0f} processor s, {found['memory']:.0f} MB"


@row(
    "speed",
    "scale-3m",
    "3 million documents of 35 words from disk, k = 20: seconds, and the largest memory of all processes together.",
    rests_on=RESTS,
    conditions=("scale-3m-seconds", "scale-3m-memory"),
    timeout=2 * 3600,
)
def three_million(task: Task) -> Found:
    with tempfile.TemporaryDirectory() as place:
        found = sized(task, 3_000_000, place)
    return Found(said(found), {"seconds": found["seconds"], "memory": found["memory"]})


@row(
    "speed",
    "scale-10m",
    "10 million documents of 35 words from disk, once.",
    rests_on=RESTS,
    timeout=6 * 3600,
)
def ten_million(task: Task) -> Found:
    with tempfile.TemporaryDirectory() as place:
        found = sized(task, 10_000_000, place)
    return Found(said(found), {"seconds": found["seconds"], "memory": found["memory"]})


@row(
    "speed",
    "scale-memory",
    "Bytes of memory that a further document costs, from 300,000 to 1 million: labels, names and what is missed.",
    rests_on=RESTS,
    conditions=("scale-memory",),
    timeout=2 * 3600,
)
def memory(task: Task) -> Found:
    used = []
    for count in (300_000, 1_000_000):
        with tempfile.TemporaryDirectory() as place:
            used.append(sized(task, count, place)["memory"])
    each = (used[1] - used[0]) * 1e6 / 700_000
    return Found(f"{each:.0f} bytes ({used[0]:.0f} and {used[1]:.0f} MB)", {"bytes": each})


@row(
    "speed",
    "scale-levels-3m",
    "Levels of 3 million documents, from a sample drawn by content: seconds, and the number of clusters.",
    rests_on=RESTS,
    conditions=("scale-levels",),
    timeout=4 * 3600,
)
def levels(task: Task) -> Found:
    with tempfile.TemporaryDirectory() as place:
        found = sized(task, 3_000_000, place, "auto")
        steps: dict[str, list[float]] = {}
        for step, _, when in found["steps"]:
            steps.setdefault(step, []).append(when)
        spent = steps["clustering all"][0] - steps["finding components"][-1]
    return Found(f"{spent:.0f} s, {found['k']} clusters", {"seconds": spent})


@row(
    "speed",
    "scale-dask",
    "One million documents: Dask with two workers over native threads, seconds.",
    rests_on=RESTS,
    conditions=("scale-dask",),
    timeout=3 * 3600,
)
def dask(task: Task) -> Found:
    with tempfile.TemporaryDirectory() as place:
        generate(place, task.trials(1_000_000, 3_000))
        ours, theirs = (fit(f"{place}/*.jsonl", "20", place, *way) for way in (("local", 2), ("none", 0)))
    ratio = ours["seconds"] / theirs["seconds"]
    return Found(f"{ratio:.2f} × ({ours['seconds']:.0f} and {theirs['seconds']:.0f} s)", {"ratio": ratio})


MINI = """
import glob, json, sys
import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.feature_extraction.text import HashingVectorizer
texts = [json.loads(line)["text"] for file in sorted(glob.glob(sys.argv[1])) for line in open(file)]
x = HashingVectorizer(stop_words="english").fit_transform(texts)
np.save(sys.argv[2], MiniBatchKMeans(20, random_state=0, n_init=3).fit_predict(x))
"""


@row(
    "speed",
    "scale-minibatch",
    "One million documents against HashingVectorizer and MiniBatchKMeans: NMI with the topics, and time.",
    rests_on=RESTS,
    conditions=("scale-minibatch-nmi", "scale-minibatch-time"),
    timeout=3 * 3600,
)
def minibatch(task: Task) -> Found:
    from grampus.metrics import contingency_table, nmi

    with tempfile.TemporaryDirectory() as place:
        files = generate(place, task.trials(1_000_000, 3_000))
        topics = [json.loads(line)["label"] for file in files for line in file.read_text(encoding="utf-8").splitlines()]
        ours = fit(f"{place}/*.jsonl", "20", place, labels=f"{place}/ours.npy")
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", MINI, f"{place}/*.jsonl", f"{place}/theirs.npy"], check=True)
        seconds = time.perf_counter() - began
        mine, other = (nmi(contingency_table(topics, np.load(f"{place}/{who}.npy"))) for who in ("ours", "theirs"))
    ratio = ours["seconds"] / seconds
    text = f"NMI {mine:.3f} and {other:.3f}; {ratio:.2f} × its time ({ours['seconds']:.0f} and {seconds:.0f} s)"
    return Found(text, {"nmi": mine - other, "ratio": ratio})


SPARK = """
import json, sys, time
from pyspark.ml.clustering import KMeans
from pyspark.ml.feature import HashingTF, IDF, Normalizer, Tokenizer
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[2]").config("spark.driver.memory", "8g").getOrCreate()
began = time.perf_counter()
frame = spark.read.json(sys.argv[1])
for stage in (Tokenizer(inputCol="text", outputCol="words"), HashingTF(inputCol="words", outputCol="counts")):
    frame = stage.transform(frame)
frame = IDF(inputCol="counts", outputCol="weights").fit(frame).transform(frame)
frame = Normalizer(inputCol="weights", outputCol="features").transform(frame).select("features").cache()
model = KMeans(k=20, maxIter=int(sys.argv[2]), seed=0).fit(frame)
print(json.dumps({"seconds": time.perf_counter() - began, "objective": model.summary.trainingCost}))
"""


@row(
    "speed",
    "scale-spark",
    "One million documents against Spark MLlib (HashingTF, IDF, KMeans; local mode), as many iterations: time.",
    rests_on=RESTS,
    conditions=("scale-spark",),
    timeout=3 * 3600,
)
def spark(task: Task) -> Found:
    if importlib.util.find_spec("pyspark") is None:
        raise Unavailable("Spark is not installed: apt install default-jre-headless, pip install pyspark")
    with tempfile.TemporaryDirectory() as place:
        generate(place, task.trials(1_000_000, 3_000))
        ours = fit(f"{place}/*.jsonl", "20", place)
        words = [sys.executable, "-c", SPARK, f"{place}/*.jsonl", str(ours["collection"]["iterations"])]
        out = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    theirs = json.loads(out.strip().splitlines()[-1])
    ratio = theirs["seconds"] / ours["seconds"]
    return Found(f"{ratio:.1f} × as fast ({ours['seconds']:.0f} and {theirs['seconds']:.0f} s)", {"ratio": ratio})


def killer(kills: int, seed: int) -> Any:
    """Return what kills so many workers of a Dask cluster at random moments; it starts others."""
    draws = random.Random(seed)

    def harm(process: subprocess.Popen[str]) -> None:
        left = kills
        time.sleep(8)  # the cluster has started
        while left and process.poll() is None:
            time.sleep(draws.uniform(0.5, 4.0))
            workers = [one for one in family(process.pid) if b"spawn_main" in _words(one)]
            if workers:
                victim = draws.choice(workers)
                try:
                    os.kill(victim, signal.SIGKILL)
                except ProcessLookupError:
                    continue
                left -= 1

    return harm


def _words(process: int) -> bytes:
    try:
        return Path("/proc", str(process), "cmdline").read_bytes()
    except OSError:
        return b""


@row(
    "speed",
    "scale-kills",
    "Answers of runs whose workers were killed at random moments, 20 in all, and of runs that were killed whole with "
    "their scheduler and resumed, 5 in all; with that of an undisturbed run.",
    rests_on=RESTS,
    conditions=("one-hash",),
    timeout=4 * 3600,
)
def kills(task: Task) -> Found:
    with tempfile.TemporaryDirectory() as place:
        generate(place, task.trials(100_000, 3_000))
        source = recut(sorted(Path(place).glob("*.jsonl")), Path(place, "cut"), 8)
        answers = {answer(fit(source, "20", place))}
        for seed in range(task.trials(5, 1)):
            answers.add(answer(fit(source, "20", place, "local", 2, harm=killer(4, seed))))
        draws = random.Random(0)
        for seed in range(task.trials(5, 1)):
            scratch = str(Path(place, f"scratch-{seed}"))

            def end(process: subprocess.Popen[str]) -> None:
                time.sleep(draws.uniform(5, 60))
                for one in reversed(family(process.pid)):
                    os.kill(one, signal.SIGKILL)

            with suppress(RuntimeError):
                fit(source, "20", scratch, "local", 2, harm=end)
            answers.add(answer(fit(source, "20", scratch, "local", 2)))
    return Found(f"{len(answers)} answers", {"hashes": len(answers)})
