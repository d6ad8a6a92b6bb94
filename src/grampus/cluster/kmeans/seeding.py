"""Where kernel k-means starts from: partitions, each from its own generator."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ... import _native
from ..._array import Array, is_sparse
from ..._backend import BackendSeeds, current
from ..._check import check_choice, check_labels
from ..._parallel import blas_threads, helpers, results_in_threads
from ...errors import InputError
from ...gram import Gram
from ..trees.grow import start_partition
from .loops import SHARED, dense_rows
from .state import Labels

# Rows of features, what turns positions of documents into their similarities to all, or what draws seeds itself.
Reader: TypeAlias = _native.Panels | Callable[[Array], Array] | BackendSeeds

STARTS = ("random", "k-means++", "pddp")


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
        Documents with equal values are copies and start together; documents without weight have no say.
    """
    check_choice(init, "init", STARTS, " or an array of labels")
    heavy = np.flatnonzero(weights > 0)
    if init == "pddp":  # deterministic: every start is the same one
        return np.tile(start_partition(gram, min(k, len(heavy)), heavy).astype(np.int32), (len(rngs), 1))
    first, copy_of = distinct_groups(group[heavy])
    starts = np.zeros((len(rngs), len(gram)), dtype=np.int32)
    if init == "random":
        starts[:, heavy] = np.array([random_partition(len(first), k, rng) for rng in rngs])[:, copy_of]
        return starts
    mass, read = np.bincount(copy_of, weights=weights[heavy]), row_reader(gram)(heavy[first])
    diagonal = gram.diagonal().astype(np.float64)[heavy[first]]

    def draw(p: int) -> None:
        starts[p, heavy] = plus_plus(read, diagonal, k, rngs[p], mass)[copy_of]

    list(results_in_threads(draw, len(rngs)))
    return starts


def distinct_groups(group: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first document of every group in rising order, and the place of each document's group among them."""
    if (np.diff(group) > 0).all():  # no copies: nothing to sort
        return np.arange(len(group)), np.arange(len(group))
    _, first, copy_of = np.unique(group, return_index=True, return_inverse=True)
    return first, copy_of


def given_starts(init: Any, n: int, k: int, starts: int) -> Labels:
    """Return labels that were given, one partition or one for each start, shape (partitions, n)."""
    try:
        partitions = np.atleast_2d(np.asarray(init))
    except ValueError:
        shapes = f"({n},) or ({starts}, {n})"
        raise InputError(f"init must be labels of shape {shapes}; got rows of unequal length.") from None
    labels = np.array([check_labels(row, n) for row in partitions], dtype=np.int32)
    if labels.max() >= k:
        raise InputError(f"init has {labels.max() + 1} different labels; n_clusters allows {k}.")
    if len(labels) not in (1, starts):
        raise InputError(f"init must hold one partition or one for each of the {starts} starts; got {len(labels)}.")
    return labels


def random_partition(n: int, k: int, rng: np.random.Generator) -> Labels:
    """Put every document into a random cluster (the papers' start); no cluster is left empty if n ≥ k."""
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


def row_reader(gram: Gram) -> Callable[[NDArray[np.intp]], Reader]:
    """Return what reads similarities among any of the documents: of some of these to all of these.

    Dense features are read as they are, sparse ones through an inverted index, which is built once.
    """
    explicit, n, elsewhere = gram.features(), len(gram), current().seeds(gram)
    if elsewhere is not None:
        return elsewhere
    if explicit is None or explicit.rows.shape[1] == 0:
        return lambda among: lambda centres: gram._block(among[centres], among).astype(np.float64, copy=False)
    if is_sparse(explicit.rows):
        postings = _native.Postings(_native.sparse_documents(explicit.rows, explicit.scale, np.ones(n), np.ones(n)))
        return lambda among: lambda centres: _native.gram_rows(postings, among[centres])[:, among]
    return lambda among: _native.panels(dense_rows(explicit if len(among) == n else explicit.take(among)))


def plus_plus(read: Reader, diagonal: Array, k: int, rng: np.random.Generator, mass: Array) -> Labels:
    """Draw k documents in proportion to their squared distance from those drawn before; join each to its nearest.

    Of 2 + ln k draws for each centre the one that leaves the smallest sum of distances is taken (greedy k-means++).
    Costs k·(2 + ln k) rows of the Gram.

    Parameters
    ----------
    read : Panels, callable or BackendSeeds
        `row_reader` of the documents, given their positions.
    diagonal, mass : array
        Self-similarity of each document, and the weight that it stands for.
    """
    trials = 2 + int(np.log(k))
    if isinstance(read, BackendSeeds):
        return read.spread(diagonal, mass, trials, rng.random(1 + (k - 1) * trials))
    chosen = _native.Seeds(diagonal, mass)
    if isinstance(read, _native.Panels):
        with helpers(read.n, least=SHARED) as team:
            chosen.spread(read, k, rng.random(1 + (k - 1) * trials), team)
        return chosen.labels()
    with blas_threads():
        for drawn in [1] + [trials] * (k - 1):
            centres = chosen.draw(rng.random(drawn))
            if len(centres) == 0:
                break  # every document equals a centre
            chosen.take(read(centres), centres)
    return chosen.labels()
