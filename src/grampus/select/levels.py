"""Levels: nested partitions of a collection, and whether to believe that it has groups at all."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import is_sparse, take_rows
from .._draw import Drawable
from .._frame import data_frame
from .._names import LEVELS
from .._progress import Progress, as_progress
from .._random import seed_words
from ..cluster import kernel_kmeans
from ..gram import Gram
from ..kernels import Kernel, parse_kernel
from .evidence import DOCUMENTS, FEWEST, OF_ROWS, OF_TEXTS, Compared, Evidence, Worth, measure_evidence
from .nested import nested
from .splits import Entropy, check_ks, keyed_generator
from .ungrouped import takes_drawn, ungrouped, ungrouped_gram

NEARLY = 0.04  # merit that fewer groups may lack
PERFECT = 0.15  # below 1: agreement of halves from which on they may lack less and less
APART = 2.0  # factor between the numbers of clusters of two levels: with 1.5 and three of them, 74 % of the choosing
# draws had a level near the number of classes, with up to five 93 %, and 96 % at 2.0 (levels-shown)
LEFT_OVER = 0.25  # of the documents: larger heaps are passed over
BEYOND = 3.0  # what groups need: standard deviations by which neighbours are nearer than without groups
# Agreement of halves, and how their groups are called.
SAME = ((0.9, "the same"), (0.75, "nearly the same"), (0.5, "similar"), (-np.inf, "only partly the same"))
EXCESS, CLEAR = 0.05, 0.35  # of halves: what another level needs, and from where on groups are called clear
PER_CLUSTER = 10  # documents that each cluster of a given k needs, to be told from none
_SAMPLE = 4  # what a generator is for; see `splits`


@dataclass(frozen=True)
class LevelPartition:
    """One partition of the documents.

    Attributes
    ----------
    name : "coarsest", "coarse", "middle", "fine" or "finest"
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
    """Up to five nested partitions, and the evidence for them.

    Attributes
    ----------
    verdict : "groups", "weak groups", "no groups" or "too few"
        Whether documents have nearer neighbours than without groups, and how far halves of them agree.
    levels : tuple of LevelPartition
        From coarse to fine. Without groups there is one of a single cluster, the middle one.
    evidence : Evidence or None
        What was found at every k; None for too few documents.
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

    Ward's tree of the documents proposes a partition for every k up to n/4. The merit of k is how far the nearest
    neighbours of a document share its group beyond chance, how far random halves of the documents agree, and how much
    k says. The middle level has the most merit, or nearly so with fewer groups, and no more than a quarter of the
    documents in heaps of what is left over, if that can be had; coarser levels merge its clusters, finer levels divide
    them. There are groups if documents have nearer neighbours than documents without groups, which keep the lengths of
    the documents and the frequencies of the terms (or, for dense rows, mean and covariance).

    Parameters
    ----------
    X : array or sparse array of shape (n, m), list of str, or Gram
        What the kernel takes.
    kernel : str or Kernel
        Ignored for a Gram.
    ks : iterable of int, optional
        Values to try for the middle level; 2 to n/4 by default.
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
    'No clear groups: your documents are no closer to each other than random ones. The best guess is k = 22.'
    """
    report, entropy = as_progress(progress), tuple(seed_words(random_state))
    parsed = None if isinstance(X, Gram) else parse_kernel(kernel)
    if parsed is not None and not (parsed.reads_only_texts or is_sparse(X) or isinstance(X, Mapping)):
        X = np.asarray(X)
    base, _ = (X if parsed is None else parsed.gram(X)).split_shift()
    chosen = find_levels(base, compared_with(base, parsed, X), ks, entropy, report)
    k = chosen.ks["middle"]
    labels = np.zeros(len(base), dtype=np.intp)
    if k > 1:
        labels = kernel_kmeans(base, k, polish=True, init="k-means++", random_state=entropy[0]).labels.astype(np.intp)
    return Levels(chosen.verdict, nest_levels(base, labels, chosen, entropy), chosen.evidence, len(base))


Draw = Callable[[NDArray[np.intp], np.random.Generator], Any]


