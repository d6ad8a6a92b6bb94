"""`pddp`: Zeimpekis & Gallopoulos 2007, principal direction divisive partitioning with kernels and k-means steering."""

import itertools
import time
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from grampus import BisectingKernelKMeans, KernelKMeans
from grampus.metrics import cluster_entropy
from grampus.text import TermVectorizer
from lab import Claim, Found, Table, Task, data
from lab.papers import PUBLISHED, paper
from lab.papers.rules import tree

PRINTED = PUBLISHED["pddp"]
STEERED = ("PDDP_2MEANS", "PDDP_OC", "PDDP_OC_2MEANS", "PDDP_OCPC")
LINEAR = ("k-means", "bisecting k-means", "PDDP", *STEERED)
KERNEL = ("kernel k-means", "kernel bisecting k-means", "KPDDP", "KPDDP_2MEANS", "KPDDP_OCPC", "KPDDP_OC")
HYBRIDS = ("KPDDP_2MEANS", "KPDDP_OCPC")
COUNTERPARTS = {"k-means": "kernel k-means", "PDDP": "KPDDP", "PDDP_2MEANS": "KPDDP_2MEANS", "PDDP_OCPC": "KPDDP_OCPC"}
CLASSES = ("med", "cran", "cisi")
OBJECTIVE, ENTROPY, SECONDS, LEAST, LARGEST = range(5)  # of a score; the last two are of the objective
MEASURES = ((OBJECTIVE, "Objective"), (ENTROPY, "Entropy"))
POLYNOMIAL, GAUSSIAN = "polynomial(2)", "gaussian(1)"  # the paper gives no parameters; these are ours
STARTS = 10
NORMAL_NEAR = 0.0797  # of a normal variable, the share within a tenth of a standard deviation of its mean
Curve = dict[int, list[float]]  # scores by k


@cache
def load(name: str) -> data.DataSet:
    """Return a set with the terms that explain table 3: three letters or more, in two documents."""
    if name.startswith("REUT"):
        return data.reut(int(name[4]), letters=True)
    return {"MODAPTE": data.modapte, "OHSUMED": data.ohsumed, "CLASSIC3": data.classic3_tmg}[name](letters=True)


def score(name: str, algorithm: str, k: int, directions: int, kernel: str, seed: int) -> list[float]:
    """Return objective, entropy in bits and seconds (the means of ten starts), and the range of objectives."""
    found, began = load(name), time.perf_counter()
    if algorithm.endswith("bisecting k-means"):
        models = [BisectingKernelKMeans(k, kernel=kernel, n_init=1, random_state=seed + i) for i in range(STARTS)]
        fitted = [model.fit(found.x) for model in models]
        partitions, objectives = [m.labels_ for m in fitted], [m.objective_ for m in fitted]
    elif algorithm.endswith("k-means"):
        runs = KernelKMeans(k, kernel=kernel, n_init=STARTS, random_state=seed).fit(found.x).result_.runs
        partitions, objectives = list(runs.labels), list(runs.objective)
    else:
        model = tree(f"{algorithm}({directions})", k, kernel).fit(found.x)
        partitions, objectives = [model.labels_], [model.objective_]
    seconds = (time.perf_counter() - began) / len(partitions)
    entropy = float(np.mean([cluster_entropy(found.labels, labels) for labels in partitions]))
    return [float(np.mean(objectives)), entropy, seconds, float(np.min(objectives)), float(np.max(objectives))]


def curves(task: Task, name: str, algorithms: Iterable[str], kernel: str, directions: int = 1) -> dict[str, Curve]:
    """Return the scores of every algorithm: k = 4:3:k_max serves l = 1 and 2, 8:7:k_max serves l = 1 and 3 (§5)."""
    largest = int(PRINTED["table3"][name][-1]) + 8
    threes, sevens = range(4, largest + 1, 3), range(8, largest + 1, 7)
    ks = {1: sorted({*threes, *sevens}), 2: list(threes), 3: list(sevens)}[directions][: 1 if task.quick else None]
    return {
        algorithm: {
            k: task.step(
                f"{name} {kernel} {algorithm} l={directions} k={k}",
                partial(score, name, algorithm, k, directions, kernel, task.seed),
            )
            for k in ks
        }
        for algorithm in algorithms
    }


