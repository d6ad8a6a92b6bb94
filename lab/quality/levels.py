"""How many groups: the middle level against a fixed k and the older choice, and data with and without groups."""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from grampus import DocumentClusterer, choose_levels
from grampus.documents import Effort
from grampus.metrics import ari, nmi
from lab import Found, Table, Task, data, row
from lab.older import older_labels
from lab.quality.defaults import weighted
from lab.quality.draws import CONFIRMED_ON, SETS, draw
from lab.speed.whole import generated
from lab.speed.whole import seconds as spent_by

FIXED = 8
NEAR = 1.5  # factor between the number of classes and that of a level
RESTS_ON = ("select", "cluster", "documents", "text")


def _scores(classes: Any, labels: Any) -> list[float]:
    return [float(nmi(classes, labels)), float(ari(classes, labels))]


def answers(name: str) -> dict[str, Any]:
    """Return what the levels, k = 8, the true k, prediction strength and 5f63358 make of a set."""
    warnings.simplefilter("ignore")
    documents, classes = draw(name)
    given: Any = weighted(documents) if hasattr(documents, "indices") else list(documents)
    true = len(np.unique(classes))
    began = time.process_time()
    levels = DocumentClusterer(effort=Effort(stability=False)).fit(given)
    seconds = time.process_time() - began
    assert levels.choice_ is not None
    found: dict[str, Any] = {
        "true": true,
        "levels": {
            name: len(level.branches)
            for name, level in zip(levels.run_.levels, levels.run_.evidence.levels, strict=True)
        },
        "verdict": levels.choice_.answer,
        "seconds": seconds,
        "middle": _scores(classes, levels.labels_),
    }
    others = {
        "fixed": DocumentClusterer(FIXED, effort=Effort(stability=False)),
        "given": DocumentClusterer(true, effort=Effort(stability=False)),
        "strength": DocumentClusterer(effort=Effort(scheme="auto", stability=False)),
    }
    for way, model in others.items():
        found[way] = _scores(classes, model.fit(given).labels_)
    return found | {"older": _scores(classes, older_labels(given)[0])}


def _near(found: dict[str, Any]) -> bool:
    return any(max(k / found["true"], found["true"] / k) <= NEAR for k in found["levels"].values())


@row(
    "quality",
    "levels-terms",
    "The middle level on 22 sets of at most 2,500 documents, next to k = 8, the true k, and the choice by prediction "
    "strength among 2 to 10; and whether the number of classes is within a factor 1.5 of a level.",
    rests_on=RESTS_ON,
    conditions=(
        "levels-nmi-over-fixed", "levels-ari-over-fixed", "levels-nmi-over-older", "levels-ari-over-older",
        "levels-near", "levels-fallen",
    ),
    data=True,
    timeout=4 * 3600,
)  # fmt: skip
def levels_terms(task: Task) -> Found:
    names = SETS[:4] if task.quick else SETS
    found = {name: task.step(name, partial(answers, name)) for name in names}
    rows = []
    for name, one in found.items():
        cells = [f"{one[way][0]:.3f} / {one[way][1]:.3f}" for way in ("middle", "fixed", "given", "older")]
        sizes = ", ".join(f"{k}" for k in one["levels"].values())
        half = "confirmed" if name in CONFIRMED_ON else "chosen"
        rows.append((name, half, one["true"], sizes, one["verdict"], *cells, f"{one['seconds']:.1f}"))
    means = {}
    for half, some in (
        ("all", list(names)),
        ("chosen", [name for name in names if name not in CONFIRMED_ON]),
        ("confirmed", [name for name in names if name in CONFIRMED_ON]),
    ):
        mean = {way: np.mean([found[n][way] for n in some], axis=0) for way in ("middle", "fixed", "given", "older")}
        near = float(np.mean([_near(found[n]) for n in some]))
        means[half] = (mean, near)
        cells = [f"{a:.3f} / {b:.3f}" for a, b in mean.values()]
        rows.append((f"mean, {half}", "", "", f"near: {near:.0%}", "", *cells, ""))
    mean, near = means["all"]
    fallen = sum(one["middle"][0] < 0.1 and one["fixed"][0] >= 0.3 for one in found.values())
    over = {way: mean["middle"] - mean[way] for way in ("fixed", "older")}
    measures = {f"{what} over {way}": float(over[way][i]) for way in over for i, what in enumerate(("nmi", "ari"))}
    measures |= {"near": near, "fallen": float(fallen)}
    text = (
        f"middle {mean['middle'][0]:.3f} / {mean['middle'][1]:.3f}, "
        f"k = 8 {mean['fixed'][0]:.3f} / {mean['fixed'][1]:.3f}, "
        f"older {mean['older'][0]:.3f} / {mean['older'][1]:.3f}; near a level {near:.0%}"
    )
    heads = ("set", "half", "classes", "levels", "verdict", "middle NMI / ARI", "k = 8", "true k", "older", "CPU s")
    return Found(text, measures, [Table("Levels", heads, rows)])


