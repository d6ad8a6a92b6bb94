"""Names of clusters: what must never be in one, and how well they say it, judged by a model that had no part in naming.

Counted are names with a form that occurs in no document of the cluster, a word of digits only, a phrase that is on no
single line, a stem twice, a name that another cluster has, words that are mainly in the header lines of its posts, two
words apart in it that stand next to each other in most documents with both, a person that less than 30 % of the
documents mention; and twins: two clusters whose titles share a stem, or whose names share two of their first three.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import combinations, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import Stemmer

from grampus import DocumentClusterer, read_corpus
from grampus.datasets import world_factbook
from grampus.describe.persons import BEFORE
from grampus.documents import Effort
from grampus.text import Cleaning
from grampus.text.languages.segment import segment_words
from lab import Found, Table, Task, data, row
from lab.environments import environment
from lab.harness import ROOT
from lab.manuals import descriptions, documentation, pages
from lab.quality.draws import MOST

SETS = {"bbc": 5, "20ng": 20, "r52_raw_9052": 20, "ohsumed_single23": 23, "dev/stackoverflow": 20}
FAULTS = (
    "no such form", "digits", "across lines", "stem twice", "header words", "torn phrases", "persons",
    "equal names", "twins",
)  # fmt: skip
MENTIONED = 0.3  # share of a cluster's documents that must name a person who is in its name
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
    "Spanish manuals": (lambda: [page.text for page in pages("es")], 12, "spanish"),
    "Polish manuals": (lambda: [page.text for page in pages("pl")], 12, None),
}


def words_of(text: str, segmented: bool) -> list[str]:
    """Return the words of a text, also of one without spaces."""
    found = WORD.findall(text)
    return [part for word in found for part in segment_words(word)] if segmented else found


def faults(name: list[str], members: list[str], language: str | None) -> set[str]:
    """Return what is wrong with a name; texts are as they are written, but for the requests of manual pages."""
    words = [word.lower() for part in name for word in words_of(part, language is None)]
    tokens = [[word.lower() for word in words_of(text, language is None)] for text in members]
    total, heads = Counter[str](), Counter[str]()
    for text, read in zip(members, tokens, strict=True):
        head = HEAD.match(text)
        total.update(word for word in read if word in words)
        heads.update(word for word in WORD.findall(SUBJECT.sub("", head[0]).lower() if head else "") if word in words)
    missing = {part.lower() for part in name if " " in part}
    for line in (" ".join(line.lower().split()) for text in members for line in text.splitlines()) if missing else ():
        missing -= {part for part in missing if part in line}
    signs = (
        not {word for read in tokens for word in read}.issuperset(words),
        any(word.isdigit() for part in name for word in part.split()),  # "UTF-8" is a word
        bool(missing), len(set(stems(words, language))) < len(words),
        any(2 * heads[word] > max(total[word], 1) for word in words),
        any(torn(a, b, tokens) for x, y in combinations(name, 2) for a in lowered(x) for b in lowered(y)),
        any(is_person(part) and sum(part in text for text in members) < MENTIONED * len(members) for part in name),
    )  # fmt: skip
    return {fault for fault, wrong in zip(FAULTS, signs, strict=False) if wrong}


def lowered(part: str) -> list[str]:
    """Return the words of a part of a name in lower case."""
    return WORD.findall(part.lower())


def stems(words: list[str], language: str | None) -> list[str]:
    """Return the stems of words."""
    return Stemmer.Stemmer(language).stemWords(words) if language else words


def torn(one: str, other: str, tokens: list[list[str]]) -> bool:
    """Return whether two words stand next to each other in more than half of the documents with both."""
    both = [read for read in tokens if one in read and other in read]
    near = sum(any({a, b} == {one, other} for a, b in pairwise(read)) for read in both)
    return one != other and 2 * near > len(both)


def is_person(part: str) -> bool:
    """Return whether a part of a name is a capitalised full name that begins with a given name."""
    words = part.split(" ")
    return len(words) > 1 and all(word[:1].isupper() for word in words) and words[0].lower() in BEFORE


def twins(names: list[list[str]], language: str | None) -> int:
    """Return how many pairs of clusters have titles that share a stem, or share two of their first three parts."""
    titles = [set(stems(lowered(name[0]), language)) for name in names]
    parts = [{" ".join(stems(lowered(part), language)) for part in name[:3]} for name in names]
    pairs = combinations(range(len(names)), 2)
    return sum(bool(titles[a] & titles[b]) or len(parts[a] & parts[b]) > 1 for a, b in pairs)


def named(pile: str, most: int) -> dict[str, Any]:
    """Return the faults of the names of a pile's clusters, and the names."""
    load, k, language = PILES[pile]
    texts = load()
    texts = texts[:: max(-(-len(texts) // most), 1)]
    model = DocumentClusterer(k, effort=Effort(stability=False, n_init=4)).fit(texts)
    plain = Cleaning(lines=False, headers=False, signatures=False, addresses=False, attachments=False).learn([])
    read = [plain(text) if ".TH" in text or ".Dt" in text else text for text in texts]
    names = [[cluster.name, *cluster.words] for cluster in model.clusters_]
    counted: Counter[str] = Counter()
    for cluster, name in enumerate(names):
        counted.update(faults(name, [read[i] for i in np.flatnonzero(model.labels_ == cluster)], language))
    counted["equal names"] = len(names) - len({name[0].casefold() for name in names})
    counted["twins"] = twins(names, language)
    sizes = [[cluster.size, ", ".join(name)] for cluster, name in zip(model.clusters_, names, strict=True)]
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


# -- how well they say it

CHOSEN, CONFIRMED, NEITHER = "chosen on", "confirmed on", "neither"
JUDGED = {
    "20ng": CHOSEN, "dev/arxiv24": CHOSEN, "bbc": CHOSEN, "dev/stackoverflow": CHOSEN, "dev/snips7": CHOSEN,
    "bbcsport": CONFIRMED, "dev/agnews8000": CONFIRMED, "dev/searchsnippets": CONFIRMED, "dev/huffpost41": CONFIRMED,
    "classic4": CONFIRMED, "ohsumed_single23": CONFIRMED, "demo": NEITHER, "dev/banking77": NEITHER,
}  # fmt: skip
SIDES = ("0.2", "BERTopic", "KeyBERTInspired", "now")
OLD = "3119ffa5"  # version 0.2.0
OTHERS = ROOT / "lab" / "speed" / "sides" / "names.py"
JUDGE = ROOT / "requirements" / "names.txt"


def ask(python: str, function: str, **given: Any) -> dict[str, Any]:
    """Return what a function of the side answers in another environment."""
    with TemporaryDirectory() as folder:
        told, answer = Path(folder, "given.json"), Path(folder, "answer.json")
        told.write_text(json.dumps(given), encoding="utf-8")
        words = [python, str(OTHERS), function, str(told), str(answer)]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{function}, exit status {done.returncode}: {done.stderr.strip()[-300:]}")
        return dict(json.loads(answer.read_text(encoding="utf-8")))


def documents(name: str) -> tuple[list[str], list[str]]:
    """Return the documents of a set, at most 2,500, always the same, and their classes."""
    if name == "demo":
        corpus = world_factbook()
        return list(corpus.texts), list(map(str, corpus.labels or ()))
    texts, classes = data.texts(name)
    drawn = np.sort(np.random.default_rng(0).permutation(len(texts))[:MOST])
    return [texts[int(at)] for at in drawn], classes[drawn].tolist()


def clustered(name: str) -> dict[str, Any]:
    """Return clusters of the default at the true k, and their names: the title first; and the time of naming."""
    texts, classes = documents(name)
    model = DocumentClusterer(len(set(classes)), effort=Effort(stability=False)).fit(texts)
    names = [[cluster.name, *cluster.words] for cluster in model.clusters_]
    return {"labels": model.labels_.tolist(), "now": names}


def judged(task: Task, names: list[str]) -> dict[str, Any]:
    """Return what the judge says about the names of every side, set by set."""
    called = json.loads(data.source("class_names.json").read_text(encoding="utf-8"))
    sets = {}
    for name in JUDGED if len(names) > 2 else names:
        texts, classes = documents(name)
        found = task.step(f"clusters of {name}", partial(clustered, name))
        given = {"texts": texts, "labels": found["labels"]}
        old = task.step(f"0.2 on {name}", partial(ask, environment("names-0.2", commit=OLD), "version_02", **given))
        sided = {**old, "now": found["now"]}
        sets[name] = {**given, "names": sided, "classes": classes, "called": called.get(name, {})}
    said = task.step("judge", partial(ask, environment("judge", JUDGE), "judge_all", sets=sets))
    return {name: said[name] for name in names}


Figure = Callable[[dict[str, Any], str], float]


def compared(
    task: Task, names: list[str], sides: list[str], figure: Figure, shown: str, title: str, last: str
) -> Found:
    """Return a figure of all sides on every set, its means over the halves and over all, and what ours has gained."""
    found = judged(task, names)
    parts = {f"mean, {half}": [name for name in found if JUDGED[name] == half] for half in (CHOSEN, CONFIRMED)}
    means = {
        part: [float(np.mean([figure(found[name], side) for name in some])) for side in sides]
        for part, some in (parts | {"mean": list(found)}).items()
    }
    values = {name: [figure(one, side) for side in sides] for name, one in found.items()}
    rows = [[name, JUDGED[name], *own, found[name][last]] for name, own in values.items()]
    rows += [[part, "", *own] for part, own in means.items()]
    mean = dict(zip(sides, means["mean"], strict=True))
    measures = {"gain": mean[shown] - mean["0.2"], "over peers": mean[shown] - max(mean[side] for side in SIDES[1:3])}
    cells = [[f"{cell:.3f}" if isinstance(cell, float) else cell for cell in line] for line in rows]
    table = Table(title, ("set", "half", *sides, last), cells)
    return Found(", ".join(f"{side} {mean[side]:.3f}" for side in sides), measures, [table])


@row("quality", "names-sorted")
def names_sorted(task: Task) -> Found:
    names = [name for name in JUDGED if name != "dev/banking77"][: task.trials(12, 2)]
    sides = [*SIDES, "now, title", "now, whole"]
    title = "Documents that the first three words put into their cluster, as a share of those that its centre does"
    return compared(task, names, sides, lambda one, side: one[side]["sorted"] / one["centre"], "now", title, "centre")


@row("quality", "names-recognised")
def names_recognised(task: Task) -> Found:
    names = [name for name in JUDGED if name not in ("demo", "classic4")][: task.trials(11, 2)]
    sides = [*SIDES[:3], "now, title", "now, whole"]
    title = "Clusters with a majority class whose name is nearest to that of the class"
    return compared(task, names, sides, lambda one, side: one[side]["recognised"], "now, title", title, "clusters")


# -- read aloud


def manuals() -> list[str]:
    """Return pages of manuals in seven languages, in one pile."""
    return [page.text for language in ("de", "es", "fr", "ja", "pl", "ru", "zh") for page in pages(language)[:90]]


def programs() -> list[str]:
    """Return the source files of some packages of Python's library."""
    top = Path(json.__file__).parents[1]
    files = sorted(file for name in PACKAGES for file in (top / name).rglob("*.py"))
    return [text for file in files if (text := file.read_text(encoding="utf-8", errors="replace").strip())]


def changelogs() -> list[str]:
    """Return the beginnings of the changelogs of the packages of this machine."""
    files = sorted(Path("/usr/share/doc").glob("*/changelog.gz"))[:500]
    return [gzip.decompress(file.read_bytes())[:CHANGES].decode("utf-8", "replace") for file in files]


PACKAGES = ("asyncio", "concurrent", "ctypes", "distutils", "email", "encodings", "html", "http", "importlib", "json",
            "logging", "multiprocessing", "sqlite3", "tkinter", "unittest", "xml")  # fmt: skip
CHANGES = 20_000  # bytes of a changelog
ALOUD: dict[str, Callable[[], list[str]]] = {
    **{name: (lambda name=name: documents(name)[0]) for name in ("demo", "20ng", "bbc", "bbcsport", "dev/huffpost41")},  # type: ignore[misc]
    "manuals in seven languages": manuals,
    "Python's library": programs,
    "changelogs": changelogs,
    "Debian descriptions": lambda: list(descriptions()[:5_000]),
    "HTML pages": lambda: [read_corpus(file).texts[0] for file in documentation()],
}


def read_aloud(pile: str) -> list[list[Any]]:
    """Return names of 0.2 and of now for the same clusters: at the true k where classes are known, else as shown."""
    texts = ALOUD[pile]()
    k = len(set(documents(pile)[1])) if pile in JUDGED else "auto"
    model = DocumentClusterer(k, effort=Effort(stability=False)).fit(texts)
    old = ask(environment("names-0.2", commit=OLD), "version_02", texts=texts, labels=model.labels_.tolist())["0.2"]
    return [
        [pile, cluster.size, ", ".join(before), f"**{cluster.name}** {', '.join(cluster.words)}"]
        for cluster, before in zip(model.clusters_, old, strict=True)
    ]


@row("quality", "names-read")
def names_read(task: Task) -> Found:
    piles = list(ALOUD)[: task.trials(len(ALOUD), 1)]
    lines = [line for pile in piles for line in task.step(f"names of {pile}", partial(read_aloud, pile))]
    return Found(f"{len(lines)} names to read", {}, [Table("Names", ("pile", "documents", "0.2", "now"), lines)])
