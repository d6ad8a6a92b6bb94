"""Kernel k-means (`dominance`, §2.1) on a Gram: a function that returns a frozen result."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._array import Array
from ..._check import check_flag, check_integer
from ..._config import settings
from ..._parallel import limits_threads, thread_count
from ..._random import generators
from ...errors import InputError
from ...gram import DenseGram, Gram, factor, unshifted
from ...gram.operators import check_gram
from ..results import Clustering, Runs
from .centroids import Centroids
from .fast import factored, held
from .lockstep import Finished, Problem, gather
from .narrow import GAIN, Narrow, run_starts
from .polish import polish_labels
from .seeding import given_starts, start_labels
from .state import TIE, Labels, Rule, Sums, check_centroid_weight, stored_entries

logger = logging.getLogger(__name__)

_ROUNDING = {"float64": 1e-13, "float32": 4e-6}


@limits_threads
def kernel_kmeans(
    gram: Gram,
    n_clusters: int,
    *,
    adjusted: bool = False,
    polish: bool = False,
    centroid_weight: float = 1.0,
    init: Any = "random",
    n_init: int = 10,
    max_iter: int = 100,
    sample_weight: Any = None,
    random_state: Any = None,
    identity: Any = None,
    n_jobs: int | None = None,
    batch_size: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Clustering:
    """Cluster the documents of a Gram into k groups; the best of several starts.

    All starts run in lockstep. On a stored Gram, after the first iteration only the documents that move cost; on a
    linear Gram each iteration is one pass over its stored entries. With the extra ``[fast]`` and dense features each
    start runs by itself, and threads share them. Labels depend on the seed alone: not on the batch size, the tiles, the
    memory budget, or whether the Gram is stored or not.

    Parameters
    ----------
    gram : Gram
        Need not be positive semi-definite.
    n_clusters : int
        k, from 1 to the number of documents.
    adjusted : bool
        Compare leave-one-out distances, so that self-similarity does not hold documents where they are (`dominance`,
        Eqn 12).
    polish : bool
        After convergence, move single documents, also in chains, while that lowers the objective.
    centroid_weight : float
        How much a centroid's ‖μ_c‖² counts in a distance, above 0 and at most 1. With ½, which counts every pair of a
        cluster once, most published figures of `dominance` and `validation` come out. Below 1 dense clusters draw more
        documents, random starts end in bad optima more seldom, and the objective may rise on the way.
    init : "random", "k-means++", "pddp", or array of shape (n,) or (n_init, n)
        Random partitions (the papers'), greedy k-means++ in feature space, the leaves of a PDDP tree (one start,
        always the same), or given labels.
    n_init : int
        Number of starts; the one with the smallest unshifted objective is returned.
    max_iter : int
        Iterations a start may take.
    sample_weight : array of shape (n,), optional
        How much each document counts; at least 0.
    random_state : int, RandomState or None
        Seed of the starts.
    identity : array of shape (n,), optional
        What each document is, as anything that can be sorted, such as a hash of its content. Starts are drawn for the
        distinct values in their order: copies start together, and the order of the documents does not matter. By
        default each document is its own position.
    n_jobs : int, optional
        Threads; one for each core by default. Does not change the result.
    batch_size : int, optional
        How many starts run together; chosen from the memory budget by default. Does not change the result.
    progress : callable, optional
        Called with the number of finished starts and of all.

    Returns
    -------
    Clustering

    Notes
    -----
    A cluster that becomes empty gets the document farthest from its centroid, so there are k clusters whenever there
    are k distinct documents; with fewer, a warning says how many were found.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.cluster import kernel_kmeans
    >>> from grampus.gram import LinearGram
    >>> points = np.array([[0.0, 0.1], [0.1, 0.0], [5.0, 5.1], [5.1, 5.0]])
    >>> kernel_kmeans(LinearGram(points), 2, random_state=0).sizes
    array([2, 2])
    """
    n = len(check_gram(gram))
    k = check_integer(n_clusters, "n_clusters", low=1, high=n, of=" (the number of documents)")
    n_init = check_integer(n_init, "n_init", low=1)
    max_iter = check_integer(max_iter, "max_iter", low=1)
    batch_size = None if batch_size is None else check_integer(batch_size, "batch_size", low=1)
    n_jobs = thread_count(n_jobs)
    weights = check_weights(sample_weight, n)
    base, sigma = unshifted(gram)
    diagonal = base.diagonal().astype(np.float64)
    if not np.isfinite(diagonal).all():
        raise InputError("The Gram's self-similarities must be finite; some are NaN or infinite.")
    centroid = check_centroid_weight(centroid_weight)
    rule = Rule(check_flag(adjusted, "adjusted"), TIE, sigma, centroid=centroid)
    problem = Problem(k, weights, diagonal, rule, max_iter)
    polish = check_flag(polish, "polish")
    if polish and centroid != 1.0:
        raise InputError(
            f"polish needs centroid_weight=1; got {centroid:g}. Single moves lower the objective; with such a "
            "weight clusters settle elsewhere."
        )

    rngs = generators(random_state, n_init)
    if isinstance(init, str) and init == "pddp":
        rngs = rngs[:1]  # always the same start
    given = None if isinstance(init, str) else given_starts(init, n, k, n_init)

    def draw(part: slice) -> Labels:
        return start_labels(init, base, k, weights, rngs[part], identity) if given is None else given[part].copy()

    total = len(rngs) if given is None else len(given)
    runs = _run_all(problem, choose_way(base, diagonal, weights, k, total, n_jobs), draw, total, batch_size, progress)
    # The first of equals: which of them rounding favours must not matter.
    size = float(weights @ np.abs(diagonal))
    best = int((runs.objective <= runs.objective.min() + TIE * size).argmax())
    labels, gain = _polished(gram, problem, runs.labels[best]) if polish else (runs.labels[best], 0.0)
    found = len(np.unique(labels))
    if found < k:
        warnings.warn(f"Only {found} of {k} clusters: no more documents are distinct.", stacklevel=2)
    logger.debug("kernel k-means: %d starts, best objective %g", len(runs), runs.objective[best])
    return Clustering(
        labels=labels,
        objective=float(runs.objective[best]) - gain,
        n_iter=int(runs.n_iter[best]),
        outcome=runs.outcomes[best],
        history=runs.histories[best],
        n_clusters=k,
        polish_gain=gain,
        runs=runs,
    )


def _run_all(
    problem: Problem,
    way: Sums | Narrow,
    draw: Callable[[slice], Labels],
    total: int,
    batch_size: int | None,
    progress: Callable[[int, int], None] | None,
) -> Runs:
    """Run every start, as many together as fit into a part of the memory budget."""
    step = batch_size or max(1, min(settings().memory // 16, 2**28) // way.bytes_per_start)
    finished: list[Finished] = []
    for first in range(0, total, step):
        starts = draw(slice(first, first + step))
        starts[:, problem.weights == 0] = -1
        for run in run_starts(problem, way, starts):
            finished.append(_placed(run, first))
            if progress is not None:
                progress(len(finished), total)
    return gather(finished)


def _polished(gram: Gram, problem: Problem, labels: NDArray[np.intp]) -> tuple[NDArray[np.intp], float]:
    """Return the labels after single moves, and by how much these lowered the unshifted objective."""
    base, weights, diagonal, k = unshifted(gram)[0], problem.weights, problem.diagonal, problem.k
    # A gain below what rounding makes of one document's distances may be undone by the next: that would never end.
    sizes = weights * np.abs(diagonal)
    least = max(TIE * float(sizes.sum()), _ROUNDING[base.dtype.name] * float(sizes.max()))
    labels, gain = polish_labels(_by_rows(base), diagonal, labels, k, weights, least)
    if gain and weights.min() == 0:  # those without weight follow the centroids
        nearest = Centroids.of(gram, labels, k, weights).fitted().argmin(axis=1)
        labels = np.where(weights > 0, labels, nearest)
    return labels, gain


def _by_rows(base: Gram) -> Gram:
    """Return a Gram whose rows are quick to get: every single move asks for one."""
    n = len(base)
    if isinstance(base, DenseGram) or factor(base) is not None or n * n * base.dtype.itemsize > settings().memory // 4:
        return base
    return DenseGram._trusted(base.dense())


def _placed(run: Finished, start: int) -> Finished:
    """Give every document its cluster, those without weight too, and the run its number among all."""
    labels = np.where(run.labels >= 0, run.labels, run.predicted).astype(np.int32)
    return replace(run, index=start + run.index, labels=labels)


def check_weights(sample_weight: Any, n: int) -> Array:
    """Return one weight for each document, 1 by default; at least 0 and not all 0."""
    if sample_weight is None:
        return np.ones(n)
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"sample_weight must be {n} numbers, one for each document.") from None
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise InputError(f"sample_weight must have {n} entries, one for each document; got shape {weights.shape}.")
    if not np.isfinite(weights).all() or weights.min() < 0 or not weights.sum() > 0:
        raise InputError("sample_weight must be finite, at least 0, and not zero for every document.")
    if weights.max() < 1e-100:
        raise InputError(f"sample_weight must reach 1e-100; the largest is {weights.max():g}. Scale the weights up.")
    return weights


def choose_way(base: Gram, diagonal: Array, weights: Array, k: int, starts: int, n_jobs: int | None) -> Sums | Narrow:
    """Pick the cheapest way to run the starts, by counting multiplications.

    A stored matrix costs about 6 n² a start (the first sums, then the movers); features cost one pass over their
    stored entries, times k, in each of about 15 iterations. Where they are dense and the loops are compiled, such a
    pass is one product.
    """
    n = len(base)
    stored = 6.0 * n * n * starts
    if isinstance(base, DenseGram):
        return held(base, diagonal, weights, k, base.matrix, stored, n_jobs)
    fits = n * n * base.dtype.itemsize <= settings().memory // 4
    explicit = factor(base)
    if explicit is not None:
        entries = stored_entries(explicit.features)
        passes = 15.0 * entries * k * starts
        narrow = Narrow.suits(explicit, passes, n_jobs)
        if not fits or passes / (GAIN if narrow else 1.0) <= stored + 2.0 * entries * n:
            if narrow:
                return Narrow(explicit, diagonal, weights, n_jobs)
            return factored(explicit, diagonal, weights, k, passes, n_jobs)
    return held(base, diagonal, weights, k, base.dense() if fits else None, stored, n_jobs)
