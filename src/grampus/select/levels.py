"""Levels: up to three nested partitions of a collection, and whether to believe that it has groups at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array, is_sparse, take_rows
from .._draw import Drawable
from .._frame import data_frame
from .._names import LEVELS
from .._progress import Progress, as_progress
from .._random import seed_words
from ..cluster import kernel_kmeans
from ..gram import Gram
from ..kernels import Kernel, parse_kernel
from .evidence import DOCUMENTS, FEWEST, PER_CLUSTER, Evidence, grid, measure_evidence, split_scores
from .nested import nested
from .splits import Entropy, check_ks, keyed_generator
from .ungrouped import takes_drawn, ungrouped, ungrouped_gram

# How many clusters a reader can use, where the evidence leaves a choice: the penalty is STRENGTH · ln²(k / centre).
CENTRES = {"coarse": 3.5, "middle": 8.0, "fine": 25.0}
STRENGTH = {"coarse": 0.3, "middle": 0.2, "fine": 0.3}
PERFECT = 0.15  # below 1: excess from which many clusters are less and less of a burden
SAME = 0.985  # excess from which a k is as good as any
ROUNDS = 3  # of trying values of k between those tried
APART = 1.6  # factor between the numbers of clusters of two levels
SURPRISE, EXCESS = 3.0, 0.05  # what groups need: standard deviations above data without groups, and a share
LIKELY = 1.0  # standard deviations that the other levels need
CLEAR = 0.35  # excess from which the groups are called clear
# Whether a given number of clusters are groups is told from fewer documents, splits and draws.
CHECKED_DOCUMENTS, CHECKED_SPLITS, CHECKED_DRAWS, CHECKED_AT = 800, 4, 3, (8, 20)
MOST_CHECKED = CHECKED_DOCUMENTS // PER_CLUSTER  # clusters that so few documents can tell about
_SAMPLE = 4  # what a generator is for; see `splits`


@dataclass(frozen=True)
class LevelPartition:
    """One partition of the documents.

    Attributes
    ----------
    name : "coarse", "middle" or "fine"
    n_clusters : int
    labels : array of shape (n,)
        The largest cluster is 0.
    excess : float or None
        Agreement of halves beyond that of data without groups, as a share of what is possible; None if not measured.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.select import LevelPartition
    >>> LevelPartition("middle", 2, np.array([0, 0, 1])).n_clusters
    2
    """

    name: str
    n_clusters: int
    labels: NDArray[np.intp]
    excess: float | None = None


@dataclass(frozen=True)
class Levels(Drawable):
    """Up to three nested partitions, and the evidence for them.

    Attributes
    ----------
    verdict : "groups", "weak groups", "no groups" or "too few"
        Whether halves of the documents agree more than halves of data without groups do.
    levels : tuple of LevelPartition
        From coarse to fine. Without groups there is one of a single cluster, the middle one.
    evidence : Evidence or None
        Scores at every k, and those of data without groups; None for too few documents.
    n_documents : int

    Examples
    --------
    >>> import numpy as np
    >>> from grampus import choose_levels
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat(np.eye(4) * 9, 40, axis=0) + rng.normal(size=(160, 4))
    >>> levels = choose_levels(X, kernel="linear", random_state=0)
    >>> levels.verdict, levels.middle.n_clusters
    ('groups', 4)
    """

    verdict: str
    levels: tuple[LevelPartition, ...]
    evidence: Evidence | None
    n_documents: int

    def __getitem__(self, name: str) -> LevelPartition:
        for level in self.levels:
            if level.name == name:
                return level
        raise KeyError(f"there is no {name} level; there are: {', '.join(level.name for level in self.levels)}")

    @property
    def middle(self) -> LevelPartition:
        """The level that is shown first."""
        return self["middle"]

    def to_frame(self) -> Any:
        """Return the cluster of every document at each level as a pandas DataFrame (``grampus[frames]``)."""
        return data_frame({level.name: level.labels for level in self.levels})

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        sizes = {level.name: level.n_clusters for level in self.levels}
        return explain_levels(self.verdict, sizes, self.evidence, self.n_documents)


@dataclass(frozen=True)
class Chosen:
    """The numbers of clusters that the evidence supports.

    Attributes
    ----------
    verdict : str
    ks : dict of str to int
        Level and number of clusters; {"middle": 1} where no groups were found.
    evidence : Evidence or None
    """

    verdict: str
    ks: dict[str, int]
    evidence: Evidence | None

    def excess(self, k: int) -> float | None:
        """Return the excess at a k that was tried."""
        if self.evidence is None or k not in self.evidence.ks:
            return None
        return float(self.evidence.excess[np.flatnonzero(self.evidence.ks == k)[0]])


def choose_levels(
    X: Any,
    *,
    kernel: str | Kernel = "cosine|principal(auto)|normalise",
    ks: Any = None,
    random_state: Any = None,
    progress: Progress | None = None,
) -> Levels:
    """Find out how many groups there are and at which levels, or that there are none.

    For each k, random halves of the documents are clustered, and each predicts the other: their agreement (adjusted
    Rand index) is compared with that of collections without groups, which keep the lengths of the documents and the
    frequencies of the terms (or, for dense rows, mean and covariance). What is left, as a share of what is possible,
    is the evidence for k. The middle level is the k with the most evidence, where evidence leaves a choice one near
    8; the coarse level merges its clusters, the fine level divides them.

    Parameters
    ----------
    X : array or sparse array of shape (n, m), list of str, or Gram
        What the kernel takes.
    kernel : str or Kernel
        Ignored for a Gram.
    ks : iterable of int, optional
        Values to try for the middle level; 2 to about 2 √n by default.
    random_state : int, RandomState or None
        Seed of the splits and starts.
    progress : callable, optional
        Called as ``progress(step, done, total)``.

    Returns
    -------
    Levels

    Examples
    --------
    >>> import numpy as np
    >>> from grampus import choose_levels
    >>> cloud = np.random.default_rng(0).normal(size=(100, 5))
    >>> choose_levels(cloud, kernel="linear", random_state=0).sentence
    'No groups found: halves of the documents agree no more than those of data without groups.'
    """
    report, entropy = as_progress(progress), tuple(seed_words(random_state))
    parsed = None if isinstance(X, Gram) else parse_kernel(kernel)
    if parsed is not None and not (parsed.reads_only_texts or is_sparse(X) or isinstance(X, Mapping)):
        X = np.asarray(X)
    base, _ = (X if parsed is None else parsed.gram(X)).split_shift()
    chosen = find_levels(base, without_groups(base, parsed, X), ks, entropy, report)
    k = chosen.ks["middle"]
    labels = np.zeros(len(base), dtype=np.intp)
    if k > 1:
        labels = kernel_kmeans(base, k, polish=True, init="k-means++", random_state=entropy[0]).labels.astype(np.intp)
    return Levels(chosen.verdict, nest_levels(base, labels, chosen, entropy), chosen.evidence, len(base))


Without = Callable[[NDArray[np.intp], np.random.Generator], Gram]


def without_groups(
    gram: Gram, kernel: Kernel | None, documents: Any, places: NDArray[np.intp] | None = None
) -> Without:
    """Return what makes Grams without groups of some of the documents, from these or, without a kernel, from the Gram.

    Parameters
    ----------
    gram : Gram
        Without a trailing shift.
    kernel : Kernel, optional
    documents : collection
        What the kernel takes.
    places : array of int, optional
        Where the documents of the Gram are among them; in this order by default.
    """

    def without(rows: NDArray[np.intp], rng: np.random.Generator) -> Gram:
        if kernel is None or not takes_drawn(kernel, documents):
            return ungrouped_gram(gram.take(rows), rng)
        some = take_rows(documents, rows if places is None else places[rows])
        return kernel.gram(ungrouped(some, rng)).split_shift()[0]

    return without


def find_levels(gram: Gram, without: Without, ks: Any, entropy: Entropy, report: Progress) -> Chosen:
    """Choose the numbers of clusters of the levels.

    Parameters
    ----------
    gram : Gram
        Without a trailing shift.
    without : callable
        Makes a Gram without groups of some of the documents.
    ks : iterable of int, optional
    entropy : tuple of int
    report : callable
    """
    n = len(gram)
    if n < FEWEST:
        return Chosen("too few", {"middle": 1}, None)
    part, rows = sample(gram, DOCUMENTS, entropy)
    values = grid(n, len(part)) if ks is None else check_ks(ks, len(part) // 2)
    evidence = measure_evidence(part, lambda rng: without(rows, rng), values, entropy, report)
    if ks is None:
        evidence = _refined(part, evidence, entropy, report)
    return decide(evidence)


def sample(gram: Gram, most: int, entropy: Entropy) -> tuple[Gram, NDArray[np.intp]]:
    """Return at most so many documents, drawn by content, in canonical order, and their places in the Gram."""
    ordered, order = gram.canonical()
    if len(gram) <= most:
        return ordered, order
    drawn = np.sort(keyed_generator(entropy, _SAMPLE).permutation(len(gram))[:most])
    return ordered.take(drawn), order[drawn]


def check_given(
    gram: Gram, without: Callable[[np.random.Generator], Gram], k: int, entropy: Entropy, report: Progress
) -> Chosen:
    """Tell whether a given number of clusters are groups, from few documents. Costs a few splits at three values of k.

    There are groups if halves agree more than those of data without groups at k, 8 or 20; whether the k clusters are
    such groups is told at k. For more than `MOST_CHECKED` clusters only the former is told, at 8 and 20: the evidence
    is that at 20, and the verdict is "" where there are groups.

    Parameters
    ----------
    gram : Gram
        A sample of the documents in canonical order, without a trailing shift.
    without : callable
        Makes as many documents without groups.
    k : int
    entropy : tuple of int
    report : callable
    """
    others = [other for other in CHECKED_AT if documents_needed(other) <= len(gram)]
    ks = sorted({k, *others} if k <= MOST_CHECKED else others)
    seen = measure_evidence(gram, without, ks, entropy, report, splits=CHECKED_SPLITS, draws=CHECKED_DRAWS)
    at = [ks.index(k) if k in ks else len(ks) - 1]
    own = Evidence(seen.ks[at], seen.scores[:, at], seen.null[:, at], seen.n_documents)
    verdict = decide(seen).verdict
    if verdict != "no groups":
        verdict = "groups" if _beyond(own)[0] and own.excess[0] >= CLEAR else "weak groups"
    return Chosen(verdict if k in ks or verdict == "no groups" else "", {"middle": k}, own)


def _beyond(seen: Evidence) -> NDArray[np.bool_]:
    """Return where the agreement less two standard errors is above that of data without groups."""
    return np.asarray(seen.mean - 2.0 * seen.standard_error > seen.expected)


def documents_needed(k: int) -> int:
    """Return how many different documents it takes to tell whether k clusters are groups."""
    return max(FEWEST, PER_CLUSTER * k)


def _refined(gram: Gram, seen: Evidence, entropy: Entropy, report: Progress) -> Evidence:
    """Try every k around the best ones, with data without groups interpolated."""
    for _ in range(ROUNDS):
        more = _between(seen)
        if not more:
            break
        seen = _with(seen, gram, more, entropy, report)
    return seen


def _between(seen: Evidence) -> list[int]:
    """Return values of k to try: next to the best one, and next to peaks where halves agree almost perfectly."""
    best, excess = decide(seen).ks["middle"], seen.excess
    padded = np.concatenate([[-np.inf], excess, [-np.inf]])
    peaks = (excess >= padded[:-2]) & (excess >= padded[2:]) & (excess >= 1.0 - PERFECT)
    more: set[int] = set()
    for place in np.flatnonzero(peaks | (seen.ks == best)).tolist():
        low, high = (int(seen.ks[min(max(place + step, 0), len(seen.ks) - 1)]) for step in (-1, 1))
        more.update(range(low, high))
    return sorted(more - set(seen.ks.tolist()))


def _with(evidence: Evidence, gram: Gram, more: list[int], entropy: Entropy, report: Progress) -> Evidence:
    """Return evidence with further values of k."""
    scores = split_scores(gram, more, entropy, range(len(evidence.scores)), report, 0, len(more))
    scale, wanted = np.log(evidence.ks), np.log(more)
    null = np.stack([np.interp(wanted, scale, row) for row in evidence.null])
    ks = np.concatenate([evidence.ks, more])
    order = np.argsort(ks)
    return Evidence(
        ks[order],
        np.concatenate([evidence.scores, scores], axis=1)[:, order],
        np.concatenate([evidence.null, null], axis=1)[:, order],
        evidence.n_documents,
    )


def decide(evidence: Evidence) -> Chosen:
    """Read the evidence: the verdict, and the number of clusters of each level."""
    excess = evidence.excess
    supported = _beyond(evidence) & (evidence.surprise > SURPRISE) & (excess > EXCESS)
    if not supported.any():
        return Chosen("no groups", {"middle": 1}, evidence)
    middle = _best(evidence.ks, excess, supported, "middle")
    ks = {"middle": middle}
    likely = (evidence.surprise > LIKELY) & (excess > EXCESS)  # that there are groups is settled
    for name, inside in (("coarse", evidence.ks * APART <= middle), ("fine", evidence.ks >= middle * APART)):
        if (likely & inside).any():
            ks[name] = _best(evidence.ks, excess, likely & inside, name)
    clear = excess[evidence.ks == middle][0] >= CLEAR
    return Chosen("groups" if clear else "weak groups", {name: ks[name] for name in LEVELS if name in ks}, evidence)


def _best(ks: NDArray[np.intp], excess: Array, allowed: NDArray[np.bool_], name: str) -> int:
    burden = STRENGTH[name] * np.log(ks / CENTRES[name]) ** 2
    burden[ks > CENTRES[name]] *= np.clip((1.0 - excess) / PERFECT, 0.0, 1.0)[ks > CENTRES[name]]
    preferred = np.where(allowed, excess - burden, -np.inf)
    perfect = allowed & (excess >= SAME)
    if perfect[preferred.argmax()]:  # groups far apart also agree when some are merged: the most of them are meant
        return int(ks[perfect].max())
    return int(ks[preferred.argmax()])


def nest_levels(
    gram: Gram, labels: NDArray[np.intp], chosen: Chosen, entropy: Sequence[int]
) -> tuple[LevelPartition, ...]:
    """Return the levels around a partition: its clusters merged, themselves, and divided."""
    found = nested(gram, labels, chosen.ks, entropy[0])
    return tuple(
        LevelPartition(name, int(part.max()) + 1, part, chosen.excess(chosen.ks[name])) for name, part in found.items()
    )


def explain_levels(verdict: str, sizes: dict[str, int], seen: Evidence | None, n: int) -> str:
    """Return a verdict in words."""
    if verdict == "too few":
        return f"{n} different documents are too few to tell whether there are groups; at least {FEWEST} are needed."
    if verdict == "no groups":
        return "No groups found: halves of the documents agree no more than those of data without groups."
    others = [f"{word}: {sizes[name]}" for word, name in (("coarser", "coarse"), ("finer", "fine")) if name in sizes]
    more = f" ({', '.join(others)})" if others else ""
    middle = sizes["middle"]
    if seen is None or middle not in seen.ks:
        return f"{middle} groups{more}."
    return f"{middle} {verdict}{more}: {_figures(seen, middle)}."


def explain_given(chosen: Chosen, n: int) -> str:
    """Return the verdict on a number of clusters that was given, in words."""
    k, evidence = chosen.ks["middle"], chosen.evidence
    if evidence is None:
        return (
            f"{n:,} different documents are too few to tell whether {k} clusters are groups; at least "
            f"{documents_needed(k):,} are needed."
        )
    tried = int(evidence.ks[0])
    if chosen.verdict == "no groups":
        return (
            f"No groups found: at k = {tried}{', which was given' if tried == k else ''}, {_figures(evidence, tried)}."
        )
    if not _beyond(evidence)[0] or evidence.excess[0] <= EXCESS:
        return f"There are groups, but {k} is not their number: at that k {_figures(evidence, tried)}."
    return f"The {k} clusters that were asked for are {chosen.verdict}: {_figures(evidence, tried)}."


def _figures(seen: Evidence, k: int) -> str:
    place = int(np.flatnonzero(seen.ks == k)[0])
    return f"halves of the documents agree by {seen.mean[place]:.2f}, data without groups by {seen.expected[place]:.2f}"