def compared_with(
    gram: Gram,
    kernel: Kernel | None,
    documents: Any,
    places: NDArray[np.intp] | None = None,
    draw: Draw | None = None,
    worth: Worth | None = None,
) -> Compared:
    """Return what makes Grams of some of the documents, or of as many without groups.

    Both have a Gram of their own: what a kernel learns from all documents, such as its components, is better than what
    it learns from few. Without a kernel, and where its similarities are costly, both are points in the components of
    the Gram.

    Parameters
    ----------
    gram : Gram
        Without a trailing shift.
    kernel : Kernel, optional
    documents : collection
        What the kernel takes.
    places : array of int, optional
        Where the documents of the Gram are among them; in this order by default.
    draw : callable, optional
        Makes as many documents without groups as there are places; `ungrouped` by default.
    worth : Worth, optional
        How the merit of k is put together; by what the documents are by default.
    """
    whole = kernel is None or not takes_drawn(kernel, documents)
    if kernel is None or whole or ("text" in kernel.inputs and gram.features() is None):
        return Compared(lambda rows, rng: ungrouped_gram(gram.take(rows), rng))

    def make(rows: NDArray[np.intp], rng: np.random.Generator | None) -> Gram:
        where = rows if places is None else places[rows]
        if rng is not None and draw is not None:
            return kernel.gram(draw(where, rng)).split_shift()[0]
        some = take_rows(documents, where)
        some = some if rng is None else ungrouped(some, rng)
        return kernel.gram(some).split_shift()[0]

    rows = documents.get("embedding") if isinstance(documents, Mapping) else documents
    return Compared(make, worth=worth or (OF_ROWS if isinstance(rows, np.ndarray) else OF_TEXTS))


