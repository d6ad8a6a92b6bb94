"""The levels of an answer: how many clusters each has, and their partitions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._array import Array, take_rows
from ..._progress import Progress
from ..._random import seed_words
from ...gram import Gram
from ...kernels import Kernel
from ...persist import Choice
from ...persist.records import GIVEN
from ...select.evidence import FEWEST, PER_CLUSTER, Evidence
from ...select.levels import (
    CHECKED_DOCUMENTS,
    Chosen,
    check_given,
    documents_needed,
    explain_given,
    explain_levels,
    find_levels,
    sample,
    without_groups,
)
from ...select.nested import by_size, nested
from ...select.ungrouped import takes_drawn, ungrouped, ungrouped_gram
from ..given.effort import BY_LEVELS, Effort
from ..given.inputs import Inputs

STEP = 3  # factor between the levels around a given k

Partitions = dict[str, NDArray[np.intp]]


def levels_of_inputs(
    gram: Gram, inputs: Inputs, kernel: Kernel, effort: Effort, seed: int, progress: Progress
) -> tuple[Choice, dict[str, int]]:
    """Choose the numbers of clusters among the distinct documents that have terms; return the record of it too."""
    base, heavy = _distinct(gram, inputs)
    without = without_groups(base, kernel, inputs.features, heavy)
    chosen = find_levels(base, without, effort.ks, tuple(seed_words(seed)), progress)
    words = explain_levels(chosen.verdict, chosen.ks, chosen.evidence, len(heavy))
    return _record(chosen, BY_LEVELS, words), chosen.ks


def check_groups(
    gram: Gram, inputs: Inputs, kernel: Kernel, effort: Effort, k: int, seed: int, progress: Progress
) -> Choice | None:
    """Tell whether the clusters of a given k are groups; None where that is not measured.

    It is not for a single cluster, without stability, and for many clusters where there are groups.

    A sample of the documents is compared with as many without groups. Both have a Gram of their own: what a kernel
    learns from all documents, such as its components, is better than what it learns from few. A kernel of strings
    costs too much for that; data without groups are then points with the spectrum of the sample.
    """
    if not effort.stability or k < 2:
        return None
    base, heavy = _distinct(gram, inputs)
    chosen = Chosen("too few", {"middle": k}, None)
    if len(heavy) >= documents_needed(k):
        entropy = tuple(seed_words(seed))
        part, rows = sample(base, CHECKED_DOCUMENTS, entropy)
        drawn = take_rows(inputs.features, heavy[rows])
        costly = "text" in kernel.inputs or not takes_drawn(kernel, inputs.features)

        def without(rng: np.random.Generator) -> Gram:
            return ungrouped_gram(part, rng) if costly else kernel.gram(ungrouped(drawn, rng)).split_shift()[0]

        own = part if costly or len(rows) == len(base) else kernel.gram(drawn).split_shift()[0]
        chosen = check_given(own, without, k, entropy, progress)
    return None if not chosen.verdict else _record(chosen, GIVEN, explain_given(chosen, len(heavy)))


def _distinct(gram: Gram, inputs: Inputs) -> tuple[Gram, NDArray[np.intp]]:
    """Return the Gram of the distinct documents that have terms, without its shift, and their places."""
    heavy = np.flatnonzero(inputs.weights > 0)
    base, _ = gram.split_shift()
    return base if len(heavy) == len(base) else base.take(heavy), heavy


def _record(chosen: Chosen, scheme: str, words: str) -> Choice:
    """Return a choice of levels, or the check of a given k, as it is kept in a run."""
    seen, best = chosen.evidence, chosen.ks["middle"]
    if seen is None:
        return Choice(best, scheme, (), (), (), (), (), 0, None, words, (), chosen.verdict)
    ks, splits, plausible = tuple(seen.ks.tolist()), len(seen.scores), _plausible(seen, best)
    ranking = tuple(ks[i] for i in np.argsort(-seen.excess, kind="stable"))
    mean, error, expected = (numbers(values) for values in (seen.mean, seen.standard_error, seen.expected))
    return Choice(best, scheme, ks, mean, error, ranking, plausible, splits, None, words, expected, chosen.verdict)


def _plausible(seen: Evidence, best: int) -> tuple[int, ...]:
    """Return the values of k whose evidence is no more than a standard error below that of the best."""
    place = np.flatnonzero(seen.ks == best)
    if not len(place):
        return ()
    least = seen.excess[place[0]] - seen.standard_error[place[0]] / max(1.0 - float(seen.expected[place[0]]), 0.02)
    return tuple(seen.ks[seen.excess >= least].tolist())


def numbers(values: Array) -> tuple[float | None, ...]:
    """Return rounded numbers as a run keeps them; None for what is not finite."""
    return tuple(round(float(value), 6) if np.isfinite(value) else None for value in values)


def around(k: int, n: int) -> dict[str, int]:
    """Return the numbers of clusters of the levels around a given k, for n distinct documents."""
    found = {"middle": k}
    if n >= FEWEST and round(k / STEP) > 1:
        found["coarse"] = round(k / STEP)
    if k > 1 and n >= max(FEWEST, PER_CLUSTER * STEP * k):
        found["fine"] = STEP * k
    return found


def partitions(gram: Gram, labels: NDArray[np.intp], ks: dict[str, int], seed: int) -> Partitions:
    """Return the partitions of the levels around the middle one, which is `labels`, from coarse to fine."""
    return nested(gram.split_shift()[0], labels, ks, seed)


def neighbours(levels: Partitions, answer: str) -> dict[str, list[Any]]:
    """Return the partitions above and below one of the levels, the nearest first."""
    names = list(levels)
    place = names.index(answer)
    return {
        "above": [levels[name] for name in reversed(names[:place])],
        "below": [levels[name] for name in names[place + 1 :]],
    }


def numbered_by_size(labels: NDArray[np.intp], weights: Array) -> NDArray[np.intp]:
    """Renumber clusters: most documents first, then the one with the earliest document; −1 stays."""
    return by_size(labels, weights)
