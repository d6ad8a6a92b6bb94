"""How the first two papers made vectors of texts: the setting that explains most of their numbers.

Greene's counts of bbc come with the names of their 9635 terms. Next to the texts they show the rules: words are runs
of letters, digits and "£" in which hyphens and full stops vanish ("16-year-old" is one word, "2.5m" is "25m"), stems
are Porter's as in his own revised program, and terms of fewer than three documents are dropped. Stopped were the words
of bbc whose stem is missing, or counted in too few documents. The same rules give 4613 terms on bbcsport, the
published number. How the rest was found: docs/results/findings.md.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
import Stemmer

from grampus.text import TermVectorizer
from lab import data
from lab.papers.rules import EQUATION, ONCE

RUN, JOINED = re.compile(r"[\w£.-]+"), re.compile(r"[.-]")
MEASURED = re.compile(r"[aeiouy][^aeiouy]")  # Porter's m > 0: a vowel, then a consonant
REVISED = (("bly", "ble"), ("blies", "ble"), ("logy", "log"), ("logies", "log"))
PORTER = Stemmer.Stemmer("porter")
MIN_DF = 3
SLACK = 3  # documents by which a stem may differ without a stop word behind it
HEADERS: dict[str, tuple[str, ...] | None] = {
    "kept": None,
    "cut": (),
    "Subject": ("subject:",),
    "From and Subject": ("from:", "subject:"),
}
NEWS = ("ng3", "ng17-19")  # the only sets with headers


@dataclass(frozen=True)
class Setting:
    """One way of preparing and clustering the sets; `fields` are those of classic's records, "" for our texts."""

    headers: str = "kept"
    fields: str = ""
    start: str = "documents"
    pairs: float = ONCE

    def __str__(self) -> str:
        fields = f", fields {self.fields}" if self.fields else ""
        pairs = "every pair once" if self.pairs == ONCE else "Eqn 4"
        return f"recovered terms, headers {self.headers}{fields}, (1 + log2 tf)(1 + log10(n/df)), {self.start}, {pairs}"

    def starts(self, gram: Any, k: int, count: int, seed: int) -> dict[str, Any]:
        """Return so many random partitions, or k random documents with every other one put to the most similar."""
        how: dict[str, Any] = {"init": "random", "n_init": count, "max_iter": 100, "random_state": seed}
        if self.start == "documents":
            rng, rows = np.random.default_rng(seed), np.arange(len(gram))
            chosen = [np.sort(rng.choice(len(gram), k, replace=False)) for _ in range(count)]
            how["init"] = np.array([gram.block(rows, seeds).argmax(axis=1) for seeds in chosen], dtype=np.intp)
        return how


CONFIRMED = Setting()  # chosen on three sets, confirmed on three others; after the empirical map Eqn 4 is used
AS_WRITTEN = Setting(pairs=EQUATION)


def words(text: str) -> list[str]:
    """Return the words of a text, of two characters or more."""
    return [word for run in RUN.findall(text.lower()) if len(word := JOINED.sub("", run)) > 1]


@cache
def stem(word: str) -> str:
    """Return Porter's stem with the two departures of his program: -bli becomes -ble, and -logi becomes -log."""
    if len(word) < 3:
        return word
    for ending, other in REVISED:
        if word.endswith(ending) and MEASURED.search(word[: -len(ending)]):
            return str(PORTER.stemWord(word[: -len(ending)] + other))
    return str(PORTER.stemWord(word))


@cache
def stop_words() -> frozenset[str]:
    """Return the words that Greene's counts of bbc lack."""
    counts, _ = data.counts("bbc")
    terms = data.source("bbc.terms.txt").read_text(encoding="utf-8").split()
    published = dict(zip(terms, np.bincount(counts.indices, minlength=len(terms)).tolist(), strict=True))
    where: dict[str, set[int]] = defaultdict(set)
    for number, text in enumerate(data.texts("bbc")[0]):
        for word in set(words(text)):
            where[word].add(number)
    forms = defaultdict(list)
    for word in sorted(where, key=lambda word: (-len(where[word]), word)):
        forms[stem(word)].append(word)

    def documents(some: Iterable[str]) -> int:
        return len(set().union(*(where[word] for word in some)))

    stopped = {word for word in where if len(where[word]) >= MIN_DF and stem(word) not in published}
    for term, wanted in published.items():
        kept = [word for word in forms[term] if word not in stopped]
        if documents(kept) > wanted + SLACK:  # stop the fewest words, at most four, that bring the count near
            dropped = chain.from_iterable(combinations(kept[:8], size) for size in range(1, 5))
            best = min(dropped, key=lambda gone: abs(documents([w for w in kept if w not in gone]) - wanted))
            stopped.update(best)
    return frozenset(stopped)


def tokens(text: str) -> list[str]:
    """Return the stems of a text's words without stop words: a tokenizer for `TermVectorizer`."""
    stopped = stop_words()
    return [stem(word) for word in words(text) if word not in stopped]


def headed(post: str, headers: str) -> str:
    """Return a post with what a setting keeps of its header."""
    kept = HEADERS[headers]
    if kept is None:
        return post
    header, *rest = re.split(r"\n\s*\n", post, maxsplit=1)
    return "\n".join([*(line for line in header.split("\n") if kept and line.lower().startswith(kept)), *rest])


def counted(texts: Sequence[str], min_df: int = MIN_DF) -> Any:
    """Return the counts of texts, terms in at least so many documents."""
    how: dict[str, Any] = {"tokenizer": tokens, "stop_words": None, "stemmer": None}
    how |= {"min_df": min_df, "dtype": np.float64}
    return sp.csr_array(TermVectorizer("txx", **how).fit_transform(list(texts)))


def weighted(counts: Any) -> Any:
    """Return (1 + log2 tf)(1 + log10(n/df)), in single precision."""
    often = np.maximum(np.bincount(counts.indices, minlength=counts.shape[1]), 1)
    values = (1 + np.log2(counts.data)) * (1 + np.log10(counts.shape[0] / often))[counts.indices]
    return sp.csr_array((values.astype(np.float32), counts.indices, counts.indptr), shape=counts.shape)


@cache
def documents(name: str, headers: str = "kept", fields: str = "") -> data.DataSet:
    """Return a set of `dominance` and `validation`; bbc, cstr and reviews come as counts and are only weighted."""
    file, classes = data.DOCUMENT_SETS[name]
    base, kind = file.split(".")[:2]
    if kind == "mtx":
        counts, labels = data.counts(base)
        return data.DataSet(name, weighted(counts), labels)
    texts, labels = data.fields(fields, classes) if fields else data.texts(base, classes)
    if name in NEWS:
        texts = tuple(headed(text, headers) for text in texts)
    return data.DataSet(name, weighted(counted(texts)), labels)
