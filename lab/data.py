"""The papers' data sets, rebuilt from the corpora in the folder that `GRAMPUS_DATA` names.

Their licences do not allow us to ship them. The files, in one folder:

- 20ng.jsonl.gz: 20 Newsgroups, bydate, 18,846 posts with headers;
- bbc.jsonl.gz: 2,225 BBC articles of 5 classes;
- bbc.mtx.gz: Greene's counts of the same, 2225 × 9635, with bbc.labels.txt;
- bbcsport.jsonl.gz: 737 BBC sport articles of 5 classes;
- classic4.jsonl.gz: CACM, CISI, CRAN and MED, 7,095 abstracts;
- classic4_fields.jsonl.gz: the same by field (T, A, B, W, K, C, N);
- cstr.mtx.gz: 475 × 1000 counts of technical reports, with cstr.labels.txt;
- reviews.mtx.gz: CLUTO's reviews, 4069 × 18483 counts, with reviews.labels.txt;
- r52_raw_9052.jsonl.gz: the 9,052 single-topic ModApte documents of Reuters-21578;
- r52_stemmed.jsonl.gz: Cardoso-Cachopo's stemmed R52;
- ohsumed_single23.jsonl.gz: 7,400 single-label OHSUMED abstracts of 23 classes;
- iris.csv, ecoli.csv, pima.csv, yeast.csv, segment.csv: tables of the UCI repository.
"""

import csv
import gzip
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.io import mmread

from grampus.text import ReadOptions, TermVectorizer, Weighting, read_corpus

POLITICS = ("talk.politics.guns", "talk.politics.mideast", "talk.politics.misc")
NG3 = ("comp.graphics", "sci.space", "talk.politics.mideast")
# The sets of `dominance` and `validation`: (source, the classes taken from it or None for all).
DOCUMENT_SETS: dict[str, tuple[str, tuple[str, ...] | None]] = {
    "bbc": ("bbc.mtx.gz", None), "bbcsport": ("bbcsport.jsonl.gz", None), "cstr": ("cstr.mtx.gz", None),
    "classic3": ("classic4.jsonl.gz", ("cisi", "cran", "med")), "classic": ("classic4.jsonl.gz", None),
    "ng17-19": ("20ng.jsonl.gz", POLITICS), "ng3": ("20ng.jsonl.gz", NG3), "reviews": ("reviews.mtx.gz", None),
}  # fmt: skip
NUMBERED = ReadOptions(duplicate_ids="number")  # 20ng repeats some ids across groups
TABLES = ("iris", "ecoli", "pima", "yeast", "segment")
STRING_CLASSES = ("crude", "interest", "coffee")


class MissingDataError(FileNotFoundError):
    """A corpus is not where `GRAMPUS_DATA` points."""


@dataclass(frozen=True)
class DataSet:
    """Documents as rows of `x` (or the texts themselves) and their classes."""

    name: str
    x: Any
    labels: NDArray[Any]

    @property
    def k(self) -> int:
        """The number of classes."""
        return len(np.unique(self.labels))


def source(name: str) -> Path:
    """Return the path of a corpus file; the error says what is missing and where it was expected."""
    folder = os.environ.get("GRAMPUS_DATA")
    if folder and (path := Path(folder) / name).is_file():
        return path
    where = f"it is not in {folder}" if folder else "the variable GRAMPUS_DATA names no folder"
    raise MissingDataError(f"this measurement needs {name}; {where}.\n\n{__doc__}")


@cache
def texts(name: str, classes: tuple[str, ...] | None = None) -> tuple[tuple[str, ...], NDArray[Any]]:
    """Return the texts of a `NAME.jsonl.gz` and their classes, of all classes or of those named."""
    corpus = read_corpus(source(f"{name}.jsonl.gz"), text="text", id="id", label="label", options=NUMBERED)
    labels = np.array(corpus.labels)
    kept = np.flatnonzero(np.isin(labels, classes)) if classes else np.arange(len(labels))
    return tuple(corpus.texts[int(i)] for i in kept), labels[kept]


@cache
def fields(names: str, classes: tuple[str, ...] | None = None) -> tuple[tuple[str, ...], NDArray[Any]]:
    """Return the records of classic4 with only these fields (T A B W K C N), and their classes."""
    with gzip.open(source("classic4_fields.jsonl.gz"), "rt", encoding="utf-8") as lines:
        records = [record for record in map(json.loads, lines) if classes is None or record["label"] in classes]
    kept = ["\n".join(record[name] for name in names.split() if name in record) for record in records]
    return tuple(kept), np.array([record["label"] for record in records])


