"""`pddp`: Zeimpekis & Gallopoulos 2007, principal direction divisive partitioning with kernels and k-means steering."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
KERNEL = ("kernel k-means", "kernel bisecting k-means", "KPDDP", "KPDDP_2MEANS", "KPDDP_OCPC", "KPDDP_OC")
HYBRIDS = ("KPDDP_2MEANS", "KPDDP_OCPC")
COUNTERPARTS = {"k-means": "kernel k-means", "PDDP": "KPDDP", "PDDP_2MEANS": "KPDDP_2MEANS", "PDDP_OCPC": "KPDDP_OCPC"}
OBJECTIVE, ENTROPY, SECONDS, LEAST, LARGEST = range(5)  # what a score holds; the last two are of the objective
MEASURES = ((OBJECTIVE, "Objective"), (ENTROPY, "Entropy"))
KERNELS = {"polynomial": "polynomial(2)", "gaussian": "gaussian(1)"}  # the paper gives no parameters; these are ours
STARTS = 10
NORMAL_NEAR = 0.0797  # of a normal variable, the share within a tenth of a standard deviation of its mean


def sizes(steps: Steps, largest: int, directions: int = 1) -> list[int]:
    """Return the values of k: 4:3:k_max serves l = 1 and 2, 8:7:k_max serves l = 1 and 3 (§5)."""
    threes, sevens = range(4, largest + 1, 3), range(8, largest + 1, 7)
    found = {1: sorted({*threes, *sevens}), 2: list(threes), 3: list(sevens)}[directions]
    return found[:2] if steps.quick else found


def score(found: data.DataSet, name: str, k: int, directions: int, kernel: str, seed: int) -> list[float]:
    """Return objective, entropy in bits and seconds (the means of ten starts), and the range of objectives."""
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


def curves(steps: Steps, set_name: str, names: Iterable[str], kernel: str, directions: int = 1) -> dict[str, Curve]:
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
    rows, apart, mixed = [], {}, {}
    for (name, k), published in CONFUSION.items():
        labels = PDDP.variant(name, n_clusters=k).fit(found.x).labels_
        ours = np.array([np.bincount(labels[found.labels == c], minlength=k) for c in ("med", "cran", "cisi")])
        target = np.array(published)
        order = min(itertools.permutations(range(k)), key=lambda order: int(np.abs(ours[:, order] - target).sum()))
        ours = ours[:, order]
        apart[name, k] = int(np.abs(ours - target).sum()) // 2
        mixed[name, k] = [cluster_entropy(*_unfolded(table)) for table in (ours, target)]
        for label, mine, theirs in zip(("MED", "CRAN", "CISI"), ours, target, strict=True):
            cells = [f"{a} ({b})" for a, b in zip(mine, theirs, strict=True)] + ["–"] * (4 - k)
            rows.append((f"{name}, k = {k}", label, *cells))
    n = len(found.labels)
    evidence = "; ".join(f"{name} k={k}: {a} ({100 * a / n:.2f} %)" for (name, k), a in apart.items())
    claims = [Claim("Within 1 % of the documents of the published table.", max(apart.values()) <= n // 100, evidence)]
    said = "; ".join(
        f"{whose} k={k}: {mixed['PDDP_OCPC', k][i]:.3f} against {mixed['PDDP', k][i]:.3f} bits"
        for i, whose in enumerate(("ours", "published"))
        for k in (3, 4)
    )
    cleaner = all(mixed["PDDP_OCPC", k][0] < mixed["PDDP", k][0] for k in (3, 4))
    claims.append(Claim("PDDP_OCPC's clusters are cleaner than PDDP's (entropy).", cleaner, said))
    return Outcome([Table("Ours (published)", ("algorithm", "class", "1", "2", "3", "4"), rows)], claims)


def _unfolded(table: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the classes and clusters of the documents that a confusion matrix counts."""
    counts = table.ravel()
    return np.repeat(np.indices(table.shape)[0].ravel(), counts), np.repeat(np.indices(table.shape)[1].ravel(), counts)


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

    claims = [
        Claim(
            "Many projections lie around 0: at least as many as of a normal curve.",
            near[0] >= NORMAL_NEAR,
            f"{100 * near[0]:.1f} % of {found.name} within a tenth of a standard deviation; {100 * NORMAL_NEAR:.1f} %",
        ),
        Claim(
            "Another cut-point is more reasonable: fewer documents lie at OCPC's cut than at 0.",
            near[1] < near[0],
            f"{100 * near[1]:.1f} % as near to {threshold:.3f}; {100 * near[0]:.1f} % of 0",
        ),
    ]
    return Outcome(claims=claims, figures={"projections": picture})


Curve = dict[int, list[float]]  # the scores by k


def _below(a: Curve, b: Curve, which: int, times: float = 1.0) -> list[bool]:
    """Say for every k whether a score of `a` is below so many times that of `b`."""
    return [a[k][which] < times * b[k][which] for k in a if k in b]


def _claim(text: str, cases: dict[str, list[bool]]) -> Claim:
    """Return a claim that holds when it does at more than half of all sizes; every count is shown."""
    every = [value for values in cases.values() for value in values]
    said = ", ".join(f"{name} {sum(values)}/{len(values)}" for name, values in cases.items())
    return Claim(text, bool(np.mean(every) > 0.5), f"{sum(every)}/{len(every)}: {said}")


