"""Record what the command prints: a first session in docs/guide/newcomer.md, every help in docs/commands.md.

``python -m docs.record`` writes both pages; ``make verify`` runs the session again and compares, a test compares the
help.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

PAGE = Path(__file__).parent / "guide" / "newcomer.md"
COMMANDS = Path(__file__).parent / "commands.md"
# What a command is for, and the command.
STORY = (
    ("Three corpora to try.", "grampus demo --write examples"),
    (
        "Cluster the folder. `--label folder` uses the subfolders as known classes: they do not influence the "
        "clustering, and are kept for comparison. *Stability* is how often documents stay together when half of them "
        "are clustered.",
        "grampus cluster examples/docs --label folder -k 8 --out run",
    ),
    (
        "Do the clusters know what SciPy's authors knew? [Agreement](agreement.md) explains the scores.",
        "grampus evaluate run",
    ),
    (
        "How the clusters merge, upwards, and which parts they have, downwards; numbers in brackets are the clusters.",
        "grampus tree run",
    ),
    (
        "A CSV file with the same documents gives the same clusters; `--results` writes one row per document.",
        "grampus cluster examples/docs.csv --label package -k 8 --results clusters.csv",
    ),
    ("A finer view: eleven clusters.", "grampus cluster examples/docs --label folder -k 11 --out finer"),
    ("Which documents moved between the two. Documents are matched by id.", "grampus compare run finer"),
    (
        "Assign documents to the clusters of a saved run; here those of the JSONL file, without output.",
        "grampus assign run examples/docs.jsonl --quiet --results assigned.jsonl",
    ),
)
SESSION = tuple(command for _, command in STORY)
INTRODUCTION = """# A first session

Three corpora, a folder, a CSV file and a JSONL file, from nothing but an installed Grampus: the first command writes
them (the documentation of SciPy, which is installed already). `python -m docs.record` generates this page by running
the commands; times differ between machines, the rest does not. Read the [quickstart](../quickstart.md) first.
"""


def transcript() -> str:
    """Run the session in an empty folder and return the page."""
    parts = [INTRODUCTION]
    environment = {**os.environ, "COLUMNS": "96", "NO_COLOR": "1", "PYTHONWARNINGS": "error"}
    with tempfile.TemporaryDirectory() as folder:
        for why, command in STORY:
            words = [sys.executable, "-m", "grampus", *shlex.split(command)[1:]]
            run = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
            if run.returncode or run.stderr:
                raise RuntimeError(f"{command}: status {run.returncode}: {run.stderr}")
            shown = "\n".join(line.rstrip() for line in run.stdout.splitlines())
            lines = [textwrap.fill(why, 120), "", "```", f"$ {command}", *([shown] if shown else []), "```", ""]
            parts.append("\n".join(lines))
    return "\n".join(parts)


REFERENCE = """# Command reference

The help of every command, as `grampus COMMAND --help` prints it; defaults are in brackets.
[The command](guide/command.md) explains what they do and what their output means. `python -m docs.record` generates
this page, and a test compares it.
"""


def reference() -> str:
    """Return the page of all commands with their help."""
    from click.testing import CliRunner

    from grampus.cli import grampus

    def help_of(*words: str) -> str:
        found = CliRunner().invoke(grampus, [*words, "--help"], prog_name="grampus", terminal_width=80)
        assert found.exit_code == 0
        return "\n".join(line.rstrip() for line in found.output.splitlines())

    parts = [REFERENCE, f"```\n{help_of()}\n```\n"]
    parts += [f"## {name}\n\n```\n{help_of(name)}\n```\n" for name in grampus.commands]
    return "\n".join(parts)


def steady(text: str) -> str:
    """Remove what differs between runs and releases of SciPy: times and its version."""
    return re.sub(r"\d+\.\d s\b|SciPy \d\S*", "", text)


if __name__ == "__main__":
    COMMANDS.write_text(reference(), encoding="utf-8")
    PAGE.write_text(transcript(), encoding="utf-8")
