"""choose_k: how many clusters, by how well halves of the collection predict each other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from .._array import Array
from .._check import check_flag, check_integer
from .._parallel import blas_threads, limits_threads, results_in_threads, thread_count
from .._random import seed_words
from ..cluster.kmeans.state import Rule
from ..errors import InputError
from ..gram import Gram
from ..kernels import Kernel, parse_kernel
from .check import check_distinct, check_ks
from .checkpoint import Checkpoint, fingerprint, read_manifest
from .halves import Clock, Splitter
from .indices import other_indices
from .null import DRAWS, null_test
from .progress import Meter, Progress
from .prototypes import NEIGHBOURS, Reduction, growing_rate, reduce_gram
from .results import NullTest, Selection
from .schemes import Scheme, check_scheme, scheme_for
from .splits import Entropy, Starts, half
from .strength import chance_strength, corrected, tables

_PER_CLUSTER = 10  # prototypes that the default rate leaves for each of max(ks) clusters, if there are enough documents


@limits_threads
def choose_k(
    X: Any,
    *,
    kernel: str | Kernel = "cosine",
    ks: Any = range(2, 11),
    scheme: str = "auto",
    n_splits: int = 200,
    reduction: int | None = None,
    neighbours: int = NEIGHBOURS,
    init: str = "auto",
    n_init: int = 3,
    null: bool = True,
    indices: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
    batch_size: int | None = None,
    checkpoint: str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Selection:
    """Choose the number of clusters by prediction strength (`validation`).

    The collection is split into halves, again and again; both halves are clustered, each predicts the other by its
    centroids, and a value of k is good when predictions and clusterings agree. All splits run in lockstep, one product
    clusters one half and predicts the other; on dense features each half runs by itself, which is quicker there. The
    result depends on the seed alone: not on the threads, the batch size or the memory budget, nor on the order of the
    documents where these are known (of stored similarities and of a Nyström Gram given as `X` they are not).

    Parameters
    ----------
    X : array or sparse array of shape (n, m), list of n strings, or Gram
        What the kernel takes; or a Gram, which is used as it is.
    kernel : str or Kernel
        The plain kernel. KKM-S and RED-S add the shift that brings the trace to 0, RED-S after the reduction; a
        trailing ``shift`` in the spelling is taken as that one, so that ``"linear|shift(0)"`` means none.
    ks : iterable of int
        Values to try, at most half as many as there are documents. 1 is always possible through the null test.
    scheme : "auto", "RED-S", "KKM-S", "KM-S" or "KM-P"
        Kernel k-means on prototypes or on all documents, or k-means by cosine; scored by prediction strength (S) or
        by partition similarity (P). "auto" is KKM-S up to 2,500 documents, and RED-S for more or where
        `reduction` is given or `neighbours` is not 5; ``Selection.scheme`` says which one ran.
    n_splits : int
        τ. The same splits serve every k.
    reduction : int, optional
        ρ, documents for one prototype (RED-S). By default 4; more for more than 10,000 documents, less for few.
    neighbours : int
        p, neighbours averaged into a prototype (RED-S).
    init : "auto", "random", "k-means++" or "documents"
        Where halves start: a random partition (the paper's, good for texts), k documents drawn apart from each other
        (good for well-separated clouds), or the first start random and the others by k-means++.
        ``"documents"`` draws k documents at random, as R's kmeans does.
    n_init : int
        Starts of each half; the one with the smallest objective is kept. The paper has one random start.
    null : bool
        Whether to compare with single clouds of the same spectrum; if the documents do no better, ``best`` is 1.
    indices : bool
        Whether to compute silhouette and gap statistic beside.
    random_state : int, RandomState or None
        Seed of the splits and starts.
    n_jobs : int, optional
        Workers of joblib, each with some of the splits; one for each core by default, as threads.
    batch_size : int, optional
        How many splits run together; chosen from the memory budget by default.
    checkpoint : path, optional
        A folder that keeps every finished k; called again with the same arguments, work goes on from there.
    progress : callable, optional
        Called with a `Progress` before each stage, with an estimate, and as it goes on.

    Returns
    -------
    Selection

    Notes
    -----
    A split's score is the mean of both directions (two-fold cross-validation).
    Strengths are corrected by the mean strength of random partitions (Eqn 2); KM-P is not corrected.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus import choose_k
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat(np.eye(4) * 9, 40, axis=0) + rng.normal(size=(160, 4))
    >>> selection = choose_k(X, kernel="linear", ks=range(2, 7), n_splits=20, random_state=0)
    >>> selection.best
    4
    """
    began = time.perf_counter()
    scheme = check_scheme(scheme)
    n_splits = check_integer(n_splits, "n_splits", low=1)
    null, indices = check_flag(null, "null"), check_flag(indices, "indices")
    batch_size = None if batch_size is None else check_integer(batch_size, "batch_size", low=1)
    thread_count(n_jobs)
    starts = Starts(init, n_init)
    documents = Documents.of(X, kernel)
    asked = reduction is not None or neighbours != NEIGHBOURS
    way = scheme_for(scheme, len(documents.gram), reduced=asked)
    if way.rule.spherical and documents.shifted:
        raise InputError(f"{way.name} uses no shift; leave the trailing shift out of the kernel.")
    values = check_ks(ks, len(documents.gram) // 2)
    entropy = _entropy(random_state, checkpoint)
    timings: dict[str, float] = {}

    reduced = None
    gram, names = documents.gram, documents.names
    rate = _rate(way, reduction, len(gram), values[-1])
    if rate is None and neighbours != NEIGHBOURS:
        raise InputError(f"neighbours belongs to RED-S; {way.name} uses every document. Leave it out.")
    if rate is not None:
        reduced = _reduce(documents, rate, neighbours, values, timings, progress)
        gram = reduced.gram
        names = None if names is None else np.sort(names[reduced.members], axis=1)
    rule = replace(way.rule, shift=0.0 if way.rule.spherical else documents.sigma(gram))
    check_distinct(names, (half(len(gram), entropy, split) for split in range(n_splits)), values[-1])

    kept = _open(checkpoint, documents, way, rule, rate, neighbours, n_splits, starts, entropy)
    splitter = Splitter.of(gram, rule, values, n_splits, starts=starts)
    job = Job(splitter, way, n_splits, entropy, n_jobs, batch_size)
    columns = _score_all(job, values, kept, timings, progress)
    scored = {name: np.stack([column[name] for column in columns], axis=-1) for name in columns[0]}
    tested = _null(job, documents, values, kept, timings, progress) if null else None
    others = other_indices(gram, values, random_state=entropy[0]) if indices else None
    timings["total"] = time.perf_counter() - began
    return Selection(
        ks=values,
        scores=scored["scores"],
        strength=scored["strength"],
        chance=scored["chance"],
        chance_error=scored["chance_error"],
        degenerate=scored["degenerate"],
        null=tested,
        scheme=way.name,
        kernel=documents.spelling,
        seed=entropy,
        indices=others,
        reduction=None if reduced is None else documents.restored(reduced),
        timings=timings,
    )


@dataclass(frozen=True)
class Documents:
    """The collection in an order that only its content decides, so that the order of the rows changes nothing.

    Attributes
    ----------
    gram : Gram
        Without its trailing shift.
    names : array of shape (n,) or None
        Digests of the documents' content, sorted; None for a given matrix, whose rows stay where they are.
    order : array of shape (n,)
        Where each document was.
    shift : float or None
        The shift that was written, None for the one that brings the trace to 0.
    shifted : bool
        Whether any shift was written.
    spelling : str
    """

    gram: Gram
    names: Array | None
    order: NDArray[np.intp]
    shift: float | None
    shifted: bool
    spelling: str

    @classmethod
    def of(cls, X: Any, kernel: str | Kernel) -> Documents:
        """Fit the kernel, or take a Gram as it is."""
        if isinstance(X, Gram):
            gram, spelling = X, repr(X)
        else:
            read = parse_kernel(kernel)
            gram, spelling = read.gram(X), str(read)
        base, sigma = gram.split_shift()
        zero_trace = -base.trace() / len(base)
        written = base is not gram
        fixed = None if not written or np.isclose(sigma, zero_trace, rtol=1e-9, atol=0.0) else sigma
        base, order = base.canonical()
        return cls(base, base.documents().names, order, fixed, written, spelling)

    def sigma(self, gram: Gram) -> float:
        """Return the shift for the Gram that is clustered."""
        return -gram.trace() / len(gram) if self.shift is None else self.shift

    def restored(self, reduced: Reduction) -> Reduction:
        """Return a reduction with the documents' numbers as they were given."""
        return Reduction(
            reduced.gram,
            self.order[reduced.seeds],
            self.order[reduced.members],
            reduced.compactness,
            reduced.rate,
            reduced.neighbours,
            reduced.n_documents,
        )


@dataclass(frozen=True)
class Job:
    """What scoring one k needs."""

    splitter: Splitter
    scheme: Scheme
    n_splits: int
    entropy: Entropy
    n_jobs: int | None
    batch_size: int | None

    @property
    def workers(self) -> int:
        """How many of joblib's workers there are; one uses threads of its own."""
        return int(joblib.effective_n_jobs(self.n_jobs))

    def batches(self, k: int) -> list[range]:
        """Cut the splits into batches that fit into memory, at least one for each worker."""
        most = -(-self.n_splits // self.workers)
        step = self.batch_size or min(most, self.splitter.splits_at_once(k, self.workers))
        return [range(first, min(first + step, self.n_splits)) for first in range(0, self.n_splits, step)]

    def score(self, k: int, tell: Callable[[int], None]) -> tuple[dict[str, Array], Clock, float]:
        """Return the arrays of one k, and what the parts took."""
        threads = thread_count(self.n_jobs) if self.workers == 1 else 1
        clock, scoring, parts = Clock(), 0.0, []
        for arrays, batch_clock, seconds in _each(self, k, threads):
            parts.append(arrays)
            clock.add(batch_clock)
            scoring += seconds
            tell(len(arrays["scores"]))
        sizes = (len(self.splitter.gram) // 2, -(-len(self.splitter.gram) // 2))
        chances = [chance_strength(size, k) for size in sizes] if self.scheme.corrected else []
        found = {name: np.concatenate([part[name] for part in parts]) for name in ("scores", "strength")}
        found["degenerate"] = np.array(sum(int(part["degenerate"]) for part in parts))
        found["chance"] = np.array(np.mean([c.mean for c in chances]) if chances else 0.0)
        found["chance_error"] = np.array(np.mean([c.error for c in chances]) if chances else 0.0)
        return found, clock, scoring


def _each(job: Job, k: int, threads: int) -> Iterator[tuple[dict[str, Array], Clock, float]]:
    """Yield the scores of every batch, in order."""
    batches = job.batches(k)
    if job.workers == 1:
        yield from (score_batch(job.splitter, job.scheme, k, batch, job.entropy, threads) for batch in batches)
        return
    parallel = joblib.Parallel(n_jobs=job.n_jobs, prefer="threads", return_as="generator")
    with blas_threads():
        yield from parallel(
            joblib.delayed(score_batch)(job.splitter, job.scheme, k, batch, job.entropy, threads) for batch in batches
        )


def score_batch(
    splitter: Splitter, scheme: Scheme, k: int, splits: Sequence[int], entropy: Entropy, threads: int
) -> tuple[dict[str, Array], Clock, float]:
    """Cluster the halves of some splits and score their predictions of each other."""
    halves = splitter.halves(k, splits, entropy, threads)
    began = time.perf_counter()
    counts = tables(*halves.crossed(), k)
    values, degenerate = scheme.score(counts)
    scores = values
    if scheme.corrected:
        scores = corrected(values, np.array([chance_strength(int(size), k).mean for size in counts.sum((1, 2))]))
    arrays = {
        "scores": scores.reshape(-1, 2).mean(axis=1),
        "strength": values.reshape(-1, 2).mean(axis=1),
        "degenerate": np.array(int(degenerate.sum())),
    }
    return arrays, halves.clock, time.perf_counter() - began


def _score_all(
    job: Job,
    ks: tuple[int, ...],
    kept: Checkpoint | None,
    timings: dict[str, float],
    progress: Callable[[Progress], None] | None,
) -> list[dict[str, Array]]:
    """Score every k, or read what is finished already."""
    stored = {k: kept.load(f"k_{k:05d}") if kept is not None else None for k in ks}
    waiting = [k for k in ks if stored[k] is None]
    meter = Meter("splits", float(sum(_work(k) * job.n_splits for k in waiting)), progress)
    if waiting and progress is not None:
        meter.estimate(_estimate(job, waiting))
    clock, scoring = Clock(), 0.0
    for k, (found, spent, seconds) in _each_k(job, waiting, lambda k, splits: meter.add(_work(k) * splits)):
        stored[k] = found
        clock.add(spent)
        scoring += seconds
        if kept is not None:
            kept.save(f"k_{k:05d}", found)
    timings |= {"products": clock.products, "assignment": clock.assignment, "scoring": scoring}
    return [found for found in stored.values() if found is not None]


def _each_k(
    job: Job, ks: Sequence[int], tell: Callable[[int, int], None]
) -> Iterator[tuple[int, tuple[dict[str, Array], Clock, float]]]:
    """Yield every k with its scores; where starts need no other, threads share the values of k, the largest first."""
    threads = thread_count(job.n_jobs)
    if job.workers > 1 or job.splitter.narrow is None or len(ks) < 2 * threads:
        yield from ((k, job.score(k, partial(tell, k))) for k in ks)
        return
    falling, alone = sorted(ks, reverse=True), replace(job, n_jobs=1)
    with blas_threads():
        scored = results_in_threads(lambda i: alone.score(falling[i], lambda _: None), len(falling), threads)
        for k, found in zip(falling, scored, strict=True):
            tell(k, job.n_splits)
            yield k, found


def _work(k: int) -> float:
    """Return how the cost of a split grows with k: sums of movers, and a comparison with every cluster."""
    return 10.0 + k


def _estimate(job: Job, ks: Sequence[int]) -> float:
    """Return the seconds that scoring will take, from one split; done twice, as the first time loads things."""
    middle = ks[len(ks) // 2]
    threads = thread_count(job.n_jobs) if job.workers == 1 else 1
    for _ in range(2):
        began = time.perf_counter()
        score_batch(job.splitter, job.scheme, middle, range(1), job.entropy, threads)
        seconds = time.perf_counter() - began
    return seconds * job.n_splits * sum(_work(k) for k in ks) / _work(middle) / job.workers


def _rate(scheme: Scheme, reduction: int | None, n: int, k: int) -> int | None:
    """Return the reduction rate, None for a scheme without reduction."""
    if not scheme.reduced:
        if reduction is not None:
            raise InputError(f"reduction belongs to RED-S; {scheme.name} uses every document. Leave it out.")
        return None
    if reduction is None:
        return growing_rate(n, least=_PER_CLUSTER * k)
    return check_integer(reduction, "reduction", low=1, high=n, of=" (the number of documents)")


def _reduce(
    documents: Documents,
    rate: int,
    neighbours: int,
    ks: tuple[int, ...],
    timings: dict[str, float],
    progress: Callable[[Progress], None] | None,
) -> Reduction:
    """Make the prototypes; there must be enough of them for both halves."""
    n = len(documents.gram)
    neighbours = check_integer(neighbours, "neighbours", low=0, high=n - 1, of=" (the documents but one)")
    if n // rate < 2 * ks[-1]:
        raise InputError(
            f"reduction = {rate} leaves {n // rate} prototypes of {n} documents; max(ks) = {ks[-1]} needs at least "
            f"{2 * ks[-1]}. Use a smaller rate, smaller ks, or scheme='KKM-S'."
        )
    meter = Meter("reduction", 1.0, progress)
    if progress is not None:
        sample = documents.gram.take(np.arange(min(n, 500)))
        began = time.perf_counter()
        reduce_gram(sample, rate=min(rate, len(sample)), neighbours=min(neighbours, len(sample) - 1))
        meter.estimate((time.perf_counter() - began) * (n / len(sample)) ** 2)
    began = time.perf_counter()
    reduced = reduce_gram(documents.gram, rate=rate, neighbours=neighbours)
    timings["reduction"] = time.perf_counter() - began
    meter.add(1.0)
    return reduced


def _null(
    job: Job,
    documents: Documents,
    ks: tuple[int, ...],
    kept: Checkpoint | None,
    timings: dict[str, float],
    progress: Callable[[Progress], None] | None,
) -> NullTest:
    """Test against single clouds, or read the test if it is finished already."""
    name = "null_" + "_".join(map(str, ks))
    stored = None if kept is None else kept.load(name)
    if stored is not None:
        plain: dict[str, Any] = {key: value if value.ndim else value.item() for key, value in stored.items()}
        return NullTest(**plain)
    began = time.perf_counter()
    meter = Meter("null", DRAWS + 1.0, progress)
    rule = job.splitter.rule
    found = null_test(
        documents.gram,
        replace(rule, shift=0.0 if rule.spherical else documents.sigma(documents.gram)),
        ks,
        job.entropy,
        starts=job.splitter.starts,
        threads=thread_count(job.n_jobs),
        tell=meter.add,
    )
    timings["null"] = time.perf_counter() - began
    if kept is not None:
        kept.save(name, {key: np.asarray(value) for key, value in vars(found).items()})
    return found


def _entropy(random_state: Any, checkpoint: str | Path | None) -> Entropy:
    """Return what fixes everything random; without a seed, a checkpoint that was begun goes on with its own."""
    if checkpoint is not None and random_state is None and Path(checkpoint).is_dir():
        found = read_manifest(Path(checkpoint))
        if found is not None and isinstance(found.get("seed"), list):
            return tuple(int(number) for number in found["seed"])
    return tuple(seed_words(random_state))


def _open(
    checkpoint: str | Path | None,
    documents: Documents,
    scheme: Scheme,
    rule: Rule,
    rate: int | None,
    neighbours: int,
    n_splits: int,
    starts: Starts,
    entropy: Entropy,
) -> Checkpoint | None:
    if checkpoint is None:
        return None
    return Checkpoint.open(
        checkpoint,
        {
            "corpus": fingerprint(documents.gram, documents.names),
            "documents": len(documents.gram),
            "scheme": scheme.name,
            "kernel": documents.spelling,
            "shift": f"{rule.shift:.9g}",
            "centroid_weight": rule.centroid,
            "rate": rate,
            "neighbours": neighbours if rate is not None else None,
            "n_splits": n_splits,
            "init": f"{starts.n_init} × {starts.init}",
            "seed": list(entropy),
        },
    )
