"""`validation`: Greene & Cunningham 2006, how many clusters there are, on real sets and on sets drawn from 20ng."""

from __future__ import annotations

import runpy
import sys
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grampus.kernels import parse_kernel
from lab import Claim, Found, Table, Task
from lab.data import DataSet, texts
from lab.papers import PUBLISHED, paper
from lab.papers.protocol import AS_WRITTEN, CONFIRMED, Setting, documents, headed, vectors, weighted
from lab.papers.rules import choose_k, kernel_kmeans, reduced
from lab.speed.compare import SIDES

PRINTED = PUBLISHED["validation"]
SCHEMES = ("KM-S", "KM-P", "KKM-S", "RED-S")
KS = range(2, 11)
SPLITS = 200  # the paper's τ
RESTS_ON = ("select", "cluster")
NOTE = "Scores are the mean of both directions of a split. KM-P is the share of documents matched one to one."
Top = list[tuple[int, float]]


def estimate(data: DataSet, scheme: str, n_splits: int, pairs: float = CONFIRMED.pairs) -> Top:
    """Return the first three values of k with their scores: cosine kernel, k = 2 … 10."""
    found = choose_k(data.x, scheme, n_splits, pairs, ks=KS)
    return [(k, float(found.mean[found.ks.index(k)])) for k in found.ranking[:3]]


def spell(top: Any) -> str:
    """Write a top three as the paper does."""
    return ", ".join(f"{k} ({score:.2f})" for k, score in top)


@paper("validation-table2", "The real data sets.", rests_on=("text",))
def table2(task: Task) -> Found:
    rows = []
    for name, k in PRINTED["true_k"].items():
        shape = documents(name).x.shape
        sizes = zip(shape, PUBLISHED["dominance"]["table1"][name], strict=False)
        rows.append((name, *(f"{ours} ({printed})" for ours, printed in sizes), k))
    return Found(tables=[Table("Ours (published)", ("set", "documents", "terms", "classes"), rows)])


def top_three(task: Task, setting: Setting) -> Found:
    """Return table 3: the top three k on the real sets, by scheme."""
    names = ("bbcsport", "cstr") if task.quick else tuple(PRINTED["table3"])
    count, found = task.trials(SPLITS, 10), {}
    for name in names:
        for scheme in SCHEMES[2:] if task.quick else SCHEMES:

            def run(name: str = name, scheme: str = scheme) -> Top:
                return estimate(documents(name, setting.headers), scheme, count, setting.pairs)

            found[name, scheme] = task.step(f"{name} {scheme} {count} {setting}", run)
    rows = [
        (f"{name} ({PRINTED['true_k'][name]})", scheme, spell(top), spell(PRINTED["table3"][name][scheme]))
        for (name, scheme), top in found.items()
    ]
    first = {name: found[name, "RED-S"][0][0] for name in names}
    right = [name for name in first if first[name] == PRINTED["true_k"][name]]
    same = [name for name in names if first[name] == found[name, "KKM-S"][0][0]]
    missed = [name for name in names if PRINTED["true_k"][name] not in [k for k, _ in found[name, "RED-S"]]]
    claims = [
        Claim(
            "RED-S's first choice is KKM-S's on all sets but ng17-19.",
            set(names) - set(same) <= {"ng17-19"},
            f"the same on {', '.join(same) or 'none'}",
        ),
        Claim(
            "RED-S misses the true k in its top three only on reviews.",
            set(missed) <= {"reviews"},
            f"missed on {', '.join(missed) or 'none'}",
        ),
    ]
    wanted = [name for name in right if name in ("bbc", "bbcsport", "classic3", "ng3")]
    table = Table("Top three k", ("set (true k)", "scheme", "ours", "paper"), rows)
    notes = [f"{count} splits. {NOTE} Setting: {setting}."]
    text = f"RED-S has the true k first on {', '.join(right) or 'none'}"
    return Found(text, {"sets": len(wanted)}, [table], claims, notes)