@cache
def counts(name: str) -> tuple[Any, NDArray[Any]]:
    """Return the counts of a `NAME.mtx.gz` (documents × terms) and the classes of the documents."""
    labels = source(f"{name}.labels.txt").read_text(encoding="utf-8").split("\n")
    return sp.csr_array(mmread(source(f"{name}.mtx.gz"))), np.array([label for label in labels if label])


@cache
def documents(name: str, weighting: str = "dominance", min_df: int = 3) -> DataSet:
    """Return a set of `dominance` and `validation`, prepared with the library's own words and stems.

    Texts: scikit-learn-style words, stop words removed, Porter stems, terms in fewer than `min_df` documents removed.
    Counts (bbc, cstr, reviews) come with the terms their makers chose and are only weighted.
    """
    file, classes = DOCUMENT_SETS[name]
    stem, kind = file.split(".")[:2]
    if kind == "mtx":
        x, labels = counts(stem)
        return DataSet(name, sp.csr_array(Weighting(weighting, dtype=np.float64).fit_transform(x)), labels)
    words, labels = texts(stem, classes)
    return DataSet(name, _weighted(words, weighting, min_df), labels)


def modapte(letters: bool = False) -> DataSet:
    """Return MODAPTE of `pddp`, weighted as TMG does: logarithm, IDF, unit length; terms in one document removed.

    `letters` makes terms as tables 3 and 4 have them: three letters or more, scikit-learn's stop words, Porter stems.
    """
    words, labels = texts("r52_raw_9052")
    return DataSet("MODAPTE", _weighted(words, "lfc", 2, letters), labels)


def reut(number: int, letters: bool = False) -> DataSet:
    """Return REUT1 … REUT4 of `pddp`: classes of MODAPTE, so many drawn from each, weighted by themselves."""
    words, labels = texts("r52_raw_9052")
    classes, sizes = np.unique(labels, return_counts=True)
    if number == 4:
        chosen, most = classes[np.argsort(-sizes, kind="stable")[:25]], 300
    else:
        most = (40, 100, 200)[number - 1]
        chosen = classes[sizes >= most]
    rng = np.random.default_rng(number)
    kept = np.concatenate([np.sort(rng.permutation(np.flatnonzero(labels == name))[:most]) for name in chosen])
    return DataSet(f"REUT{number}", _weighted([words[i] for i in kept], "lfc", 2, letters), labels[kept])


def classic3_tmg(letters: bool = False) -> DataSet:
    """Return CLASSIC3 of `pddp`, weighted as TMG does; with `letters` also authors and sources are read."""
    classes = ("cisi", "cran", "med")
    words, labels = fields("T A B W", classes) if letters else texts("classic4", classes)
    return DataSet("CLASSIC3", _weighted(words, "lfc", 2, letters), labels)


def ohsumed(letters: bool = False) -> DataSet:
    """Return the stand-in for OHSUMED of `pddp` (7,400 documents, 23 classes), weighted as TMG does."""
    words, labels = texts("ohsumed_single23")
    return DataSet("OHSUMED", _weighted(words, "lfc", 2, letters), labels)


def strings() -> DataSet:
    """Return the 757 documents of `strings`: crude, interest and coffee of the stemmed R52, as texts."""
    words, labels = texts("r52_stemmed", STRING_CLASSES)
    return DataSet("crude/interest/coffee", list(words), labels)


@cache
def table(name: str) -> DataSet:
    """Return a UCI table of `normalised`: columns that vary, each standardised to mean 0 and variance 1."""
    with source(f"{name}.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    label = header.index("label")
    x = np.array([[float(v) for j, v in enumerate(row) if j != label] for row in rows])
    x = x[:, x.std(axis=0) > 0]
    return DataSet(name, (x - x.mean(axis=0)) / x.std(axis=0), np.array([row[label] for row in rows]))


def _weighted(words: Sequence[str], weighting: str, min_df: int, letters: bool = False) -> Any:
    how: dict[str, Any] = {"stemmer": "english" if weighting == "lfc" and not letters else "porter"}
    if letters:
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        how |= {"tokenizer": r"[^\W\d_]{3,}", "stop_words": sorted(ENGLISH_STOP_WORDS)}
    return sp.csr_array(TermVectorizer(weighting, min_df=min_df, dtype=np.float64, **how).fit_transform(list(words)))
