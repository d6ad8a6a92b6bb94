"""Where kernel k-means starts from: partitions, each from its own generator."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import Array
from .._check import check_labels
from ..errors import InputError
from ..gram import Gram
from .sums import Labels

STARTS = ("random", "k-means++")


def generators(random_state: Any, count: int) -> list[np.random.Generator]:
    """Return one independent generator for each start, so that a start does not depend on how many there are."""
    from sklearn.utils import check_random_state

    try:
        source = check_random_state(random_state)
    except ValueError as error:
        raise InputError(f"random_state: {error}") from error
    entropy = source.randint(0, 2**31 - 1, size=4)
    return [np.random.default_rng(seed) for seed in np.random.SeedSequence([int(e) for e in entropy]).spawn(count)]


def start_labels(init: Any, gram: Gram, k: int, weights: Array, rngs: list[np.random.Generator]) -> Labels:
    """Return one starting partition for each generator, shape (starts, n).

    Parameters
    ----------
    init : "random", "k-means++" or array of labels
    gram : Gram
        Without its trailing shift: seeding needs true distances.
    """
    if not isinstance(init, str):
        return _given(init, len(gram), k, len(rngs))
    if init == "random":
        return np.array([random_partition(len(gram), k, rng) for rng in rngs])
    if init == "k-means++":
        return np.array([plus_plus(gram, k, rng, weights) for rng in rngs])
    raise InputError(f"init must be one of {', '.join(map(repr, STARTS))} or an array of labels; got {init!r}.")


def _given(init: Any, n: int, k: int, starts: int) -> Labels:
    given = np.atleast_2d(np.asarray(init))
    labels = np.array([check_labels(row, n) for row in given], dtype=np.int32)
    if labels.max() >= k:
        raise InputError(f"init has {labels.max() + 1} different labels; n_clusters allows {k}.")
    if len(labels) not in (1, starts):
        raise InputError(f"init must hold one partition or one for each of the {starts} starts; got {len(labels)}.")
    return labels


def random_partition(n: int, k: int, rng: np.random.Generator) -> Labels:
    """Put every document into a random cluster (the papers' start); no cluster is left empty."""
    labels = rng.integers(0, k, size=n)
    counts = np.bincount(labels, minlength=k)
    for cluster in np.flatnonzero(counts == 0):
        document = rng.choice(np.flatnonzero(counts[labels] > 1))
        counts[labels[document]] -= 1
        labels[document] = cluster
        counts[cluster] = 1
    return labels.astype(np.int32)


def plus_plus(gram: Gram, k: int, rng: np.random.Generator, weights: Array) -> Labels:
    """Draw k documents in proportion to their squared distance from those drawn before; join each to its nearest.

    Of 2 + ln k candidates for each centre the one that leaves the smallest sum of distances is taken (greedy
    k-means++). Costs k·(2 + ln k) rows of the Gram.
    """
    diagonal = gram.diagonal().astype(np.float64)
    trials = 2 + int(np.log(k))
    first = int(rng.choice(len(gram), p=weights / weights.sum()))
    nearest = _distances(gram, diagonal, np.array([first]))[0]
    labels = np.zeros(len(gram), dtype=np.int32)
    for cluster in range(1, k):
        mass = np.cumsum(weights * nearest)
        if not mass[-1] > 0:
            break  # every document equals a centre
        drawn = np.searchsorted(mass, rng.random(trials) * mass[-1], side="right")
        candidates = np.minimum(drawn, len(gram) - 1)
        distances = _distances(gram, diagonal, candidates)
        best = int((np.minimum(distances, nearest) @ weights).argmin())
        closer = distances[best] < nearest
        closer[candidates[best]] = True
        labels[closer] = cluster
        nearest = np.minimum(nearest, distances[best])
        nearest[candidates[best]] = 0.0
    return labels


def _distances(gram: Gram, diagonal: Array, centres: Array) -> Array:
    """Return the squared distances in feature space of some documents to all: (centres, n)."""
    block = gram.block(centres).astype(np.float64, copy=False)
    return np.maximum(diagonal[centres][:, None] + diagonal - 2.0 * block, 0.0)
