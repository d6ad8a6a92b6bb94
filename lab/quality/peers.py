"""What others make of the 18 sets on the same vectors, and Grampus as installed and on these vectors.

Fits are kept in .lab/peers-work with the label of every document; a run goes on where one ended. Others change less
often than Grampus. To fit it alone, on vectors by the names of sets:

    python -m lab.quality.peers .lab/peers-work VECTORS.npz ...
    python lab/peers/run.py .lab/peers-work .lab/peers-work/out --only grampus --repeats 0

The row then has the figures of the others from its last record. For `levels-vectors` it is .lab/vectors-work, with the
fits of the others in it, and `--repeats 5`.
"""

from __future__ import annotations

import json
import lzma
import subprocess
import sys
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from grampus.metrics import ari
from lab import Found, Table, Task, row
from lab.environments import environment
from lab.harness import RESULTS, ROOT, SCRATCH, records
from lab.quality.draws import pair
from lab.quality.meaning import CHOSEN_ON, CONFIRMED_ON, sample

RUN = ROOT / "lab" / "peers" / "run.py"
OURS = "Grampus, MiniLM"  # on the vectors alone, as the others
NOISE = ("one group", "alone", "reassigned")
KINDS = ("seed", "order", "draw")
FITS = ("bertopic", "umap", "evoc", "turftopic", "top2vec", "recipes", "tomotopy", "fastopic")  # the last is told k
FOREIGN = ("gnad10_de", "thucnews_zh", "masakhane_fr")  # the vectors are for English
COSTS = (
    "CPU seconds are those of one thread, without imports and compilation; those of TF-IDF + SVD are without TF-IDF, "
    'and "as installed, k" finds the meaning of the texts in the cache.'
)
MOST = 2500  # documents of a set
BY_SET = "NMI / ARI set by set, documents of no group at the nearest centre"
HEADS = ("way", "groups over classes", "left out", *(f"{way}: NMI / ARI" for way in NOISE), "ARI between seeds",
         "orders", "draws", "CPU seconds", "MB")  # fmt: skip


def write_samples(work: Path, names: Iterable[str], most: int) -> None:
    """Write texts and classes of sets for the fits."""
    work.mkdir(parents=True, exist_ok=True)
    for name in names:
        texts, classes = sample(name, 0)
        held = json.dumps({"texts": texts[:most], "classes": list(map(str, classes[:most]))})
        (work / f"{name}.json.xz").write_bytes(lzma.compress(held.encode()))


def fitted(work: Path, names: tuple[str, ...], most: int, repeats: int, fits: tuple[str, ...] = FITS) -> None:
    """Write samples and vectors, and fit: the packages in their environment, Grampus here."""
    write_samples(work, names, most)
    given = [str(RUN), str(work), str(work / "out"), "--most", str(most), "--repeats", str(repeats)]
    python = environment("peers", ROOT / "requirements" / "peers.txt")
    runs = [(python, ["--encode"]), (python, ["--only", *(fit for fit in fits if fit != "fastopic")])]
    if "fastopic" in fits:
        runs.append((environment("fastopic", ROOT / "requirements" / "fastopic.txt"), ["--only", "fastopic"]))
    for python, more in (*runs, (sys.executable, ["--only", "grampus"])):
        subprocess.run([python, *given, *more, "--sets", *names], check=True)


def prepared(work: Path, vectors: list[str]) -> None:
    """Write samples and vectors that were made before, and forget the fits of Grampus."""
    given = {name: rows for file in vectors for name, rows in np.load(file).items()}
    write_samples(work, given, MOST)
    for name, rows in given.items():
        np.save(work / f"{name}.npy", rows)
    if (kept := work / "fits.json").exists():
        read = json.loads(kept.read_text(encoding="utf-8"))
        read["fits"] = [one for one in read["fits"] if one["fit"] != "grampus"]
        kept.write_text(json.dumps(read), encoding="utf-8")


def recorded(title: str) -> list[list[str]]:
    """Return the rows of others in a table of the last record."""
    table = records("quality", RESULTS)["peers"]["body"].partition(f"**{title}**\n\n")[2].partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    return [row for row in rows if not row[0].startswith("Grampus")]


def figures(row: list[str]) -> dict[str, Any]:
    """Return the means that `lines` has written."""
    found = [float("nan") if cell == "–" else float(cell.rstrip("%")) for cell in (*row[1:3], *row[6:])]
    named = dict(zip(("groups", "left out", *KINDS, "cpu", "memory"), found, strict=True))
    pairs = (np.array(list(map(float, cell.split(" / ")))) for cell in row[3:6])
    return {**named, "left out": named["left out"] / 100, **dict(zip(NOISE, pairs, strict=True))}


