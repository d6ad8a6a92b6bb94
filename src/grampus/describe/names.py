"""Names of clusters: the words and phrases that tell them apart, as people write them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._array import Array
from .._check import check_partition
from .cluster import Term
from .telling import Flags, Groups, column_values, occurrences, scores
from .wording import READ_IN_ALL, Sample, Wording

_NUMERAL = re.compile(r"[IVX]{2,}")  # says something in a phrase alone, such as "World War II"
PARTS = 3  # words or phrases in a name
CANDIDATES = 24  # words, and phrases, of a group that are considered
CONSIDERED = 20  # of these, the best, for the choice of a set
READ_IN_TREE = 1200  # documents that are read to name the nodes of a tree
SHOWN = 10  # words of a group that are returned
SHOWN_PHRASES = 5
LEAST = 0.04  # share of a group's documents that must contain a phrase
PREFERRED = 1.5  # what a bound phrase counts, so that it is as telling as a word of 1.5 times its score
FITTING = 16.0  # how much words that occur together are preferred
BOUND = 0.7  # of the documents with its rarest word: from here on the words of a phrase are not named apart
WEAKEST = 0.15  # of the score of the best: what is less telling is not part of a name
LEADING = 3  # of the best candidates, one is always in a name
SAME = 0.7  # of the documents with a phrase: from here on the longer phrase takes its place
INHERITED = 0.5  # what a word of the parent's name counts in the name of a part


class Name(NamedTuple):
    """The name of a group of documents, and what it was made of.

    Attributes
    ----------
    text : str
        Up to three words or phrases; '' if there are none.
    terms, phrases : tuples of Term
        Words and phrases that tell the group from others, as they are written in its documents, best first.

    Examples
    --------
    >>> from grampus.describe import Name
    >>> Name("whale, sea", (), ()).text
    'whale, sea'
    """

    text: str
    terms: tuple[Term, ...]
    phrases: tuple[Term, ...]


class Candidate(NamedTuple):
    """A word or phrase that may be part of a name: how telling it is, as it is written, and its stems.

    A phrase is bound if its words are mostly written together.
    """

    score: float
    text: str
    stems: tuple[str, ...]
    bound: bool = False


def name_partition(wording: Wording, labels: Any) -> tuple[Name, ...]:
    """Name the clusters of a partition; no two have the same name.

    Parameters
    ----------
    wording : Wording
    labels : array of shape (n,)
        Cluster numbers 0 … k−1; −1 for a document in no cluster.

    Returns
    -------
    tuple of Name
        One for each cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.describe import Wording, name_partition
    >>> wording = Wording(np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]), ["whale", "bird"])
    >>> [name.text for name in name_partition(wording, [0, 0, 1])]
    ['whale', 'bird']
    """
    return name_levels(wording, [labels])[0]


def name_levels(wording: Wording, levels: Sequence[Any]) -> list[tuple[Name, ...]]:
    """Name the clusters of nested partitions so that the names of a cluster and of its parts fit together.

    A cluster is named by what its parts share, and a part by what tells it from the other parts of the same cluster
    and from all others of its level. No two clusters of a level have the same name.

    Parameters
    ----------
    wording : Wording
    levels : sequence of arrays of shape (n,)
        Cluster numbers 0 … k−1 at each level, the coarsest first; −1 for a document in no cluster. If a cluster is
        not inside one of the coarser level, it counts as a part of the one with most of its documents.

    Returns
    -------
    list of tuples of Name
        One tuple for each level, one name for each of its clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.describe import Wording, name_levels
    >>> wording = Wording(np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]]), ["sea", "whale", "seal", "bird"])
    >>> [[name.text for name in level] for level in name_levels(wording, [[0, 0, 1], [0, 1, 2]])]
    [['sea', 'bird'], ['whale', 'seal', 'bird']]
    """
    given = np.stack([check_partition(labels, wording.weights.shape[0]) for labels in levels])
    kinds, atoms = np.unique(given, axis=1, return_inverse=True)
    atoms = np.where((given >= 0).all(axis=0), atoms.reshape(-1), -1)
    kept = np.unique(atoms[atoms >= 0])
    atoms = np.where(atoms >= 0, np.searchsorted(kept, atoms), -1)
    groups, bounds = _nested(kinds[:, kept], wording, atoms)
    named = _named(wording, atoms, groups, bounds)
    return [tuple(named[start:end]) for start, end in bounds]


def name_tree(
    wording: Wording, leaves: Any, parents: Sequence[int], known: Mapping[int, str] | None = None
) -> list[str]:
    """Name the nodes of a tree of documents: by what their parts share and what tells them from their siblings.

    Parameters
    ----------
    wording : Wording
    leaves : array of shape (n,)
        The node of the tree that is the leaf of each document; −1 for none.
    parents : sequence of int
        The parent of every node, −1 for the root, which comes first; parents come before their parts.
    known : mapping of int to str, optional
        Names of nodes that have one already.

    Returns
    -------
    list of str
        '' for a node that nothing tells from the others.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.describe import Wording, name_tree
    >>> wording = Wording(np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]]), ["sea", "whale", "seal", "bird"])
    >>> name_tree(wording, [3, 4, 2], [-1, 0, 0, 1, 1], {0: "All", 2: "Birds"})
    ['All', 'sea', 'Birds', 'whale', 'seal']
    """
    nodes = np.asarray(leaves, dtype=np.intp)
    kept = np.unique(nodes[nodes >= 0])
    atoms = np.where(nodes >= 0, np.searchsorted(kept, nodes), -1)
    members = np.zeros((len(parents), len(kept)), dtype=bool)
    members[kept, np.arange(len(kept))] = True
    parts: list[list[int]] = [[] for _ in parents]
    for node in range(len(parents) - 1, 0, -1):
        members[parents[node]] |= members[node]
        parts[parents[node]].insert(0, node)
    groups = Groups(members, [[-1] if parent < 0 else [-1, parent] for parent in parents], parts, list(parents))
    named = _named(wording, atoms, groups, [(0, len(parents))], known or {}, READ_IN_TREE)
    return [name.text for name in named]


def _nested(kinds: Array, wording: Wording, atoms: Array) -> tuple[Groups, list[tuple[int, int]]]:
    """Return the clusters of all levels as groups, and the first and last group of each level."""
    sizes = np.bincount(atoms[atoms >= 0], weights=wording.documents[atoms >= 0], minlength=kinds.shape[1])
    members, rivals, bounds = [], [], []
    parents: list[int] = []
    above: Flags | None = None
    start, first_above = 0, 0
    for level in kinds:
        clusters = level == np.arange(level.max() + 1)[:, None]
        parent = np.full(len(clusters), -1) if above is None else ((clusters * sizes) @ above.T).argmax(axis=1)
        for group, inside in enumerate(clusters):
            members.append(inside)
            parents.append(-1 if above is None else first_above + int(parent[group]))
            alone = above is None or not (above[parent[group]] & ~inside).any()
            rivals.append([-1] if alone else [-1, parents[-1]])
        bounds.append((start, start + len(clusters)))
        above, first_above, start = clusters, start, start + len(clusters)
    parts: list[list[int]] = [[] for _ in members]
    for group, above_group in enumerate(parents):
        if above_group >= 0:
            parts[above_group].append(group)
    return Groups(np.array(members), rivals, parts, parents), bounds


def _named(
    wording: Wording,
    atoms: Array,
    groups: Groups,
    levels: Sequence[tuple[int, int]],
    known: Mapping[int, str] | None = None,
    read: int = READ_IN_ALL,
) -> list[Name]:
    """Name groups; within each of the given ranges, names differ."""
    known = known or {}
    k = groups.members.shape[1]
    sizes = np.bincount(atoms[atoms >= 0], weights=wording.documents[atoms >= 0], minlength=k)
    scored = scores(occurrences(wording.present, atoms, k, wording.documents), sizes, groups)
    sample = wording.sample(atoms, k, read)
    phrases = _phrases(sample, sizes, groups) if sample else [[] for _ in groups.parents]
    named: list[Name] = []
    chosen: list[list[Candidate]] = []
    for start, end in levels:
        taken = set(map(_key, known.values()))
        for group in range(start, end):
            if group in known:
                chosen.append([_candidate(wording, part) for part in known[group].split(", ")])
                named.append(Name(known[group], (), ()))
                continue
            words = _words(wording, sample, groups.members[group], *_column(scored, group))
            parent = groups.parents[group]
            above = chosen[parent] if parent >= 0 and len(groups.parts[parent]) > 1 else []
            best = _choose(words, phrases[group], sample, above, taken)
            chosen.append(best)
            named.append(Name(_text(best), _shown(words, SHOWN), _shown(phrases[group], SHOWN_PHRASES)))
            taken.add(_key(named[-1].text))
    return named


def _candidate(wording: Wording, text: str) -> Candidate:
    return Candidate(0.0, text, tuple(wording.stem(word) for word in re.findall(r"[^\W_]+", text.lower())))


def _column(table: Any, group: int) -> tuple[Array, Array]:
    """Return the rows with a positive score in a column, and these scores."""
    at = slice(table.indptr[group], table.indptr[group + 1])
    good = table.data[at] > 0
    return table.indices[at][good], table.data[at][good]


def _words(wording: Wording, sample: Sample | None, group: Flags, likely: Array, scored: Array) -> list[Candidate]:
    """Return the best terms of a group as they are written there, best first; what is no word is left out.

    If nothing is a word, as in a table of codes, the terms are returned as they are.
    """
    if len(likely) > 3 * CANDIDATES:
        high = scored >= np.partition(scored, -3 * CANDIDATES)[-3 * CANDIDATES]
        likely, scored = likely[high], scored[high]
    order = np.argsort(-scored, kind="stable")[: 3 * CANDIDATES]
    best = list(zip(likely[order].tolist(), scored[order].tolist(), strict=True))
    candidates: list[Candidate] = []
    for term, score in best:
        if len(candidates) == CANDIDATES:
            break
        stem = wording.terms[term]
        text = wording.usual(stem) if sample is None else sample.written(stem, group)
        if text and wording.is_word(text) and not _NUMERAL.fullmatch(text):
            candidates.append(Candidate(score, text, (stem,)))
    if not candidates:
        candidates = [
            Candidate(score, wording.usual(wording.terms[term]), (wording.terms[term],)) for term, score in best
        ]
    return candidates[:CANDIDATES]


def _phrases(sample: Sample, sizes: Array, groups: Groups) -> list[list[Candidate]]:
    """Return the best phrases of every group, best first."""
    phrases = sample.phrases
    scored = scores(phrases.table, sizes, groups, sample.sizes)
    counts = sp.csc_array(phrases.table @ sp.csc_array(groups.members.T.astype(np.float64)))
    counts.sort_indices()
    least = np.maximum(2.0, LEAST * (groups.members @ sample.sizes))
    best = []
    for group in range(len(groups.parents)):
        likely, values = _column(scored, group)
        count = column_values(counts, counts.data, group, likely)
        often = np.flatnonzero(count >= least[group])
        owner = groups.members[group]
        some = []
        for row in often[np.argsort(-values[often], kind="stable")][:CANDIDATES].tolist():
            phrase = int(likely[row])
            places = phrases.places[phrases.bounds[phrase] : phrases.bounds[phrase + 1]]
            places = places[owner[sample.owner[sample.reading.text[places]]]]
            length = int(phrases.lengths[phrase])
            stems = tuple(sample.stems[sample.reading.word[places[0] + step]] for step in range(length))
            text = sample.spelled(places, length)
            rarest = min(sample.documents(stem, owner) for stem in stems)
            bound = length > 1 and bool(count[row] >= BOUND * rarest)
            some.append((count[row], Candidate(float(values[row]), text, stems, bound)))
        best.append(_longest(some))
    return best


def _longest(phrases: list[tuple[float, Candidate]]) -> list[Candidate]:
    """Leave out phrases that are nearly always part of a longer one, and longer ones that are rarely written."""
    return [
        phrase
        for count, phrase in phrases
        if not any(
            len(other.stems) > len(phrase.stems) and _within(phrase.stems, other.stems) and often >= SAME * count
            for often, other in phrases
        )
    ]


def _within(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return any(other[at : at + len(one)] == one for at in range(len(other) - len(one) + 1))


def _choose(
    words: list[Candidate], phrases: list[Candidate], sample: Sample | None, above: list[Candidate], taken: set[str]
) -> list[Candidate]:
    """Choose the parts of a name: telling, read together, nothing twice, and not the name of another group."""
    ranked = [
        *words,
        *(phrase._replace(score=(PREFERRED if phrase.bound else 1.0) * phrase.score) for phrase in phrases),
    ]
    ranked = [
        one._replace(score=INHERITED * one.score) if any(repeats(one, other) for other in above) else one
        for one in ranked
    ]
    ranked.sort(key=lambda one: (-one.score, one.text))
    ranked = [one for one in ranked[:CONSIDERED] if one.score >= WEAKEST * ranked[0].score]
    apart = np.zeros((len(ranked), len(ranked)), dtype=bool)
    for index, one in enumerate(ranked):
        apart[index, index + 1 :] = [not repeats(one, other) for other in ranked[index + 1 :]]
    apart |= apart.T
    for phrase in phrases:
        if phrase.bound:
            inside = [index for index, one in enumerate(ranked) if len(one.stems) == 1 and one.stems[0] in phrase.stems]
            apart[np.ix_(inside, inside)] = False
    if not ranked:
        return []
    return _best_set(ranked, apart, sample, taken)


def _best_set(ranked: list[Candidate], apart: Flags, sample: Sample | None, taken: set[str]) -> list[Candidate]:
    """Return up to three candidates that are the most telling and the most often read together.

    Of all sets without a repetition, the one with the largest mean log score plus `FITTING` times the mean NPMI of two
    of its words, also of two words of a phrase. One of the three most telling candidates, or a phrase with one of its
    words, is always included.
    """
    logs = np.log(np.maximum([one.score for one in ranked], 1e-12))
    lengths, fit = _fit(ranked, sample)
    first = {stem for one in ranked[:LEADING] for stem in one.stems}
    leading = np.array([not first.isdisjoint(one.stems) for one in ranked])
    for size in range(min(PARTS, len(ranked)), 0, -1):
        sets = _sets(len(ranked), size)
        pairs = list(combinations(range(size), 2))
        sets = sets[leading[sets].any(axis=1)]
        for a, b in pairs:
            sets = sets[apart[sets[:, a], sets[:, b]]]
        words = lengths[sets].sum(axis=1)
        together = sum((fit[sets[:, a], sets[:, b]] for a, b in pairs), start=fit[sets, sets].sum(axis=1))
        value = logs[sets].mean(axis=1) + FITTING * together / np.maximum(words * (words - 1) / 2, 1)
        for place in np.argsort(-value, kind="stable").tolist():
            candidates = [ranked[index] for index in sets[place].tolist()]
            if _key(_text(candidates)) not in taken:
                return candidates
    return []


@lru_cache(maxsize=256)
def _sets(count: int, size: int) -> NDArray[np.intp]:
    return np.array(list(combinations(range(count), size)), dtype=np.intp).reshape(-1, size)


def _fit(ranked: list[Candidate], sample: Sample | None) -> tuple[Array, Array]:
    """Return the number of words of each candidate, and the sums of the NPMI of their words.

    Between two candidates every word of one with every word of the other; on the diagonal, the pairs inside one.
    """
    lengths = np.array([len(one.stems) for one in ranked])
    stems = list(dict.fromkeys(stem for one in ranked for stem in one.stems))
    if sample is None or not stems:
        return lengths, np.zeros((len(ranked), len(ranked)))
    number = {stem: index for index, stem in enumerate(stems)}
    holds = np.zeros((len(ranked), len(stems)))
    for index, one in enumerate(ranked):
        holds[index, [number[stem] for stem in one.stems]] = 1.0
    npmi = sample.together(stems)
    np.fill_diagonal(npmi, 0.0)
    fit = holds @ npmi @ holds.T
    np.fill_diagonal(fit, np.diag(fit) / 2.0)
    return lengths, fit


def _text(parts: Sequence[Candidate]) -> str:
    return ", ".join(part.text for part in parts)


def _key(name: str) -> str:
    """Return what two names must not share: their parts, in whatever case and order."""
    return ", ".join(sorted(name.casefold().split(", ")))


def _shown(candidates: Sequence[Candidate], top: int) -> tuple[Term, ...]:
    return tuple(Term(one.text, round(one.score, 6)) for one in candidates[:top])


def repeats(one: Candidate, other: Candidate) -> bool:
    """Return whether two candidates share a word, or two forms of one."""
    return any(same_word(a, b) for a in _pieces(one.stems, one.text) for b in _pieces(other.stems, other.text))


@lru_cache(maxsize=2**14)
def _pieces(stems: tuple[str, ...], text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*stems, *re.findall(r"[^\W_]+", text.lower()))))


@lru_cache(maxsize=2**16)
def same_word(one: str, other: str) -> bool:
    """Return whether two words look like forms of one: equal but for at most three letters at the end.

    Examples
    --------
    >>> from grampus.describe.names import same_word
    >>> same_word("israel", "israeli"), same_word("medicine", "medical"), same_word("card", "care")
    (True, True, False)
    """
    if one[:4] != other[:4] or not (one.isalpha() and other.isalpha()):
        return one == other
    common = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    longer = max(len(one), len(other))
    if common == longer:
        return True
    return longer - common <= 3 and common >= (4 if common == min(len(one), len(other)) else 5)
