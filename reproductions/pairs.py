"""`dominance` and `validation`, what explains the rest: a centroid's self-similarity that counts every pair once.

Eqn 4 of `dominance` sums K_jl over all ordered pairs of a cluster. A program that runs over j < l, as one writes for a
symmetric matrix, and divides by |C|² all the same, halves that term. Here both ways side by side, from random
partitions as the papers have them, and nothing else changed.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from reproductions.dominance import COLUMNS, PUBLISHED, trials
from reproductions.outcome import Cell, Outcome, Table
from reproductions.protocol import CHOSEN, EQUATION, ONCE, documents
from reproductions.registry import reproduction
from reproductions.search import CHOOSE, CONFIRM
from reproductions.steps import Steps
from reproductions.validation import TABLE_3, TRUE_K, Top, estimate, spell

WAYS = {way: replace(CHOSEN, centroid=way, mapped=way) for way in (EQUATION, ONCE)}


@reproduction("dominance", "pairs", "Tables 2 and 3 when a centroid's self-similarity counts every pair once.")
def pairs_table(steps: Steps) -> Outcome:
    return both_ways(steps, ("bbcsport",) if steps.quick else tuple(PUBLISHED), ("orig", "DS"))


@reproduction("dominance", "map", "The same after the empirical map, on the six sets of the grids.")
def pairs_mapped(steps: Steps) -> Outcome:
    return both_ways(steps, ("bbcsport",) if steps.quick else (*CHOOSE, *CONFIRM), ("DSM", "p=0.6"))


def both_ways(steps: Steps, names: Sequence[str], columns: Sequence[str]) -> Outcome:
    """Put NMI and ANMI with Eqn 4 and with pairs counted once beside the published ones."""
    rows: list[tuple[Any, ...]] = []
    gaps: dict[tuple[str, float], list[float]] = {}
    for name, column in itertools.product(names, columns):
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

    def distance(some: Sequence[str]) -> str:
        mean = {way: np.mean([gaps[name, way] for name in some if name != "cstr"]) for way in WAYS}
        return f"{mean[EQUATION]:.3f} with Eqn 4, {mean[ONCE]:.3f} with pairs counted once"

    heads = ("set", "kernel", "NMI, Eqn 4", "ANMI, Eqn 4", "NMI, pairs once", "ANMI, pairs once")
    note = (
        f"{steps.trials(30, 5)} random partitions each. Mean distance from the published values: without cstr "
        f"{distance(names)}"
    )
    if set(CHOOSE) <= set(names):
        note += f"; on {', '.join(CHOOSE)} {distance(CHOOSE)}; on {', '.join(CONFIRM)} {distance(CONFIRM)}"
    return Outcome([Table("Random starts", heads, rows)], notes=[f"{note}."])


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
