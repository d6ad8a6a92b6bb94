"""`dominance`: how many cells of tables 2 and 3 the one confirmed setting explains, from the committed results."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from reproductions.dominance import COLUMNS, NOT_EXACT, PLAIN, PUBLISHED, published
from reproductions.outcome import Outcome, Table
from reproductions.registry import reproduction
from reproductions.steps import Steps

RESULTS = Path(__file__).parent / "results"
LIMITS = (0.03, 0.06)
Gaps = dict[tuple[str, str, int], float]  # (set, column, number of the table) → distance from the published value


def committed(table: int, suffix: str) -> dict[tuple[str, str], float]:
    """Return our values in a result file of table 2 or 3, by set and column."""
    page = (RESULTS / f"dominance-table{table}{suffix}.md").read_text(encoding="utf-8")
    lines = [line.strip("| \n").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    head, *rows = [line for line in lines if line[0] == "set" or line[0] in PUBLISHED]
    return {
        (row[0], column): float(re.split(r"[ (]", cell)[0])
        for row in rows
        for column, cell in zip(head[1:], row[1:], strict=True)
    }


def gaps(confirmed: bool) -> Gaps:
    """Return the distances of the sets held exactly; the confirmed setting counts pairs once, but not after the map."""
    found: Gaps = {}
    for table in (2, 3):
        ours = committed(table, "-eqn4") | (committed(table, "") if confirmed else {})
        for name in PUBLISHED:
            for column in COLUMNS if name not in NOT_EXACT else ():
                found[name, column, table] = abs(ours[name, column] - published(name, table + 1)[column])
    return found


def shares(some: Iterable[float]) -> list[float]:
    """Return the shares within 0.03 and 0.06, in per cent."""
    values = np.round(list(some), 3)
    return [100 * float(np.mean(values <= limit)) for limit in LIMITS]


@reproduction("dominance", "shares", "How many cells of tables 2 and 3 are near the published ones.")
def table(steps: Steps) -> Outcome:
    """Count the cells of the committed tables by set and by column."""
    once, twice = gaps(confirmed=True), gaps(confirmed=False)
    groups = {name: {name} for name in PUBLISHED if name not in NOT_EXACT}
    groups |= {column: {column} for column in COLUMNS}
    groups["all, without classic"] = set(groups) - {"classic"} - set(COLUMNS)
    groups["all"] = set(groups) - set(COLUMNS)
    rows = []
    for group, members in groups.items():
        keys = [key for key in once if members & set(key[:2])]
        both = [shares(found[key] for key in keys) for found in (once, twice)]
        rows.append((group, len(keys), *(f"{share:.0f} %" for pair in both for share in pair)))
    limits = [f"within {limit}" for limit in LIMITS]
    heads = ("sets or columns", "cells", *limits, *(f"Eqn 4 throughout: {limit}" for limit in limits))
    note = (
        f"Tables 2 and 3 together, without {', '.join(NOT_EXACT)}. The confirmed setting: {', '.join(PLAIN)} with "
        "every pair once, the columns with the map with Eqn 4, all else the same."
    )
    return Outcome([Table("Cells near the published ones", heads, rows)], notes=[note])
