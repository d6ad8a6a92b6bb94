"""`pddp`, tables 3 and 4 with two lists of stop words: the paper names none (its program, TMG, brings its own)."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from grampus.text import TermVectorizer
from lab import Found, Table, Task, data
from lab.papers import PUBLISHED, paper
from lab.papers.rules import tree

PRINTED = PUBLISHED["pddp"]
LISTS: dict[str, dict[str, Any]] = {
    "scikit-learn's": {"stop_words": sorted(ENGLISH_STOP_WORDS)},
    "Grampus's own": {},
}
CLASSES = ("med", "cran", "cisi")


@cache
def weights(name: str, stopped: str) -> data.DataSet:
    """Return a set as TMG weights it: three letters or more, in two documents, Porter stems."""
    words, labels = data.fields("T A B W", CLASSES) if name == "CLASSIC3" else data.texts("r52_raw_9052")
    how: dict[str, Any] = {"tokenizer": r"[^\W\d_]{3,}", "stemmer": "porter", "min_df": 2, "dtype": np.float64}
    x = TermVectorizer("lfc", **how, **LISTS[stopped]).fit_transform(list(words))
    return data.DataSet(name, sp.csr_array(x), labels)


def elsewhere(found: data.DataSet, name: str, k: int) -> int:
    """Return how many documents of CLASSIC3 lie in another cell of table 4, its columns in the nearest order."""
    target = np.array(PRINTED["table4"][f"{name}-{k}"]["rows"])
    labels = tree(name, k).fit(found.x).labels_
    ours = np.array([np.bincount(labels[found.labels == c], minlength=k) for c in CLASSES])
    return int(min(np.abs(ours[:, order] - target).sum() for order in itertools.permutations(range(k)))) // 2


@paper(
    "pddp-stop-words",
    "Tables 3 and 4 with two lists of stop words.",
    rests_on=("cluster", "gram", "text"),
    conditions=("pddp-table4",),
)
def stop_words(task: Task) -> Found:
    sets = ("CLASSIC3",) if task.quick else ("CLASSIC3", "MODAPTE")
    trees = list(itertools.product(("PDDP", "PDDP_OCPC"), (3, 4)))
    rows, apart = [], {}
    for stopped in LISTS:
        terms = [f"{weights(name, stopped).x.shape[1]} ({PRINTED['table3'][name][1]})" for name in sets]
        apart[stopped] = [elsewhere(weights("CLASSIC3", stopped), name, k) for name, k in trees]
        rows.append((stopped, *terms, *apart[stopped]))
    columns = ("stop words", *(f"terms of {name} (published)" for name in sets), *(f"{n}, k = {k}" for n, k in trees))
    figure = "; ".join(f"{name} list at most {max(counts)}" for name, counts in apart.items())
    table = Table("Terms, and documents of CLASSIC3 in another cell of table 4", columns, rows)
    notes = ["Letters, three or more, in two documents, Porter's stems; CLASSIC3 with fields T A B W."]
    measures = {"apart": max(apart["Grampus's own"])}
    return Found(f"{figure} of 3,891 documents in another cell", measures, [table], notes=notes)
