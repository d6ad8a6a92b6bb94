"""Save outcomes as JSON, one file a row, and write the table of all of them."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.commit import commit
from benchmarks.measure import Outcome, Spread
from benchmarks.processes import ROOT, THREADS

RESULTS = Path(__file__).parent / "results"


def provenance() -> dict[str, str]:
    """Return machine, date and commit of this run."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit(ROOT),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load": f"load {os.getloadavg()[0]:.1f} at the start",
        "threads": " ".join(f"{key}={value}" for key, value in THREADS.items()),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
        platform.processor(),
    )


def save(name: str, outcomes: Iterable[Outcome], made: dict[str, str], folder: Path = RESULTS) -> None:
    """Write the row's file, whole or not at all, and then the table of every row in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    record = {"provenance": made, "outcomes": [asdict(outcome) for outcome in outcomes]}
    _write(folder / f"{name}.json", json.dumps(record, indent=1) + "\n")
    _write(folder / "latest.md", markdown(folder))


def _write(path: Path, text: str) -> None:
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def markdown(folder: Path) -> str:
    """Return the table of all rows in `folder`, and under it where and when each was measured."""
    lines = [
        "# Measured against peers",
        "",
        "Medians (smallest–largest). A ratio is the peer's time over ours, pair by pair, in one run.",
        "",
        "| row | peer | ours | peer's | ratio | promise | agreement | status |",
        "|---|---|---|---|---|---|---|---|",
    ]
    notes = []
    for path in sorted(folder.glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        outcomes = [Outcome(**stored) for stored in record["outcomes"]]
        lines += ["| " + " | ".join(cells(outcome)) + " |" for outcome in outcomes]
        versions = {f"{name} {version}": 0 for outcome in outcomes for name, version in outcome.versions.items()}
        notes.append(f"- **{path.stem}**: {outcomes[0].text} {'; '.join([*record['provenance'].values(), *versions])}.")
    return "\n".join([*lines, "", *notes, ""])


def cells(outcome: Outcome) -> list[str]:
    """Return an outcome as the cells of its line."""
    note = f" (extrapolated ×{outcome.extrapolated:g})" if outcome.extrapolated != 1 else ""
    return [
        outcome.row,
        outcome.peer,
        _spread(outcome.ours, " s"),
        _spread(outcome.theirs, " s") + note,
        _spread(outcome.ratio, "×"),
        "–" if outcome.promise is None else f"≥ {outcome.promise:g}×",
        outcome.agreement or "–",
        outcome.status + (f": {outcome.detail}" if outcome.detail else ""),
    ]


def _spread(values: Spread | None, unit: str) -> str:
    return "–" if values is None else "{:.3g}{} ({:.3g}–{:.3g})".format(values[0], unit, *values[1:])