# -- data with groups, and without


def mixture(seed: int) -> tuple[Any, Any, str]:
    """Return well-separated groups, 2 to 30 of them: points around centres, or texts of topics with their own words."""
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(2, 31)), int(rng.choice([500, 1000, 2000]))
    classes = rng.choice(k, n, p=rng.dirichlet(np.full(k, 8.0)))
    if seed % 2:
        d = int(rng.choice([10, 30]))
        centres = rng.normal(size=(k, d))
        apart = np.sqrt(((centres[:, None] - centres) ** 2).sum(axis=-1))
        centres *= 10.0 / apart[~np.eye(k, dtype=bool)].min()
        return centres[classes] + rng.normal(size=(n, d)), classes, "linear"
    common = 1.0 / np.arange(1, 2001)
    topics = [0.5 * common / common.sum() for _ in range(k)]
    for topic in topics:
        topic[rng.choice(2000, 60, replace=False)] += 0.5 * rng.dirichlet(np.ones(60))
    texts = [_words(rng.choice(2000, int(rng.integers(30, 120)), p=topics[c])) for c in classes]
    return weighted(texts), classes, "cosine|principal(30)|normalise"


def _words(numbers: Any) -> str:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return " ".join("w" + letters[i % 26] + letters[i // 26 % 26] + letters[i // 676] for i in numbers)


def _terms(texts: Any) -> tuple[Any, str]:
    return list(texts), ""


def shuffled_terms(rng: np.random.Generator) -> Any:
    """Deal the words of 1,000 documents of a set among them."""
    name = ("bbc", "agnews", "stackoverflow", "ohsumed", "r52")[int(rng.integers(5))]
    documents = [draw(name)[0][i] for i in rng.permutation(len(draw(name)[0]))[:1000]]
    lengths = [len(text.split()) for text in documents]
    words = np.array([word for text in documents for word in text.split()], dtype=object)
    dealt = np.split(rng.permutation(words), np.cumsum(lengths)[:-1])
    return [" ".join(some) for some in dealt]


def random_words(rng: np.random.Generator) -> Any:
    """Return texts of random words, of one length or of several."""
    n, size = int(rng.choice([200, 600, 1500])), int(rng.choice([100, 1000, 5000]))
    chances = 1.0 / np.arange(1, size + 1) ** float(rng.choice([0.0, 1.0]))
    low, high = ((5, 6), (20, 21), (100, 101), (5, 100))[int(rng.integers(4))]
    return [_words(rng.choice(size, int(rng.integers(low, high)), p=chances / chances.sum())) for _ in range(n)]


def random_bytes(rng: np.random.Generator) -> Any:
    """Return random bytes that pass as text."""
    return [bytes(rng.integers(32, 256, int(rng.integers(20, 400))).tolist()).decode("latin-1") for _ in range(400)]


def one_gaussian(rng: np.random.Generator) -> Any:
    """Return one cloud, round or not."""
    n, d = int(rng.choice([100, 500, 2000])), int(rng.choice([2, 5, 30, 100]))
    spread = np.arange(1, d + 1) ** -float(rng.choice([0.0, 0.7]))
    return rng.normal(size=(n, d)) * spread


def ten_documents(rng: np.random.Generator) -> Any:
    """Return ten documents of bbc."""
    documents = draw("bbc")[0]
    return [documents[i] for i in rng.permutation(len(documents))[:10]]


def nothing_shared(rng: np.random.Generator) -> Any:
    """Return texts that share no word."""
    n = int(rng.choice([30, 100, 300]))
    return [" ".join(f"x{i}y{j}z{int(rng.integers(9))}" for j in range(12)) for i in range(n)]


NOTHING: dict[str, Callable[[np.random.Generator], Any]] = {
    "shuffled terms": shuffled_terms,
    "random words": random_words,
    "random bytes": random_bytes,
    "one Gaussian": one_gaussian,
    "ten documents": ten_documents,
    "nothing shared": nothing_shared,
}


def answer_to_nothing(kind: str, seed: int) -> str:
    """Return the verdict on one draw of data without groups."""
    warnings.simplefilter("ignore")
    made = NOTHING[kind](np.random.default_rng([seed, list(NOTHING).index(kind)]))
    if not isinstance(made, list):
        return choose_levels(made, kernel="linear", random_state=0).verdict
    try:
        model = DocumentClusterer(effort=Effort(stability=False)).fit(made)
    except ValueError as error:  # no document holds a term
        return f"refused: {error}"
    assert model.choice_ is not None
    return model.choice_.answer


def quiet(verdict: str) -> bool:
    """Return whether a verdict claims no groups."""
    return verdict in ("no groups", "too few") or verdict.startswith("refused")


@row(
    "quality",
    "levels-nothing",
    "Verdicts on 100 draws each of shuffled terms, random words, random bytes, one Gaussian, ten documents and texts "
    "that share nothing.",
    rests_on=RESTS_ON,
    conditions=("levels-quiet", "levels-no-tick"),
    data=True,
    timeout=4 * 3600,
)
def levels_nothing(task: Task) -> Found:
    rows, shares, ticks = [], [], 0
    for kind in NOTHING:
        found = [task.step(f"{kind} {i}", partial(answer_to_nothing, kind, i)) for i in range(task.trials(100, 5))]
        shares.append(sum(map(quiet, found)) / len(found))
        ticks += sum(verdict == "groups" for verdict in found) if kind == "random words" else 0
        rows.append((kind, len(found), f"{shares[-1]:.0%}", sum(verdict == "groups" for verdict in found)))
    text = f"no groups in {min(shares):.0%} of the draws or more; {ticks} ticks for random words"
    return Found(
        text,
        {"quiet": min(shares), "ticks": float(ticks)},
        [Table("Data without groups", ("data", "draws", "no groups", "ticks"), rows)],
    )


def answer_to_mixture(seed: int) -> list[int]:
    """Return the number of groups of a mixture, of the middle level, and of all levels."""
    warnings.simplefilter("ignore")
    x, classes, kernel = mixture(seed)
    found = choose_levels(x, kernel=kernel, random_state=0)
    return [len(np.unique(classes)), found.middle.n_clusters, *(level.n_clusters for level in found.levels)]


@row(
    "quality",
    "levels-mixtures",
    "100 well-separated mixtures of 2 to 30 groups: how often a level has as many clusters, and the middle one.",
    rests_on=RESTS_ON,
    conditions=("levels-some-exact", "levels-middle-exact"),
    timeout=4 * 3600,
)
def levels_mixtures(task: Task) -> Found:
    found = [task.step(f"mixture {i}", partial(answer_to_mixture, i)) for i in range(task.trials(100, 6))]
    some = float(np.mean([true in levels for true, *levels in found]))
    middle = float(np.mean([true == first for true, first, *_ in found]))
    wrong = [f"{true}: {levels}" for true, first, *levels in found if true != first]
    notes = [f"Where the middle level differs (groups: levels): {'; '.join(wrong)}."] if wrong else []
    return Found(f"a level {some:.0%}, the middle one {middle:.0%}", {"some": some, "middle": middle}, notes=notes)


@row(
    "quality",
    "levels-20ng",
    "CPU seconds of the levels of the whole of 20ng, once the terms are there.",
    rests_on=RESTS_ON,
    conditions=("levels-20ng-seconds",),
    data=True,
)
def levels_20ng(task: Task) -> Found:
    texts, _ = data.texts("20ng")
    x = weighted(texts[:3000] if task.quick else texts)
    began = time.process_time()
    found = choose_levels(x, random_state=0)
    seconds = time.process_time() - began
    return Found(f"{seconds:.1f} CPU s; {found.sentence}", {"seconds": seconds})


@row(
    "quality",
    "levels-100k",
    "`grampus cluster` without -k on 100,000 documents of 35 words, page and stability included.",
    rests_on=(*RESTS_ON, "_native"),
    conditions=("levels-100k-seconds", "levels-100k-memory"),
)
def levels_100k(task: Task) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        place, page = Path(folder, "many.txt"), Path(folder, "page.html")
        place.write_text(generated(task.trials(100_000, 2_000)), encoding="utf-8")
        words = ("-m", "grampus", "cluster", str(place), "--split", "lines", "--report", str(page), "-q")
        spent, memory = spent_by(sys.executable, *words)
    return Found(f"{spent:.1f} processor s, {memory:.0f} MB", {"seconds": spent, "memory": memory})