@paper("pddp-table3")
def table3(task: Task) -> Found:
    rows = []
    for name, printed in PRINTED["table3"].items():
        found = load(name)
        n, m = found.x.shape
        ours = (f"{n}", f"{m}", f"{found.x.nnz / n:.0f}", f"{100 * found.x.nnz / (n * m):.2f}", f"{found.k}")
        rows.append((name, *(f"{a} ({b})" for a, b in zip(ours, printed, strict=True))))
    columns = ("set", "documents", "terms", "terms a document", "non-zero %", "clusters")
    notes = ["OHSUMED is a stand-in: the paper's cut is not available. 0.37 of REUT3 and 84 of REUT4 are misprints."]
    return Found(tables=[Table("Ours (published)", columns, rows)], notes=notes)


def confusion(name: str, k: int, found: data.DataSet | None = None) -> tuple[Any, Any]:
    """Return our confusion matrix of CLASSIC3, its columns in the order nearest to the published one, and that."""
    found, target = found or load("CLASSIC3"), np.array(PRINTED["table4"][f"{name}-{k}"]["rows"])
    labels = tree(name, k).fit(found.x).labels_
    ours = np.array([np.bincount(labels[found.labels == c], minlength=k) for c in CLASSES])
    order = min(itertools.permutations(range(k)), key=lambda order: int(np.abs(ours[:, order] - target).sum()))
    return ours[:, order], target


def mixed(table: Any) -> float:
    """Return the entropy in bits of a confusion matrix."""
    rows, columns = (np.repeat(places.ravel(), table.ravel()) for places in np.indices(table.shape))
    return float(cluster_entropy(rows, columns))


@paper("pddp-table4")
def table4(task: Task) -> Found:
    rows, apart, bits = [], {}, {}
    for name, k in itertools.product(("PDDP", "PDDP_OCPC"), (3, 4)):
        ours, target = confusion(name, k)
        apart[f"{name} k={k}"] = int(np.abs(ours - target).sum()) // 2
        bits[name, k] = mixed(ours), mixed(target)
        for label, mine, theirs in zip(("MED", "CRAN", "CISI"), ours, target, strict=True):
            cells = [f"{a} ({b})" for a, b in zip(mine, theirs, strict=True)] + ["–"] * (4 - k)
            rows.append((f"{name}, k = {k}", label, *cells))
    told = "; ".join(
        f"k={k} {whose}: {bits['PDDP_OCPC', k][i]:.3f} against {bits['PDDP', k][i]:.3f} bits"
        for i, whose in enumerate(("ours", "published"))
        for k in (3, 4)
    )
    cleaner = all(bits["PDDP_OCPC", k][0] < bits["PDDP", k][0] for k in (3, 4))
    text = "; ".join(f"{name}: {count}" for name, count in apart.items()) + " of 3,891 documents in another cell"
    table = Table("Ours (published)", ("algorithm", "class", "1", "2", "3", "4"), rows)
    claims = [Claim("PDDP_OCPC's clusters are cleaner than PDDP's (entropy).", cleaner, told)]
    return Found(text, {"apart": max(apart.values())}, [table], claims)


