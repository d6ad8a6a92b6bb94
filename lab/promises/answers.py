"""Whole answers that a move of code must not change: labels, levels, names and words, recorded at commit 9ab43e5.

Words alone are compared, as they were then. `thucnews_zh` was recorded anew when pairs of characters became terms.

Nine collections, each clustered as by default, with the number of classes given, with labels of some documents, with
outliers set aside, and updated with a tenth of the documents. `python -m lab.promises.answers FILE` records them anew.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tomllib
import warnings
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from grampus import DocumentClusterer
from grampus.datasets import world_factbook
from grampus.documents import Guide, update_run
from grampus.persist import Run
from grampus.text import Corpus
from lab import Found, Task, data
from lab.promises import promise

RECORD = Path(__file__).with_suffix(".toml")
SETS = ("demo", "bbc", "20ng", "agnews8000", "arxiv24", "banking77", "gnad10_de", "snips7", "thucnews_zh")
MOST = 6000  # documents of a set, but for 20ng without anything else


WAYS = ("default", "given", "guided", "outliers", "updated")


def corpus(name: str, most: int) -> tuple[list[str], list[str]]:
    """Return at most so many texts of a set, evenly drawn, and their classes."""
    demo, place = world_factbook(), name if name in ("bbc", "20ng") else f"dev/{name}"
    texts, classes = (demo.texts, demo.labels or ()) if name == "demo" else data.texts(place)
    every = np.unique(np.linspace(0, len(texts) - 1, min(len(texts), most)).astype(np.intp)).tolist()
    return [texts[at] for at in every], [str(classes[at]) for at in every]


def answer(name: str, way: str) -> Run:
    """Return the run of a set that is clustered in one way."""
    texts, classes = corpus(name, 20_000 if way in ("default", "given") else MOST)
    if way == "updated":
        first = 9 * len(texts) // 10
        run = DocumentClusterer(embed=None).fit(texts[:first]).run_
        ids = [str(number) for number in range(first + 1, len(texts) + 1)]
        return update_run(update_run(run, Corpus(texts[first:], ids)), delete=["3", "7"])
    k = len(set(classes)) if way in ("given", "guided") else "auto"
    model = DocumentClusterer(k, embed=None, outliers="auto" if way == "outliers" else None)
    known = {at: one for at, one in enumerate(classes) if at % 50 == 0}
    return model.fit(texts, guide=Guide(labels=known) if way == "guided" else None).run_


def digests(name: str, way: str) -> dict[str, str]:
    """Return the digest of each part of an answer."""
    evidence = answer(name, way).evidence
    parts: dict[str, Any] = {
        "labels": [evidence.labels.tolist(), evidence.leaves.tolist()],
        "levels": [[level.name, list(level.branches)] for level in evidence.levels]
        + [[branch.parent, branch.size, branch.order, branch.cluster] for branch in evidence.tree],
        "names": [cluster.name for cluster in evidence.clusters] + [branch.name for branch in evidence.tree],
        "words": [
            [[one.text for one in words] for words in (cluster.terms, cluster.describing, cluster.phrases)]
            + [cluster.sentence]
            for cluster in evidence.clusters
        ],
    }
    return {part: hashlib.sha256(json.dumps(value).encode()).hexdigest()[:12] for part, value in parts.items()}


@promise("same-answers")
def same_answers(task: Task) -> Found:
    warnings.simplefilter("ignore")
    recorded = tomllib.loads(RECORD.read_text(encoding="utf-8"))
    names = SETS if not task.quick else ("demo", "snips7")
    cases = list(product(names, WAYS))
    apart = []
    for name, way in cases:
        found = task.step(f"{name} {way}", partial(digests, name, way))
        apart += [f"{name} {way}: {part}" for part, value in found.items() if recorded[name][way][part] != value]
    return Found(f"{len(apart)} of {4 * len(cases)} differ", {"different": len(apart)}, notes=apart)


def record(file: Path) -> None:
    """Write the digests of all answers; those that the file has are kept."""
    warnings.simplefilter("ignore")
    known = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    for name, way in product(SETS, WAYS):
        if way not in known.setdefault(name, {}):
            known[name][way] = digests(name, way)
            lines = [
                line
                for one, ways in known.items()
                for line in (f"[{one}]", *(f"{each} = {_table(parts)}" for each, parts in ways.items()))
            ]
            file.write_text("\n".join(lines) + "\n", encoding="utf-8")
            print(name, way, file=sys.stderr, flush=True)


def _table(parts: dict[str, str]) -> str:
    return f"{{ {', '.join(f'{part} = {json.dumps(value)}' for part, value in parts.items())} }}"


if __name__ == "__main__":
    record(Path(sys.argv[1]))
