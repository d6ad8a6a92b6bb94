"""`pddp`: Zeimpekis & Gallopoulos 2007, principal direction divisive partitioning with kernels and k-means steering."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from grampus import PDDP, BisectingKernelKMeans, KernelKMeans
from grampus.metrics import cluster_entropy
from reproductions import data
from reproductions.outcome import Claim, Outcome, Table
from reproductions.registry import reproduction
from reproductions.steps import Steps

# Table 3: documents, terms, terms per document, non-zeros in percent, clusters; two of its entries are misprints.
STATISTICS: dict[str, tuple[Callable[[], data.DataSet], tuple[float | str, ...]]] = {
    "MODAPTE": (data.modapte, (9052, 10123, 60, 0.37, 52)),
    "OHSUMED": (data.ohsumed, (3672, 6646, 81, 0.76, 63)),
    "CLASSIC3": (data.classic3_tmg, (3891, 7823, 77, 0.64, 3)),
    "REUT1": (lambda: data.reut(1), (840, 2955, 76, 1.60, 21)),
    "REUT2": (lambda: data.reut(2), (1000, 3334, 75, 1.43, 10)),
    "REUT3": (lambda: data.reut(3), (1200, 3470, 60, "0.37 (misprint)", 6)),
    "REUT4": (lambda: data.reut(4), (3034, 5843, 78, "84 (misprint)", 25)),
}
# Table 4: rows MED, CRAN, CISI.
CONFUSION = {
    ("PDDP", 3): [[12, 6, 1015], [1364, 14, 20], [2, 1392, 66]],
    ("PDDP", 4): [[12, 1015, 4, 2], [1364, 20, 8, 6], [2, 66, 788, 604]],
    ("PDDP_OCPC", 3): [[0, 9, 1024], [1253, 29, 116], [0, 1431, 29]],
    ("PDDP_OCPC", 4): [[0, 1024, 7, 2], [1253, 116, 23, 6], [0, 29, 917, 514]],
}
STEERED = ("PDDP_2MEANS", "PDDP_OC", "PDDP_OC_2MEANS", "PDDP_OCPC")
LINEAR = ("k-means", "bisecting k-means", "PDDP", *STEERED)
KERNEL = ("kernel k-means", "kernel bisecting k-means", "KPDDP", "KPDDP_2MEANS", "KPDDP_OCPC")
KERNELS = {"polynomial": "polynomial(2)", "gaussian": "gaussian(1)"}  # the paper gives no parameters; these are ours
STARTS = 10


def sizes(steps: Steps, largest: int, directions: int = 1) -> list[int]:
    """Return the values of k: 4:3:k_max serves l = 1 and 2, 8:7:k_max serves l = 1 and 3 (§5)."""
    threes, sevens = range(4, largest + 1, 3), range(8, largest + 1, 7)
    found = {1: sorted({*threes, *sevens}), 2: list(threes), 3: list(sevens)}[directions]
    return found[:2] if steps.quick else found


def score(found: data.DataSet, name: str, k: int, directions: int, kernel: str, seed: int) -> list[float]:
    """Return objective, entropy in bits and seconds of one algorithm; of k-means the mean of ten starts."""
    start = time.perf_counter()
    if name.endswith("bisecting k-means"):
        models = [
            BisectingKernelKMeans(k, kernel=kernel, n_init=1, random_state=seed + i).fit(found.x) for i in range(STARTS)
        ]
        partitions, objectives = [m.labels_ for m in models], [m.objective_ for m in models]
    elif name.endswith("k-means"):
        runs = KernelKMeans(k, kernel=kernel, n_init=STARTS, random_state=seed).fit(found.x).result_.runs
        partitions, objectives = list(runs.labels), list(runs.objective)
    else:
        model = PDDP.variant(f"{name}({directions})", n_clusters=k, kernel=kernel).fit(found.x)
        partitions, objectives = [model.labels_], [model.objective_]
    seconds = (time.perf_counter() - start) / len(partitions)
    entropy = float(np.mean([cluster_entropy(found.labels, labels) for labels in partitions]))
    return [float(np.mean(objectives)), entropy, seconds, float(np.min(objectives)), float(np.max(objectives))]


def curves(
    steps: Steps, set_name: str, names: Iterable[str], kernel: str, directions: int = 1
) -> dict[str, dict[int, list[float]]]:
    """Return the scores of every algorithm and k on one set."""
    shared = Steps("pddp-scores", steps.quick, steps.seed, steps.store, steps.key, steps.say)
    load, statistics = STATISTICS[set_name]
    largest = int(statistics[-1]) + 8
    loaded: list[data.DataSet] = []

    def run(name: str, k: int) -> list[float]:
        if not loaded:
            loaded.append(load())
        return score(loaded[0], name, k, directions, kernel, steps.seed)

    return {
        name: {
            k: shared.step(f"{set_name} {kernel} {name} l={directions} k={k}", partial(run, name, k))
            for k in sizes(steps, largest, directions)
        }
        for name in names
    }


@reproduction("pddp", "table3", "The data sets.")
def table3(steps: Steps) -> Outcome:
    rows = []
    for name, (load, published) in STATISTICS.items():

        def run(load: Callable[[], data.DataSet] = load) -> list[float]:
            found = load()
            n, m = found.x.shape
            return [n, m, found.x.nnz / n, 100 * found.x.nnz / (n * m), found.k]

        ours = steps.step(name, run)
        said = [f"{ours[0]}", f"{ours[1]}", f"{ours[2]:.0f}", f"{ours[3]:.2f}", f"{ours[4]}"]
        rows.append((name, *(f"{a} ({b})" for a, b in zip(said, published, strict=True))))
    columns = ("set", "documents", "terms", "terms a document", "non-zero %", "clusters")
    note = "Ours (published). OHSUMED is a stand-in: the paper's cut is not to be had."
    return Outcome([Table("Statistics", columns, rows)], notes=[note])


@reproduction("pddp", "table4", "Confusion matrices of CLASSIC3.")
def table4(steps: Steps) -> Outcome:
    found = data.classic3_tmg()
    rows, apart = [], {}
    for (name, k), published in CONFUSION.items():
        labels = PDDP.variant(name, n_clusters=k).fit(found.x).labels_
        ours = np.array([np.bincount(labels[found.labels == c], minlength=k) for c in ("med", "cran", "cisi")])
        target = np.array(published)
        order = min(itertools.permutations(range(k)), key=lambda order: int(np.abs(ours[:, order] - target).sum()))
        ours = ours[:, order]
        apart[name, k] = int(np.abs(ours - target).sum()) // 2
        for label, mine, theirs in zip(("MED", "CRAN", "CISI"), ours, target, strict=True):
            cells = [f"{a} ({b})" for a, b in zip(mine, theirs, strict=True)] + ["–"] * (4 - k)
            rows.append((f"{name}, k = {k}", label, *cells))
    n = len(found.labels)
    evidence = "; ".join(f"{name} k={k}: {a} ({100 * a / n:.2f} %)" for (name, k), a in apart.items())
    claim = Claim("Within 1 % of the documents of the published table.", max(apart.values()) <= n // 100, evidence)
    return Outcome([Table("Ours (published)", ("algorithm", "class", "1", "2", "3", "4"), rows)], [claim])


@reproduction("pddp", "figure1", "Histogram of the projections on the first component, with the cuts.")
def figure1(steps: Steps) -> Outcome:
    found = data.reut(1) if steps.quick else data.modapte()
    split = PDDP(2, cut="projection").fit(found.x).tree_.root.split
    assert split is not None
    projections = np.asarray(found.x @ (found.x.T @ split.coefficients[:, 0]) - split.offset[0])
    threshold = float(split.thresholds[0])
    band = 0.1 * projections.std()
    near = [float(np.mean(np.abs(projections - cut) < band)) for cut in (0.0, threshold)]

    def picture(figure: Any) -> None:
        axes = figure.subplots()
        axes.hist(projections, bins=80, color="#8aa")
        axes.axvline(0, color="black", linestyle="--", label="PDDP cuts at 0")
        axes.axvline(threshold, color="firebrick", label=f"PDDP_OCPC cuts at {threshold:.3f}")
        axes.set(xlabel="projection", ylabel="documents", title=found.name)
        axes.legend()

    claim = Claim(
        "Many projections lie around 0, and another cut-point is more reasonable.",
        near[1] < near[0],
        f"{100 * near[0]:.1f} % of {found.name} lie within a tenth of a standard deviation of 0, "
        f"{100 * near[1]:.1f} % of OCPC's cut {threshold:.3f}",
    )
    return Outcome(claims=[claim], figures={"projections": picture})


def _below(a: dict[int, list[float]], b: dict[int, list[float]], which: int) -> list[bool]:
    return [a[k][which] < b[k][which] for k in a if k in b]


def _claim(text: str, cases: dict[str, list[bool]]) -> Claim:
    """Return a claim that holds when it does at more than half of all sizes; every count is shown."""
    every = [value for values in cases.values() for value in values]
    said = ", ".join(f"{name} {sum(values)}/{len(values)}" for name, values in cases.items())
    return Claim(text, bool(np.mean(every) > 0.5), f"{sum(every)}/{len(every)}: {said}")


def _tables(found: dict[str, dict[str, dict[int, list[float]]]]) -> list[Table]:
    tables = []
    for set_name, algorithms in found.items():
        ks = sorted({k for scores in algorithms.values() for k in scores})
        shown = ks if len(ks) <= 8 else ks[:: len(ks) // 6]
        rows = [
            (name, *(f"{v[0]:.0f} · {v[1]:.2f} · {v[2]:.2f} s" if (v := scores.get(k)) else "–" for k in shown))
            for name, scores in algorithms.items()
        ]
        title = f"{set_name}: objective · entropy (bits) · seconds"
        tables.append(Table(title, ("algorithm", *(f"k = {k}" for k in shown)), rows))
    return tables


def _pictures(found: dict[str, dict[str, dict[int, list[float]]]]) -> dict[str, Callable[[Any], None]]:
    def picture(figure: Any, which: int, label: str) -> None:
        many = figure.subplots(1, len(found), squeeze=False)[0]
        for axes, (set_name, algorithms) in zip(many, found.items(), strict=True):
            for name, scores in algorithms.items():
                axes.plot(list(scores), [values[which] for values in scores.values()], marker=".", label=name)
            axes.set(title=set_name, xlabel="k", ylabel=label)
        many[0].legend(fontsize=6)

    names = ("objective", "entropy", "seconds")
    return {name: partial(picture, which=i, label=name) for i, name in enumerate(names)}


@reproduction("pddp", "figure2", "Linear case: objective, entropy and time against k.")
def figure2(steps: Steps) -> Outcome:
    names = ("MODAPTE",) if steps.quick else ("MODAPTE", "OHSUMED")
    found = {name: curves(steps, name, LINEAR, "linear") for name in names}
    claims = [
        _claim(
            f"{word}: k-means (mean) is below PDDP.", {s: _below(f["k-means"], f["PDDP"], i) for s, f in found.items()}
        )
        for i, word in enumerate(("Objective", "Entropy"))
    ]
    for i, word in enumerate(("Objective", "Entropy")):
        claims.append(
            _claim(
                f"{word}: bisecting k-means is above k-means.",
                {s: _below(f["k-means"], f["bisecting k-means"], i) for s, f in found.items()},
            )
        )
        for name in STEERED:
            against = {
                f"{s}, {other}": _below(f[name], f[other], i)
                for s, f in found.items()
                for other in ("PDDP", "bisecting k-means")
            }
            claims.append(_claim(f"{word}: {name} is below PDDP and bisecting k-means.", against))
    best = {
        s: [min(f, key=lambda name: f[name][k][0]) in ("k-means", "PDDP_OC_2MEANS", "PDDP_OC") for k in f["PDDP"]]
        for s, f in found.items()
    }
    claims.append(_claim("k-means, PDDP_OC_2MEANS or PDDP_OC has the lowest objective.", best))
    slow = {
        s: [min(f["PDDP_OC"][k][2], f["PDDP_OC_2MEANS"][k][2]) > f["PDDP_OCPC"][k][2] for k in f["PDDP"]]
        for s, f in found.items()
    }
    claims.append(_claim("PDDP_OC and PDDP_OC_2MEANS take longer than PDDP_OCPC.", slow))
    return Outcome(_tables(found), claims, figures=_pictures(found))


@reproduction("pddp", "figure3", "PDDP(l) against PDDP_OCPC(l), linear and kernel case.")
def figure3(steps: Steps) -> Outcome:
    cases = {"MODAPTE linear": ("MODAPTE", "linear", "PDDP"), "OHSUMED linear": ("OHSUMED", "linear", "PDDP")}
    cases |= {
        f"REUT{i} {name}": (f"REUT{i}", kernel, "KPDDP") for i in (1, 2, 3, 4) for name, kernel in KERNELS.items()
    }
    if steps.quick:
        cases = {name: cases[name] for name in ("MODAPTE linear", "REUT1 polynomial")}
    found = {
        case: {
            f"{name}({directions})": scores
            for directions in (1, 2, 3)
            for name, scores in curves(steps, of, (plain, f"{plain}_OCPC"), kernel, directions).items()
        }
        for case, (of, kernel, plain) in cases.items()
    }
    claims = []
    for (i, word), case in itertools.product(enumerate(("Objective", "Entropy")), ("linear", "kernel")):
        counts = {
            f"{s} l={directions}": _below(f[f"{p}_OCPC({directions})"], f[f"{p}({directions})"], i)
            for s, f in found.items()
            for directions in (1, 2, 3)
            for p in [cases[s][2]]
            if (p == "PDDP") == (case == "linear")
        }
        claims.append(_claim(f"{word}, {case} case: OCPC(l) is below PDDP(l).", counts))
    return Outcome(_tables(found), claims)


def kernel_figure(steps: Steps, kernel: str) -> Outcome:
    """Figures 4 and 5: the kernel versions on REUT1–4."""
    found = {f"REUT{i}": curves(steps, f"REUT{i}", KERNEL, kernel) for i in ((1,) if steps.quick else (1, 2, 3, 4))}
    claims = []
    for i, word in enumerate(("Objective", "Entropy")):
        pairs = [("kernel k-means", "KPDDP")]
        pairs += [(name, other) for name in ("KPDDP_2MEANS", "KPDDP_OCPC") for other in ("KPDDP", "kernel k-means")]
        for name, other in pairs:
            cases = {s: _below(f[name], f[other], i) for s, f in found.items()}
            claims.append(_claim(f"{word}: {name} is below {other}.", cases))
    note = f"The paper names no parameters; this is {kernel}. k-means variants: means of {STARTS} random starts."
    return Outcome(_tables(found), claims, [note], _pictures(found))


@reproduction("pddp", "figure4", "Kernel versions with a polynomial kernel on REUT1–4.")
def figure4(steps: Steps) -> Outcome:
    return kernel_figure(steps, KERNELS["polynomial"])


@reproduction("pddp", "figure5", "Kernel versions with a Gaussian kernel on REUT1–4.")
def figure5(steps: Steps) -> Outcome:
    return kernel_figure(steps, KERNELS["gaussian"])