@paper("pddp-stop-words")
def stop_words(task: Task) -> Found:
    """Make tables 3 and 4 with two lists of stop words: the paper names none (its program, TMG, brings its own)."""
    sets, trees = ("CLASSIC3", "MODAPTE")[: task.trials(2, 1)], list(itertools.product(("PDDP", "PDDP_OCPC"), (3, 4)))
    how: dict[str, Any] = {"tokenizer": r"[^\W\d_]{3,}", "stemmer": "porter", "min_df": 2, "dtype": np.float64}
    rows, most, lists = [], {}, {"scikit-learn's": {"stop_words": sorted(ENGLISH_STOP_WORDS)}, "Grampus's own": {}}
    for stopped, words in lists.items():
        made = {}
        for name in sets:
            texts, labels = data.fields("T A B W", CLASSES) if name == "CLASSIC3" else data.texts("r52_raw_9052")
            terms = TermVectorizer("lfc", **{**how, **words}).fit_transform(list(texts))
            made[name] = data.DataSet(name, sp.csr_array(terms), labels)
        tables = [confusion(name, k, made["CLASSIC3"]) for name, k in trees]
        apart = [int(np.abs(ours - target).sum()) // 2 for ours, target in tables]
        most[stopped] = max(apart)
        rows.append((stopped, *(f"{made[n].x.shape[1]} ({PRINTED['table3'][n][1]})" for n in sets), *apart))
    columns = ("stop words", *(f"terms of {name} (published)" for name in sets), *(f"{n}, k = {k}" for n, k in trees))
    figure = "; ".join(f"{name} list at most {count}" for name, count in most.items())
    table = Table("Terms, and documents of CLASSIC3 in another cell of table 4", columns, rows)
    notes = ["Letters, three or more, in two documents, Porter's stems; CLASSIC3 with fields T A B W."]
    measures = {"apart": most["Grampus's own"]}
    return Found(f"{figure} of 3,891 documents in another cell", measures, [table], notes=notes)


@paper("pddp-figure1")
def figure1(task: Task) -> Found:
    found = load("REUT1" if task.quick else "MODAPTE")
    split = tree("PDDP_OCPC", 2).fit(found.x).tree_.root.split
    projections = np.asarray(found.x @ (found.x.T @ split.coefficients[:, 0]) - split.offset[0])
    threshold, band = float(split.thresholds[0]), 0.1 * projections.std()
    near = [float(np.mean(np.abs(projections - cut) < band)) for cut in (0.0, threshold)]

    def picture(figure: Any) -> None:
        axes = figure.subplots()
        axes.hist(projections, bins=80, color="#8aa")
        axes.axvline(0, color="black", linestyle="--", label="PDDP cuts at 0")
        axes.axvline(threshold, color="firebrick", label=f"PDDP_OCPC cuts at {threshold:.3f}")
        axes.set(xlabel="projection", ylabel="documents", title=found.name)
        axes.legend()

    told = (
        f"{100 * near[0]:.1f} % within a tenth of a standard deviation of 0, {100 * near[1]:.1f} % of {threshold:.3f}"
    )
    claims = [
        Claim("Many projections lie around 0: at least as many as of a normal curve.", near[0] >= NORMAL_NEAR, told),
        Claim("Another cut is more reasonable: fewer documents lie at OCPC's.", near[1] < near[0], told),
    ]
    return Found(claims=claims, pictures={"projections": picture})


def below(a: Curve, b: Curve, which: int, times: float = 1.0) -> list[bool]:
    """Return for every k whether a score of `a` is below so many times that of `b`."""
    return [a[k][which] < times * b[k][which] for k in a if k in b]


def judged(text: str, cases: dict[str, list[bool]]) -> Claim:
    """Return a claim that holds when it does at more than half of all sizes; every count is shown."""
    every = [value for values in cases.values() for value in values]
    told = ", ".join(f"{name} {sum(values)}/{len(values)}" for name, values in cases.items())
    return Claim(text, bool(np.mean(every) > 0.5), f"{sum(every)}/{len(every)}: {told}")


def tables(found: dict[str, dict[str, Curve]]) -> list[Table]:
    """Return a table for each set, at some eight sizes."""

    def cell(values: list[float] | None) -> str:
        if values is None:
            return "–"
        spread = f" ({values[LEAST]:.0f}–{values[LARGEST]:.0f})" if values[LEAST] < values[LARGEST] else ""
        return f"{values[OBJECTIVE]:.0f}{spread} · {values[ENTROPY]:.2f} · {values[SECONDS]:.2f} s"

    shown = []
    for name, algorithms in found.items():
        ks = sorted({k for scores in algorithms.values() for k in scores})
        ks = ks if len(ks) <= 8 else ks[:: len(ks) // 6]
        rows = [(algorithm, *(cell(scores.get(k)) for k in ks)) for algorithm, scores in algorithms.items()]
        title = f"{name}: objective (least–largest of {STARTS} starts) · entropy (bits) · seconds"
        shown.append(Table(title, ("algorithm", *(f"k = {k}" for k in ks)), rows))
    return shown


def pictures(found: dict[str, dict[str, Curve]]) -> dict[str, Callable[[Any], None]]:
    """Return the three pictures: objective, entropy and seconds against k."""

    def picture(figure: Any, which: int, label: str) -> None:
        many = figure.subplots(1, len(found), squeeze=False)[0]
        for axes, (name, algorithms) in zip(many, found.items(), strict=True):
            for algorithm, scores in algorithms.items():
                axes.plot(list(scores), [values[which] for values in scores.values()], marker=".", label=algorithm)
            axes.set(title=name, xlabel="k", ylabel=label)
        many[0].legend(fontsize=6)

    return {name: partial(picture, which=i, label=name) for i, name in enumerate(("objective", "entropy", "seconds"))}


@paper("pddp-figure2")
def figure2(task: Task) -> Found:
    found = {name: curves(task, name, LINEAR, "linear") for name in ("MODAPTE", "OHSUMED")[: task.trials(2, 1)]}

    def everywhere(text: str, holds: Callable[[dict[str, Curve]], list[bool]]) -> Claim:
        return judged(text, {name: holds(algorithms) for name, algorithms in found.items()})

    claims = []
    for which, word in MEASURES:
        pairs = [("k-means", "PDDP"), ("k-means", "bisecting k-means")]
        pairs += itertools.product(STEERED, ("PDDP", "bisecting k-means"))
        for a, b in pairs:
            claims.append(everywhere(f"{word}: {a} is below {b}.", lambda f, a=a, b=b, w=which: below(f[a], f[b], w)))  # type: ignore[misc]
    full = ("PDDP_OC", "PDDP_OC_2MEANS")

    def lowest(f: dict[str, Curve]) -> list[bool]:
        return [min(STEERED, key=lambda name: f[name][k][OBJECTIVE]) in full for k in f["PDDP"]]

    def slower(f: dict[str, Curve]) -> list[bool]:
        return [min(f[name][k][SECONDS] for name in full) > f["PDDP_OCPC"][k][SECONDS] for k in f["PDDP"]]

    claims.append(everywhere("Of the four variants PDDP_OC_2MEANS or PDDP_OC has the lowest objective.", lowest))
    claims.append(everywhere("PDDP_OC and PDDP_OC_2MEANS take longer than PDDP_OCPC.", slower))
    for name in ("PDDP_2MEANS", "PDDP_OCPC"):
        similar = {s: [f[name][k][OBJECTIVE] <= f["k-means"][k][LARGEST] for k in f[name]] for s, f in found.items()}
        claims.append(judged(f"{name} is similar to k-means: no objective above the largest of ten starts.", similar))
        cheap = {s: below(f[name], f["PDDP"], SECONDS, 2) for s, f in found.items()}
        claims.append(judged(f"{name} costs little more than PDDP: less than twice its time.", cheap))
    return Found(tables=tables(found), claims=claims, pictures=pictures(found))


@paper("pddp-figure3")
def figure3(task: Task) -> Found:
    cases = [("MODAPTE", "linear"), ("OHSUMED", "linear")]
    cases += [(f"REUT{i}", kernel) for i in (1, 2, 3, 4) for kernel in (POLYNOMIAL, GAUSSIAN)]
    cases = [cases[0], cases[2]] if task.quick else cases
    found: dict[str, dict[str, Curve]] = {}
    counts: dict[tuple[int, str], dict[str, list[bool]]] = {}
    for name, kernel in cases:
        plain, case = ("PDDP", "linear") if kernel == "linear" else ("KPDDP", "kernel")
        for count in (1, 2, 3):
            scores = curves(task, name, (plain, f"{plain}_OCPC"), kernel, count)
            found.setdefault(f"{name} {kernel}", {}).update({f"{a}({count})": curve for a, curve in scores.items()})
            for which, _ in MEASURES:
                better = below(scores[f"{plain}_OCPC"], scores[plain], which)
                counts.setdefault((which, case), {})[f"{name} {kernel} l={count}"] = better
    words = dict(MEASURES)
    claims = [judged(f"{words[w]}, {case} case: OCPC(l) is below PDDP(l).", each) for (w, case), each in counts.items()]
    return Found(tables=tables(found), claims=claims)


def kernel_figure(task: Task, kernel: str) -> Found:
    """Figures 4 and 5: the kernel versions on REUT1–4."""
    names = [f"REUT{i}" for i in (1, 2, 3, 4)][: task.trials(4, 1)]
    found = {name: curves(task, name, KERNEL, kernel) for name in names}
    linear = {name: curves(task, name, COUNTERPARTS, "linear") for name in names}
    claims = []
    for which, word in MEASURES:
        pairs = [("kernel k-means", "KPDDP"), *itertools.product(HYBRIDS, ("KPDDP", "kernel k-means"))]
        for a, b in pairs:
            claims.append(judged(f"{word}: {a} is below {b}.", {s: below(f[a], f[b], which) for s, f in found.items()}))
    for name in HYBRIDS:
        cheap = {s: below(f[name], f["kernel k-means"], SECONDS, 2) for s, f in found.items()}
        claims.append(judged(f"{name} costs little more: less than twice a start of kernel k-means.", cheap))
    dear = {s: below(f["KPDDP_OCPC"], f["KPDDP_OC"], SECONDS) for s, f in found.items()}
    claims.append(judged("The optimal cut in feature space (KPDDP_OC) costs more than KPDDP_OCPC.", dear))
    for name, other in COUNTERPARTS.items():
        better = {s: below(linear[s][name], f[other], ENTROPY) for s, f in found.items()}
        claims.append(judged(f"The linear kernel is better: {name}'s entropy is below {other}'s.", better))
    notes = [f"The paper names no parameters; this is {kernel}. k-means variants: means of {STARTS} random starts."]
    return Found(tables=tables(found), claims=claims, notes=notes, pictures=pictures(found))


paper("pddp-figure4")(partial(kernel_figure, kernel=POLYNOMIAL))
paper("pddp-figure5")(partial(kernel_figure, kernel=GAUSSIAN))
