"""Evidence for every number of groups: what neighbours and random halves say of the partitions of Ward's tree.

Ward's tree of the documents, in their leading components, proposes a partition for every k. Two judges look at it, and
neither had a part in making it. *Neighbours*: how far the nearest neighbours of a document share its group beyond
chance; that falls as soon as a topic is torn. *Halves*: random halves of the documents have trees of their own and
predict each other; that falls where k is wrong among few. Saying more is worth something too: of texts, the less the
fewer they are; of rows of numbers, as far as centres of one half explain the other. The merit of k is the sum of these;
how it was chosen stands in docs/results/tried.md. Ward's rule makes groups of similar size; where halves agree clearly
more on those of average linkage, its tree proposes, too.

Whether there are groups at all is asked without a partition: have documents nearer neighbours than documents that were
dealt anew from the same words?
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from .._array import Array, tiles, unit_rows
from .._native import centres, nearest_centres
from .._parallel import blas_threads, meanwhile, results_in_few_threads, results_in_threads
from .._progress import Progress
from ..gram import Gram, LinearGram, centre
from ..gram.eigen import eigenpairs
from ..run import Apart, returned
from .leftover import share_left_over
from .splits import Entropy, half, keyed_generator, null_generator
from .strength import adjusted_rand, tables
from .ward import Labels, polish, tree_of

DOCUMENTS = 2500  # at most are looked at; a sample drawn by content
FEWEST = 30  # documents below which nothing can be told
PER_CLUSTER = 4  # documents for each cluster of the largest k
COMPONENTS = 32
EVERY, STEP = 12, 1.16  # every k up to here is tried, then steps of about a seventh
NEIGHBOURS, TUNED = 25, 7  # of a document; the distance of the 7th is its scale (Zelnik-Manor & Perona 2004)
SMALL = 1000  # documents: of fewer, more groups are worth less
MANY, LARGE = 20, 20  # clusters, and documents of each on average, from which on average linkage is tried as well
STEADIER = 0.1  # agreement of halves beyond that of Ward's tree: 0.24 where large classes are torn, 0.03 elsewhere
SPLITS, FIRST_SPLITS = 6, 2  # of the documents; of those k that the first leave open, all
SURE = 0.8  # agreement of halves that needs no comparison with one cloud
NEARER = 0.25  # of what is possible: neighbours that share a group beyond those of one cloud
ACCIDENT = 2.0  # over the root of the documents: agreement beyond one cloud that halves reach without groups
CLOUDS, DRAWN = 3, 3000  # clouds that are drawn at most, and their points
FEW_SPLITS = 3  # of a comparison that need not be close
ROUNDS, MOVES = 4, 3  # of trying values of k between those tried; of k-means after a cut
HEAPS = 50  # clusters up to which heaps of what is left over are looked for; of more, none is large
COMPARED, NEAREST = 300, 5  # documents whose nearest neighbours the verdict looks at, and how many of these
DRAWS = 19  # collections without groups
MANY_TOLD = 500  # documents from which on clouds and draws are worth processes of their own
_COMPARED, _CLOUD = 5, 7  # what a generator is for; see `splits`


@dataclass(frozen=True)
class Worth:
    """What counts how much in the merit of k, beside neighbours that share their group, which count 1.

    Attributes
    ----------
    few, more : float
        That the first groups are told apart, and e times as many.
    explained : float
        The share of the scatter of documents that centres explain which were found without them.
    steady, sure : float
        That halves agree: −steady · ln(sure − agreement).
    within, close : float
        Merit below the best: what steadiness cannot make up for, and what few splits leave open.
    """

    few: float
    more: float
    explained: float
    steady: float
    sure: float
    within: float
    close: float


OF_TEXTS = Worth(few=0.56, more=0.078, explained=0.0, steady=0.089, sure=1.02, within=0.3, close=0.08)
# Chosen on sentence embeddings, whose neighbours are noisier; docs/results/tried.md.
OF_ROWS = Worth(few=1.38, more=0.0, explained=1.45, steady=0.39, sure=1.1, within=0.8, close=0.2)


@dataclass(frozen=True)
class Evidence:
    """What neighbours and halves say of every k, and how much nearer neighbours are than without groups.

    Attributes
    ----------
    ks : array of shape (m,)
        The values tried, rising.
    mean, standard_error : arrays of shape (m,)
        Adjusted Rand index between the clusters of a half and what the other half predicts of it, over the splits.
    expected : array of shape (m,)
        The same for one cloud of points with the spread of the documents.
    merit : array of shape (m,)
        Of two values, the one with more is the better number of groups.
    beyond : float
        Similarity to the nearest neighbours, in standard deviations above that of documents without groups; −∞ unless
        it is above every draw.
    n_documents : int
        How many documents were looked at.
    steady : bool
        For rows of numbers, which without groups are one cloud: whether halves agree more, at the k with most merit,
        than those of every cloud that was drawn.
    nearer : array of shape (m,), optional
        How far nearest neighbours share their group beyond those of such a cloud, as a share of what is possible.
    close : float
        Merit below the best at which a k is plausible.
    left_over : array of shape (m,), optional
        The share of the documents in clusters that are heaps; see `leftover`.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.select import Evidence
    >>> halves = {"mean": np.array([0.9, 0.5]), "standard_error": np.zeros(2), "expected": np.array([0.1, 0.5])}
    >>> seen = Evidence(np.array([2, 3]), **halves, merit=np.array([1.2, 1.0]), beyond=8.0, n_documents=90)
    >>> seen.excess.round(2).tolist()
    [0.89, 0.0]
    """

    ks: NDArray[np.intp]
    mean: Array
    standard_error: Array
    expected: Array
    merit: Array
    beyond: float
    n_documents: int
    steady: bool = False
    nearer: Array | None = None
    close: float = OF_TEXTS.close
    left_over: Array | None = None

    @property
    def excess(self) -> Array:
        """Agreement beyond that of one cloud, as a share of what is possible: (a − e)/(1 − e)."""
        return np.asarray((self.mean - self.expected) / np.maximum(1.0 - self.expected, 0.02))

    @property
    def agrees(self) -> NDArray[np.bool_]:
        """Where halves or neighbours tell groups from one cloud.

        The agreement of halves, less two standard errors, is above that of one cloud, and by more than what few
        documents do by accident, or it is above `SURE`; or neighbours share their group far more often. Two groups
        make a cloud with one long axis, and its halves agree nearly as well as those of the groups; but the cloud has
        no gap, so its neighbours do not.
        """
        least, accident = self.mean - 2.0 * self.standard_error, ACCIDENT / np.sqrt(self.n_documents)
        told = (least > SURE) | ((least > self.expected) & (self.excess >= accident))
        return np.asarray(told if self.nearer is None else told | (self.nearer >= max(NEARER, accident)))


def grid(n: int) -> tuple[int, ...]:
    """Return the values of k to try for n documents: 2 … n/4, geometric."""
    last = max(2, n // PER_CLUSTER)
    ks = list(range(2, min(last, EVERY) + 1))
    while ks[-1] >= EVERY and (following := round(ks[-1] * STEP)) <= last:
        ks.append(following)
    return tuple(ks)


@dataclass(frozen=True)
class Compared:
    """What the verdict compares.

    Attributes
    ----------
    make : callable
        Makes a Gram of the documents at some places; with a generator, of as many without groups.
    most : int
        How many documents are compared at most.
    wide : float, optional
        For texts: standard deviation of collections without groups, in units of that of the draws, which may share
        documents.
    worth : Worth
        How the merit of k is put together.
    """

    make: Callable[[NDArray[np.intp], np.random.Generator | None], Gram]
    most: int = COMPARED
    wide: float | None = None
    worth: Worth = OF_TEXTS

    def among(self, rows: NDArray[np.intp]) -> Compared:
        """Return the same for places among some of the documents."""
        return replace(self, make=lambda some, rng: self.make(rows[some], rng))


def measure_evidence(
    gram: Gram, compared: Compared, ks: Sequence[int] | None, entropy: Entropy, report: Progress
) -> Evidence:
    """Judge every k, or the values that are given, and compare neighbours with those of documents without groups.

    Parameters
    ----------
    gram : Gram
        The documents, in canonical order, without a trailing shift.
    compared : Compared
    ks : sequence of int, optional
    entropy : tuple of int
    report : callable
    """
    with blas_threads():
        report("looking for groups", 0, 3)
        pays = len(gram) >= MANY_TOLD
        beyond = Apart(partial(_begin_beyond, len(gram), compared, entropy), pays)
        points = leading_points(gram)
        many = range(max(1, min(CLOUDS, DRAWN // len(points))))
        clouds = [Apart(partial(_begin_cloud, points, entropy, draw), pays, compiled=True) for draw in many]
        judge = _Judge(points, entropy, compared.worth)
        tried = judge.every(grid(len(points)) if ks is None else ks, free=ks is None)
        report("looking for groups", 1, 3)
        merit = np.array([judge.merits[k] for k in tried])
        halves = [judge.halves(k) for k in tried]
        drawn = list(results_in_few_threads(lambda number: clouds[number](tried), len(clouds)))
        expected, kappa, *_ = np.mean(drawn, axis=0).T
        best, own = tried[int(merit.argmax())], halves[int(merit.argmax())][0]
        lone = results_in_threads(lambda draw: _cloud(points, entropy, draw)[1].judge(best)[0], DRAWS)
        steady = compared.wide is None and all(own > agreed for agreed in lone)
        report("looking for groups", 2, 3)
        nearer_than = beyond()
        report("looking for groups", 3, 3)
    mean, error, shared = (np.array(each) for each in zip(*halves, strict=True))
    nearer = (shared - kappa) / np.maximum(1.0 - kappa, 0.02)
    cheap = gram if gram.features() is not None else LinearGram(points)  # else each k would compare all documents anew
    left_over = np.array([share_left_over(cheap, judge.clusters(k)) if k <= HEAPS else 0.0 for k in tried])
    return Evidence(
        np.array(tried),
        mean,
        error,
        expected,
        merit,
        nearer_than,
        len(points),
        steady,
        nearer,
        judge.worth.close,
        left_over,
    )


def leading_points(gram: Gram, *, unit: bool = False) -> Array:
    """Return documents in their leading components, centred; at unit length if asked, or if all are about as long."""
    found = eigenpairs(centre(gram), min(COMPONENTS, len(gram) - 1), tolerance=1e-6, probe=False)
    points = np.asarray(found.vectors * np.sqrt(np.maximum(found.values, 0.0)))
    own = gram.diagonal()
    if not unit and np.ptp(own) > 0.36 * np.abs(own).max(initial=0.0):  # lengths differ by more than a fifth
        return points
    return unit_rows(points)


class _Neighbours:
    """How far the nearest neighbours of documents share their group."""

    def __init__(self, points: Array) -> None:
        n, count = len(points), min(NEIGHBOURS, max(2, len(points) // 4))
        self.near, distance = np.empty((n, count), dtype=np.intp), np.empty((n, count))
        squares = (points**2).sum(axis=1)
        for rows in tiles(n, 24 * n):
            apart = np.maximum(squares[rows, None] + squares - 2.0 * (points[rows] @ points.T), 0.0)
            apart[np.arange(len(apart)), np.arange(n)[rows]] = np.inf
            self.near[rows] = np.argpartition(apart, count, axis=1)[:, :count]
            distance[rows] = np.take_along_axis(apart, self.near[rows], axis=1)
        at = min(TUNED, count) - 1
        scale = np.sqrt(np.maximum(np.partition(distance, at, axis=1)[:, at], 1e-9))
        self.weight = np.exp(-distance / (scale[:, None] * scale[self.near]))
        self.degree = self.weight.sum(axis=1) + np.bincount(self.near.ravel(), self.weight.ravel(), n)

    def judge(self, labels: Labels) -> Array:
        """Return the share of neighbours in the same group beyond chance (kappa), and chance: Σ of squared shares."""
        inside = self.weight[labels[self.near] == labels[:, None]].sum() / self.weight.sum()
        chance = float(((np.bincount(labels, self.degree) / self.degree.sum()) ** 2).sum())
        return np.array([(inside - chance) / max(1.0 - chance, 1e-9), chance])


class _Judge:
    """The merit of every k. Splits are added where a decision is close."""

    def __init__(self, points: Array, entropy: Entropy, worth: Worth) -> None:
        self.points, self.entropy, self.worth = points, entropy, worth
        tree, self.graph = meanwhile(partial(tree_of, points, "ward")), _Neighbours(points)
        self.parts = [half(len(points), entropy, number) for number in range(SPLITS)]
        self.splits = list(results_in_threads(lambda number: _Split(points, self.parts[number]), SPLITS))
        self.tree = tree()
        self.seen: dict[int, list[Array]] = {}
        self.merits: dict[int, float] = {}
        self.more = worth.more * min(1.0, len(points) / SMALL)

    def every(self, ks: Sequence[int], free: bool) -> list[int]:
        """Judge values of k, and those between the best and its neighbours if others than these may be taken."""
        self._look_at_ward(ks, free)
        self._look_at_average([k for k in ks if MANY <= k <= len(self.points) // LARGE])
        return sorted(self.merits)

    def _look_at_ward(self, ks: Sequence[int], free: bool) -> None:
        rough, within = {k: self._rough(k) for k in ks}, self.worth.within
        peak = max(ks, key=rough.__getitem__)
        needed = {k: rough[peak] - (within if k <= peak else within / 2) for k in ks}  # beyond, topics are torn
        self._look((k for k in ks if rough[k] >= needed[k] or not free), FIRST_SPLITS)
        for k in sorted(k for k in ks if k > max(self.merits)):  # many small groups: few neighbours, but steady halves
            if self.merits[max(self.merits)] < max(self.merits.values()) - self.worth.close:
                break
            self._look([k], FIRST_SPLITS)
        best = max(self.merits.values())
        self._look([k for k, merit in self.merits.items() if merit >= best - self.worth.close or not free], SPLITS)
        for _ in range(ROUNDS if free else 0):
            tried = sorted({*ks, *self.merits})
            at = tried.index(max(self.merits, key=lambda k: (self.merits[k], -k)))
            low, high = tried[max(at - 1, 0)], tried[min(at + 1, len(tried) - 1)]
            more = [k for k in range(low + 1, high, max(1, (high - low) // 6)) if k not in self.merits]
            if not more:
                break
            self._look(more, SPLITS)

    def _look_at_average(self, ks: list[int]) -> None:
        """Judge clusters of average linkage, too, where halves agree clearly more on them; the better tree counts."""
        if not ks or not self._is_torn(ks[len(ks) // 2]):
            return
        splits = [self.linked, *(_Split(self.points, part, "average") for part in self.parts[1:FEW_SPLITS])]
        for k in filter(self._is_torn, ks):
            seen = [split.judge(k, self.graph) for split in splits]
            merit = self._merit_of(seen)
            if merit > self.merits.get(k, -np.inf):
                self.seen[k], self.merits[k] = seen, merit

    def _is_torn(self, k: int) -> bool:
        one, other = (split.judge(k)[0] for split in (self.splits[0], self.linked))
        return bool(other >= one + STEADIER)

    @cached_property
    def linked(self) -> _Split:
        """The first two halves, with trees of average linkage."""
        return _Split(self.points, self.parts[0], "average")

    def _look(self, ks: Iterable[int], splits: int) -> None:
        asked = list(ks)
        missing = [(k, number) for k in asked for number in range(len(self.seen.get(k, ())), splits)]

        def judge(at: int) -> Array:
            k, number = missing[at]
            return self.splits[number].judge(k, self.graph)

        for (k, _), found in zip(missing, results_in_few_threads(judge, len(missing)), strict=True):
            self.seen.setdefault(k, []).append(found)
        self.merits |= {k: self._merit_of(self.seen[k]) for k in asked}

    def _rough(self, k: int) -> float:
        """Return the merit of a cut of the tree of all documents, less steadiness."""
        labels = self.tree.cut(k)
        kappa, chance = self.graph.judge(labels)
        return self._merit(kappa, chance, explained(self.points, labels, centres(self.points, labels, k)))

    def _merit_of(self, seen: list[Array]) -> float:
        agreement, *said = np.mean(seen, axis=0)
        return self._merit(*said) - self.worth.steady * float(np.log(self.worth.sure - agreement))

    def _merit(self, kappa: float, chance: float, share: float) -> float:
        worth = self.worth
        return float(kappa + worth.few * (1.0 - chance) - self.more * np.log(chance) + worth.explained * share)

    def clusters(self, k: int) -> Labels:
        """Return the clusters of a cut, moved to their centres."""
        return polish(self.points, self.tree.cut(k), k, MOVES)[0]

    def halves(self, k: int) -> tuple[float, float, float]:
        """Return the agreement of halves at k, its standard error, and how far neighbours share their group."""
        found, shared, *_ = np.array(self.seen[k]).T
        return float(found.mean()), float(found.std(ddof=1) / np.sqrt(len(found))), float(shared.mean())


class _Split:
    """Two halves of the documents, each with a tree of its own; clusters of Ward's are moved to their centres."""

    def __init__(self, points: Array, first: NDArray[np.bool_], rule: str = "ward") -> None:
        self.points, self.moves = points, MOVES if rule == "ward" else 0
        self.members = [np.flatnonzero(first), np.flatnonzero(~first)]
        self.trees = [tree_of(points[some], rule) for some in self.members]

    def judge(self, k: int, graph: _Neighbours | None = None) -> Array:
        """Return how far the halves agree, what neighbours say of the partitions they make of all, and `explained`.

        That is the share of the scatter of a half that the centres of the other explain.
        """
        halves = zip(self.members, self.trees, strict=True)
        made = [polish(self.points[some], tree.cut(k), k, self.moves) for some, tree in halves]
        every = [nearest_centres(self.points, middles) for _, middles in made]
        agree = [
            adjusted_rand(tables(own[None], every[1 - side][None, self.members[side]], k))[0]
            for side, (own, _) in enumerate(made)
        ]
        if graph is None:
            return np.array([np.mean(agree), 0.0, 1.0, 0.0])
        share = [
            explained(self.points[other], every[side][other], made[side][1])
            for side, other in enumerate(reversed(self.members))
        ]
        return np.array([np.mean(agree), *np.mean([graph.judge(labels) for labels in every], axis=0), np.mean(share)])


