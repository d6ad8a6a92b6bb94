"""Validation of the answer: the choice of k, and stability."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import select
from ..._array import Array
from ..._progress import Progress
from ...errors import InputError
from ...gram import Gram
from ...kernels import Kernel
from ...persist import Choice
from ...select.schemes import scheme_for
from ..given.effort import BY_LEVELS, Effort
from ..given.inputs import Inputs
from .levels import around, levels_of_inputs, numbers

LARGEST_K = 10  # tried by default
STABILITY_SPLITS = 20  # at most, for stability; more of them change it less than another seed does
FEWEST_SPLITS, READ_IN_SPLITS = 8, 120_000  # at least, and documents of all splits from which on there are fewer


def choose_ks(
    gram: Gram, inputs: Inputs, kernel: Kernel, effort: Effort, seed: int, progress: Progress
) -> tuple[Choice, dict[str, int]]:
    """Choose k as the effort says; return the record of it, and the number of clusters of every level."""
    if effort.scheme == BY_LEVELS:
        return levels_of_inputs(gram, inputs, kernel, effort, progress)
    choice = choose_by_strength(gram, inputs, effort, seed, progress)
    return choice, around(choice.best, int((inputs.weights > 0).sum()))


def choose_by_strength(gram: Gram, inputs: Inputs, effort: Effort, seed: int, progress: Progress) -> Choice:
    """Choose k by prediction strength among the distinct documents that have terms."""
    heavy = np.flatnonzero(inputs.weights > 0)
    base, _ = gram.split_shift()
    base = base if len(heavy) == len(base) else base.take(heavy)
    most = len(heavy) // 4  # two documents for each cluster of a half
    values = [k for k in (effort.ks or range(2, LARGEST_K + 1)) if effort.ks is not None or k <= most]
    if not values:
        verdict = f"{len(heavy)} different documents are too few to choose k from: they are left in one cluster."
        way = scheme_for(effort.scheme, len(heavy), reduced=False)
        return Choice(1, way.name, (), (), (), (), (), 0, None, verdict)

    options: dict[str, Any] = {"scheme": effort.scheme, "null": effort.null, "random_state": seed}
    splits = select.Splits(effort.n_splits)
    found = select.choose_k(base, ks=values, splits=splits, progress=progress, **options)
    mean, error, made = numbers(found.mean), numbers(found.standard_error), found.n_splits
    p_value, ranking, words = None if found.null is None else found.null.p_value, found.ranking, found.confidence
    return Choice(found.best, found.scheme, found.ks, mean, error, ranking, found.plausible, made, p_value, words)


def splits_of(n_splits: int, documents: int) -> int:
    """Return how many splits stability is measured on."""
    return min(n_splits, STABILITY_SPLITS, max(FEWEST_SPLITS, READ_IN_SPLITS // max(documents, 1)))


def measure_stability(
    gram: Gram, labels: NDArray[np.intp], weights: Array, n_splits: int, seed: int
) -> tuple[select.Stability | None, str]:
    """Measure the stability beyond chance; None if halves would be too small, or for the reason given.

    It is NaN for documents in no cluster and without weight.

    Parameters
    ----------
    gram : Gram
    labels, weights : arrays of shape (m,)
    n_splits : int
    seed : int
    """
    heavy = np.flatnonzero((weights > 0) & (labels >= 0))
    k = int(labels.max()) + 1
    if k < 2 or len(heavy) < 4 * k:
        return None, ""
    clusters, splits = labels[heavy], select.Splits(splits_of(n_splits, len(heavy)))
    try:
        part = gram if len(heavy) == len(gram) else gram.take(heavy)
        measured = select.stability(part, clusters, splits=splits, random_state=seed)
    except InputError as error:
        return None, f"Stability was not measured: {error}"
    measured = measured.beyond_chance(clusters)  # what large clusters get by chance counts for nothing
    documents = np.full(len(labels), np.nan)
    documents[heavy] = measured.documents
    return replace(measured, documents=documents), ""
