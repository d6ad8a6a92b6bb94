"""`dominance` and `validation`, what explains the rest: a centroid's self-similarity that counts every pair once.

Eqn 4 of `dominance` sums K_jl over all ordered pairs of a cluster. A program that runs over j < l, as one writes for a
symmetric matrix, and divides by |C|² all the same, halves that term. Here both ways side by side, from random
partitions as the papers have them, and nothing else changed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from reproductions.dominance import COLUMNS, PUBLISHED, trials
from reproductions.outcome import Cell, Outcome, Table
from reproductions.protocol import CHOSEN, EQUATION, ONCE, documents
from reproductions.registry import reproduction
from reproductions.steps import Steps
from reproductions.validation import TABLE_3, TRUE_K, Top, estimate, spell

WAYS = {way: replace(CHOSEN, start="partition", centroid=way) for way in (EQUATION, ONCE)}


@reproduction("dominance", "pairs", "Tables 2 and 3 when a centroid's self-similarity counts every pair once.")
def pairs_table(steps: Steps) -> Outcome:
    rows, gaps = [], {way: [] for way in WAYS}  # type: ignore[var-annotated]
    for name in ("bbcsport",) if steps.quick else PUBLISHED:
        for place, column in enumerate(("orig", "DS")):
            cells = []
            for way, setting in WAYS.items():
                kept = replace(steps, name=f"{steps.name} {way:g}")
                found = trials(kept, name, column, COLUMNS[column], setting, (30, 5))
                nmi, agreement = (PUBLISHED[name][table][place] for table in (3, 4))  # type: ignore[index]
                cells += [Cell(found["nmi"], nmi, found["error"]), Cell(found["anmi"], agreement)]
                if name != "cstr":
                    gaps[way] += [abs(cell.difference or 0.0) for cell in cells[-2:]]
            rows.append((name, column, *cells))
    columns = ("set", "kernel", "NMI, Eqn 4", "ANMI, Eqn 4", "NMI, pairs once", "ANMI, pairs once")
    note = (
        f"{steps.trials(30, 5)} random partitions each. Mean distance from the published values, without cstr: "
        f"{np.mean(gaps[EQUATION]):.3f} with Eqn 4, {np.mean(gaps[ONCE]):.3f} with pairs counted once."
    )
    return Outcome([Table("Random starts", columns, rows)], notes=[note])


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
