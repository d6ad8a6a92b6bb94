"""`dominance`: Greene & Cunningham 2006, kernel k-means with a dominant diagonal."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from grampus.gram import DenseGram, dominance_ratio
from grampus.kernels import parse_kernel
from grampus.metrics import anmi, nmi
from lab import Cell, Claim, Found, Table, Task
from lab.papers import PUBLISHED, paper
from lab.papers.protocol import AS_WRITTEN, CONFIRMED, HEADERS, NEWS, Setting, documents
from lab.papers.rules import EQUATION, kernel_kmeans

PRINTED = PUBLISHED["dominance"]
POWERS = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
# Column of tables 2 and 3: kernel, and whether distances are leave-one-out (AA).
COLUMNS: dict[str, tuple[str, bool]] = {
    "orig": ("cosine", False),
    "DS": ("cosine|shift", False),
    "DSM": ("cosine|shift|map", False),
    "AA": ("cosine", True),
    **{f"p={p}": (f"cosine|power({p})|map", False) for p in POWERS},
}
PLAIN = ("orig", "DS", "AA")
# The text mentions these without a table: powers without the map, smaller ones, and the map without unit rows.
SMALLER = (0.1, 0.2, 0.3)
UNMAPPED = {f"SP p={p}": (f"cosine|power({p})", False) for p in POWERS}
SMALL = {f"p={p}": (f"cosine|power({p})|map", False) for p in SMALLER}
NOT_UNIT = "p=0.6, rows as they are"
EVERY = COLUMNS | UNMAPPED | SMALL | {NOT_UNIT: ("cosine|power(0.6)", False)}
CLASSIC = ("classic", "classic3")
FIELDS = ("T W", "T A W", "T A B W", "T A B W K C N")  # title, author, source, abstract, keywords, categories, notes
Trials = dict[str, dict[str, Any]]  # by column


def names(task: Task) -> tuple[str, ...]:
    """Return the sets to run."""
    return ("bbcsport", "cstr") if task.quick else tuple(PRINTED["table1"])


def relevant(setting: Setting, name: str, column: str) -> Setting:
    """Return the setting without what makes no difference to a set and column, so that settings share their runs."""
    pairs = EQUATION if EVERY[column][0].endswith("|map") or column == NOT_UNIT else setting.pairs
    headers = setting.headers if name in NEWS else "kept"
    return replace(setting, pairs=pairs, headers=headers, fields=setting.fields if name in CLASSIC else "")


def cluster(name: str, column: str, setting: Setting, count: int, seed: int) -> dict[str, Any]:
    """Cluster one set from random starts, k the number of classes; after the map with Eqn 4."""
    kernel, adjusted = EVERY[column]
    found = documents(name, setting.headers, setting.fields)
    gram = parse_kernel(kernel).gram(found.x)
    if column == NOT_UNIT:
        matrix = gram.dense()
        gram = DenseGram(matrix @ matrix.T)
    starts = setting.starts(parse_kernel("cosine").gram(found.x), found.k, count, seed)
    runs = kernel_kmeans(gram, found.k, setting.pairs, adjusted, **starts).runs
    scores = Cell.of([nmi(found.labels, labels) for labels in runs.labels])
    moves = np.zeros((count, 10))
    for row, history in zip(moves, runs.histories, strict=True):
        row[: len(history.moves)] = history.moves[:10]
    return {
        "nmi": scores.ours,
        "error": scores.error,
        "anmi": float(anmi(runs.labels)),
        "moves": moves.mean(axis=0).tolist(),
        "iterations": float(np.mean(runs.n_iter)),
        "unsteady": sum(str(outcome) != "converged" for outcome in runs.outcomes),
        "ratio": float(dominance_ratio(gram)),
    }


def trials(task: Task, name: str, columns: Any, setting: Setting = CONFIRMED, full: int = 250) -> Trials:
    """Return the scores of one set, a step for each column."""
    count = task.trials(full, 10)
    found = {}
    for column in columns:
        how = relevant(setting, name, column)
        run = partial(cluster, name, column, how, count, task.seed)
        found[column] = task.step(f"{name} {column} {count} {how}", run)
    return found


def described(name: str, headers: str = "kept", fields: str = "") -> list[float]:
    """Return documents, terms and dominance ratio of a set."""
    found = documents(name, headers, fields)
    return [*found.x.shape, float(dominance_ratio(parse_kernel("cosine").gram(found.x)))]


@paper("dominance-table1")
def table1(task: Task) -> Found:
    rows = []
    for name in names(task):
        printed, ours = PRINTED["table1"][name], task.step(f"sizes {name}", partial(described, name))
        counts = [f"{a:.0f} ({b})" for a, b in zip(ours[:2], printed, strict=False)]
        rows.append((name, *counts, f"{ours[2]:.2f} ({printed[2]}, {100 * (ours[2] / printed[2] - 1):+.1f} %)"))
    note = "cstr is a later cut of the set (475 × 1000). classic3 and classic lack two empty records of CRAN."
    return Found(tables=[Table("Ours (published)", ("set", "documents", "terms", "ratio"), rows)], notes=[note])


def cell(found: dict[str, Trials], name: str, column: str, score: str) -> Cell:
    """Return one cell of table 2 (NMI) or 3 (ANMI) next to the published one."""
    printed = PRINTED["table2" if score == "nmi" else "table3"][name][list(COLUMNS).index(column)]
    values = found[name][column]
    return Cell(values[score], printed, values["error"] if score == "nmi" else None)


def nearness(found: dict[str, Trials], columns: Any) -> tuple[float, float, int]:
    """Return the shares of cells of tables 2 and 3 within 0.03 and 0.06 in per cent, without cstr, and their number."""
    gaps = [
        abs(cell(found, name, column, score).difference or 0.0)
        for name in found
        if name != "cstr"  # a later cut of that set is all there is
        for column in columns
        for score in ("nmi", "anmi")
    ]
    near, wider = (100 * float(np.mean(np.array(gaps) <= limit)) for limit in (0.03, 0.06))
    return near, wider, len(gaps)


def scores(task: Task, score: str, setting: Setting) -> Found:
    """Return table 2 (NMI) or 3 (ANMI), and the shares of cells near the published ones in both."""
    columns = ("orig", "DS", "AA", "p=0.6") if task.quick else tuple(COLUMNS)
    found = {name: trials(task, name, columns, setting) for name in names(task)}
    near, wider, cells = nearness(found, columns)
    rows = [(name, *(cell(found, name, column, score) for column in columns)) for name in found]
    figure = f"{near:.0f} % within 0.03 and {wider:.0f} % within 0.06 of {cells} cells of tables 2 and 3"
    claims = [aa_level(found), fewest_moves(found)] if score == "nmi" else []
    notes = [f"Setting: {setting}. Without cstr."]
    return Found(figure, {"near": near, "wider": wider}, [Table(score.upper(), ("set", *columns), rows)], claims, notes)


for _table, _score in (("table2", "nmi"), ("table3", "anmi")):
    for _name, _setting in ((_table, CONFIRMED), (f"{_table}-equation4", AS_WRITTEN)):
        paper(f"dominance-{_name}")(partial(scores, score=_score, setting=_setting))


def aa_level(found: dict[str, Trials]) -> Claim:
    """Judge what the paper says of AA and DS."""
    mean = {column: float(np.mean([f[column]["nmi"] for f in found.values()])) for column in ("AA", "DS")}
    above = sum(f["AA"]["nmi"] >= f["DS"]["nmi"] for f in found.values())
    text = f"mean {mean['AA']:.3f} against {mean['DS']:.3f}; at least as high on {above} of {len(found)} sets"
    return Claim("AA is marginally above DS.", 0 <= mean["AA"] - mean["DS"] <= 0.02, text)


def fewest_moves(found: dict[str, Trials]) -> Claim:
    """Judge the claim of figure 3 on every set."""
    moved = {name: {column: sum(f[column]["moves"]) for column in f} for name, f in found.items()}
    fewest = [name for name, moves in moved.items() if min(moves, key=moves.__getitem__) == "orig"]
    told = "; ".join(f"{name} {moves['orig']:.0f}, DS {moves['DS']:.0f}" for name, moves in moved.items())
    return Claim(
        "The original matrix gives far fewer reassignments (Fig. 3, and to varying degrees on every set).",
        len(fewest) == len(found),
        f"fewest in ten iterations on {len(fewest)} of {len(found)} sets; {told}",
    )


@paper("dominance-claims")
def claims(task: Task) -> Found:
    powers = POWERS[2:3] if task.quick else POWERS
    columns = (*PLAIN, "DSM", *(f"p={p}" for p in powers), *(f"SP p={p}" for p in powers))
    found = {name: trials(task, name, columns, AS_WRITTEN) for name in names(task)}
    mean = {column: float(np.mean([f[column]["nmi"] for f in found.values()])) for column in columns}
    unsteady = sum(f[f"SP p={p}"]["unsteady"] for f in found.values() for p in powers)
    lower = {
        score: sum(f[f"SP p={p}"][score] < f[f"p={p}"][score] for f in found.values() for p in powers)
        for score in ("nmi", "anmi")
    }
    raised = [abs(f["DSM"]["ratio"]) > abs(f["DS"]["ratio"]) for f in found.values()]
    told = ", ".join(f"p={p} {mean[f'p={p}']:.3f} (without {mean[f'SP p={p}']:.3f})" for p in powers)
    cells = len(found) * len(powers)
    seen = [f"in {lower[score]} of {cells} cells" for score in ("nmi", "anmi")]
    less = "SP without the map is generally less"
    judged = [
        Claim("SP without the map always converges.", unsteady == 0, f"{unsteady} runs did not"),
        Claim(f"{less} accurate (NMI is lower in most cells).", lower["nmi"] > cells / 2, f"{seen[0]}; {told}"),
        Claim(f"{less} stable (ANMI is lower in most cells).", lower["anmi"] > cells / 2, seen[1]),
        Claim("p = 0.6 is best on average.", max(powers, key=lambda p: mean[f"p={p}"]) == 0.6, told),
        aa_level(found),
        Claim("The map raises the dominance ratio above that of DS.", all(raised), f"on {sum(raised)} sets"),
        fewest_moves(found),
    ]
    return Found(claims=judged)


def grid(task: Task, cases: list[tuple[str, Setting]]) -> Found:
    """Return terms, ratio, NMI and ANMI of sets prepared in several ways."""
    rows = []
    for name, setting in cases:
        what = (setting.headers, setting.fields)
        _, terms, ratio = task.step(f"sizes {name} {what}", partial(described, name, *what))
        found = trials(task, name, PLAIN, setting)
        places = [list(COLUMNS).index(column) for column in PLAIN]
        cells = [
            Cell(found[column][score], PRINTED[table][name][place])
            for score, table in (("nmi", "table2"), ("anmi", "table3"))
            for column, place in zip(PLAIN, places, strict=True)
        ]
        printed = PRINTED["table1"][name]
        sizes = (f"{terms:.0f} ({printed[1]})", f"{ratio:.2f} ({printed[2]})")
        rows.append((name, setting.fields or setting.headers, *sizes, *cells))
    heads = ("set", "kept", "terms", "ratio", *(f"NMI {c}" for c in PLAIN), *(f"ANMI {c}" for c in PLAIN))
    return Found(tables=[Table("Ours (published)", heads, rows)], notes=[f"Otherwise: {CONFIRMED}."])


@paper("dominance-headers")
def headers(task: Task) -> Found:
    return grid(task, [(name, Setting(headers=kept)) for name in NEWS[: task.trials(2, 1)] for kept in HEADERS])


@paper("dominance-fields")
def fields(task: Task) -> Found:
    sets = ("classic3",) if task.quick else ("classic", "classic3")
    return grid(task, [(name, Setting(fields=kept)) for name in sets for kept in FIELDS[: task.trials(4, 2)]])


@paper("dominance-shares")
def shares(task: Task) -> Found:
    """Choose headers and fields by the columns without the map, then show the best setting with all columns."""
    sets = ("bbcsport", "cstr", "classic3") if task.quick else names(task)
    settings = [Setting(headers=h, fields=f) for h in HEADERS for f in ("", *FIELDS[1:])]
    settings = settings[:2] if task.quick else settings
    rows, best = [], (-1.0, -1.0, settings[0])
    for setting in settings:
        near, wider, cells = nearness({name: trials(task, name, PLAIN, setting) for name in sets}, PLAIN)
        rows.append((setting.headers, setting.fields or "T W", f"{near:.0f}", f"{wider:.0f}"))
        best = max(best, (near, wider, setting), key=lambda one: one[:2])
    columns = (*PLAIN, "p=0.6") if task.quick else tuple(COLUMNS)
    kept = list(dict.fromkeys((AS_WRITTEN, CONFIRMED, best[2])))
    whole = {how: nearness({name: trials(task, name, columns, how) for name in sets}, columns) for how in kept}
    shown = [(str(how), count, f"{near:.0f}", f"{wider:.0f}") for how, (near, wider, count) in whole.items()]
    within = ("within 0.03, %", "within 0.06, %")
    tables = [
        Table(f"orig, DS and AA: {cells} cells", ("headers", "fields", *within), rows),
        Table("All columns", ("setting", "cells", *within), shown),
    ]
    near, wider, count = whole[best[2]]
    figure = f"{near:.0f} % within 0.03 and {wider:.0f} % within 0.06 of {count} cells with the best stated setting"
    notes = [
        "Without cstr. Fields are those of classic's records. Headers and fields are readings of the paper; weights, "
        "starts and pairs once are what fitted three sets best (docs/results/findings.md), and Eqn 4 is the text."
    ]
    return Found(figure, {"near": near, "wider": wider}, tables, notes=notes)


def apart(better: dict[str, Any], worse: dict[str, Any]) -> float:
    """Return by how many standard errors of the difference one mean NMI is above another."""
    return float((better["nmi"] - worse["nmi"]) / max(np.hypot(better["error"], worse["error"]), 1e-12))


def means(found: Trials, columns: Any) -> list[Cell]:
    """Return the mean NMI of some columns."""
    return [Cell(found[column]["nmi"], error=found[column]["error"]) for column in columns]


@paper("dominance-all-but-one")
def all_but_one(task: Task) -> Found:
    found = {name: trials(task, name, PLAIN) for name in names(task)}
    not_better = [n for n, f in found.items() if min(f["AA"]["nmi"], f["DS"]["nmi"]) <= f["orig"]["nmi"]]
    rows = [(name, *means(f, PLAIN)) for name, f in found.items()]
    figure = f"not better on {', '.join(not_better) or 'no set'} ({len(found)} sets)"
    return Found(figure, {"sets": len(not_better)}, [Table("Mean NMI", ("set", *PLAIN), rows)])


@paper("dominance-stability")
def stability(task: Task) -> Found:
    columns = (*PLAIN, "p=0.6") if task.quick else tuple(COLUMNS)
    found = {name: trials(task, name, columns) for name in names(task)}

    def above(f: Trials, others: Any) -> int:
        return sum(round(f["orig"]["anmi"], 2) > round(f[c]["anmi"], 2) for c in others if c != "orig")

    steadier = [name for name, f in found.items() if above(f, ("DS", "AA"))]
    rows = [(n, *(f"{f[c]['anmi']:.2f}" for c in columns), above(f, columns)) for n, f in found.items()]
    figure = f"steadier than DS or AA on {', '.join(steadier) or 'no set'} ({len(found)} sets)"
    table = Table("ANMI, and how many reductions are less steady than orig", ("set", *columns, "below orig"), rows)
    return Found(figure, {"sets": len(steadier)}, [table])


@paper("dominance-few-iterations")
def few_iterations(task: Task) -> Found:
    columns = ("orig", "DS", "AA", "DSM")
    found = {name: trials(task, name, columns) for name in names(task)}
    unsteady = sum(f["DSM"]["unsteady"] for f in found.values())
    ratios = [f["DSM"]["iterations"] / f["DS"]["iterations"] for f in found.values()]
    rows = [
        (name, *(f"{f[c]['iterations']:.1f} ({f[c]['unsteady']} without end)" for c in columns))
        for name, f in found.items()
    ]
    figure = f"{unsteady} runs did not converge; {np.mean(ratios):.2f} times the iterations of DS, mean of the sets"
    measures = {"unsteady": unsteady, "ratio": float(np.mean(ratios))}
    return Found(figure, measures, [Table("Mean iterations", ("set", *columns), rows)])


@paper("dominance-small-powers")
def small_powers(task: Task) -> Found:
    powers = SMALLER[1:2] if task.quick else SMALLER
    columns = ("orig", *(f"p={p}" for p in powers))
    found = {name: trials(task, name, columns, full=50) for name in names(task)}
    cells = [(name, c) for name, f in found.items() for c in columns[1:] if apart(f["orig"], f[c]) <= 2]
    rows = [(name, *means(f, columns)) for name, f in found.items()]
    figure = f"not lower by two standard errors in {len(cells)} of {len(found) * len(powers)} cells"
    return Found(figure, {"cells": len(cells)}, [Table("Mean NMI of 50 starts, with the map", ("set", *columns), rows)])


@paper("dominance-unit-rows")
def unit_rows(task: Task) -> Found:
    columns = ("p=0.6", NOT_UNIT)
    found = {name: trials(task, name, columns, full=50) for name in names(task)}
    better = [name for name, f in found.items() if apart(f["p=0.6"], f[NOT_UNIT]) > 2]
    rows = [(name, *means(f, columns), f"{apart(f['p=0.6'], f[NOT_UNIT]):+.1f}") for name, f in found.items()]
    table = Table("Mean NMI of 50 starts", ("set", "unit rows", "rows as they are", "standard errors apart"), rows)
    figure = f"better by two standard errors on {len(better)} of {len(found)} sets"
    return Found(figure, {"share": len(better) / len(found)}, [table])


@paper("dominance-figure1")
def figure1(task: Task) -> Found:
    found = documents("cstr")
    matrix = parse_kernel("cosine").gram(found.x[np.argsort(found.labels, kind="stable")]).dense()
    off = matrix[~np.eye(len(matrix), dtype=bool)]

    def picture(figure: Any) -> None:
        axes = figure.subplots()
        figure.colorbar(axes.imshow(matrix, cmap="Greys", vmin=0, vmax=1, interpolation="nearest"))
        axes.set(title="cosine of cstr, by class", xlabel="document", ylabel="document")

    text = f"mean off the diagonal {off.mean():.3f}, 99 % of it below {np.quantile(off, 0.99):.3f}"
    return Found(text, pictures={"gram": picture})


@paper("dominance-figure2")
def figure2(task: Task) -> Found:
    x = documents("cstr").x
    grams = {spelling: parse_kernel(spelling).gram(x) for spelling in ("cosine", "cosine|shift(-1)")}
    values = {name: np.linalg.eigvalsh(gram.dense())[::-1] for name, gram in grams.items()}
    negative = int((values["cosine|shift(-1)"] < 0).sum())
    positive = parse_kernel("cosine|shift(-1)|shift(psd)").gram(x)
    before, after = dominance_ratio(grams["cosine"]), dominance_ratio(positive)

    def picture(figure: Any) -> None:
        axes = figure.subplots()
        for name, found in values.items():
            axes.plot(np.arange(100, len(found) + 1), found[99:], label=name)
        axes.axhline(0, color="grey", linewidth=0.8)
        axes.set(xlabel="rank", ylabel="eigenvalue")
        axes.legend()

    below, text = f"{negative} of {x.shape[0]}", "The shift moves a large number of eigenvalues below zero."
    again = "Adding what makes the shifted matrix positive again brings the dominance back."
    back, ratios = abs(after - before) < 0.01 * before, f"ratio {before:.2f}, then {after:.2f}"
    judged = [Claim(text, negative > x.shape[0] // 2, below), Claim(again, back, ratios)]
    return Found(claims=judged, pictures={"eigenvalues": picture})


@paper("dominance-figure3")
def figure3(task: Task) -> Found:
    found = trials(task, "cstr", ("orig", "DS", "DSM", "AA", "p=0.6"))
    rows = [(name, *(f"{value:.1f}" for value in f["moves"])) for name, f in found.items()]

    def picture(figure: Any) -> None:
        axes = figure.subplots()
        for name, values in found.items():
            axes.plot(range(1, 11), values["moves"], marker="o", markersize=3, label=name)
        axes.set(xlabel="iteration", ylabel="documents moved (mean)")
        axes.legend()

    table = Table("Mean reassignments", ("kernel", *map(str, range(1, 11))), rows)
    return Found(tables=[table], claims=[fewest_moves({"cstr": found})], pictures={"moves": picture})
