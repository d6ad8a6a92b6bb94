"""Names of clusters: what must never be in one, and whether the words of a name belong together elsewhere.

The sets are clustered once. `names-faults` counts names with a form that occurs in no document of the cluster, a word
of digits only, a phrase that is on no single line, a stem twice, a name that another cluster has, and words that occur
mainly in header lines of their cluster. `names-coherence` is the mean NPMI of two words of a name over windows of ten
words in all text sets but the one tested, next to c-TF-IDF and to the plain contrast of weights. One window is added to
the windows that hold both words and to those expected by chance, so that a pair too rare to be judged scores 0; pairs
with a word in fewer than ten windows, and names of one word, are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
import Stemmer

from grampus import DocumentClusterer
from grampus.describe import distinguishing_terms
from grampus.documents import Effort, default_terms
from grampus.text import Terms
from lab import Found, Table, Task, data, row

SETS = {"bbc": 5, "20ng": 20, "r52_raw_9052": 20, "ohsumed_single23": 23, "dev/stackoverflow": 20}
REFERENCE = (*SETS, "bbcsport", "classic4", "dev/agnews8000", "dev/searchsnippets", "dev/banking77", "dev/arxiv24")
SAME_SOURCE = {"bbc": ("bbc", "bbcsport")}  # sets that share documents
WINDOW, FEWEST = 10, 10
FAULTS = ("no such form", "digits", "across lines", "stem twice", "equal names", "header words")
WORD = re.compile(r"\w+")
SUBJECT = re.compile(r"(?im)^subject:.*$")  # a header that says what the text is about
HEAD = re.compile(r"(?:[A-Za-z][A-Za-z0-9-]*:.*\n(?:[ \t]+\S.*\n)*){2,}")


def clustered(name: str, most: int) -> tuple[list[str], Any]:
    """Return at most so many texts of a set, evenly drawn, and their clusters by the defaults."""
    texts = list(data.texts(name)[0])
    texts = texts[:: -(-len(texts) // most)]
    return texts, DocumentClusterer(SETS[name], effort=Effort(stability=False, n_init=4)).fit(texts)


def faults(names: list[str], labels: Any, texts: list[str]) -> Counter[str]:
    """Count what is wrong with names."""
    stem = Stemmer.Stemmer("english").stemWord
    found: Counter[str] = Counter(dict.fromkeys(FAULTS, 0))
    found["equal names"] = len(names) - len({name.casefold() for name in names})
    for cluster, name in enumerate(names):
        members = [texts[i] for i in np.flatnonzero(labels == cluster)]
        lines = [" ".join(line.split()) for text in members for line in text.splitlines()]
        words = WORD.findall(name)
        heads = Counter(
            word.lower() for text in members if (m := HEAD.match(text)) for word in WORD.findall(SUBJECT.sub("", m[0]))
        )
        held = Counter(word for text in members for word in WORD.findall(text))
        total: Counter[str] = Counter()
        for word, number in held.items():
            total[word.lower()] += number
        found["no such form"] += any(word not in held for word in words)
        found["digits"] += any(word.isdigit() for word in words)
        found["across lines"] += any(
            " " in part and not any(part in line for line in lines) for part in name.split(", ")
        )
        found["stem twice"] += len({stem(word.lower()) for word in words}) < len(words)
        found["header words"] += any(2 * heads[word.lower()] > max(total[word.lower()], 1) for word in words)
    return found


def ctfidf(texts: list[str], labels: Any) -> list[str]:
    """Return the three best words of every cluster by c-TF-IDF: share in the cluster times log(1 + A / f)."""
    terms = Terms(stemmer=None)
    counts, words = sp.csr_array(terms.fit_transform(texts)), terms.get_feature_names_out()
    k = int(labels.max()) + 1
    inside = (
        sp.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(k, len(labels))) @ counts
    ).toarray()
    score = inside / inside.sum(axis=1, keepdims=True) * np.log(1 + inside.sum(axis=1).mean() / inside.sum(axis=0))
    return [", ".join(words[at] for at in np.argsort(-one, kind="stable")[:3]) for one in score]


def contrast(texts: list[str], labels: Any) -> list[str]:
    """Return the three terms of every cluster whose mean weight exceeds that outside the most, as usual words."""
    terms = default_terms(len(texts))
    weights = terms.fit_transform(texts)
    found = distinguishing_terms(weights, labels, terms.get_feature_names_out().tolist(), 3)
    return [", ".join(terms.forms_.usual(term.text) for term in one) for one in found]


@cache
def _index(name: str) -> tuple[dict[str, Any], int]:
    """Return the windows that hold each word of a set, and the number of windows."""
    places: dict[str, list[int]] = {}
    start = 0
    for text in data.texts(name)[0]:
        words = WORD.findall(text.lower())
        last = max(len(words) - WINDOW, 0)
        for at, word in enumerate(words):
            if len(word) > 1:
                places.setdefault(word, []).append(
                    (start + max(at - WINDOW + 1, 0)) << 8 | min(at, last) - max(at - WINDOW + 1, 0)
                )
        start += last + 1
    return places, start


def _windows(name: str, word: str) -> Any:
    spans = np.array(_index(name)[0].get(word, ()), dtype=np.int64)
    lengths = (spans & 255) + 1
    offset = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.unique(np.repeat(spans >> 8, lengths) + offset)


@cache
def npmi(one: str, other: str, tested: str) -> float | None:
    """Return the NPMI of two words in all sets but those tested; None if one of them is too rare."""
    first = second = both = total = 0
    for name in REFERENCE:
        if name in SAME_SOURCE.get(tested, (tested,)):
            continue
        a, b = _windows(name, one), _windows(name, other)
        first, second, total = first + len(a), second + len(b), total + _index(name)[1]
        both += len(np.intersect1d(a, b, assume_unique=True))
    if min(first, second) < FEWEST:
        return None
    return float(np.log((both + 1) / (first * second / total + 1)) / -np.log((both + 1) / (total + 1)))


def coherence(names: list[str], tested: str) -> float:
    """Return the mean over names of the mean NPMI of two of their words."""
    found = []
    for name in names:
        words = sorted({word for word in WORD.findall(name.lower()) if len(word) > 1})
        pairs = [npmi(a, b, tested) for i, a in enumerate(words) for b in words[i + 1 :]]
        if known := [value for value in pairs if value is not None]:
            found.append(float(np.mean(known)))
    return float(np.mean(found)) if found else 0.0


@row(
    "quality",
    "names-faults",
    "Names with a form of no document, digits, a phrase across lines, a stem twice, an equal name, or header words.",
    rests_on=("describe", "text.terms", "documents"),
    conditions=("nothing-fails",),
    data=True,
)
def count_faults(task: Task) -> Found:
    rows, failed = [], 0
    for name in SETS:
        texts, model = clustered(name, task.trials(20_000, 1_500))
        for what, names in (
            ("contrast", contrast(texts, model.labels_)),
            ("names", [cluster.label for cluster in model.clusters_]),
        ):
            found = faults(names, model.labels_, texts)
            rows.append((name, what, *(found[fault] for fault in FAULTS)))
        failed += sum(found.values())
    return Found(f"{failed} faults", {"failed": failed}, [Table("Faults", ("set", "by", *FAULTS), rows)])


@row(
    "quality",
    "names-coherence",
    "Mean NPMI of the words of names in other sets: names, c-TF-IDF and the contrast of weights on the same clusters.",
    rests_on=("describe", "text.terms", "documents"),
    conditions=("names-above-ctfidf", "names-above-contrast"),
    data=True,
)
def outside_coherence(task: Task) -> Found:
    rows, shown = [], []
    scores: list[list[float]] = []
    for name in SETS:
        texts, model = clustered(name, task.trials(20_000, 1_500))
        labels, names = model.labels_, [cluster.label for cluster in model.clusters_]
        rivals = contrast(texts, labels), ctfidf(texts, labels)
        values = [coherence(some, name) for some in (names, *rivals)]
        scores.append(values)
        rows.append((name, *(round(value, 3) for value in values)))
        shown += [(name, cluster.size, *some) for cluster, *some in zip(model.clusters_, names, *rivals, strict=True)]
    means = np.mean(scores, axis=0)
    measures = {"above contrast": float(means[0] - means[1]), "above c-TF-IDF": float(means[0] - means[2])}
    figure = f"{means[0]:.3f}; contrast {means[1]:.3f}, c-TF-IDF {means[2]:.3f}"
    columns = ("set", "names", "contrast", "c-TF-IDF")
    tables = [Table("NPMI", columns, rows), Table("Names", ("set", "size", *columns[1:]), shown)]
    return Found(figure, measures, tables)
