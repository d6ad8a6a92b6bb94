"""Manual pages and their translations: clusters are to follow programs, not languages."""

import warnings
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grampus import DocumentClusterer
from grampus.metrics import nmi
from lab import Found, Table, Task, row
from lab.manuals import Page, pages

LANGUAGES = ("de", "es", "fr", "ja", "pl")
K = 20
WAYS: dict[str, Any] = {"words": None, "by default": "auto"}


def translated(least: int) -> list[Page]:
    """Return the pages that exist in at least so many of the languages, under one name."""
    found: defaultdict[str, list[Page]] = defaultdict(list)
    for language in LANGUAGES:
        for page in pages(language):
            found[Path(page.name).name].append(page)
    return [page for _, own in sorted(found.items()) if len({page.language for page in own}) >= least for page in own]


def shared(labels: NDArray[Any], programs: NDArray[Any]) -> tuple[float, float]:
    """Return the share of pairs in one cluster: of pages of one program, and of different programs."""
    together, same = (values[:, None] == values for values in (labels, programs))
    others = ~np.eye(len(labels), dtype=bool)
    return float(together[same & others].mean()), float(together[~same].mean())


def answers(least: int) -> dict[str, list[float]]:
    """Return, for each way, the pairs in one cluster, NMI with the language and the share of the largest cluster."""
    warnings.simplefilter("ignore")
    chosen, found = translated(least), {}
    programs = np.array([Path(page.name).name for page in chosen])
    languages = np.array([page.language for page in chosen])
    for way, embed in WAYS.items():
        labels = DocumentClusterer(K, embed=embed, random_state=0).fit([page.text for page in chosen]).labels_
        largest = float(np.bincount(labels).max() / len(labels))
        found[way] = [*shared(labels, programs), float(nmi(languages, labels)), largest]
    return found | {"pages": [len(chosen), len(set(programs))]}


@row("quality", "meaning-translations")
def translations(task: Task) -> Found:
    rows = []
    for least in (5, 4):
        found = task.step(f"{least} languages", partial(answers, least))
        count, programs = found["pages"]
        rows += [(least, count, programs, way, *(f"{value:.3f}" for value in found[way])) for way in WAYS]
    names = ("translations", "unrelated", "language nmi", "largest")
    heads = ("languages, at least", "pages", "programs", "compared", *names)
    said = [f"{way} {found[way][0]:.0%} of translations, {found[way][1]:.0%} of unrelated pairs" for way in WAYS]
    measures = dict(zip(names, found["by default"], strict=True))
    return Found(", ".join(said), measures, [Table(f"Pairs in one of {K} clusters", heads, rows)])
