"""Evidence for every number of clusters: how far random halves agree, next to halves of data without groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._array import Array
from .._parallel import blas_threads, results_in_threads, thread_count
from .._progress import Progress
from ..cluster.kmeans import Rule
from ..gram import Gram
from .halves import Splitter
from .splits import Entropy, Splits, null_generator, paths
from .strength import adjusted_rand, tables

DOCUMENTS = 4000  # at most are looked at; a sample drawn by content
FEWEST = 30  # documents below which nothing can be told
PER_CLUSTER = 10  # documents for each cluster of the largest k
DRAWS = 6  # collections without groups
SPLITS = 8
NULL_SPLITS = 1  # of each collection without groups
STARTS = 2  # of each half
EVERY = 12  # every k up to here is tried, then steps of about a seventh
STEP = 1.15


@dataclass(frozen=True)
class Evidence:
    """How far halves of the documents agree at every k, and halves of data without groups.

    Attributes
    ----------
    ks : array of shape (m,)
        The values tried, rising.
    scores : array of shape (splits, m)
        Adjusted Rand index between the clusters of a half and what the other half predicts of it, the mean of both
        directions.
    null : array of shape (draws, m)
        The mean of the same over the splits of each collection without groups.
    n_documents : int
        How many documents were split.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.select import Evidence
    >>> seen = Evidence(np.array([2, 3]), np.array([[0.9, 0.5]]), np.array([[0.1, 0.5]]), 100)
    >>> seen.excess.round(2).tolist()
    [0.89, 0.0]
    """

    ks: NDArray[np.intp]
    scores: Array
    null: Array
    n_documents: int

    @property
    def mean(self) -> Array:
        """The agreement at every k."""
        return np.asarray(self.scores.mean(axis=0))

    @property
    def standard_error(self) -> Array:
        """Its standard error over the splits."""
        n = len(self.scores)
        return np.asarray(self.scores.std(axis=0, ddof=1) / np.sqrt(n)) if n > 1 else np.zeros(len(self.ks))

    @property
    def expected(self) -> Array:
        """The agreement without groups."""
        return np.asarray(self.null.mean(axis=0))

    @property
    def excess(self) -> Array:
        """Agreement beyond that of data without groups, as a share of what is possible: (a − e)/(1 − e)."""
        return np.asarray((self.mean - self.expected) / np.maximum(1.0 - self.expected, 0.02))

    @property
    def surprise(self) -> Array:
        """The agreement in standard deviations from that of data without groups, on the scale −log(1 − a).

        The scale tells 1 from 0.95 as it tells 0.5 from 0. Deviations are pooled over neighbouring values of k, since
        few draws know each of them badly.
        """
        seen, without = (
            -np.log(np.maximum(1.0 - part, 0.0) + 2.0 / self.n_documents) for part in (self.mean, self.null)
        )
        variance = without.var(axis=0, ddof=1)
        padded = np.pad(variance, 2, mode="edge")
        pooled = np.max([np.convolve(padded, np.full(5, 0.2), "valid"), variance / 2.0], axis=0)
        own = self.standard_error / np.maximum(1.0 - self.mean, 0.02)
        return np.asarray((seen - without.mean(axis=0)) / np.sqrt(pooled + own**2 + 1e-4))


def grid(n: int, most: int) -> tuple[int, ...]:
    """Return the values of k to try for n documents of which `most` are split: 2 … about 2 √n, geometric."""
    last = max(2, min(round(2.0 * np.sqrt(n)), most // PER_CLUSTER))
    ks = list(range(2, min(last, EVERY) + 1))
    while (following := round(ks[-1] * STEP)) <= last and ks[-1] >= EVERY:
        ks.append(following)
    return tuple(ks)


def measure_evidence(
    gram: Gram,
    without: Callable[[np.random.Generator], Gram],
    ks: Sequence[int],
    entropy: Entropy,
    report: Progress,
    *,
    splits: int = SPLITS,
    draws: int = DRAWS,
) -> Evidence:
    """Score every k on splits of the documents, and on splits of collections without groups.

    Parameters
    ----------
    gram : Gram
        The documents that are split, in canonical order, without a trailing shift.
    without : callable
        Makes a collection without groups from a generator.
    ks : sequence of int
    entropy : tuple of int
    report : callable
    splits, draws : int
        Splits of the documents, and collections without groups.
    """
    steps = len(ks) * (draws + 1)
    report("looking for groups", 0, steps)
    scores = split_scores(gram, ks, entropy, range(splits), report, 0, steps)
    null = np.empty((draws, len(ks)))
    with blas_threads():  # for all threads: a limit that one of them sets and lifts would be lifted under the others
        for draw, drawn in enumerate(_drawn(without, entropy, draws)):
            numbers = range(NULL_SPLITS * draw, NULL_SPLITS * (draw + 1))
            done = len(ks) * (draw + 1)
            null[draw] = split_scores(drawn, ks, entropy, numbers, report, done, steps).mean(axis=0)
    return Evidence(np.array(ks, dtype=np.intp), scores, null, len(gram))


def _drawn(without: Callable[[np.random.Generator], Gram], entropy: Entropy, draws: int) -> Iterator[Gram]:
    """Yield collections without groups, made in threads; no more are held than there are threads."""
    threads = thread_count()
    for first in range(0, draws, threads):

        def draw(place: int, first: int = first) -> Gram:
            return without(null_generator(entropy, first + place))

        yield from results_in_threads(draw, min(threads, draws - first))


def split_scores(
    gram: Gram, ks: Sequence[int], entropy: Entropy, numbers: Sequence[int], report: Progress, done: int, steps: int
) -> Array:
    """Return the agreement of the halves of some splits at every k, (splits, ks)."""
    splits = Splits(len(numbers), init="k-means++", n_init=STARTS)
    splitter = Splitter.of(gram, Rule(), ks, splits, entropy)
    starts = paths(gram, ks, entropy, numbers, STARTS)
    threads, found = thread_count(), np.empty((len(numbers), len(ks)))
    for place, k in enumerate(ks):
        agreement = adjusted_rand(tables(*splitter.halves_from(k, starts[place], threads).crossed(), k))
        found[:, place] = agreement.reshape(-1, 2).mean(axis=1)
        report("looking for groups", done + place + 1, steps)
    return found
