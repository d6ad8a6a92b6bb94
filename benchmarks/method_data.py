"""Data of different kinds for `benchmarks.methods`: texts, tables of numbers, strings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grampus.text import TermVectorizer
from reproductions.data import strings, table, texts

WEIGHTING = "lec"  # as DocumentClusterer weighs


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
        """Return every seventh document, to warm up with."""
        x = None if self.x is None else self.x[::7]
        return replace(self, labels=self.labels[::7], x=x, texts=None if self.texts is None else self.texts[::7])


def _of_texts(name: str, kind: str, found: Sequence[str], labels: NDArray[Any], min_df: int = 3) -> Set:
    x = TermVectorizer(WEIGHTING, min_df=min_df, dtype=np.float64).fit_transform(list(found))
    return Set(name, kind, labels, x, list(found))


def _drawn(labels: NDArray[Any], most: int, seed: int = 0) -> NDArray[np.intp]:
    """Return up to `most` places of every class, in the order of the places."""
    rng = np.random.default_rng(seed)
    kept = [rng.permutation(np.flatnonzero(labels == name))[:most] for name in np.unique(labels)]
    return np.sort(np.concatenate(kept))


def text_sets() -> list[Set]:
    """Return texts: short ones, news, abstracts, posts full of noise, many classes, unequal ones, few documents."""
    bbc, bbc_classes = texts("bbc")
    sport, sport_classes = texts("bbcsport")
    abstracts, sources = texts("classic4", ("cisi", "cran", "med"))
    guns = ("talk.politics.guns", "talk.politics.mideast", "talk.politics.misc")
    posts, groups = texts("20ng", guns)
    all_posts, all_groups = texts("20ng")
    wires, topics = texts("r52_raw_9052")
    some = _drawn(all_groups, 150)
    few = _drawn(sport_classes, 20)
    names, sizes = np.unique(topics, return_counts=True)
    frequent = np.flatnonzero(np.isin(topics, names[sizes >= 40]))
    every_third = frequent[::3]
    return [
        _of_texts("headlines", "short: the titles of bbc", [t.split("\n", 1)[0] for t in bbc], bbc_classes, 2),
        _of_texts("bbc", "news", bbc, bbc_classes),
        _of_texts("classic3", "abstracts of three fields", abstracts, sources),
        _of_texts("ng17-19", "posts on politics, noisy and overlapping", posts, groups),
        _of_texts("ng20", "150 posts of every group, many classes", [all_posts[i] for i in some], all_groups[some]),
        _of_texts("reuters", "wires, very unequal classes", [wires[i] for i in every_third], topics[every_third]),
        _of_texts("few", "20 articles of every class of bbcsport", [sport[i] for i in few], sport_classes[few], 2),
    ]


def number_sets() -> list[Set]:
    """Return tables: digits as pixels, four of UCI, and two made ones, of chains and of unequal clouds."""
    from sklearn.datasets import load_digits, make_blobs, make_moons

    digits = load_digits()
    moons, moon = make_moons(600, noise=0.07, random_state=0)
    clouds, cloud = make_blobs(
        [900, 60, 40], cluster_std=[2.0, 0.7, 0.7], centers=[[0, 0], [7, 0], [0, 7]], random_state=0
    )
    found = [Set("digits", "8 × 8 pixels", digits.target, digits.data / 16)]
    for name, kind in (("iris", "4 measures"), ("ecoli", "7 measures, unequal"), ("segment", "18 measures")):
        uci = table(name)
        found.append(Set(name, kind, uci.labels, uci.x))
    found.append(Set("moons", "two chains of points", moon, (moons - moons.mean(0)) / moons.std(0)))
    found.append(Set("clouds", "one large and two small clouds", cloud, (clouds - clouds.mean(0)) / clouds.std(0)))
    return found


def string_sets() -> list[Set]:
    """Return strings: stemmed wires, articles with every sixth letter wrong, and two kinds of made-up DNA."""
    wires = strings()
    sport, classes = texts("bbcsport")
    misspelt = _misspelt([text[:500] for text in sport])
    found = [
        _of_texts("wires", "stemmed Reuters wires of `strings`", wires.x, wires.labels),
        _of_texts("misspelt", "500 letters of sport articles, 15 % of them wrong", misspelt, classes),
    ]
    for name, kind, make in (
        ("motifs", "DNA-like: three planted words of 12 letters a class, 10 % wrong", _motifs),
        ("habits", "DNA-like: a class has its own habits of which letter follows which", _habits),
    ):
        made, labels = make()
        found.append(Set(name, kind, labels, None, made))
    return found


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


def _motifs(classes: int = 6, each: int = 60, length: int = 400) -> tuple[list[str], NDArray[Any]]:
    rng = np.random.default_rng(1)
    planted = rng.integers(0, 4, (classes, 3, 12))
    made = []
    for number in range(classes * each):
        letters = rng.integers(0, 4, length)
        for word in planted[number // each]:
            copy = np.where(rng.random(12) < 0.1, rng.integers(0, 4, 12), word)
            start = int(rng.integers(0, length - 12))
            letters[start : start + 12] = copy
        made.append("".join(np.array(list("ACGT"))[letters]))
    return made, np.repeat(np.arange(classes), each)


def _habits(classes: int = 6, each: int = 60, length: int = 400) -> tuple[list[str], NDArray[Any]]:
    rng = np.random.default_rng(2)
    follow = rng.dirichlet(np.full(4, 4.0), (classes, 4, 4))  # the next letter after two
    made = []
    for number in range(classes * each):
        steps, letters = follow[number // each].cumsum(axis=2), [0, 1]
        for draw in rng.random(length - 2):
            letters.append(min(3, int(np.searchsorted(steps[letters[-2], letters[-1]], draw))))
        made.append("".join("ACGT"[letter] for letter in letters))
    return made, np.repeat(np.arange(classes), each)