@paper("validation-table3", "Top three k on eight sets.", rests_on=RESTS_ON, conditions=("validation-sets",))
def table3(task: Task) -> Found:
    return top_three(task, CONFIRMED)


@paper("validation-table3-equation4", "Top three k on eight sets, with Eqn 4.", rests_on=RESTS_ON)
def table3_equation(task: Task) -> Found:
    return top_three(task, AS_WRITTEN)


# The groups of 20ng from which sets are drawn: no two of one subject, or several of each.
APART = (
    *("comp.graphics", "rec.sport.hockey", "talk.politics.mideast", "sci.crypt", "rec.motorcycles", "sci.med"),
    *("misc.forsale", "soc.religion.christian", "sci.space"),
)
ALIKE = (
    ("comp.sys.mac.hardware", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware", "comp.windows.x"),
    ("rec.autos", "rec.motorcycles", "sci.electronics"),
    ("talk.politics.guns", "talk.politics.misc", "talk.religion.misc", "alt.atheism"),
)
SHAPES = ("balanced", "one 10 %", "one 60 %")


@dataclass(frozen=True)
class Recipe:
    """One of the 84 artificial sets: its groups and how many documents of each.

    Our reading of §4.1: seven values of k (84 = 12 × 7; the paper says [2, 10]), and for each twelve sets,
    {overlapping, not} × {balanced, one cluster with 10 %, one with 60 %} × two draws. Clusters have 500 documents;
    with a cluster of 10 % the others have 500, with one of 60 % (900 documents) they share 600.
    """

    k: int
    overlapping: bool
    shape: str
    draw: int

    def sizes(self) -> list[int]:
        """Return the sizes of the clusters, the odd one first."""
        others = self.k - 1
        first = {"balanced": 500, "one 10 %": round(500 * others / 9), "one 60 %": 900}[self.shape]
        return [first, *([600 // others if self.shape == "one 60 %" else 500] * others)]

    def build(self, setting: Setting = CONFIRMED) -> DataSet:
        """Draw the documents, overlapping groups from as few subjects as will do, and weight their terms."""
        rng = np.random.default_rng([self.k, self.overlapping, SHAPES.index(self.shape), self.draw])
        if self.overlapping:
            groups = [group for subject in rng.permutation(len(ALIKE)) for group in rng.permutation(ALIKE[subject])]
        else:
            groups = rng.permutation(APART).tolist()
        words, labels = texts("20ng")
        kept: list[int] = []
        for group, size in zip(groups[: self.k], self.sizes(), strict=True):
            kept += rng.permutation(np.flatnonzero(labels == group))[:size].tolist()
        kept.sort()
        posts = [headed(words[i], setting.headers) for i in kept]
        return DataSet(str(self), weighted(vectors(posts)), labels[kept])


RECIPES = tuple(
    Recipe(k, overlapping, shape, draw)
    for k in range(2, 9)
    for overlapping in (False, True)
    for shape in SHAPES
    for draw in (0, 1)
)
GROUPS: dict[str, Any] = {
    "balanced": lambda recipe: recipe.shape == "balanced",
    "unbalanced": lambda recipe: recipe.shape != "balanced",
    "non-overlapping": lambda recipe: not recipe.overlapping,
    "overlapping": lambda recipe: recipe.overlapping,
    "overall": lambda recipe: True,
}


def rates(task: Task, setting: Setting) -> Found:
    """Return table 1: how often the true k comes first and among three."""
    recipes = [r for r in RECIPES if r.k <= 3 and r.draw == 0 and not r.overlapping] if task.quick else RECIPES
    count, rows, overall = task.trials(SPLITS, 10), [], (0.0, 0.0)
    for scheme in ("RED-S",) if task.quick else SCHEMES:
        hits = {}
        for recipe in recipes:

            def run(recipe: Recipe = recipe, scheme: str = scheme) -> Top:
                return estimate(recipe.build(setting), scheme, count, setting.pairs)

            top = [k for k, _ in task.step(f"{recipe} {scheme} {count} {setting}", run)]
            hits[recipe] = (top[0] == recipe.k, recipe.k in top)
        for group, holds in GROUPS.items():
            some = [hits[recipe] for recipe in recipes if holds(recipe)]
            if some:
                found = tuple(100 * float(np.mean([hit[i] for hit in some])) for i in (0, 1))
                overall = (found[0], found[1])
                printed = [values[SCHEMES.index(scheme)] for values in PRINTED["table1"][group]]
                cells = [f"{ours:.0f} ({paper})" for ours, paper in zip(found, printed, strict=True)]
                rows.append((group, len(some), scheme, *cells))
    columns = ("sets", "count", "scheme", "first, % (paper)", "top 3, % (paper)")
    reading = "Our reading " + " ".join((Recipe.__doc__ or "").partition("Our reading")[2].split())
    text = f"RED-S first on {overall[0]:.0f} % and among three on {overall[1]:.0f} % of {len(recipes)} sets"
    measures = {"first": overall[0], "three": overall[1]}
    return Found(text, measures, [Table("Right", columns, rows)], notes=[reading, f"{count} splits. {setting}."])


CONDITIONS = ("validation-first", "validation-three")


@paper("validation-table1", "Right estimates on 84 sets from 20ng.", rests_on=RESTS_ON, conditions=CONDITIONS)
def table1(task: Task) -> Found:
    return rates(task, CONFIRMED)


@paper("validation-table1-subject", "The same, of the headers only the Subject kept.", rests_on=RESTS_ON)
def table1_subject(task: Task) -> Found:
    return rates(task, Setting(headers="Subject"))


@paper("validation-table1-equation4", "The same as table 1, with Eqn 4.", rests_on=RESTS_ON)
def table1_equation(task: Task) -> Found:
    return rates(task, AS_WRITTEN)


def example(seed: int) -> tuple[Any, NDArray[Any]]:
    """Return the 450 posts of §2.2, weighted, and their groups."""
    sizes = {"sci.crypt": 300, "rec.sport.hockey": 150}
    words, labels = texts("20ng", tuple(sizes))
    rng = np.random.default_rng(seed)
    kept = np.sort(np.concatenate([rng.permutation(np.flatnonzero(labels == g))[:n] for g, n in sizes.items()]))
    return weighted(vectors([words[i] for i in kept])), labels[kept]


@paper("validation-figure1", "The halves of 450 posts agree for k = 2, not for k = 3.", rests_on=RESTS_ON)
def figure1(task: Task) -> Found:
    x, _ = example(task.seed)
    halves = np.array_split(np.random.default_rng(task.seed).permutation(x.shape[0]), 2)
    values, axes_of = np.linalg.eigh(parse_kernel("cosine|centre").gram(x).dense())
    points = axes_of[:, [-1, -2]] * np.sqrt(values[[-1, -2]])
    how: dict[str, Any] = {"n_init": 1, "random_state": task.seed}
    labels: dict[tuple[int, int], Any] = {}
    for k in (2, 3):
        for half in (0, 1):
            gram = parse_kernel("cosine|shift").gram(x[halves[half]])
            labels[k, half] = kernel_kmeans(gram, k, CONFIRMED.pairs, **how).labels
    found = choose_k(x, "KKM-S", task.trials(200, 20), CONFIRMED.pairs, ks=(2, 3))
    strength = dict(zip(found.ks, map(float, found.mean), strict=True))

    def picture(figure: Any) -> None:
        for place, ((k, half), colours) in enumerate(labels.items()):
            axes = figure.add_subplot(2, 2, place + 1)
            axes.scatter(*points[halves[half]].T, c=colours, s=6, cmap="viridis")
            axes.set(title=f"k = {k}, half {'ab'[half]}", xticks=[], yticks=[])

    text = f"corrected strength {strength[2]:.2f} for 2, {strength[3]:.2f} for 3"
    claim = Claim("The partitions agree for k = 2 and differ for k = 3.", strength[2] > strength[3], text)
    return Found(claims=[claim], pictures={"partitions": picture})


@paper("validation-figure2", "The Gram of 450 posts, reduced at random and by compactness.", rests_on=("select",))
def figure2(task: Task) -> Found:
    x, labels = example(task.seed)
    gram = parse_kernel("cosine").gram(x)
    draws = [reduced(gram, "random", seed) for seed in range(task.trials(100, 10))]
    dense = reduced(gram)
    true, chosen = (float(np.mean(some == "rec.sport.hockey")) for some in (labels, labels[dense.seeds]))
    shares = np.array([np.mean(labels[draw.seeds] == "rec.sport.hockey") for draw in draws])
    error = float(shares.std() / np.sqrt(len(shares)))

    def picture(figure: Any) -> None:
        shown = {"full": (gram, labels), "random": (draws[0].gram, labels[draws[0].seeds])}
        shown["compactness"] = (dense.gram, labels[dense.seeds])
        for place, (title, (some, classes)) in enumerate(shown.items()):
            order = np.argsort(classes, kind="stable")
            axes = figure.add_subplot(1, 3, place + 1)
            matrix = np.sqrt(np.clip(some.dense()[np.ix_(order, order)], 0, None))
            axes.imshow(matrix, cmap="Greys", interpolation="nearest")
            axes.set(title=title, xticks=[], yticks=[])

    claims = [
        Claim(
            "Density selection represents both classes: its share is within a draw's spread of the true one.",
            abs(chosen - true) < shares.std(),
            f"{chosen:.3f} of {true:.3f}; the spread of a random draw is {shares.std():.3f}",
        ),
        Claim(
            "Random seeds neglect the smaller class: their mean share is lower by two standard errors.",
            true - shares.mean() > 2 * error,
            f"{shares.mean():.3f} ± {error:.3f} of {true:.3f} over {len(shares)} draws",
        ),
    ]
    return Found(claims=claims, pictures={"grams": picture})


@paper("validation-speed", "The claim of a 16–20 fold decrease in time, with plain loops.", rests_on=("select",))
def speed(task: Task) -> Found:
    sys.path.insert(0, str(SIDES))
    one_split = runpy.run_path(str(SIDES / "plain.py"))["one_split"]

    def seconds(matrix: Any) -> float:
        n, rng = len(matrix), np.random.default_rng(0)
        shifted = matrix - np.trace(matrix) / n * np.eye(n)
        halves = np.array_split(rng.permutation(n), 2)
        began = time.perf_counter()
        for k in KS:
            one_split(matrix, shifted, k, *halves, rng)
        return time.perf_counter() - began

    def run(name: str) -> list[float]:
        gram = parse_kernel("cosine").gram(documents(name).x)
        began = time.perf_counter()
        small = reduced(gram).gram.dense()
        reduction = time.perf_counter() - began
        full, few = seconds(gram.dense()), seconds(small)
        return [SPLITS * full / (SPLITS * few + reduction), full / few]

    names = ("bbcsport",) if task.quick else ("bbc", "classic3", "ng3", "reviews", "classic")
    found = {name: task.step(f"speed {name}", partial(run, name)) for name in names}
    table = Table(
        "KKM-S over RED-S, one half after the other from the stored matrix, as in 2006",
        ("set", "200 splits and one reduction", "one split alone"),
        [(name, *(f"{ratio:.1f} ×" for ratio in ratios)) for name, ratios in found.items()],
    )
    ratios = [ratio for ratio, _ in found.values()]
    told = f"{min(ratios):.1f} to {max(ratios):.1f} ×; n/4 prototypes make n²/16 products"
    return Found(tables=[table], claims=[Claim("RED-S is 16 to 20 times as fast.", 16 <= min(ratios) <= 20, told)])
