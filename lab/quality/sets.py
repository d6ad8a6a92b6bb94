"""Sets of different kinds: texts, tables of numbers, strings; and harder tasks drawn from three sets of texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grampus.text import TermVectorizer
from lab import data

WEIGHTING = "lec"  # as DocumentClusterer


@dataclass(frozen=True)
class Set:
    """Documents as rows of `x` and, where there are some, as texts; and their classes."""

    name: str
    kind: str
    labels: NDArray[Any]
    x: Any = None
    texts: list[str] | None = None

    @property
    def k(self) -> int:
        """The number of classes."""
        return len(np.unique(self.labels))

    def small(self) -> Set:
        """Return every seventh document."""
        x = None if self.x is None else self.x[::7]
        return replace(self, labels=self.labels[::7], x=x, texts=None if self.texts is None else self.texts[::7])


def _weighted(name: str, kind: str, found: Sequence[str], labels: NDArray[Any], min_df: int = 3) -> Set:
    x = TermVectorizer(WEIGHTING, min_df=min_df, dtype=np.float64).fit_transform(list(found))
    return Set(name, kind, labels, x, list(found))


def _drawn(labels: NDArray[Any], most: int) -> NDArray[np.intp]:
    """Return up to `most` positions of every class, sorted."""
    rng = np.random.default_rng(0)
    return np.sort(np.concatenate([rng.permutation(np.flatnonzero(labels == c))[:most] for c in np.unique(labels)]))


def texts() -> list[Set]:
    """Return texts: short ones, news, abstracts, noisy posts, many classes, unequal ones, few documents."""
    bbc, bbc_classes = data.texts("bbc")
    sport, sport_classes = data.texts("bbcsport")
    posts, groups = data.texts("20ng")
    wires, topics = data.texts("r52_raw_9052")
    some, few = _drawn(groups, 150), _drawn(sport_classes, 20)
    names, sizes = np.unique(topics, return_counts=True)
    third = np.flatnonzero(np.isin(topics, names[sizes >= 40]))[::3]
    return [
        _weighted("headlines", "short: the titles of bbc", [t.split("\n", 1)[0] for t in bbc], bbc_classes, 2),
        _weighted("bbc", "news", bbc, bbc_classes),
        _weighted("classic3", "abstracts of three fields", *data.texts("classic4", ("cisi", "cran", "med"))),
        _weighted("ng17-19", "posts on politics, noisy and overlapping", *data.texts("20ng", data.POLITICS)),
        _weighted("ng20", "150 posts of every group, many classes", [posts[i] for i in some], groups[some]),
        _weighted("reuters", "wires, very unequal classes", [wires[i] for i in third], topics[third]),
        _weighted("few", "20 articles of every class of bbcsport", [sport[i] for i in few], sport_classes[few], 2),
    ]


def numbers() -> list[Set]:
    """Return tables: digits as pixels, three of UCI, chains of points and unequal clouds."""
    from sklearn.datasets import load_digits, make_blobs, make_moons

    digits = load_digits()
    moons, moon = make_moons(600, noise=0.07, random_state=0)
    centres, spreads = [[0, 0], [7, 0], [0, 7]], [2.0, 0.7, 0.7]
    clouds, cloud = make_blobs([900, 60, 40], cluster_std=spreads, centers=centres, random_state=0)
    found = [Set("digits", "8 × 8 pixels", digits.target, digits.data / 16)]
    for name, kind in (("iris", "4 measures"), ("ecoli", "7 measures, unequal"), ("segment", "18 measures")):
        uci = data.table(name)
        found.append(Set(name, kind, uci.labels, uci.x))
    found.append(Set("moons", "two chains of points", moon, (moons - moons.mean(0)) / moons.std(0)))
    found.append(Set("clouds", "one large and two small clouds", cloud, (clouds - clouds.mean(0)) / clouds.std(0)))
    return found


def strings() -> list[Set]:
    """Return strings: stemmed wires, articles with every sixth letter wrong, and two kinds of made-up DNA."""
    wires = data.strings()
    sport, classes = data.texts("bbcsport")
    misspelt = _misspelt([text[:500] for text in sport])
    return [
        _weighted("wires", "stemmed Reuters wires of `strings`", wires.x, wires.labels),
        _weighted("misspelt", "500 letters of sport articles, 15 % of them wrong", misspelt, classes),
        _dna("motifs", "DNA-like: three planted words of 12 letters a class, 10 % wrong"),
        _dna("habits", "DNA-like: a class has its own habits of which letter follows which"),
    ]


def _misspelt(found: Sequence[str], share: float = 0.15) -> list[str]:
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    made = []
    for text in found:
        signs = np.array(list(text.lower()))
        wrong = np.char.isalpha(signs) & (rng.random(len(signs)) < share)
        signs[wrong] = rng.choice(letters, wrong.sum())
        made.append("".join(signs))
    return made


def _dna(name: str, kind: str, classes: int = 6, each: int = 60, length: int = 400) -> Set:
    rng = np.random.default_rng(1 if name == "motifs" else 2)
    planted = rng.integers(0, 4, (classes, 3, 12)) if name == "motifs" else None
    follow = rng.dirichlet(np.full(4, 4.0), (classes, 4, 4)).cumsum(axis=3) if planted is None else None
    made = []
    for group in np.repeat(np.arange(classes), each):
        letters = rng.integers(0, 4, length) if follow is None else np.array([0, 1, *([0] * (length - 2))])
        for word in planted[group] if planted is not None else ():
            copy = np.where(rng.random(12) < 0.1, rng.integers(0, 4, 12), word)
            start = int(rng.integers(0, length - 12))
            letters[start : start + 12] = copy
        for place, draw in enumerate(rng.random(length - 2) if follow is not None else ()):
            assert follow is not None
            steps = follow[group, letters[place], letters[place + 1]]
            letters[place + 2] = min(3, int(np.searchsorted(steps, draw)))
        made.append("".join(np.array(list("ACGT"))[letters]))
    return Set(name, kind, np.repeat(np.arange(classes), each), None, made)


# Tasks for the choice of defaults: bbc and classic3 are almost solved as they stand, parts of them are not.
KNOWN = {
    "bbc": (("business", "entertainment", "politics", "sport", "tech"), (350, 200, 100, 50, 25)),
    "classic3": (("cisi", "cran", "med"), (600, 150, 40)),
}
SIMILAR = (
    ("money-fx", "interest", "trade"),
    ("gnp", "cpi", "ipi", "jobs"),
    ("crude", "nat-gas", "ship"),
    ("sugar", "coffee", "cocoa", "grain", "rubber"),
    ("gold", "copper", "alum", "iron-steel"),
    ("earn", "acq"),
)


def _sizes(name: str, labels: NDArray[np.str_], rng: np.random.Generator) -> Iterator[dict[str, int]]:
    """Yield how many documents of which classes make a task."""
    if name not in KNOWN:
        classes, counts = np.unique(labels, return_counts=True)
        enough = classes[counts >= 40]
        chosen = [*SIMILAR, *(rng.permutation(enough)[:k] for k in (2, 2, 3, 3, 4, 5, 6, 8))]
        yield from ({str(one): 200 for one in some} for some in chosen)
        return
    known, shares = KNOWN[name]
    yield from (dict.fromkeys(known, each) for each in (60, 200))
    yield from (dict(zip(rng.permutation(known).tolist(), shares, strict=True)) for _ in range(3))
    if name == "bbc":
        yield dict.fromkeys(("business", "politics", "tech"), 150)


def parts(name: str, labels: NDArray[np.str_]) -> Iterator[NDArray[np.intp]]:
    """Yield the documents of every task drawn from one set; always the same."""
    rng = np.random.default_rng(0)
    for wanted in list(_sizes(name, labels, rng)):
        drawn = [rng.permutation(np.flatnonzero(labels == one))[:most] for one, most in wanted.items()]
        yield np.sort(np.concatenate(drawn))
