"""Initial partitions of kernel k-means, each from its own generator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ... import _native
from ..._array import Array, is_sparse
from ..._check import check_labels
from ..._parallel import blas_threads, results_in_threads
from ...errors import InputError
from ...gram import Gram
from ..trees.grow import start_partition
from .state import Labels

Reader: TypeAlias = Callable[[Array], Array]  # document numbers → rows of the Gram

STARTS = ("random", "k-means++", "pddp")
_NOISE = 1e-12  # of their size: distances that differ by less are equal


def start_labels(
    init: Any, gram: Gram, k: int, weights: Array, rngs: list[np.random.Generator], group: NDArray[np.intp]
) -> Labels:
    """Return one starting partition for each generator, shape (starts, n).

    Parameters
    ----------
    init : "random", "k-means++" or "pddp"
    gram : Gram
        Without its trailing shift: seeding needs true distances.
    group : array of shape (n,)
        Documents with equal values are copies and start together; documents without weight are ignored.
    """
    if init not in STARTS:
        raise InputError(f"init must be one of {', '.join(map(repr, STARTS))} or an array of labels; got {init!r}.")
    heavy = np.flatnonzero(weights > 0)
    if init == "pddp":  # deterministic: every start is the same one
        return np.tile(start_partition(gram, min(k, len(heavy)), heavy).astype(np.int32), (len(rngs), 1))
    _, first, copy_of = np.unique(group[heavy], return_index=True, return_inverse=True)
    starts = np.zeros((len(rngs), len(gram)), dtype=np.int32)
    if init == "random":
        starts[:, heavy] = np.array([random_partition(len(first), k, rng) for rng in rngs])[:, copy_of]
        return starts
    centres, mass, read = heavy[first], np.bincount(copy_of, weights=weights[heavy]), row_reader(gram)

    def draw(p: int) -> None:
        starts[p] = plus_plus(gram, k, rngs[p], centres, mass, read)

    list(results_in_threads(draw, len(rngs)))
    return starts


def given_starts(init: Any, n: int, k: int, starts: int) -> Labels:
    """Return the given labels, one partition or one for each start, shape (partitions, n)."""
    try:
        given = np.atleast_2d(np.asarray(init))
    except ValueError:
        raise InputError(
            f"init must be labels of shape ({n},) or ({starts}, {n}); got rows of unequal length."
        ) from None
    labels = np.array([check_labels(row, n) for row in given], dtype=np.int32)
    if labels.max() >= k:
        raise InputError(f"init has {labels.max() + 1} different labels; n_clusters allows {k}.")
    if len(labels) not in (1, starts):
        raise InputError(f"init must hold one partition or one for each of the {starts} starts; got {len(labels)}.")
    return labels


def random_partition(n: int, k: int, rng: np.random.Generator) -> Labels:
    """Assign every document to a random cluster (as in the papers); no cluster stays empty if n ≥ k."""
    labels = rng.integers(0, k, size=n)
    counts = np.bincount(labels, minlength=k)
    for cluster in np.flatnonzero(counts == 0):
        spare = np.flatnonzero(counts[labels] > 1)
        if len(spare) == 0:
            break
        document = rng.choice(spare)
        counts[labels[document]] -= 1
        labels[document] = cluster
        counts[cluster] = 1
    return labels.astype(np.int32)


def row_reader(gram: Gram) -> Reader:
    """Return what reads rows of a Gram: through an inverted index where its features are sparse."""
    explicit, n = gram.features(), len(gram)
    if explicit is None or not is_sparse(explicit.rows):
        return lambda centres: gram._block(centres, slice(0, n)).astype(np.float64, copy=False)
    postings = _native.Postings(_native.sparse_documents(explicit.rows, explicit.scale, np.ones(n), np.ones(n)))
    return lambda centres: _native.gram_rows(postings, centres)


def plus_plus(
    gram: Gram, k: int, rng: np.random.Generator, candidates: Array, mass: Array, read: Reader | None = None
) -> Labels:
    """Draw k documents in proportion to their squared distance from those drawn before; join each to its nearest.

    Of 2 + ln k draws for each centre, the one with the smallest remaining sum of distances is taken (greedy
    k-means++). Costs k·(2 + ln k) rows of the Gram.

    Parameters
    ----------
    candidates : array of int
        Documents that may become centres.
    mass : array
        The weight of each of them, copies included.
    read : callable, optional
        `row_reader` of the Gram, where there are several starts.
    """
    with blas_threads():
        return _plus_plus(gram, k, rng, candidates, mass, read or row_reader(gram))


def _plus_plus(gram: Gram, k: int, rng: np.random.Generator, candidates: Array, mass: Array, read: Reader) -> Labels:
    diagonal = gram.diagonal().astype(np.float64)
    size = float(mass @ np.abs(diagonal[candidates]))
    trials = 2 + int(np.log(k))
    drawn = _draw(mass, 1, rng)
    nearest = _distances(read, diagonal, candidates[drawn])[0]
    labels = np.zeros(len(gram), dtype=np.int32)
    for cluster in range(1, k):
        pull = mass * nearest[candidates]
        if not pull.sum() > 0:
            break  # every document equals a centre
        centres = candidates[_draw(pull, trials, rng)]
        distances = _distances(read, diagonal, centres)
        left = np.minimum(distances, nearest)[:, candidates] @ mass
        best = int((left <= left.min() + _NOISE * size).argmax())  # the first of equals
        closer = distances[best] < nearest - _NOISE * (diagonal + diagonal[centres[best]])
        closer[centres[best]] = True
        labels[closer] = cluster
        nearest = np.minimum(nearest, distances[best])
        nearest[centres[best]] = 0.0
    return labels


def _draw(pull: Array, count: int, rng: np.random.Generator) -> Array:
    """Draw positions with probability proportional to `pull`."""
    total = np.cumsum(pull)
    return np.minimum(np.searchsorted(total, rng.random(count) * total[-1], side="right"), len(pull) - 1)


def _distances(read: Reader, diagonal: Array, centres: Array) -> Array:
    """Return the squared distances in feature space of some documents to all: (centres, n)."""
    block = read(centres)
    size = diagonal[centres][:, None] + diagonal
    squared = size - 2.0 * block
    return np.where(squared > _NOISE * np.abs(size), squared, 0.0)
