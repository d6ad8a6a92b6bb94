"""Record what a newcomer sees: run the README's commands and write their output into docs/guide/newcomer.md.

``python -m docs.record`` writes the page; ``make verify`` runs the commands again and compares.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parent / "guide" / "newcomer.md"
SESSION = (
    "grampus demo --write examples",
    "grampus cluster examples/docs --label folder -k 8 --out run",
    "grampus evaluate run",
    "grampus tree run",
    "grampus cluster examples/docs.csv --label package -k 8 --results clusters.csv",
    "grampus cluster examples/docs.jsonl --label package -k 11 --out finer",
    "grampus compare run finer",
    "grampus assign run examples/docs.jsonl --quiet --results placed.jsonl",
)
INTRODUCTION = """# A first session

Three corpora, a folder, a CSV file and a JSONL file, from nothing but an installed Grampus: the first command writes
them (they hold the documentation of SciPy, which is there already). `python -m docs.record` made this page by running
the commands; times differ from machine to machine, the rest does not.
"""


def transcript() -> str:
    """Run the session in an empty folder and return the page."""
    parts = [INTRODUCTION]
    environment = {**os.environ, "COLUMNS": "96", "NO_COLOR": "1", "PYTHONWARNINGS": "error"}
    with tempfile.TemporaryDirectory() as folder:
        for command in SESSION:
            words = [sys.executable, "-m", "grampus", *shlex.split(command)[1:]]
            run = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
            if run.returncode or run.stderr:
                raise RuntimeError(f"{command}: status {run.returncode}: {run.stderr}")
            shown = "\n".join(line.rstrip() for line in run.stdout.splitlines())
            parts.append(f"```\n$ {command}\n{shown}\n```\n" if shown else f"```\n$ {command}\n```\n")
    return "\n".join(parts)


def steady(text: str) -> str:
    """Leave out what differs from run to run and from release to release of SciPy: times and its version."""
    return re.sub(r"\d+\.\d s\b|SciPy \d\S*", "", text)


if __name__ == "__main__":
    PAGE.write_text(transcript(), encoding="utf-8")
