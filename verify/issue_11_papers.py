"""Part 11: the papers' tables as they are committed, and the time of a quick run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time

from verify import Figure, line
from verify.commands import ROOT
from verify.pages import RESULTS

WATCHES = ("reproductions", "verify/pages.py")
MADE = (
    r"^`python -m reproductions {}`, seed \d+, commit [0-9a-f]{{7,}}(-dirty)?( \(where it is `\w+`\))?; [\d-]{{10}}, "
)


@line(
    11,
    "quick",
    "`make reproduce` with `--quick`: every table and figure of the five papers in under 10 minutes.",
    needs_data=True,
    watches=WATCHES,
)
def quick() -> Figure:
    with tempfile.TemporaryDirectory() as folder:
        code = (
            "import sys; from pathlib import Path; from reproductions.__main__ import main; "
            f"sys.exit(main(['--quick'], store=Path({folder!r})))"
        )
        began = time.perf_counter()
        run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - began
    load = os.getloadavg()[0]
    text = f"{seconds:.0f} s, load {load:.1f} on {os.cpu_count()} cores at the end"
    return Figure(text, run.returncode == 0 and seconds < 600, run.stderr.strip()[-300:] if run.returncode else "")


@line(
    11,
    "committed",
    "Every reproduction has its committed result with the command, seed, commit, date and versions that made it.",
    sources=(),
    watches=WATCHES,
)
def committed() -> Figure:
    from reproductions.registry import discover

    names = [found.name for found in discover()]
    there = {name: RESULTS / f"{name}.md" for name in names if (RESULTS / f"{name}.md").exists()}
    bare = [
        name
        for name, path in there.items()
        if not re.search(MADE.format(name.replace("-", " ", 1)), path.read_text(encoding="utf-8"), re.M)
    ]
    missing = [name for name in names if name not in there]
    text = f"{len(there)} of {len(names)} committed, {len(bare)} of them without provenance"
    return Figure(text, not missing and not bare, ", ".join((*missing, *bare)))


@line(
    11,
    "dominance",
    "Cells of `dominance` tables 2 and 3 on the sets held exactly, for the one confirmed setting, 250 trials: 80 % "
    "within 0.03 and 95 % within 0.06.",
    sources=(),
    watches=WATCHES,
)
def dominance() -> Figure:
    from reproductions.shares import gaps, shares

    once, twice = (list(gaps(confirmed).values()) for confirmed in (True, False))
    near, wider = shares(once)
    text = f"{near:.0f} % within 0.03 and {wider:.0f} % within 0.06 of {len(once)} cells"
    before = "{:.0f} % and {:.0f} % with Eqn 4 throughout".format(*shares(twice))
    return Figure(text, near >= 80 and wider >= 95 and len(once) == 140, before)
