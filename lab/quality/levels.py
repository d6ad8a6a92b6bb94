"""How many groups: the middle level against a fixed k and the true one, and data with and without groups."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from grampus import DocumentClusterer, choose_levels, config
from grampus.documents import Effort
from grampus.documents.answer import Answer
from grampus.documents.given.frames import read_rows
from grampus.documents.pipeline import FITTED, STAGES, advance
from lab import Found, Table, Task, data, row
from lab.quality import meaning
from lab.quality.draws import pair, scores, weighted

NEAR = 1.5  # factor between the number of classes and that of a level
LADDER = (8, 24, 3, 72, 216)  # a fixed number of groups and those around it, as many as there are levels
WAYS = ("middle", "k = 8", "true k")
FAST = Effort(stability=False)


# -- the sets on which meaning was chosen and confirmed


def shown(name: str, seed: int) -> dict[str, Any]:
    """Return what the default, k = 8 and the true k make of a draw, and the number of groups of every level."""
    warnings.simplefilter("ignore")
    texts, classes = meaning.sample(name, seed)
    true, found = len(np.unique(classes)), dict[str, Any]()
    ks: tuple[Any, ...] = ("auto", 8, true)
    for way, k in zip(WAYS, ks, strict=True):
        model: Any = DocumentClusterer(k, random_state=seed, effort=FAST).fit(texts)
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
    ladder = float(np.mean([_near(one | {"ladder": list(LADDER[: len(one["sizes"])])}, "ladder") for one in every]))
    measures["near over ladder"] = measures["near some"] - ladder
    near = f"near some level {measures['near some']:.0%}, a fixed ladder {ladder:.0%}"
    figure = f"shown {pair(mean['middle'])}, on the confirming half {pair(confirmed)}; {near}"
    heads = ("set", "half", "classes", "shown", "levels", "shown NMI / ARI", *WAYS[1:])
    return Found(figure, measures, [Table("The level that is shown first", heads, rows)])


# -- data with groups, and without


def mixture(seed: int) -> tuple[Any, Any, str]:
    """Return well-separated groups, 2 to 100: points around centres, or texts of topics with their own words."""
    rng = np.random.default_rng(seed)
    k = int(np.exp(rng.uniform(np.log(2), np.log(101))))
    n = int(rng.choice([m for m in (500, 1000, 2000) if m >= 20 * k]))
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
    """Deal the words of 600 documents of one of the sets among them."""
    names = [name for name in (*meaning.CHOSEN_ON, *meaning.CONFIRMED_ON) if name != "thucnews_zh"]  # without blanks
    whole = meaning.sample(names[int(rng.integers(len(names)))], 0)[0]
    documents = [whole[i] for i in rng.permutation(len(whole))[:600]]
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
    documents = meaning.sample("bbc", 0)[0]
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
        model = DocumentClusterer(effort=FAST).fit(made)
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
    least, ticks = min(line[2] for line in rows), sum(line[3] for line in rows)
    text = f"no groups in {least:.0%} of the draws or more; {ticks} ticks"
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


# -- two classes, small ones, versions of a text, and other samples

PAIRS = {
    "agnews8000": (3, 200), "searchsnippets": (3, 200), "snips7": (3, 200), "thucnews_zh": (3, 200),
    "stackoverflow": (3, 100), "biomedical": (3, 100), "huffpost41": (2, 60),
}  # fmt: skip
SMALL = {"agnews8000": (6, 380), "searchsnippets": (5, 285), "snips7": (6, 285), "20ng": (3, 380)}
SAMPLES = {"20ng": 2500, "r52_raw": 2500, "ohsumed": 2500, "classic4": 2500} | dict.fromkeys(
    ("biomedical", "agnews8000", "arxiv24"), 1250
)


@cache
def _whole(name: str) -> tuple[Any, Any]:
    texts, labels = data.texts(meaning.FILES.get(name, f"dev/{name}"))
    return texts, np.asarray(labels)


def two_classes(name: str, number: int, sizes: tuple[int, int]) -> tuple[list[str], Any]:
    """Return documents of two classes of a set; the same for a number."""
    texts, labels = _whole(name)
    rng, (kinds, counts) = np.random.default_rng([7, number]), np.unique(labels, return_counts=True)
    chosen = rng.permutation(kinds[counts >= min(max(sizes), 200)])[:2]
    places = [rng.permutation(np.flatnonzero(labels == kind))[:size] for kind, size in zip(chosen, sizes, strict=True)]
    classes = np.repeat([0, 1], [len(some) for some in places])
    return [texts[int(i)] for i in np.concatenate(places)], classes


def answer_to_pair(name: str, number: int, each: int) -> list[list[float]]:
    """Return ARI of two clusters and of the level that is shown, and its number; with meaning and by words alone."""
    warnings.simplefilter("ignore")
    texts, classes = two_classes(name, number, (each, each))
    found = []
    for embed in ("auto", None):
        shown, two = (DocumentClusterer(k, embed=embed, effort=FAST).fit(texts) for k in ("auto", 2))
        found.append([scores(classes, two.labels_)[1], scores(classes, shown.labels_)[1], shown.n_clusters_])
    return found


@row("quality", "levels-pairs")
def levels_pairs(task: Task) -> Found:
    asked = [(name, number, each) for name, (count, each) in PAIRS.items() for number in range(count)]
    asked = asked[: task.trials(len(asked), 2)]
    found = [
        task.step(f"pair {name} {number}", partial(answer_to_pair, name, number, each)) for name, number, each in asked
    ]
    shares = []
    for way in (0, 1):
        clear = [one[way] for one in found if one[way][0] >= 0.7]
        shares.append(float(np.mean([shown >= 0.6 for _, shown, _ in clear])) if clear else 1.0)
    rows = [
        (name, number, *(f"{value:.2f}" for one in both for value in one[:2]), *(int(one[2]) for one in both))
        for (name, number, _), both in zip(asked, found, strict=True)
    ]
    heads = ("set", "pair", "k = 2", "shown", "k = 2, words", "shown, words", "groups", "groups, words")
    measures = {"found": shares[0], "found by words": shares[1]}
    text = f"shown where k = 2 finds them: {shares[0]:.0%}, by words {shares[1]:.0%}"
    return Found(text, measures, [Table("Two classes, ARI", heads, rows)])


def answer_to_small(name: str, number: int, large: int) -> list[float]:
    """Return the best F1 of a shown group with a class of a twentieth of the documents, and the number of groups."""
    warnings.simplefilter("ignore")
    texts, classes = two_classes(name, number, (large, large // 19))
    model = DocumentClusterer(effort=FAST).fit(texts)
    inside = [np.sum((model.labels_ == c) & (classes == 1)) for c in range(model.n_clusters_)]
    sizes = [np.sum(model.labels_ == c) for c in range(model.n_clusters_)]
    best = max(2 * own / (size + classes.sum()) for own, size in zip(inside, sizes, strict=True))
    return [float(best), float(model.n_clusters_)]


@row("quality", "levels-small")
def levels_small(task: Task) -> Found:
    asked = [(name, number, large) for name, (count, large) in SMALL.items() for number in range(count)]
    asked = asked[: task.trials(len(asked), 2)]
    found = [task.step(f"small {name} {n}", partial(answer_to_small, name, n, large)) for name, n, large in asked]
    apart = float(np.mean([best >= 0.6 for best, _ in found]))
    rows = [(n, i, f"{best:.2f}", int(k)) for (n, i, _), (best, k) in zip(asked, found, strict=True)]
    table = Table("A class of 5 %", ("set", "mixture", "F1", "groups"), rows)
    return Found(f"apart in {apart:.0%} of the mixtures", {"apart": apart}, [table])


def answer_to_versions(seed: int) -> list[float]:
    """Return the number of groups of 30 texts in 8 versions, each without a fifth of its words, and their ARI."""
    warnings.simplefilter("ignore")
    rng, texts = np.random.default_rng([8, seed]), meaning.sample("bbc", 0)[0]
    made = []
    for at in rng.permutation(len(texts))[:30]:
        words = texts[int(at)].split()
        made += [" ".join(word for word in words if rng.random() >= 0.2) for _ in range(8)]
    model = DocumentClusterer(effort=FAST).fit(made)
    return [float(model.n_clusters_), scores(np.repeat(np.arange(30), 8), model.labels_)[1]]


@row("quality", "levels-versions")
def levels_versions(task: Task) -> Found:
    found = [task.step(f"versions {i}", partial(answer_to_versions, i)) for i in range(task.trials(5, 2))]
    numbers = ", ".join(f"{k:.0f}" for k, _ in found)
    exact = float(np.mean([k == 30 for k, _ in found]))
    return Found(f"groups {numbers}; least ARI {min(one for _, one in found):.3f}", {"exact": exact})


def answer_to_sample(name: str, count: int, seed: int) -> int:
    """Return the number of groups that is shown of a sample of a set."""
    warnings.simplefilter("ignore")
    texts = _whole(name)[0]
    index = np.random.default_rng([9, seed]).permutation(len(texts))[:count]
    return DocumentClusterer(effort=FAST).fit([texts[int(i)] for i in np.sort(index)]).n_clusters_


@row("quality", "levels-steady")
def levels_steady(task: Task) -> Found:
    rows, near = [], []
    for name, count in list(SAMPLES.items())[: task.trials(len(SAMPLES), 1)]:
        found = [task.step(f"sample {name} {i}", partial(answer_to_sample, name, count, i)) for i in range(5)]
        middle = float(np.median(found))
        near += [max(k / middle, middle / k) <= NEAR for k in found]
        rows.append((name, count, ", ".join(map(str, found))))
    steady = float(np.mean(near))
    table = Table("Five samples", ("set", "documents", "shown"), rows)
    return Found(f"within a factor 1.5 of their median: {steady:.0%}", {"steady": steady}, [table])


def seconds(kind: str) -> float:
    """Return the processor seconds of choosing and nesting the levels, on one thread."""
    warnings.simplefilter("ignore")
    whole = [str(text) for text in _whole("20ng")[0]]
    if kind == "100,000":  # pieces of 40 words
        pieces = (text.split()[at : at + 40] for text in whole for at in range(0, len(text.split()), 40))
        whole = [" ".join(words) for words in pieces if len(words) > 20][:100_000]
    texts = meaning.sample("20ng", 0)[0] if kind == "2,500" else whole
    model, spent = DocumentClusterer(embed="auto" if kind == "2,500" else None, effort=FAST), 0.0
    with config(threads=1):
        answer = Answer(model._request(), read_rows(texts))
        for stage in STAGES[:FITTED]:
            began = time.process_time()
            answer = advance(answer, (stage,))
            spent += (time.process_time() - began) * (stage.__name__ in ("choose", "nest"))
    return spent


@row("quality", "levels-seconds")
def levels_seconds(task: Task) -> Found:
    kinds = ("2,500", "20ng", "100,000")[: task.trials(3, 1)]
    found = {kind: task.step(kind, partial(seconds, kind)) for kind in kinds}
    return Found(", ".join(f"{kind}: {spent:.1f} s" for kind, spent in found.items()), found)
