"""Limits: predicted and measured peak memory, what is refused before the start, and 500 commands in one process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from lab import Found, Task
from lab.found import Table
from lab.promises import promise

# What is clustered, as the body of a function of `small`, which returns the clusterer's parameters and the documents.
CASES = {
    "20ng, k = 20": "return {'n_clusters': 20}, texts('20ng')",
    "300,000 short documents, k = 20, no stability":
        "return {'n_clusters': 20, 'effort': Effort(stability=False)}, generated(6_000 if small else 300_000)",
    "10,000 rows, gaussian(5), k = 20":
        "return {'n_clusters': 20, 'kernel': 'gaussian(5)'}, rows(10_000, 50)",
    "r52, spectrum(5)|normalise, k = 20":
        "return {'n_clusters': 20, 'kernel': 'spectrum(5)|normalise'}, texts('r52_raw_9052')",
    "100,000 rows, gaussian(5)|nystrom(500), k = 20":
        "return {'n_clusters': 20, 'kernel': 'gaussian(5)|nystrom(500)'}, rows(100_000, 50)",
    "20ng, PDDP(20)": "return {'n_clusters': 20, 'method': 'pddp'}, texts('20ng')",
    "20ng, k = 1,000": "return {'n_clusters': 50 if small else 1_000}, texts('20ng')",
}  # fmt: skip
OTHERS = {
    "ohsumed, k chosen": "return {}, texts('ohsumed_single23')",
    "30,000 rows of 384 numbers in single precision, cosine, k = 20":
        "return {'n_clusters': 20, 'kernel': 'cosine'}, rows(30_000, 384).astype(np.float32)",
}  # fmt: skip
RUN = """
import json, os, resource, sys, tempfile, time, warnings
import numpy as np
from grampus import DocumentClusterer
from grampus.documents import Effort, predict_cost
from grampus.documents.speed import machine_speed
from lab import data
from lab.speed.whole import generated as lines
small = bool(int(sys.argv[1]))
def texts(name):
    return list(data.texts(name)[0])[:: 10 if small else 1]
def generated(count):
    return lines(count).split("\\n")
def rows(n, m):
    rng, n = np.random.default_rng(0), n // 10 if small else n
    return rng.normal(size=(n, m)) + 2 * rng.normal(size=(20, m))[rng.integers(0, 20, n)]
def case():
    BODY
parameters, documents = case()
warnings.simplefilter("ignore")
DocumentClusterer(2).fit([f"whale sea n{i}" if i % 2 else f"tax law n{i}" for i in range(150)])  # what is loaded once
machine_speed()
open("/proc/self/clear_refs", "w").write("5")  # the peak from here on
model = DocumentClusterer(**parameters)
found = predict_cost(model, documents)
began = time.process_time()
model.fit(documents)
with tempfile.TemporaryDirectory() as folder:
    model.report(os.path.join(folder, "page.html"))
