"""The one table at the end."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from rich.table import Table

from verify.registry import PARTS, Line
from verify.run import VERSIONS, Result

COLUMNS = ("part", "line", "figure", "result", "time", "peak memory", "measured")
OLDER = " (the source changed since)"


def cells(line: Line, result: Result) -> list[str]:
    """Return one line of the table."""
    return [
        f"{line.issue} of {PARTS}",
        f"{line.id}: {line.text}",
        result.value or "–",
        result.status + (f": {result.detail}" if result.detail else ""),
        "–" if result.seconds is None else f"{result.seconds:.1f} s",
        "–" if result.peak_mb is None else f"{result.peak_mb:.0f} MB",
        (f"{result.date}, {result.commit}" + (OLDER if result.older else "")) if result.date else "–",
    ]


def summary(results: Mapping[Line, Result]) -> str:
    """Count the results: ``3 lines: 2 passed, 1 not run``."""
    counts = Counter(result.status for result in results.values())
    order = ("passed", "failed", "crashed", "timed out", "not run")
    said = [f"{counts[status]} {status}" for status in order if counts[status]]
    older = sum(result.older for result in results.values())
    return (
        f"{len(results)} lines: "
        + ", ".join(said)
        + (f" ({older} before later changes of the source)" if older else "")
    )


def terminal(results: Mapping[Line, Result]) -> Table:
    """Return the table for a terminal."""
    table = Table(*COLUMNS[:-1], show_lines=True)
    for line, result in results.items():
        style = "red" if result.bad else "yellow" if result.status == "not run" else None
        table.add_row(*cells(line, result)[:-1], style=style)
    return table


def markdown(results: Mapping[Line, Result]) -> str:
    """Return the table as a Markdown page."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in VERSIONS)
    rows = ["| " + " | ".join(cell.replace("|", "\\|") for cell in cells(*pair)) + " |" for pair in results.items()]
    return "\n".join(
        [
            "# Every acceptance line",
            "",
            f"Written by `make verify`. {summary(results)}.",
            f"Python {platform.python_version()}, {versions}; {os.cpu_count()} cores, {platform.machine()}.",
            "",
            "| " + " | ".join(COLUMNS) + " |",
            "|" + "---|" * len(COLUMNS),
            *rows,
            "",
        ]
    )


def write(path: Path, text: str) -> None:
    """Write a file, whole or not at all."""
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
