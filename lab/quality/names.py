"""Names of clusters: what must never be in one.

Counted are names with a form that occurs in no document of the cluster, a word of digits only, a phrase that is on no
single line, a stem twice, a name that another cluster has, and words that are mainly in the header lines of its posts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import Stemmer

from grampus import DocumentClusterer, read_corpus
from grampus.documents import Effort
from grampus.text import Cleaning
from grampus.text.languages import segment_words
from lab import Found, Table, Task, data, row
from lab.manuals import descriptions, documentation, pages

SETS = {"bbc": 5, "20ng": 20, "r52_raw_9052": 20, "ohsumed_single23": 23, "dev/stackoverflow": 20}
FAULTS = ("no such form", "digits", "across lines", "stem twice", "equal names", "header words")
WORD = re.compile(r"\w+")
SUBJECT = re.compile(r"(?im)^subject:.*$")  # a header that says what the text is about
HEAD = re.compile(r"(?:[A-Za-z][A-Za-z0-9-]*:.*\n(?:[ \t]+\S.*\n)*){2,}")
DESCRIPTIONS = 50_000
# Documents, the number of clusters, and the language.
PILES: dict[str, tuple[Callable[[], list[str]], int, str | None]] = {
    **{name: (lambda name=name: list(data.texts(name)[0]), k, "english") for name, k in SETS.items()},  # type: ignore[misc]
    "Debian descriptions": (lambda: list(descriptions()[:DESCRIPTIONS]), 40, "english"),
    "HTML pages": (lambda: [read_corpus(file).texts[0] for file in documentation()], 12, "english"),
    "German manuals": (lambda: [page.text for page in pages("de")], 12, "german"),
    "French manuals": (lambda: [page.text for page in pages("fr")], 12, "french"),
    "Russian manuals": (lambda: [page.text for page in pages("ru")], 12, "russian"),
    "Japanese manuals": (lambda: [page.text for page in pages("ja")], 12, None),
    "Chinese manuals": (lambda: [page.text for page in pages("zh")], 12, None),
}


def words_of(text: str, segmented: bool) -> list[str]:
    """Return the words of a text, also of one without spaces."""
    found = WORD.findall(text)
    return [part for word in found for part in segment_words(word)] if segmented else found


def faults(name: str, members: list[str], language: str | None) -> set[str]:
    """Return what is wrong with a name; texts are as they are written, but for the requests of manual pages."""
    stem = Stemmer.Stemmer(language).stemWord if language else str
    words = words_of(name, language is None)
    lowered, found = {word.lower() for word in words}, set[str]()
    held = {word for text in members for word in words_of(text, language is None)}
    total, heads = Counter[str](), Counter[str]()
    for text in members:
        head = HEAD.match(text)
        total.update(word for word in WORD.findall(text.lower()) if word in lowered)
        heads.update(word for word in WORD.findall(SUBJECT.sub("", head[0]).lower() if head else "") if word in lowered)
    missing = {part for part in name.split(", ") if " " in part}
    for line in (" ".join(line.split()) for text in members for line in text.splitlines()) if missing else ():
        missing -= {part for part in missing if part in line}
    signs = (
        not held.issuperset(words), any(word.isdigit() for word in name.replace(",", " ").split()), bool(missing),
        len({stem(word.lower()) for word in words}) < len(words), False,
        any(2 * heads[word] > max(total[word], 1) for word in lowered),
    )  # fmt: skip
    return found | {fault for fault, wrong in zip(FAULTS, signs, strict=True) if wrong}


def named(pile: str, most: int) -> dict[str, Any]:
    """Return the faults of the names of a pile's clusters, and the names."""
    load, k, language = PILES[pile]
    texts = load()
    texts = texts[:: max(-(-len(texts) // most), 1)]
    model = DocumentClusterer(k, embed=None, effort=Effort(stability=False, n_init=4)).fit(texts)
    plain = Cleaning(lines=False, headers=False, signatures=False, addresses=False, attachments=False).learn([])
    read = [plain(text) if ".TH" in text or ".Dt" in text else text for text in texts]
    names = [cluster.name for cluster in model.clusters_]
    counted: Counter[str] = Counter()
    for cluster, name in enumerate(names):
        counted.update(faults(name, [read[i] for i in np.flatnonzero(model.labels_ == cluster)], language))
    counted["equal names"] = len(names) - len({name.casefold() for name in names})
    sizes = [[cluster.size, cluster.name] for cluster in model.clusters_]
    return {"documents": len(texts), "faults": [counted[fault] for fault in FAULTS], "names": sizes}


@row("quality", "names-faults")
def count_faults(task: Task) -> Found:
    piles = list(PILES)[: task.trials(len(PILES), 5)]
    found = {pile: task.step(pile, partial(named, pile, task.trials(DESCRIPTIONS, 1_000))) for pile in piles}
    rows = [(pile, one["documents"], *one["faults"]) for pile, one in found.items()]
    shown = [(pile, *line) for pile, one in found.items() for line in one["names"]]
    total = sum(sum(one["faults"]) for one in found.values())
    tables = [Table("Faults", ("collection", "documents", *FAULTS), rows)]
    tables += [Table("Names", ("collection", "size", "name"), shown)]
    return Found(f"{total} faults in {len(shown)} names", {"failed": total}, tables)