def agreement(labels: Any, way: str, name: str, kind: str) -> float:
    """Return the mean ARI between the repeats of a way on a set, on the documents they share; NaN for one."""
    keys = [f"{way}|{name}|{one}|{r}" for one, r in [("seed", 0) if kind == "order" else (kind, 0), *(
        (kind, r) for r in range(1, 9))]]  # fmt: skip
    found = [labels[key] for key in keys if key in labels]
    pairs = [(a[both], b[both]) for a, b in combinations(found, 2) if (both := (a > -2) & (b > -2)).any()]
    return float(np.mean([ari(a, b) for a, b in pairs])) if pairs else float("nan")


def means(
    fits: list[dict[str, Any]], labels: Any, names: tuple[str, ...], classes: dict[str, int], seeds: int = 1
) -> dict[str, Any]:
    """Return the means of every way that answered on all of some sets, from the first seeds.

    Agreement is that of ways with repeats on all of these sets, NaN for others: sets differ more than packages.
    """
    found: dict[str, Any] = {}
    first = [one for one in fits if one["kind"] == "seed" and one["repeat"] < seeds and "groups" in one]
    for way in dict.fromkeys(one["way"] for one in first):
        some = [one for one in first if one["way"] == way and one["name"] in names]
        if {one["name"] for one in some} != set(names):
            continue
        apart = np.array([np.log(max(one["groups"], 1) / classes[one["name"]]) for one in some])
        found[way] = {noise: np.mean([one[noise] for one in some], axis=0) for noise in NOISE}
        found[way] |= {key: float(np.mean([one[key] for one in some])) for key in ("cpu", "memory")}
        found[way]["left out"] = float(np.mean([one["left out"] / one["documents"] for one in some]))
        found[way] |= {"groups": float(np.exp(apart.mean())), "near": float((np.abs(apart) <= np.log(1.5)).mean())}
        for kind in KINDS:
            found[way][kind] = float(np.mean([agreement(labels, way, name, kind) for name in names]))
    return found


def untold(found: dict[str, Any]) -> dict[str, Any]:
    """Return the ways of others that are not told the number of groups."""
    return {way: one for way, one in found.items() if not way.startswith("Grampus") and not way.endswith(", k")}


def lead(found: dict[str, Any]) -> dict[str, float]:
    """Return how far Grampus on the vectors is above the best of others; what one of them lacks is left out."""
    ours, others = found[OURS], untold(found).values()
    over = {
        f"{index} over, {noise}": ours[noise][at] - max(one[noise][at] for one in others)
        for noise in ("one group", "reassigned") for at, index in enumerate(("nmi", "ari"))
    }  # fmt: skip
    over |= {f"{kind} over": ours[kind] - np.max([one[kind] for one in others]) for kind in KINDS}
    return {name: float(value) for name, value in over.items() if not np.isnan(value)}


def lines(found: dict[str, Any], told: bool) -> list[list[str | None]]:
    """Return the rows of the ways that are told the number of groups, or of those that are not; the best NMI first."""
    ways = [way for way in found if way.endswith(", k") == told]
    return [
        [way, f"{one['groups']:.2f}", f"{one['left out']:.0%}", *(pair(one[noise]) for noise in NOISE),
         *(f"{one[kind]:.3f}" if one[kind] == one[kind] else None for kind in KINDS),
         f"{one['cpu']:.1f}", f"{one['memory']:.0f}"]
        for way in sorted(ways, key=lambda way: -found[way]["reassigned"][0]) for one in (found[way],)
    ]  # fmt: skip