def _lowest(algorithms: dict[str, Curve], k: int) -> str:
    """Return the variant of PDDP with the lowest objective."""
    return min(STEERED, key=lambda name: algorithms[name][k][OBJECTIVE])


def _told(score: list[float] | None) -> str:
    if score is None:
        return "–"
    spread = f" ({score[LEAST]:.0f}–{score[LARGEST]:.0f})" if score[LEAST] < score[LARGEST] else ""
    return f"{score[OBJECTIVE]:.0f}{spread} · {score[ENTROPY]:.2f} · {score[SECONDS]:.2f} s"


def _tables(found: dict[str, dict[str, Curve]]) -> list[Table]:
    tables = []
    for set_name, algorithms in found.items():
        ks = sorted({k for scores in algorithms.values() for k in scores})
        shown = ks if len(ks) <= 8 else ks[:: len(ks) // 6]
        rows = [(name, *(_told(scores.get(k)) for k in shown)) for name, scores in algorithms.items()]
        title = f"{set_name}: objective (least–largest of {STARTS} starts) · entropy (bits) · seconds"
        tables.append(Table(title, ("algorithm", *(f"k = {k}" for k in shown)), rows))
    return tables


def _pictures(found: dict[str, dict[str, Curve]]) -> dict[str, Callable[[Any], None]]:
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

    def everywhere(text: str, holds: Callable[[dict[str, Curve]], list[bool]]) -> Claim:
        return _claim(text, {s: holds(f) for s, f in found.items()})

    def below(word: str, which: int, a: str, b: str) -> Claim:
        return everywhere(f"{word}: {a} is below {b}.", lambda f: _below(f[a], f[b], which))

    claims = []
    for which, word in MEASURES:
        claims += [below(word, which, "k-means", "PDDP"), below(word, which, "k-means", "bisecting k-means")]
        claims += [below(word, which, a, b) for a in STEERED for b in ("PDDP", "bisecting k-means")]
    claims.append(
        everywhere(
            "Of the four variants PDDP_OC_2MEANS or PDDP_OC has the lowest objective.",
            lambda f: [_lowest(f, k) in ("PDDP_OC", "PDDP_OC_2MEANS") for k in f["PDDP"]],
        )
    )
    claims.append(
        everywhere(
            "PDDP_OC and PDDP_OC_2MEANS take longer than PDDP_OCPC.",
            lambda f: [
                min(f["PDDP_OC"][k][SECONDS], f["PDDP_OC_2MEANS"][k][SECONDS]) > f["PDDP_OCPC"][k][SECONDS]
                for k in f["PDDP"]
            ],
        )
    )
    for name in ("PDDP_2MEANS", "PDDP_OCPC"):
        similar = {s: [f[name][k][OBJECTIVE] <= f["k-means"][k][LARGEST] for k in f[name]] for s, f in found.items()}
        claims.append(_claim(f"{name} is similar to k-means: no objective above the largest of ten starts.", similar))
        cheap = {s: _below(f[name], f["PDDP"], SECONDS, 2) for s, f in found.items()}
        claims.append(_claim(f"{name} costs little more than PDDP: less than twice its time.", cheap))
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
    for (i, word), case in itertools.product(MEASURES, ("linear", "kernel")):
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
    names = [f"REUT{i}" for i in ((1,) if steps.quick else (1, 2, 3, 4))]
    found = {name: curves(steps, name, KERNEL, kernel) for name in names}
    linear = {name: curves(steps, name, COUNTERPARTS, "linear") for name in names}
    claims = []
    for which, word in MEASURES:
        pairs = [("kernel k-means", "KPDDP")]
        pairs += [(name, other) for name in HYBRIDS for other in ("KPDDP", "kernel k-means")]
        for name, other in pairs:
            cases = {s: _below(f[name], f[other], which) for s, f in found.items()}
            claims.append(_claim(f"{word}: {name} is below {other}.", cases))
    for name in HYBRIDS:
        cases = {s: _below(f[name], f["kernel k-means"], SECONDS, 2) for s, f in found.items()}
        claims.append(_claim(f"{name} costs little more: less than twice a start of kernel k-means.", cases))
    cases = {s: _below(f["KPDDP_OCPC"], f["KPDDP_OC"], SECONDS) for s, f in found.items()}
    claims.append(_claim("The optimal cut in feature space (KPDDP_OC) costs more than KPDDP_OCPC.", cases))
    for name, kernel_name in COUNTERPARTS.items():
        cases = {s: _below(linear[s][name], f[kernel_name], ENTROPY) for s, f in found.items()}
        claims.append(_claim(f"The linear kernel is better: {name}'s entropy is below {kernel_name}'s.", cases))
    note = f"The paper names no parameters; this is {kernel}. k-means variants: means of {STARTS} random starts."
    return Outcome(_tables(found), claims, [note], _pictures(found))


@reproduction("pddp", "figure4", "Kernel versions with a polynomial kernel on REUT1–4.")
def figure4(steps: Steps) -> Outcome:
    return kernel_figure(steps, KERNELS["polynomial"])


@reproduction("pddp", "figure5", "Kernel versions with a Gaussian kernel on REUT1–4.")
def figure5(steps: Steps) -> Outcome:
    return kernel_figure(steps, KERNELS["gaussian"])
