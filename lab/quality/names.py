"""Names of clusters: what must never be in one, and whether the words of a name belong together elsewhere.

The collections are clustered once. `names-faults` counts names with a form that occurs in no document of the cluster, a
word of digits only, a phrase that is on no single line, a stem twice, a name that another cluster has, and words that
occur mainly in header lines of their cluster: first as commit 5f63358 names the same clusters, then as they are named
now. `names-coherence` is the mean NPMI of two words of a name over windows of ten words in all text sets but the one
tested, next to those names and to c-TF-IDF. One window is added to the windows that hold both words and to those
expected by chance, so that a pair too rare to be judged scores 0; pairs with a word in fewer than ten windows, and
names of one word, are left out. `names-others` is the same on five more sets.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import Stemmer

from grampus import DocumentClusterer, read_corpus
from grampus.documents import Effort
from grampus.text import Cleaning, Terms
from grampus.text.languages import segment_words
from lab import Found, Table, Task, data, row
from lab.manuals import descriptions, documentation, pages
from lab.older import older_names

SETS = {"bbc": 5, "20ng": 20, "r52_raw_9052": 20, "ohsumed_single23": 23, "dev/stackoverflow": 20}
OTHERS = {"classic4": 8, "bbcsport": 5, "dev/agnews8000": 12, "dev/searchsnippets": 12, "dev/arxiv24": 24}
REFERENCE = (*SETS, *OTHERS, "dev/banking77")
SAME_SOURCE = {"bbc": ("bbc", "bbcsport"), "bbcsport": ("bbc", "bbcsport")}  # sets that share documents
WINDOW, FEWEST = 10, 10
FAULTS = ("no such form", "digits", "across lines", "stem twice", "equal names", "header words")
WORD = re.compile(r"\w+")
SUBJECT = re.compile(r"(?im)^subject:.*$")  # a header that says what the text is about
HEAD = re.compile(r"(?:[A-Za-z][A-Za-z0-9-]*:.*\n(?:[ \t]+\S.*\n)*){2,}")
DESCRIPTIONS = 50_000


class Pile(NamedTuple):
    """Documents as they are clustered now, as the older version read them, the number of clusters, and the language."""

    texts: list[str]
    older: list[str]
    k: int
    language: str | None


def _set(name: str) -> Pile:
    texts = list(data.texts(name)[0])
    return Pile(texts, texts, SETS[name], "english")


def _debian() -> Pile:
    texts = list(descriptions()[:DESCRIPTIONS])
    return Pile(texts, texts, 40, "english")


def _html() -> Pile:
    files = documentation()
    texts = [read_corpus(file).texts[0] for file in files]
    return Pile(texts, [file.read_text(encoding="utf-8") for file in files], 12, "english")


def _manuals(code: str, stemmer: str | None) -> Pile:
    texts = [page.text for page in pages(code)]
    return Pile(texts, texts, 12, stemmer)


PILES: dict[str, Callable[[], Pile]] = {
    **{name: partial(_set, name) for name in SETS},
    "Debian descriptions": _debian,
    "HTML pages": _html,
    "German manuals": partial(_manuals, "de", "german"),
    "French manuals": partial(_manuals, "fr", "french"),
    "Russian manuals": partial(_manuals, "ru", "russian"),
    "Japanese manuals": partial(_manuals, "ja", None),
    "Chinese manuals": partial(_manuals, "zh", None),
}


def some(texts: Sequence[str], most: int) -> list[str]:
    """Return at most so many texts, evenly drawn."""
    return list(texts[:: max(-(-len(texts) // most), 1)])


def clustered(texts: list[str], k: int) -> Any:
    """Return the clusters of the defaults, without what names do not need."""
    return DocumentClusterer(k, effort=Effort(stability=False, n_init=4)).fit(texts)


def words_of(text: str, segmented: bool) -> list[str]:
    """Return the words of a text, also of one without spaces."""
    found = WORD.findall(text)
    return [part for word in found for part in segment_words(word)] if segmented else found


def faults(names: list[str], labels: Any, texts: list[str], language: str | None = "english") -> Counter[str]:
    """Count what is wrong with names; texts are as they are written, but for the requests of manual pages."""
    stem = Stemmer.Stemmer(language).stemWord if language else str
    found: Counter[str] = Counter(dict.fromkeys(FAULTS, 0))
    found["equal names"] = len(names) - len({name.casefold() for name in names})
    for cluster, name in enumerate(names):
        members = [texts[i] for i in np.flatnonzero(labels == cluster)]
        words = words_of(name, language is None)
        wanted = set(words)
        held: Counter[str] = Counter()
        for text in members:
            held.update(word for word in words_of(text, language is None) if word in wanted)
        lowered = {word.lower() for word in words}
        total, heads = Counter[str](), Counter[str]()
        for text in members if any(HEAD.match(text) for text in members) else ():
            head = HEAD.match(text)
            total.update(word for word in WORD.findall(text.lower()) if word in lowered)
            if head:
                heads.update(word for word in WORD.findall(SUBJECT.sub("", head[0]).lower()) if word in lowered)
        parts = [part for part in name.split(", ") if " " in part]
        lines = (" ".join(line.split()) for text in members for line in text.splitlines()) if parts else ()
        missing = set(parts)
        for line in lines:
            missing -= {part for part in missing if part in line}
        found["no such form"] += any(word not in held for word in words)
        found["digits"] += any(word.isdigit() for word in name.replace(",", " ").split())
        found["across lines"] += bool(missing)
        found["stem twice"] += len({stem(word.lower()) for word in words}) < len(words)
        found["header words"] += any(2 * heads[word] > max(total[word], 1) for word in lowered)
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


def _faults_of(name: str, most: int) -> dict[str, Any]:
    """Return the faults of the older names and of those of now on the same clusters, and the names."""
    pile = PILES[name]()
    chosen = range(0, len(pile.texts), max(-(-len(pile.texts) // most), 1))
    texts, older = [pile.texts[i] for i in chosen], [pile.older[i] for i in chosen]
    model = clustered(texts, pile.k)
    before, now = older_names(older, model.labels_), [cluster.label for cluster in model.clusters_]
    plain = Cleaning(lines=False, headers=False, signatures=False, addresses=False, attachments=False).learn([])
    read = [plain(text) if ".TH" in text or ".Dt" in text else text for text in texts]
    return {
        "documents": len(texts),
        "before": dict(faults(before, model.labels_, older, pile.language)),
        "now": dict(faults(now, model.labels_, read, pile.language)),
        "names": [[cluster.size, one, other] for cluster, one, other in zip(model.clusters_, before, now, strict=True)],
    }


@row(
    "quality",
    "names-faults",
    "Names with a form of no document, digits, a phrase across lines, a stem twice, an equal name, or header words, "
    "before (5f63358) and now, on the same clusters of twelve collections.",
    rests_on=("describe", "text", "documents"),
    conditions=("nothing-fails",),
    data=True,
    timeout=3 * 3600,
)
def count_faults(task: Task) -> Found:
    rows, shown, total = [], [], {"before": 0, "now": 0}
    for name in PILES:
        found = task.step(name, partial(_faults_of, name, task.trials(DESCRIPTIONS, 1_000)))
        for when in total:
            rows.append((name, found["documents"], when, *(found[when][fault] for fault in FAULTS)))
            total[when] += sum(found[when].values())
        shown += [(name, *one) for one in found["names"]]
    tables = [
        Table("Faults", ("collection", "documents", "names", *FAULTS), rows),
        Table("Names", ("collection", "size", "before", "now"), shown),
    ]
    return Found(f"{total['now']} faults, {total['before']} before", {"failed": total["now"]}, tables)


def _compared(name: str, k: int, most: int) -> dict[str, Any]:
    """Return the coherence of names, older names and c-TF-IDF on the same clusters, and the names."""
    texts = some(data.texts(name)[0], most)
    model = clustered(texts, k)
    labels = model.labels_
    names = [cluster.label for cluster in model.clusters_], older_names(texts, labels), ctfidf(texts, labels)
    groups = some(data.texts(name)[1].tolist(), most)
    usual = [Counter(groups[i] for i in np.flatnonzero(labels == c)).most_common(1)[0] for c in range(k)]
    sizes = [cluster.size for cluster in model.clusters_]
    shown = [
        [size, f"{group} {count / size:.0%}", *one]
        for size, (group, count), *one in zip(sizes, usual, *names, strict=True)
    ]
    return {"values": [coherence(one, name) for one in names], "names": shown}


def _coherence(task: Task, sets: dict[str, int]) -> Found:
    found = {name: task.step(name, partial(_compared, name, k, task.trials(20_000, 1_500))) for name, k in sets.items()}
    means = np.mean([one["values"] for one in found.values()], axis=0)
    rows = [(name, *(round(value, 3) for value in one["values"])) for name, one in found.items()]
    measures = {"above older": float(means[0] - means[1]), "above c-TF-IDF": float(means[0] - means[2])}
    figure = f"{means[0]:.3f}; 5f63358 {means[1]:.3f}, c-TF-IDF {means[2]:.3f}"
    columns = ("names", "5f63358", "c-TF-IDF")
    tables = [Table("NPMI", ("set", *columns), rows)]
    tables += [
        Table(f"Names of {name}", ("size", "largest class", *columns), [tuple(line) for line in one["names"]])
        for name, one in found.items()
    ]
    return Found(figure, measures, tables)


@row(
    "quality",
    "names-coherence",
    "Mean NPMI of the words of names in other sets: names, those of 5f63358 and c-TF-IDF on the same clusters.",
    rests_on=("describe", "text", "documents"),
    conditions=("names-above-ctfidf", "names-above-older"),
    data=True,
    timeout=3 * 3600,
)
def outside_coherence(task: Task) -> Found:
    return _coherence(task, SETS)


@row(
    "quality",
    "names-others",
    "The same on five more sets.",
    rests_on=("describe", "text", "documents"),
    conditions=("names-above-ctfidf", "names-above-older"),
    data=True,
    timeout=3 * 3600,
)
def other_coherence(task: Task) -> Found:
    return _coherence(task, OTHERS)