def explained(points: Array, labels: Labels, middles: Array) -> float:
    """Return the share of the scatter of points, around the origin, that the centres of their clusters explain."""
    left = float(((points - middles[labels]) ** 2).sum())
    return 1.0 - left / max(float((points**2).sum()), 1e-300)


def agreement(points: Array, k: int, rule: str, entropy: Entropy) -> float:
    """Return how far halves of the documents agree on k clusters of a tree, "ward" or "average"."""
    return float(np.mean([_Split(points, half(len(points), entropy, i), rule).judge(k)[0] for i in range(FEW_SPLITS)]))


def _cloud(points: Array, entropy: Entropy, draw: int) -> tuple[Array, _Split]:
    """Return a cloud with the spread of the points, and its halves."""
    drawn = keyed_generator(entropy, _CLOUD, draw).standard_normal(points.shape) * points.std(axis=0)
    if np.ptp((points**2).sum(axis=1)) < 1e-6:
        drawn = unit_rows(drawn)
    return drawn, _Split(drawn, half(len(points), entropy, draw))


def _begin_cloud(points: Array, entropy: Entropy, draw: int) -> Callable[[Sequence[int]], Array]:
    """Return what tells what halves and neighbours say, as of documents, of a cloud, (ks, 4)."""
    drawn, split = _cloud(points, entropy, draw)
    graph = _Neighbours(drawn)
    return lambda ks: np.array([split.judge(k, graph) for k in ks])


def _begin_beyond(n: int, compared: Compared, entropy: Entropy) -> Callable[[], float]:
    """Return what tells how many standard deviations nearer neighbours are than those of documents without groups."""
    some = np.sort(keyed_generator(entropy, _COMPARED).permutation(n)[: compared.most])
    own = _nearness(compared.make(some, None).dense())

    def draw(number: int) -> float:
        return _nearness(compared.make(some, null_generator(entropy, number)).dense())

    null = np.array(list(results_in_few_threads(draw, DRAWS)))
    spread = max((compared.wide or 1.0) * float(null.std(ddof=1)), 1e-6)
    return returned((own - float(null.mean())) / spread if own > null.max() else -np.inf)


def _nearness(similarities: Array) -> float:
    """Return the mean cosine, around the mean of all, of a document and its nearest others."""
    rows = similarities - similarities.mean(axis=0)
    rows -= rows.mean(axis=1, keepdims=True)
    length = np.sqrt(np.maximum(np.diagonal(rows), 1e-12))
    rows /= length[:, None] * length
    np.fill_diagonal(rows, -1.0)
    return float(np.partition(rows, -NEAREST, axis=1)[:, -NEAREST:].mean())