@row("quality", "peers")
def peers(task: Task) -> Found:
    halves: dict[str, tuple[str, ...]] = {"confirming": CONFIRMED_ON, "choosing": CHOSEN_ON}
    if task.quick:
        halves = {"confirming": ("bbcsport",)}
    work = SCRATCH / ("peers-quick" if task.quick else "peers-work")
    if not (work / "fits.json").exists() or task.quick:
        fitted(work, sum(halves.values(), ()), task.trials(MOST, 150), task.trials(5, 1))
    read, labels = json.loads((work / "fits.json").read_text(encoding="utf-8")), dict(np.load(work / "labels.npz"))
    fits, tables, by_half = read["fits"], [], {}
    alone = all(one["fit"] == "grampus" for one in fits)
    for half, names in halves.items():
        classes = {name: len(np.unique(sample(name, 0)[1])) for name in names}
        by_half[half] = means(fits, labels, names, classes)
        for told, text in ((False, "not told the number of groups"), (True, "told the number of classes")):
            title = f"Means over the {half} half, {text}"
            by_half[half] |= {row[0]: figures(row) for row in recorded(title)} if alone else {}
            tables.append(Table(title, HEADS, lines(by_half[half], told)))
    first = {(one["way"], one["name"]): one for one in reversed(fits) if "groups" in one and one["kind"] == "seed"}
    names = sum(halves.values(), ())
    for way, *cells in recorded(BY_SET) if alone else ():
        known = ((name, cell) for name, cell in zip(names, cells, strict=True) if cell != "–")
        first |= {(way, name): {"reassigned": list(map(float, cell.split(" / ")))} for name, cell in known}
    rows = [
        [way, *(pair(first[way, name]["reassigned"]) if (way, name) in first else None for name in names)]
        for way in dict.fromkeys(way for way, _ in reversed(first))
    ]
    tables.append(Table(BY_SET, ("way", *names), rows))
    errors = {(one["way"], one["error"]): one["name"] for one in fits if "error" in one}
    gone = {way: [name for name in names if (way, name) not in first] for way, *_ in rows}
    missing = [[*key, at] for key, at in errors.items()]
    missing += [[way, "not fitted yet", ", ".join(lacking)] for way, lacking in gone.items() if lacking]
    tables.append(Table("What is missing of the first seed", ("way", "why", "sets"), missing))
    found = by_half["confirming"]
    others = untold(found)
    measures = {"peers": float(len({way.partition(",")[0] for way in found if not way.startswith("Grampus")}))}
    if OURS in found and others:
        measures |= {kind: own for kind in KINDS if (own := found[OURS][kind]) == own} | lead(found)
    best = max(others, key=lambda way: others[way]["reassigned"][0], default="")
    figure = f"confirming half, no k: ours on the vectors {pair(found[OURS]['reassigned'])}" if OURS in found else ""
    figure += f", best of {measures['peers']:.0f} others {best} {pair(others[best]['reassigned'])}" if best else ""
    if unknown := [kind for kind in KINDS if kind not in measures]:
        figure += f"; agreement between {', '.join(f'{kind}s' for kind in unknown)} not measured"
    made = "; ".join(f"{fits}: {how}" for fits, how in read["made"].items())
    notes = [f"Made by {made}. {read['left']} fits are left to do. {COSTS}"]
    if alone:
        last = records("quality", RESULTS)["peers"]
        others, at = last["body"].rpartition("\n\n")[2], last["made"]
        when = "" if others.startswith("Others") else f"Others are as recorded at {at['commit']}, {at['date']}. "
        notes = [f"Grampus was fitted here: {made}.", when + others]
    return Found(figure, {name: float(value) for name, value in measures.items()}, tables, notes=notes)


@row("quality", "levels-vectors")
def levels_vectors(task: Task) -> Found:
    names = tuple(name for name in (*CONFIRMED_ON, *CHOSEN_ON) if name not in FOREIGN)
    names = ("bbcsport",) if task.quick else names
    work = SCRATCH / ("vectors-quick" if task.quick else "vectors-work")
    if not (work / "fits.json").exists() or task.quick:
        fitted(work, names, task.trials(MOST, 150), task.trials(5, 1), FITS[:-1])
    read, labels = json.loads((work / "fits.json").read_text(encoding="utf-8")), dict(np.load(work / "labels.npz"))
    classes = {name: len(np.unique(sample(name, 0)[1])) for name in names}
    parts = {
        "all": names,
        "confirming half": tuple(name for name in names if name in CONFIRMED_ON),
        "at most 20 classes": tuple(name for name in names if classes[name] <= 20),
        "more than 40 classes": tuple(name for name in names if classes[name] > 40),
    }
    means_of = {part: means(read["fits"], labels, some, classes, seeds=3) for part, some in parts.items() if some}
    heads = ("way", "groups over classes", "near", *(f"{way}: NMI / ARI" for way in NOISE), *(f"{k}s" for k in KINDS))
    tables = [
        Table(f"On vectors, not told the number of groups: {part}, {len(parts[part])} sets", heads, [
            [way, f"{one['groups']:.2f}", f"{one['near']:.0%}", *(pair(one[noise]) for noise in NOISE),
             *(f"{one[kind]:.3f}" for kind in KINDS)]
            for way, one in sorted(found.items(), key=lambda item: -item[1]["reassigned"][0]) if not way.endswith(", k")
        ])
        for part, found in means_of.items()
    ]  # fmt: skip
    measures = dict[str, float]()
    for part, found in means_of.items():
        others = [one for way, one in found.items() if way.startswith(("BERTopic", "EVōC"))]
        for at, (index, ways) in enumerate((("nmi", ("one group", "reassigned")), ("ari", NOISE))):
            over = [found[OURS][noise][at] - max(one[noise][at] for one in others) for noise in ways]
            measures[f"{index} over, {part}"] = float(min(over))
    found = means_of["confirming half"]
    best = max(untold(found), key=lambda way: found[way]["reassigned"][0])
    figure = f"confirming half {pair(found[OURS]['reassigned'])}, {best} {pair(found[best]['reassigned'])}"
    measures |= {kind: means_of["all"][OURS][kind] for kind in KINDS} | lead(found)
    made = "; ".join(f"{fits}: {how}" for fits, how in read["made"].items() if how != "absent")
    return Found(figure, measures, tables, notes=[f"Made by {made}. NMI with noise alone rewards noise."])


if __name__ == "__main__":
    prepared(Path(sys.argv[1]), sys.argv[2:])