def find_levels(gram: Gram, compared: Compared, ks: Any, entropy: Entropy, report: Progress) -> Chosen:
    """Choose the numbers of clusters of the levels; the arguments are those of `measure_evidence`."""
    if len(gram) < FEWEST:
        return Chosen("too few", {"middle": 1}, None)
    part, rows = sample(gram, DOCUMENTS, entropy)
    values = None if ks is None else check_ks(ks, len(part) // 2)
    return decide(measure_evidence(part, compared.among(rows), values, entropy, report))


def sample(gram: Gram, most: int, entropy: Entropy) -> tuple[Gram, NDArray[np.intp]]:
    """Return at most so many documents, drawn by content, in canonical order, and their places in the Gram."""
    ordered, order = gram.canonical()
    if len(gram) <= most:
        return ordered, order
    drawn = np.sort(keyed_generator(entropy, _SAMPLE).permutation(len(gram))[:most])
    return ordered.take(drawn), order[drawn]


def check_given(gram: Gram, compared: Compared, k: int, entropy: Entropy, report: Progress) -> Chosen:
    """Tell whether there are groups, and whether a given number of clusters are such groups; see `find_levels`."""
    part, rows = sample(gram, DOCUMENTS, entropy)
    if len(part) < documents_needed(k):
        return Chosen("too few", {"middle": k}, None)
    seen = measure_evidence(part, compared.among(rows), (k,), entropy, report)
    verdict = "groups" if seen.agrees[0] and seen.excess[0] >= CLEAR else "weak groups"
    return Chosen(verdict if seen.beyond >= BEYOND or _has_groups(seen, 0) else "no groups", {"middle": k}, seen)


def _has_groups(seen: Evidence, place: int) -> bool:
    """Return whether there are groups; for rows of numbers, halves that agree clearly at a k tell it as well."""
    clear = seen.steady and seen.excess[place] >= CLEAR
    return bool(seen.agrees[place]) and (seen.beyond >= BEYOND or bool(clear))


def documents_needed(k: int) -> int:
    """Return how many different documents it takes to tell whether k clusters are groups."""
    return max(FEWEST, PER_CLUSTER * k)


def decide(seen: Evidence) -> Chosen:
    """Read the evidence: the verdict, and the number of clusters of each level.

    Where there are groups, the level that is shown has no large heap of what is left over, if there is one without.
    """
    place = _best(seen, seen.agrees if seen.agrees.any() else np.ones(len(seen.ks), dtype=bool))
    if not _has_groups(seen, place):
        return Chosen("no groups", {"middle": 1}, seen)
    if seen.left_over is not None and seen.left_over[place] > LEFT_OVER:
        without = seen.agrees & (seen.excess > EXCESS) & (seen.left_over <= LEFT_OVER)
        place = _best(seen, without) if without.any() else place
    ks = {"middle": int(seen.ks[place])}
    for name, near in (("coarse", "middle"), ("coarsest", "coarse"), ("fine", "middle"), ("finest", "fine")):
        if near in ks:
            apart = seen.ks * APART <= ks[near] if name.startswith("coarse") else seen.ks >= ks[near] * APART
            inside = apart & seen.agrees & (seen.excess > EXCESS)
            if inside.any():
                ks[name] = int(seen.ks[np.where(inside, seen.merit, -np.inf).argmax()])
    clear = seen.excess[place] >= CLEAR
    return Chosen("groups" if clear else "weak groups", {name: ks[name] for name in LEVELS if name in ks}, seen)


def _best(seen: Evidence, where: NDArray[np.bool_]) -> int:
    """Return the place with the most merit, or nearly so with fewer groups."""
    merit = np.where(where, seen.merit, -np.inf)
    best = int(merit.argmax())
    margin = NEARLY * min(1.0, (1.0 - float(seen.mean[best])) / PERFECT)
    return int(np.flatnonzero(merit >= merit[best] - margin)[0])


def nest_levels(
    gram: Gram, labels: NDArray[np.intp], chosen: Chosen, entropy: Sequence[int]
) -> tuple[LevelPartition, ...]:
    """Return the levels around a partition: its clusters merged, themselves, and divided."""
    parts = nested(gram, labels, chosen.ks, entropy[0]).items()
    return tuple(
        LevelPartition(name, int(part.max()) + 1, part, chosen.excess(chosen.ks[name])) for name, part in parts
    )


def explain_levels(verdict: str, sizes: dict[str, int], seen: Evidence | None, n: int) -> str:
    """Return a verdict in words."""
    if verdict == "too few":
        return f"Too few documents to tell whether there are groups: {n} different, and at least {FEWEST} are needed."
    if verdict == "no groups":
        return _no_groups(seen)
    middle, more = sizes["middle"], _other_levels(sizes)
    if seen is None or middle not in seen.ks:
        return f"{middle} groups{more}."
    return f"{middle} {verdict}{more}. {_figures(seen, middle)}"


def _other_levels(sizes: dict[str, int]) -> str:
    """Return the numbers of clusters of the levels besides the middle one, in words; '' if there are none.

    Examples
    --------
    >>> from grampus.select.levels import _other_levels
    >>> _other_levels({"coarse": 3, "middle": 9, "fine": 20, "finest": 60})
    ' (3 if coarser, 20 or 60 if finer)'
    """
    ks, place = [str(k) for k in sizes.values()], list(sizes).index("middle")
    parts = {"coarser": ks[:place], "finer": ks[place + 1 :]}
    others = ", ".join(f"{' or '.join(some)} if {word}" for word, some in parts.items() if some)
    return f" ({others})" if others else ""


def explain_given(chosen: Chosen, n: int) -> str:
    """Return the verdict on a number of clusters that was given, in words."""
    k, evidence = chosen.ks["middle"], chosen.evidence
    if evidence is None:
        return (
            f"Too few documents to tell whether {k} clusters are groups: {n:,} different, and at least "
            f"{documents_needed(k):,} are needed."
        )
    if chosen.verdict == "no groups":
        return _no_groups(evidence)
    if not evidence.agrees[0] or evidence.excess[0] <= EXCESS:
        return f"There are groups, but {k} is probably not their number. {_figures(evidence, k)}"
    return f"The {k} clusters you asked for are {chosen.verdict}. {_figures(evidence, k)}"


def _no_groups(seen: Evidence | None) -> str:
    """Return that there are no groups, why, and what was the best proposal if there was a choice."""
    why = "your documents are no closer to each other than random ones"
    if seen is not None and seen.beyond >= BEYOND:
        why = "two random halves of your documents agree on none"
    best = "" if seen is None or len(seen.ks) < 2 else f" The best guess is k = {seen.ks[seen.merit.argmax()]}."
    return f"No clear groups: {why}.{best}"


def _figures(seen: Evidence, k: int) -> str:
    place = int(np.flatnonzero(seen.ks == k)[0])
    mean, expected = float(seen.mean[place]), float(seen.expected[place])
    if seen.agrees[place] and mean <= expected:
        return "Neighbours share a group far more often than by chance, though two random halves agree no better."
    how = next(words for least, words in SAME if mean >= least)
    figures = f"agreement {mean:.2f}; {expected:.2f} if there were none"
    return f"Two random halves of your documents give {how} groups ({figures})."
