"""Forged runs with right hashes: each is refused with its field, or does no harm to any command."""

from __future__ import annotations

import contextlib
import io
import os
import random
import re
import shutil
import tempfile
import time
import traceback
import warnings
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from grampus import DocumentClusterer
from grampus.documents import cluster_within, update_run
from grampus.errors import RunError
from grampus.persist import Edit, Run
from grampus.text import Corpus
from lab import Found, Task
from lab.found import Table
from lab.promises import promise

RUNS, PART, SHOWN = 2_000, 250, 2  # forged runs, those of a step, and commands that see each one that loads
SLOWEST = 10.0  # processor seconds of a forged run
FIELD = re.compile(
    r"provenance|documents|evidence|layout|model|the edits|edits\b|history|manifest\.json|unknown field|array"
)
COMMANDS = (
    ("report", "run", "--out", "page.html"), ("edit", "run", "--rename", "0=y", "--out", "other"), ("tree", "run"),
    ("trends", "run"), ("assign", "run", "new.csv"), ("compare", "base", "run"), ("evaluate", "run"),
    ("update", "run", "new.csv", "--out", "other"),
)  # fmt: skip


def write_base(place: Path) -> None:
    """Save a run with levels, a graft, edits of every kind and a history."""
    from tests.pages import with_levels

    run = update_run(with_levels(), Corpus(["whale calf rose oven"], ["new1"]))
    run = cluster_within(run, 0, DocumentClusterer(2))
    edits = (
        Edit("rename", (0,), name="Sea"), Edit("split", (0,)), Edit("noise", documents=("3",)),
        Edit("exclude", documents=("9",)), Edit("move", (1,), ("12",)), Edit("merge", (1, 2)),
    )  # fmt: skip
    run.edited(*edits).save(place)


def command(words: tuple[str, ...]) -> str:
    """Run a command; return what is wrong with its end."""
    from grampus.cli.main import _run

    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = _run(list(words))
    except BaseException:
        return traceback.format_exc()[-300:]
    told = err.getvalue()
    bad = "bug in Grampus" in told or "Traceback" in told or (status and len(told.strip().splitlines()) != 1)
    return told[:300] if bad else ""


def forged(start: int, count: int) -> dict[str, Any]:
    """Load forged runs, and show those that load to some commands."""
    from tests.forge import draw_change, write_forged

    warnings.simplefilter("ignore")
    ends: Counter[str] = Counter()
    kinds: dict[str, Counter[str]] = {}
    bad: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_base(folder / "base")
        (folder / "new.csv").write_text("id,text\nn1,whale song\nn2,star dust\n", encoding="utf-8")
        os.chdir(folder)
        for seed in range(start, start + count):
            kind, change = draw_change(seed)
            write_forged(folder / "base", folder / "run", change)
            began, how = time.process_time(), "harmless"
            try:
                Run.load("run")
            except RunError as error:
                how = "refused"
                bad += [] if FIELD.search(str(error)) else [f"{seed} ({kind}): no field in {str(error)[:200]!r}"]
            except BaseException:
                bad.append(f"{seed} ({kind}): {traceback.format_exc()[-300:]}")
            if how == "harmless":
                for words in random.Random(seed).sample(COMMANDS, SHOWN):
                    wrong = command(words)
                    bad += [f"{seed} ({kind}), {words[0]}: {wrong}"] if wrong else []
                    shutil.rmtree(folder / "other", ignore_errors=True)
            if time.process_time() - began > SLOWEST:
                bad.append(f"{seed} ({kind}): {time.process_time() - began:.0f} s")
            for one in set(kind.split("+")):
                kinds.setdefault(one, Counter())[how] += 1
            ends[how] += 1
        os.chdir("/")
    return {"ends": dict(ends), "kinds": {one: dict(found) for one, found in kinds.items()}, "bad": bad}


@promise(
    "forged",
    "2,000 forged runs with right hashes (types, ranges, cycles, sizes, names, Unicode; edits and history too): how "
    "many are neither refused with their field nor harmless to report, edit, tree, trends, assign, compare, evaluate "
    "and update.",
    rests_on=("persist", "documents", "cli", "report"),
    conditions=("nothing-fails", "forged-runs"),
    timeout=2 * 3600,
)
def forgeries(task: Task) -> Found:
    total, part = task.trials(RUNS, 40), task.trials(PART, 40)
    every = [task.step(f"{start} {part}", partial(forged, start, part)) for start in range(0, total, part)]
    ends = sum((Counter(found["ends"]) for found in every), Counter[str]())
    bad = [one for found in every for one in found["bad"]]
    rows = []
    for kind in ("value", "key", "tree", "log", "array"):
        counts = sum((Counter(found["kinds"].get(kind, {})) for found in every), Counter[str]())
        rows.append((kind, counts["refused"], counts["harmless"]))
    runs = sum(ends.values())
    figure = (
        f"{len(bad)} of {runs:,} do harm; {ends['refused']:,} refused with their field, {ends['harmless']:,} harmless"
    )
    table = Table(
        "Forged runs by what was changed (one to three changes each)", ("change", "refused", "harmless"), rows
    )
    return Found(figure, {"failed": len(bad), "runs": runs}, [table], notes=bad[:40])
