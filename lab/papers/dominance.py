"""`dominance`: Greene & Cunningham 2006, kernel k-means with a dominant diagonal."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from grampus.gram import dominance_ratio
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
UNMAPPED = {f"SP p={p}": (f"cosine|power({p})", False) for p in POWERS}  # §4.2 mentions them without a table
FIELDS = ("T W", "T A W", "T A B W", "T A B W K C N")  # title, author, source, abstract, keywords, categories, notes
RESTS_ON = ("cluster", "gram")
Trials = dict[str, dict[str, Any]]  # by column


def names(task: Task) -> tuple[str, ...]:
    """Return the sets to run."""
    return ("bbcsport", "cstr") if task.quick else tuple(PRINTED["table1"])


def trials(task: Task, name: str, columns: Any, setting: Setting = CONFIRMED) -> Trials:
    """Cluster one set from random starts, k the number of classes; after the map with Eqn 4."""
    count = task.trials(250, 10)

    def run(column: str) -> dict[str, Any]:
        kernel, adjusted = (COLUMNS | UNMAPPED)[column]
        found = documents(name, setting.headers, setting.fields)
        gram = parse_kernel(kernel).gram(found.x)
        starts = setting.starts(parse_kernel("cosine").gram(found.x), found.k, count, task.seed)
        pairs = EQUATION if kernel.endswith("|map") else setting.pairs
        runs = kernel_kmeans(gram, found.k, pairs, adjusted, **starts).runs
        scores = np.array([nmi(found.labels, labels) for labels in runs.labels])
        moves = np.zeros((count, 10))
        for row, history in zip(moves, runs.histories, strict=True):
            row[: len(history.moves)] = history.moves[:10]
        return {
            "nmi": float(scores.mean()),
            "error": float(scores.std(ddof=1) / np.sqrt(count)),
            "anmi": float(anmi(runs.labels)),
            "moves": moves.mean(axis=0).tolist(),
            "unsteady": sum(str(outcome) != "converged" for outcome in runs.outcomes),
            "ratio": float(dominance_ratio(gram)),
        }

    return {column: task.step(f"{name} {column} {count} {setting}", partial(run, column)) for column in columns}


def described(name: str, headers: str = "kept", fields: str = "") -> list[float]:
    """Return documents, terms and dominance ratio of a set."""
    found = documents(name, headers, fields)
    return [*found.x.shape, float(dominance_ratio(parse_kernel("cosine").gram(found.x)))]


@paper("dominance-table1", "The data sets and their dominance ratios.", rests_on=("gram", "text"))
def table1(task: Task) -> Found:
    rows = []
    for name in names(task):
        printed, ours = PRINTED["table1"][name], task.step(f"sizes {name}", partial(described, name))
        counts = [f"{a:.0f} ({b})" for a, b in zip(ours[:2], printed, strict=False)]
        rows.append((name, *counts, f"{ours[2]:.2f} ({printed[2]}, {100 * (ours[2] / printed[2] - 1):+.1f} %)"))
    note = "cstr is a later cut of the set (475 × 1000). classic3 and classic lack two empty records of CRAN."
    return Found(tables=[Table("Ours (published)", ("set", "documents", "terms", "ratio"), rows)], notes=[note])


def scores(task: Task, score: str, setting: Setting) -> Found:
    """Return table 2 (NMI) or 3 (ANMI), and the shares of cells near the published ones in both."""
    columns = ("orig", "DS", "AA", "p=0.6") if task.quick else tuple(COLUMNS)
    found = {name: trials(task, name, columns, setting) for name in names(task)}

    def cell(name: str, column: str, which: str) -> Cell:
        printed = PRINTED["table2" if which == "nmi" else "table3"][name][list(COLUMNS).index(column)]
        values = found[name][column]
        return Cell(values[which], printed, values["error"] if which == "nmi" else None)

    gaps = [
        abs(cell(name, column, which).difference or 0.0)
        for name in found
        if name != "cstr"  # a later cut of that set is all there is
        for column in columns
        for which in ("nmi", "anmi")
    ]
    near, wider = (100 * float(np.mean(np.array(gaps) <= limit)) for limit in (0.03, 0.06))
    table = Table(score.upper(), ("set", *columns), [(n, *(cell(n, c, score) for c in columns)) for n in found])
    figure = f"{near:.0f} % within 0.03 and {wider:.0f} % within 0.06 of {len(gaps)} cells of tables 2 and 3"
    claims = [aa_level(found), fewest_moves(found)] if score == "nmi" else []
    return Found(figure, {"near": near, "wider": wider}, [table], claims, [f"Setting: {setting}. Without cstr."])


def _table_of(score: str, setting: Setting) -> Callable[[Task], Found]:
    def run(task: Task) -> Found:
        return scores(task, score, setting)

    return run


for _table, _score in (("table2", "nmi"), ("table3", "anmi")):
    for _name, _setting, _conditions in (
        (_table, CONFIRMED, ("dominance-near", "dominance-wider")),
        (f"{_table}-equation4", AS_WRITTEN, ()),
    ):
        paper(
            f"dominance-{_name}",
            f"Mean {_score.upper()} of 250 random starts, {'Eqn 4' if _conditions == () else 'every pair once'}.",
            rests_on=RESTS_ON,
            conditions=_conditions,
        )(_table_of(_score, _setting))


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


@paper("dominance-claims", "What the paper says of its tables, held or not, with Eqn 4.", rests_on=RESTS_ON)
def claims(task: Task) -> Found:
    powers = POWERS[2:3] if task.quick else POWERS
    columns = (*PLAIN, "DSM", *(f"p={p}" for p in powers), *(f"SP p={p}" for p in powers))
    found = {name: trials(task, name, columns, AS_WRITTEN) for name in names(task)}
    mean = {column: float(np.mean([f[column]["nmi"] for f in found.values()])) for column in columns}
    unsteady = sum(f[f"SP p={p}"]["unsteady"] for f in found.values() for p in powers)
    lower = sum(f[f"SP p={p}"]["nmi"] < f[f"p={p}"]["nmi"] for f in found.values() for p in powers)
    raised = [abs(f["DSM"]["ratio"]) > abs(f["DS"]["ratio"]) for f in found.values()]
    told = ", ".join(f"p={p} {mean[f'p={p}']:.3f} (without {mean[f'SP p={p}']:.3f})" for p in powers)
    cells = len(found) * len(powers)
    return Found(
        claims=[
            Claim("SP without the map always converges.", unsteady == 0, f"{unsteady} runs did not"),
            Claim("SP without the map is generally lower.", lower > cells / 2, f"in {lower} of {cells} cells; {told}"),
            Claim("p = 0.6 is best on average.", max(powers, key=lambda p: mean[f"p={p}"]) == 0.6, told),
            aa_level(found),
            Claim("The map raises the dominance ratio above that of DS.", all(raised), f"on {sum(raised)} sets"),
            fewest_moves(found),
        ]
    )


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


@paper("dominance-headers", "What is kept of the posts' headers, side by side.", rests_on=RESTS_ON)
def headers(task: Task) -> Found:
    return grid(task, [(name, Setting(headers=kept)) for name in NEWS[: task.trials(2, 1)] for kept in HEADERS])


@paper("dominance-fields", "Which fields of classic's records are read, side by side.", rests_on=RESTS_ON)
def fields(task: Task) -> Found:
    sets = ("classic3",) if task.quick else ("classic", "classic3")
    return grid(task, [(name, Setting(fields=kept)) for name in sets for kept in FIELDS[: task.trials(4, 2)]])


@paper("dominance-figure1", "The Gram of cstr, as a picture, ordered by class.", rests_on=("gram",))
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


@paper("dominance-figure2", "The trailing eigenvalues of cstr before and after σ = −1.", rests_on=("gram",))
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

    judged = [
        Claim(
            "The shift moves a large number of eigenvalues below zero.",
            negative > x.shape[0] // 2,
            f"{negative} of {x.shape[0]}",
        ),
        Claim(
            "Adding what makes the shifted matrix positive again brings the dominance back.",
            abs(after - before) < 0.01 * before,
            f"ratio {before:.2f}, then {after:.2f}",
        ),
    ]
    return Found(claims=judged, pictures={"eigenvalues": picture})


@paper("dominance-figure3", "Reassignments in the first ten iterations on cstr.", rests_on=RESTS_ON)
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
