"""How texts become vectors in the first two papers: the ways that were tried, and the one that was settled on."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from grampus.text import TermVectorizer
from reproductions import data, terms

SMART: dict[str, Any] = {"stop_words": "smart", "stemmer": "porter"}
TERMS: dict[str, dict[str, Any]] = {
    "recovered": {"tokenizer": terms.tokens, "stop_words": None, "stemmer": None},
    "words with digits, SMART": {"tokenizer": r"\w\w+", **SMART},
    "letters, SMART": {"tokenizer": r"[^\W\d_]{2,}", **SMART},
}
HEADERS: dict[str, tuple[str, ...] | None] = {"kept": None, "stripped": (), "From and Subject": ("from:", "subject:")}
Weight = tuple[Callable[[Any], Any], Callable[[Any], Any]]  # of the count in the document, and of n/df
WEIGHTS: dict[str, Weight] = {
    "tf · ln(n/df)": (lambda tf: tf, np.log),
    "(1+ln tf) · ln(n/df)": (lambda tf: 1 + np.log(tf), np.log),
    "(1+ln tf) · (1+ln(n/df))": (lambda tf: 1 + np.log(tf), lambda rare: 1 + np.log(rare)),
    "(1+log2 tf) · (1+log10(n/df))": (lambda tf: 1 + np.log2(tf), lambda rare: 1 + np.log10(rare)),
    "tf · (1+log10(n/df))": (lambda tf: tf, lambda rare: 1 + np.log10(rare)),
}
STARTS = ("partition", "documents")
BALANCED = "balanced partition"  # clusters of equal size, to one document; in the second grid
EQUATION, ONCE = 1.0, 0.5  # a centroid's self-similarity as in Eqn 4, and with every pair of the cluster counted once
STOPS = {"no document moves": 100, "ten iterations": 10}
NEWS = ("ng3", "ng17-19")  # the only sets with headers


@dataclass(frozen=True)
class Setting:
    """One way of preparing and clustering the sets.

    `centroid` says how much a centroid's self-similarity counts, `mapped` the same for Grams that come out of the
    empirical map, which the grids do not have (`python -m reproductions dominance map`).
    """

    terms: str
    headers: str
    weights: str
    start: str
    stop: str
    centroid: float = EQUATION
    mapped: float = EQUATION

    def __str__(self) -> str:
        said = f"terms {self.terms}; headers {self.headers}; {self.weights}; start {self.start}; stop {self.stop}"
        once = "" if self.centroid == EQUATION else "; every pair once"
        return said + once + ("" if self.mapped == EQUATION else ", also after the map")

    def of(self, name: str) -> Setting:
        """Return the setting as it concerns one set: headers matter to newsgroup posts alone."""
        return self if name in NEWS else replace(self, headers="kept")

    def starts(self, gram: Any, k: int, count: int, seed: int) -> dict[str, Any]:
        """Return the options of `kernel_kmeans` for so many starts: random partitions, or k documents drawn at random.

        With documents, every other one is put to the most similar of the k.
        """
        init: Any = "random"
        rng, rows = np.random.default_rng(seed), np.arange(len(gram))
        if self.start == BALANCED:
            init = np.array([rng.permutation(rows % k) for _ in range(count)], dtype=np.intp)
        if self.start == "documents":
            chosen = [np.sort(rng.choice(len(gram), k, replace=False)) for _ in range(count)]
            init = np.array([gram.block(rows, seeds).argmax(axis=1) for seeds in chosen], dtype=np.intp)
        ways = {"init": init, "n_init": count, "max_iter": STOPS[self.stop], "random_state": seed}
        return {**ways, "centroid_weight": self.centroid}


# Chosen by `python -m reproductions dominance search`, with Eqn 4 as it stands.
FIRST = Setting("recovered", "kept", "(1+log2 tf) · (1+log10(n/df))", "documents", "no document moves")
# Chosen by `python -m reproductions dominance search-once`, `search-last` and `map`: every pair once, and Eqn 4 after
# the map. Orig and DS cannot tell its starts from random partitions; the columns with the map can.
CHOSEN = replace(FIRST, centroid=ONCE)


def beheaded(post: str, kept: tuple[str, ...]) -> str:
    """Return a post with only those lines of its header that begin with one of `kept`."""
    header, *rest = re.split(r"\n\s*\n", post, maxsplit=1)
    lines = [line for line in header.split("\n") if line.lower().startswith(kept)] if kept else []
    return "\n".join([*lines, *rest])


def headed(post: str, headers: str) -> str:
    """Return a post with what a setting keeps of its header."""
    kept = HEADERS[headers]
    return post if kept is None else beheaded(post, kept)


@cache
def counted(name: str, terms: str, headers: str) -> tuple[Any, NDArray[Any]]:
    """Return a set's counts, terms in at least three documents, and its classes."""
    file, classes = data.DOCUMENT_SETS[name]
    words, labels = data.texts(file.split(".")[0], classes)
    if name in NEWS:
        words = tuple(headed(text, headers) for text in words)
    return vectors(words, terms), labels


def vectors(words: Sequence[str], terms: str = CHOSEN.terms) -> Any:
    """Return the counts of texts, terms in at least three documents."""
    vectorizer = TermVectorizer("txx", min_df=3, dtype=np.float64, **TERMS[terms])
    return sp.csr_array(vectorizer.fit_transform(list(words)))


def weighted(counts: Any, weights: str = CHOSEN.weights) -> Any:
    """Return the weighted counts, in single precision."""
    local, rare = WEIGHTS[weights]
    often = np.maximum(np.bincount(counts.indices, minlength=counts.shape[1]), 1)
    values = local(counts.data) * rare(counts.shape[0] / often)[counts.indices]
    return sp.csr_array((values.astype(np.float32), counts.indices, counts.indptr), shape=counts.shape)


@cache
def documents(name: str, setting: Setting = CHOSEN) -> data.DataSet:
    """Return a set of `dominance` and `validation` as the setting prepares it.

    bbc, cstr and reviews come as counts, with the terms their makers chose, and are only weighted.
    """
    file, _ = data.DOCUMENT_SETS[name]
    stem, kind = file.split(".")[:2]
    x, labels = data.counts(stem) if kind == "mtx" else counted(name, setting.terms, setting.headers)
    return data.DataSet(name, weighted(x, setting.weights), labels)
