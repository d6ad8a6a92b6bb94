"""Edits: the page and the run make the same of them, undoing gives the bytes before, and a kill leaves a whole log."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from grampus.persist import Edit, Run
from lab import Found, Task, Unavailable
from lab.promises import promise

SCRIPTS, MOMENTS = 1_000, 50


@promise(
    "edits-page",
    "1,000 random scripts of edits made in the page (Chromium): how often labels, names, sizes or tree that it shows "
    "differ from those of the run edited with the page's edits.json.",
    rests_on=("persist", "report"),
    conditions=("edits-equal",),
)
def page_and_run(task: Task) -> Found:
    from tests.browser import browser, chromium
    from tests.edits import compare_with_page, make_edits, write_open_page
    from tests.pages import example_run

    if chromium() is None:
        raise Unavailable("chromium is not installed (make browser)")
    run, scripts = example_run(), task.trials(SCRIPTS, 10)
    different = operations = 0
    with tempfile.TemporaryDirectory() as folder, browser() as page:
        write_open_page(run, Path(folder, "page.html"))
        page.open(Path(folder, "page.html"))
        page.until("window.door && !document.getElementById('texts')", 60)
        for number in range(scripts):
            rng = np.random.default_rng([task.seed, number])
            page.run("door.log.length = 0; door.replay(); 1")
            make_edits(page, rng, int(rng.integers(1, 9)))
            parts, edits = compare_with_page(page, run, Path(folder))
            different, operations = different + bool(parts), operations + len(edits)
        assert page.problems == [], page.problems
    return Found(f"{different} of {scripts} scripts ({operations} edits) differ", {"different": different})


def _bytes(folder: Path) -> str:
    """Return a digest of the names and contents of the files of a folder."""
    found = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        found.update(file.name.encode() + b"\0" + file.read_bytes())
    return found.hexdigest()


@promise(
    "edits-undo",
    "100 random logs of ten edits, saved after each: how often the folder differs by a byte from the one before when "
    "the edits are undone one by one.",
    rests_on=("persist",),
    conditions=("edits-undone",),
)
def undo(task: Task) -> Found:
    from tests.edits import random_edit
    from tests.pages import example_run

    changed = steps = 0
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "run")
        for number in range(task.trials(100, 5)):
            rng, run, before = np.random.default_rng([task.seed, number]), example_run(), []
            run.save(place)
            for _ in range(10):
                edit = random_edit(run, rng)
                if edit is None:
                    continue
                before.append(_bytes(place))
                run = run.edited(edit)
                run.save(place)
            while before:
                run = Run.load(place).undone()
                run.save(place)
                steps, changed = steps + 1, changed + (_bytes(place) != before.pop())
    return Found(f"{changed} of {steps} undone edits left other bytes", {"changed": changed})


@promise(
    "edits-kill",
    "kill -9 at 50 moments of `grampus edit`: how often the run has neither the old log nor the new one, or cannot be "
    "edited again.",
    rests_on=("persist", "cli.edit"),
    conditions=("edits-killed",),
)
def killed(task: Task) -> Found:
    from tests.pages import example_run

    broken = old = 0
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "run")
        example_run().edited(Edit("merge", (1, 2))).save(place)
        words = [sys.executable, "-m", "grampus", "edit", str(place), "--rename"]
        began = time.perf_counter()
        subprocess.run([*words, "0=first"], check=True, capture_output=True)
        usual = time.perf_counter() - began
        moments = task.trials(MOMENTS, 4)
        for number in range(moments):
            before = Run.load(place).edits
            process = subprocess.Popen(
                [*words, f"0=name {number}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            time.sleep(usual * (0.5 + 0.6 * number / moments))
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            after = Run.load(place).edits
            new = (*before, Edit("rename", (0,), name=f"name {number}"))
            old, broken = old + (after == before), broken + (after not in (before, new))
        subprocess.run([*words, "0=last"], check=True, capture_output=True)
        broken += Run.load(place).edits[-1].name != "last"
    logs = f"{old} with the old log, {moments - old} with the new"
    return Found(f"{broken} of {moments} broken; {logs}", {"broken": broken})