spent = time.process_time() - began
peak = next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
found = {"predicted": found.memory, "start": found.now, "seconds": found.seconds}
print(json.dumps({**found, "peak": peak, "spent": spent}))
"""


def _measured(body: str, small: bool) -> dict[str, float]:
    """Predict and run a case in a fresh process."""
    words = [sys.executable, "-c", RUN.replace("BODY", body), str(int(small))]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


@promise(
    "limits-memory",
    "Peak memory of clustering and writing the page, over the prediction made before; two cases were not looked at "
    "while the model was made.",
    rests_on=("documents", "cluster", "gram", "kernels", "describe", "select", "report"),
    conditions=("limits-memory", "limits-memory-others"),
    data=True,
    timeout=4 * 3600.0,
)
def memory(task: Task) -> Found:
    rows, ratios = [], {}
    for name, body in {**CASES, **OTHERS}.items():
        found = task.step(f"{name} {body}", partial(_measured, body, task.quick))
        ratios[name] = found["peak"] / found["predicted"]
        rows.append([
            name, *(f"{found[key] / 1e6:,.0f}" for key in ("start", "predicted", "peak")), f"{ratios[name]:.2f}",
            f"{found['seconds']:.0f}", f"{found['spent']:.0f}",
        ])  # fmt: skip
    worst, other = (max(abs(ratios[name] - 1.0) for name in some) for some in (CASES, OTHERS))
    columns = ("case", "start, MB", "predicted, MB", "peak, MB", "ratio", "predicted, s", "processor s")
    text = f"within {worst:.0%} of the prediction on {len(CASES)} cases, {other:.0%} on {len(OTHERS)} others"
    return Found(text, {"worst": worst, "worst other": other}, tables=[Table("Predicted and measured", columns, rows)])


# Words of a command, what must be in its line, and its status. {name} is a file of the row's folder.
REFUSED: list[tuple[str, list[str], str, int]] = [
    ("less memory than Grampus itself", ["cluster", "{small}", "--max-memory", "10MB"], "must leave room for work", 2),
    ("texts that do not fit", ["cluster", "{large}", "-k", "20", "--max-memory", "300MB"], "--max-memory allows", 1),
    ("5,000 clusters", ["cluster", "{large}", "-k", "5000", "--max-memory", "2GB"], "fewer clusters", 1),
    ("a Gaussian kernel of 20,000 documents in 30 s",
     ["cluster", "{large}", "-k", "20", "--kernel", "gaussian(1)", "--timeout", "30"], "nystrom(500)", 1),
    ("seconds that are none", ["cluster", "{small}", "--timeout", "0"], "--timeout", 2),
    ("memory that is none", ["cluster", "{small}", "--max-memory", "lots"], "--max-memory must be", 1),
    ("a tree with a limit that it passes while it runs",
     ["tree", "{large}", "--max-memory", "270MB"], "no file was left incomplete", 137),
]  # fmt: skip


@promise(
    "limits-refused",
    "What is refused before the work, or stopped while it runs: one line, the status, and no file.",
    rests_on=("documents.cost", "documents.cost_model", "cli"),
    conditions=("nothing-fails",),
)
def refused(task: Task) -> Found:
    from lab.speed.whole import generated

    rows, failed = [], 0
    with tempfile.TemporaryDirectory() as folder:
        places = {"small": Path(folder, "small.txt"), "large": Path(folder, "large.txt")}
        places["small"].write_text(generated(300), encoding="utf-8")
        places["large"].write_text(generated(20_000), encoding="utf-8")
        for name, given, expected, status in REFUSED:
            words = [word.format(**places) for word in given]
            done = subprocess.run(
                [sys.executable, "-m", "grampus", *words], capture_output=True, text=True, check=False, cwd=folder
            )
            lines = [line for line in done.stderr.splitlines() if not line.startswith("Predicted:")]
            line = lines[-1].replace(folder, "") if lines else ""
            good = done.returncode == status and len(lines) == 1 and expected in line and len(os.listdir(folder)) == 2
            failed += not good
            rows.append([name, f"`{' '.join(given)}`", line, done.returncode, "" if good else "wrong"])
    table = Table("Refused or stopped", ("what", "command", "line", "status", ""), rows)
    return Found(f"{len(REFUSED) - failed} of {len(REFUSED)}", {"failed": failed}, tables=[table])


SOAK = """
import json, os, sys, threading
from contextlib import redirect_stdout, redirect_stderr
import io
import grampus
from grampus.cli import main
source, out, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
def state():
    held = int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return held, len(os.listdir("/proc/self/fd")), threading.active_count()
seen = []
for number in range(count):
    words = ["cluster", source, "-k", "3", "--out", out, "--report", out + ".html", "--timeout", "1000", "-q"]
    words = words if number % 5 else ["assign", out, source, "-q"] if number else words
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), grampus.config():
        try:
            main(words)
        except SystemExit as ended:
            assert not ended.code, ended.code
    seen.append(state())
print(json.dumps(seen))
"""


@promise(
    "soak",
    "500 commands in one process (four times cluster with a page, then assign): memory, open files and threads "
    "after the last, compared with those after the hundredth.",
    rests_on=("cli", "documents", "persist", "report"),
    conditions=("soak-memory", "soak-files"),
    timeout=4 * 3600.0,
)
def soak(task: Task) -> Found:
    count = task.trials(500, 20)
    words = ["whale sea ship harbour", "tax law court judge", "bird nest song tree"]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "texts.txt")
        source.write_text("\n".join(f"{words[i % 3]} n{i % 7} m{i % 11}" for i in range(150)), encoding="utf-8")
        run = [sys.executable, "-c", SOAK, str(source), str(Path(folder, "run")), str(count)]
        done = subprocess.run(run, capture_output=True, text=True, check=True)
    seen: list[list[Any]] = json.loads(done.stdout.splitlines()[-1])
    early, last = seen[count // 5 - 1], seen[-1]
    growth, files, threads = (last[0] - early[0]) / 1e6, last[1] - early[1], last[2] - early[2]
    text = f"{count} commands: {growth:+.1f} MB of {last[0] / 1e6:.0f} MB, {files:+d} open files, {threads:+d} threads"
    return Found(text, {"growth": growth, "files": abs(files) + max(threads, 0)})
