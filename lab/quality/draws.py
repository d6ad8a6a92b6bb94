"""The sets on which the answer without a given k is judged: at most 2,500 documents of each, always the same.

Half of the sets (`CHOSEN_ON`) served to choose the design; the other half only confirms it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lab import data

MOST = 2500
TEXTS: dict[str, tuple[str, tuple[str, ...] | None]] = {
    "20ng": ("20ng", None),
    "agnews": ("dev/agnews8000", None),
    "arxiv": ("dev/arxiv24", None),
    "banking": ("dev/banking77", None),
    "bbc": ("bbc", None),
    "bbcsport": ("bbcsport", None),
    "classic3": ("classic4", ("cisi", "cran", "med")),
    "classic4": ("classic4", None),
    "ng17-19": ("20ng", data.POLITICS),
    "ng3": ("20ng", data.NG3),
    "ohsumed": ("ohsumed_single23", None),
    "r52": ("r52_raw_9052", None),
    "snippets": ("dev/searchsnippets", None),
    "stackoverflow": ("dev/stackoverflow", None),
    "webkb": ("dev/webkb_stemmed", None),
}
COUNTS = {
    "cstr": "cstr",
    "fbis": "dev/fbis",
    "k1b": "dev/k1b",
    "re1": "dev/re1",
    "reviews": "reviews",
    "tr31": "dev/tr31",
    "tr41": "dev/tr41",
}
SETS = tuple(sorted((*TEXTS, *COUNTS)))
CHOSEN_ON = SETS[::2]
CONFIRMED_ON = SETS[1::2]


@cache
def draw(name: str) -> tuple[Any, NDArray[Any]]:
    """Return the documents of a set, texts or counts, and their classes."""
    documents: Any
    documents, labels = data.texts(*TEXTS[name]) if name in TEXTS else data.counts(COUNTS[name])
    index = np.sort(np.random.default_rng(0).permutation(len(labels))[:MOST])
    if sp.issparse(documents):
        return sp.csr_array(documents)[index], labels[index]
    return tuple(documents[int(i)] for i in index), labels[index]


def halves(names: Sequence[str]) -> dict[str, list[int]]:
    """Return where the sets of each half stand among these names."""
    return {
        half: [i for i, name in enumerate(names) if name in members]
        for half, members in (("chosen on", CHOSEN_ON), ("confirmed on", CONFIRMED_ON))
    }
