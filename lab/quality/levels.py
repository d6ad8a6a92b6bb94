"""How many groups: the middle level against a fixed k and the true one, and data with and without groups."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from grampus import DocumentClusterer, choose_levels
from grampus.documents import Effort
from lab import Found, Table, Task, row
from lab.quality import meaning
from lab.quality.draws import CONFIRMED_ON, SETS, draw, given, pair, scores, weighted

NEAR = 1.5  # factor between the number of classes and that of a level
WAYS = ("middle", "k = 8", "true k")


def answers(name: str) -> dict[str, Any]:
    """Return what the levels, k = 8 and the true k make of a set."""
    warnings.simplefilter("ignore")
    documents, classes, true = given(name)
    began, found = time.process_time(), dict[str, Any]()
    ks: tuple[Any, ...] = ("auto", 8, true)
    for way, k in zip(WAYS, ks, strict=True):
        model: Any = DocumentClusterer(k, effort=Effort(stability=False)).fit(documents)
        found[way] = scores(classes, model.labels_)
        if k == "auto":
            sizes = [len(level.branches) for level in model.run_.evidence.levels]
            found |= {"seconds": time.process_time() - began, "sizes": sizes, "verdict": model.choice_.answer}
    near = any(max(k / true, true / k) <= NEAR for k in found["sizes"])
    return found | {"true": true, "near": float(near)}


@row("quality", "levels-terms")
def levels_terms(task: Task) -> Found:
    names = SETS[: task.trials(len(SETS), 4)]
    found = {name: task.step(name, partial(answers, name)) for name in names}
    rows = []
    for name, one in found.items():
        half, sizes = "confirmed" if name in CONFIRMED_ON else "chosen", ", ".join(map(str, one["sizes"]))
        cells = (pair(one[way]) for way in WAYS)
        rows.append((name, half, one["true"], sizes, one["verdict"], *cells, f"{one['seconds']:.1f}"))
    halves = {"chosen": set(names) - set(CONFIRMED_ON), "confirmed": set(names) & set(CONFIRMED_ON), "all": set(names)}
    for half, some in halves.items():
        mean = {way: np.mean([found[n][way] for n in some], axis=0) for way in WAYS}
        near = float(np.mean([found[n]["near"] for n in some]))
        rows.append((f"mean, {half}", "", "", f"near: {near:.0%}", "", *map(pair, mean.values()), ""))
    over = mean["middle"] - mean["k = 8"]
    fallen = sum(one["middle"][0] < 0.1 and one["k = 8"][0] >= 0.3 for one in found.values())
    measures = {"nmi over fixed": over[0], "ari over fixed": over[1], "near": near, "fallen": float(fallen)}
    text = ", ".join(f"{way} {pair(value)}" for way, value in mean.items())
    heads = ("set", "half", "classes", "levels", "verdict", "middle NMI / ARI", *WAYS[1:], "CPU s")
    return Found(f"{text}; near a level {near:.0%}", measures, [Table("Levels", heads, rows)])


# -- the sets on which meaning was chosen and confirmed


def shown(name: str, seed: int) -> dict[str, Any]:
    """Return what the default, k = 8 and the true k make of a draw, and the number of groups of every level."""
    warnings.simplefilter("ignore")
    texts, classes = meaning.sample(name, seed)
    true, found = len(np.unique(classes)), dict[str, Any]()
    ks: tuple[Any, ...] = ("auto", 8, true)
    for way, k in zip(WAYS, ks, strict=True):
        model: Any = DocumentClusterer(k, random_state=seed, effort=Effort(stability=False)).fit(texts)
        found[way] = scores(classes, model.labels_)
        if k == "auto":
            sizes = [len(model.run_.level_names(level)) for level in model.run_.levels]
            found |= {"true": true, "sizes": sizes, "shown": model.n_clusters_, "verdict": model.choice_.answer}
    return found


def _near(one: dict[str, Any], key: str) -> float:
    found = [one[key]] if isinstance(one[key], int) else one[key]
    return float(any(max(k / one["true"], one["true"] / k) <= NEAR for k in found))


@row("quality", "levels-shown")
def levels_shown(task: Task) -> Found:
    halves: dict[str, tuple[str, ...]] = {"chosen": meaning.CHOSEN_ON, "confirmed": meaning.CONFIRMED_ON}
    if task.quick:
        halves = {"chosen": ("gnad10_de",), "confirmed": ("bbcsport",)}
    rows, every, means = [], list[dict[str, Any]](), dict[str, dict[str, Any]]()
    for half, names in halves.items():
        for name in names:
            found = [task.step(f"{name} {s}", partial(shown, name, s)) for s in range(task.trials(3, 1))]
            every += found
            means[name] = {way: np.mean([one[way] for one in found], axis=0) for way in WAYS}
            sizes = "; ".join(", ".join(map(str, one["sizes"])) for one in found)
            numbers = ", ".join(str(one["shown"]) for one in found)
            rows.append((name, half, found[0]["true"], numbers, sizes, *map(pair, means[name].values())))
        some = [np.mean([means[name][way] for name in names], axis=0) for way in WAYS]
        rows.append((f"mean, {half}", "", "", "", "", *map(pair, some)))
    mean = {way: np.mean([one[way] for one in means.values()], axis=0) for way in WAYS}
    confirmed = np.mean([means[name]["middle"] for name in halves["confirmed"]], axis=0)
    few, many = ([one for one in every if low < one["true"] <= high] for low, high in ((0, 20), (40, np.inf)))
    behind = [np.mean([one["true k"][0] - one["middle"][0] for one in some]) if some else 0.0 for some in (few, many)]
    measures = {
        "nmi": mean["middle"][0], "ari": mean["middle"][1],
        "confirmed nmi": confirmed[0], "confirmed ari": confirmed[1],
        "nmi over fixed": mean["middle"][0] - mean["k = 8"][0], "ari over fixed": mean["middle"][1] - mean["k = 8"][1],
        "behind, few": behind[0], "behind, many": behind[1],
        "near shown": float(np.mean([_near(one, "shown") for one in every])),
        "near some": float(np.mean([_near(one, "sizes") for one in every])),
    }  # fmt: skip
    figure = f"shown {pair(mean['middle'])}, on the confirming half {pair(confirmed)}"
    heads = ("set", "half", "classes", "shown", "levels", "shown NMI / ARI", *WAYS[1:])
    return Found(figure, measures, [Table("The level that is shown first", heads, rows)])


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
    except ValueError:  # no document holds a term
        return "refused"
    assert model.choice_ is not None
    return model.choice_.answer


@row("quality", "levels-nothing")
def levels_nothing(task: Task) -> Found:
    rows = []
    for kind in NOTHING:
        found = [task.step(f"{kind} {i}", partial(answer_to_nothing, kind, i)) for i in range(task.trials(100, 5))]
        quiet = sum(verdict in ("no groups", "too few", "refused") for verdict in found) / len(found)
        rows.append((kind, len(found), quiet, found.count("groups")))
    least, ticks = min(line[2] for line in rows), next(line[3] for line in rows if line[0] == "random words")
    text = f"no groups in {least:.0%} of the draws or more; {ticks} ticks for random words"
    table = Table("Data without groups", ("data", "draws", "no groups, share", "ticks"), rows)
    return Found(text, {"quiet": least, "ticks": float(ticks)}, [table])


def answer_to_mixture(seed: int) -> list[int]:
    """Return the number of groups of a mixture, of the middle level, and of all levels."""
    warnings.simplefilter("ignore")
    x, classes, kernel = mixture(seed)
    found = choose_levels(x, kernel=kernel, random_state=0)
    return [len(np.unique(classes)), found.middle.n_clusters, *(level.n_clusters for level in found.levels)]


@row("quality", "levels-mixtures")
def levels_mixtures(task: Task) -> Found:
    found = [task.step(f"mixture {i}", partial(answer_to_mixture, i)) for i in range(task.trials(100, 6))]
    some = float(np.mean([true in levels for true, *levels in found]))
    middle = float(np.mean([true == first for true, first, *_ in found]))
    notes = [f"{true} groups: {levels}" for true, first, *levels in found if true != first]
    return Found(f"a level {some:.0%}, the middle one {middle:.0%}", {"some": some, "middle": middle}, notes=notes)
