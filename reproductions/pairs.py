"""`dominance` and `validation`, what explains the rest: a centroid's self-similarity that counts every pair once.

Eqn 4 of `dominance` sums K_jl over all ordered pairs of a cluster. A program that runs over j < l, as one writes for a
symmetric matrix, and divides by |C|² all the same, halves that term. Here both ways side by side, from random
partitions as the papers have them, and nothing else changed.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from reproductions.dominance import COLUMNS, PUBLISHED, trials
from reproductions.outcome import Cell, Outcome, Table
from reproductions.protocol import CHOSEN, EQUATION, ONCE, STARTS, documents
from reproductions.registry import reproduction
from reproductions.search import CHOOSE
from reproductions.steps import Steps
from reproductions.validation import TABLE_3, TRUE_K, Top, estimate, spell

WAYS = {way: replace(CHOSEN, start="partition", centroid=way) for way in (EQUATION, ONCE)}
PAIRS = {EQUATION: "twice (Eqn 4)", ONCE: "once"}


@reproduction("dominance", "pairs", "Tables 2 and 3 when a centroid's self-similarity counts every pair once.")
def pairs_table(steps: Steps) -> Outcome:
    rows: list[tuple[Any, ...]] = []
    gaps: dict[tuple[str, float], list[float]] = {}
    for name, column in itertools.product(("bbcsport",) if steps.quick else PUBLISHED, ("orig", "DS")):
        cells: list[Cell] = []
        for way, setting in WAYS.items():
            kept = replace(steps, name=f"{steps.name} {way:g}")
            found = trials(kept, name, column, COLUMNS[column], setting, (30, 5))
            place = list(COLUMNS).index(column)
            both = [Cell(found["nmi"], PUBLISHED[name][3][place], found["error"])]
            both.append(Cell(found["anmi"], PUBLISHED[name][4][place]))
            gaps.setdefault((name, way), []).extend(abs(cell.difference or 0.0) for cell in both)
            cells += both
        rows.append((name, column, *cells))

    mean = {way: np.mean([values for (name, w), values in gaps.items() if w == way and name != "cstr"]) for way in WAYS}
    heads = ("set", "kernel", "NMI, Eqn 4", "ANMI, Eqn 4", "NMI, pairs once", "ANMI, pairs once")
    note = (
        f"{steps.trials(30, 5)} random partitions each. Mean distance from the published values, without cstr: "
        f"{mean[EQUATION]:.3f} with Eqn 4, {mean[ONCE]:.3f} with pairs counted once."
    )
    return Outcome([Table("Random starts", heads, rows)], notes=[note])


@reproduction("dominance", "map", "After the empirical map, which the grids do not have: pairs and starts.")
def pairs_mapped(steps: Steps) -> Outcome:
    """Run DSM and p = 0.6 with pairs counted twice and once after the map, from both kinds of starts."""
    names = ("bbcsport",) if steps.quick else (*CHOOSE, "bbcsport")
    rows, gaps = [], []
    for start, way in itertools.product(STARTS, (EQUATION, ONCE)):
        setting, cells = replace(CHOSEN, start=start, mapped=way), []
        for name, column in itertools.product(names, ("DSM", "p=0.6")):
            kept = replace(steps, name=f"{steps.name} {start} {way:g}")
            found = trials(kept, name, column, COLUMNS[column], setting, (30, 5))
            place = list(COLUMNS).index(column)
            both = (Cell(found["nmi"], PUBLISHED[name][3][place]), Cell(found["anmi"], PUBLISHED[name][4][place]))
            cells.append((name, column, *both))
        chosen = [cell for name, _, *both in cells for cell in both if name in CHOOSE or steps.quick]
        gaps.append((float(np.mean([abs(cell.difference or 0.0) for cell in chosen])), start, PAIRS[way]))
        rows += [(start, PAIRS[way], *row) for row in cells]
    columns = ("start", "pairs after the map", "set", "kernel", "NMI", "ANMI")
    order = "; ".join(f"{start}, {pairs} {gap:.3f}" for gap, start, pairs in sorted(gaps))
    note = (
        f"{steps.trials(30, 5)} starts each. Mean distance from the published values on {', '.join(CHOOSE)}: {order}."
    )
    return Outcome([Table("Four ways", columns, rows)], notes=[note])


@reproduction("validation", "pairs", "RED-S when a centroid's self-similarity counts every pair once.")
def pairs_choice(steps: Steps) -> Outcome:
    count, rows = steps.trials(50, 3), []

    def top(name: str, way: float) -> Top:
        return estimate(documents(name), "RED-S", count, centroid_weight=way).top

    for name in ("bbcsport",) if steps.quick else TABLE_3:
        found = [steps.step(f"{name} {way:g} {count}", partial(top, name, way)) for way in WAYS]
        rows.append((f"{name} ({TRUE_K[name]})", *map(spell, found), spell(TABLE_3[name]["RED-S"])))
    columns = ("set (true k)", "Eqn 4", "pairs once", "paper")
    return Outcome([Table("Top three k of RED-S", columns, rows)], notes=[f"{count} splits."])
