"""Names of clusters: a title and further words, as people write them.

Words and phrases of a group are ranked by how telling they are (``telling``) times how near their meaning is to that of
the group (``direction``). The numbers were chosen on 20ng, arxiv24, bbc, stackoverflow and snips7 by the share of
documents that names alone put into their group, and by whether a title is nearest to the name of the group's class.
"""

import re
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._array import Array
from .._check import check_partition
from .._parallel import spares_copies
from ..run import Apart, forks_for, returned
from .candidates import Candidate, repeats
from .cluster import Term
from .telling import Flags, Groups, column_values, occurrences, scores
from .titles import PARTICIPLE, give_titles, title_keys
from .wording import READ_IN_ALL, Sample, Wording

_NUMERAL = re.compile(r"[IVX]{2,}")  # says something in a phrase alone, such as "World War II"
# "3-year", "years", "Fri", "July", "judges appointed", "supports files": spans of time, and no phrases of nouns.
_LOOSE = re.compile(
    r"""(?ix) \d[-\u2010\u2011] | [ ]\w+[^\We]ed$ | ^(?:million|billion|day|week|month|year)s?$
    | ^(?-i:Mon|Tue|Wed|Thu|Fri|Sat|Sun|(?:Jan|Febr)(?:uary)?|Feb|Apr(?:il)?|June?|July?|Aug(?:ust)?
    | Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)$ | ^(?:using
    | (?:allow|contain|display|give|include|make|mean|print|provide|return|show|support|use)s
    | enthält | gibt | liefert | verwendet | zeigt | affiche | contient | permet | renvoie | utilisant | utilise
    | contiene | devuelve | ejecuta | muestra | permite | utiliza | wyświetla | zawiera | zwraca
    | возвращает | выводит | показывает | содержит)\b"""
)
PARTS = 4  # the title of a name and its further words
CANDIDATES = 24  # words, and phrases, of a group that are considered
FEW_GROUPS = 4  # for a process of their own
MANY_SCORED = 50  # groups whose scores are worth a process of their own
READ_IN_TREE = 1200  # documents that are read to name the nodes of a tree
VARIED = 12  # words of a group whose other forms are considered: "elections" instead of "elected"
SHOWN = 10  # words of a group that are returned
SHOWN_PHRASES = 5
LEAST = 0.04  # share of a group's documents that must contain a phrase
SOFTENED = 0.2  # power of how telling a candidate is, next to its meaning
LONGER = 0.15  # what each further word of a phrase adds to its score
UNLIKE = 0.01  # the least nearness to the meaning of a group
PERSON = 0.5  # share of a group's documents that must mention a person for the group to be about them
BOUND = 0.7  # of the places of a word: from here on a phrase takes its place
LEAST_TELLING = 0.1  # of how telling the best candidate is
UNTOLD = 1e-4  # what a candidate counts that is less telling: a title where all others are taken
WEAKEST = 0.15  # of the score of the best: what says less is not part of a name
SAME = 0.7  # of the documents with a phrase: from here on the longer phrase takes its place
ALIKE = 3  # parts of a name, the title among them, of which siblings share at most one
INHERITED = 0.5  # what a word of the parent's name counts in the name of a part


class Name(NamedTuple):
    """The name of a group of documents, and what it was made of.

    Attributes
    ----------
    name : str
        The title, one word or phrase; '' if there is none.
    words : tuple of str
        Up to three further words or phrases.
    terms, phrases : tuples of Term
        Words and phrases that tell the group from others, as they are written in its documents, best first.

    Examples
    --------
    >>> from grampus.describe import Name
    >>> Name("whale", ("sea",), (), ()).name
    'whale'
    """

    name: str
    words: tuple[str, ...]
    terms: tuple[Term, ...]
    phrases: tuple[Term, ...]


def name_partition(wording: Wording, labels: Any) -> tuple[Name, ...]:
    """Name the clusters of a partition; no two have the same title.

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
    >>> [name.name for name in name_partition(wording, [0, 0, 1])]
    ['whale', 'bird']
    """
    return name_levels(wording, [labels])[0]


def name_levels(wording: Wording, levels: Sequence[Any]) -> list[tuple[Name, ...]]:
    """Name the clusters of nested partitions so that the names of a cluster and of its parts fit together.

    A cluster is named by what its parts share, and a part by what tells it from the other parts of the same cluster
    and from all others of its level. No two clusters of a level have the same title.

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
    >>> [[name.name for name in level] for level in name_levels(wording, [[0, 0, 1], [0, 1, 2]])]
    [['sea', 'bird'], ['whale', 'seal', 'bird']]
    """
    given = np.stack([check_partition(labels, wording.weights.shape[0]) for labels in levels])
    key = given[0]
    for level in given[1:]:  # numbers are sorted far sooner than columns
        key = np.unique(key * (level.max() + 2) + level + 1, return_inverse=True)[1]
    _, first, atoms = np.unique(key, return_index=True, return_inverse=True)
    kinds, atoms = given[:, first], np.where((given >= 0).all(axis=0), atoms, -1)
    kept = np.unique(atoms[atoms >= 0])
    atoms = np.where(atoms >= 0, np.searchsorted(kept, atoms), -1)
    groups, bounds = _nested(kinds[:, kept], wording, atoms)
    named = _begin(wording, atoms, groups, bounds)({})
    return [tuple(named[start:end]) for start, end in bounds]


def name_tree(
    wording: Wording, leaves: Any, parents: Sequence[int], known: Mapping[int, Sequence[str]] | None = None
) -> list[Name]:
    """Name the nodes of a tree of documents: by what their parts share and what tells them from their siblings.

    Parameters
    ----------
    wording : Wording
    leaves : array of shape (n,)
        The node of the tree that is the leaf of each document; −1 for none.
    parents : sequence of int
        The parent of every node, −1 for the root, which comes first; parents come before their parts.
    known : mapping of int to sequence of str, optional
        Names of nodes that have one already: the title, and further words.

    Returns
    -------
    list of Name
        Without terms and phrases where it is known; '' for a node that nothing tells from the others.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.describe import Wording, name_tree
    >>> wording = Wording(np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]]), ["sea", "whale", "seal", "bird"])
    >>> [name.name for name in name_tree(wording, [3, 4, 2], [-1, 0, 0, 1, 1], {0: ["All"], 2: ["Birds"]})]
    ['All', 'sea', 'Birds', 'whale', 'seal']
    """
    return begin_tree(wording, leaves, parents, known or {})(known or {})


def begin_tree(
    wording: Wording, leaves: Any, parents: Sequence[int], named: Container[int]
) -> Callable[[Mapping[int, Sequence[str]]], list[Name]]:
    """Return what names a tree as `name_tree` does, once the names of the nodes that have one are known.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.describe import Wording
    >>> from grampus.describe.names import begin_tree
    >>> wording = Wording(np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]]), ["sea", "whale", "seal", "bird"])
    >>> begun = begin_tree(wording, [3, 4, 2], [-1, 0, 0, 1, 1], {0, 2})
    >>> [name.name for name in begun({0: ["All"], 2: ["Birds"]})]
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
    return _begin(wording, atoms, groups, [(0, len(parents))], named, READ_IN_TREE)


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


def _begin(
    wording: Wording,
    atoms: Array,
    groups: Groups,
    levels: Sequence[tuple[int, int]],
    named: Container[int] = (),
    read: int = READ_IN_ALL,
) -> Callable[[Mapping[int, Sequence[str]]], list[Name]]:
    """Return what names groups, given the names of those that have one; within each of the ranges, titles differ."""
    k = groups.members.shape[1]
    sizes = np.bincount(atoms[atoms >= 0], weights=wording.documents[atoms >= 0], minlength=k)
    begun = Apart(
        lambda: returned(scores(occurrences(wording.present, atoms, k, wording.documents), sizes, groups)),
        k >= MANY_SCORED and spares_copies(len(atoms)),
    )
    sample = wording.sample(atoms, k, read)
    scored = begun()
    asked = [group for group in range(len(groups.parents)) if group not in named]
    words, phrases, ranked = dict[int, list[Candidate]](), dict[int, list[Candidate]](), dict[int, list[Candidate]]()

    def told(some: Sequence[int]) -> tuple[dict[int, list[Candidate]], ...]:
        phrased = _phrases(sample, sizes, groups, some) if sample else {group: [] for group in some}
        worded = {group: _words(wording, sample, groups.members[group], *_column(scored, group)) for group in some}
        each = {group: _ranked(worded[group], phrased[group], sample, groups.members[group]) for group in some}
        return worded, phrased, each

    runner = forks_for(len(asked) // FEW_GROUPS)
    if runner.workers > 1:
        told(asked[:1])  # what all groups share is found before it is copied
    for found in runner.map(told, [asked[first :: runner.workers] for first in range(runner.workers)]):
        for every, some in zip((words, phrases, ranked), found, strict=True):
            every.update(some)
    ranked = {group: ranked[group] for group in asked}
    ranked = _weighed(wording, ranked, atoms, groups)

    def names(known: Mapping[int, Sequence[str]]) -> list[Name]:
        chosen = {group: [_candidate(wording, part) for part in name] for group, name in known.items()}
        for start, end in levels:
            _choose(ranked, chosen, sample, groups, range(start, end))
        return [
            Name(known[group][0], tuple(known[group][1:]), (), ())
            if group in known
            else Name(
                *_texts(chosen[group], wording), _shown(words[group], SHOWN), _shown(phrases[group], SHOWN_PHRASES)
            )
            for group in range(len(groups.parents))
        ]

    return names


def _weighed(
    wording: Wording, ranked: dict[int, list[Candidate]], atoms: Array, groups: Groups
) -> dict[int, list[Candidate]]:
    """Score candidates by how telling they are and how near their meaning is to that of the group, best first.

    Every text is encoded once, whatever the number of groups that it may name. Without meaning all are equally near.
    """
    texts = sorted({one.text for some in ranked.values() for one in some})
    number = {text: at for at, text in enumerate(texts)}
    near = np.ones((len(texts), len(groups.parents)))
    if wording.meaning is not None and texts:
        near = wording.meaning.closeness(texts, wording.meaning.directions(atoms, groups.members))
    weighed: dict[int, list[Candidate]] = {}
    for group, some in ranked.items():
        best = max((one.score for one in some), default=1.0)
        column = np.maximum(near[:, group], UNLIKE).round(6).tolist()
        weighed[group] = []
        for one in some:
            near_it, longer = column[number[one.text]], 1 + LONGER * (len(one.stems) - 1)
            telling = 1.0 if one.score >= LEAST_TELLING * best else UNTOLD
            score = telling * (one.score / best) ** SOFTENED * near_it * longer
            weighed[group].append(one._replace(score=score, near=near_it))
        weighed[group].sort(key=lambda one: (-one.score, one.text))
    return weighed


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
        stems = [(wording.terms[term], score) for term, score in best]
        every = [Candidate(score, wording.usual(stem), (stem,)) for stem, score in stems]
        candidates = [one for one in every if wording.is_word(one.text)] or every
    return candidates[:CANDIDATES]


def _phrases(sample: Sample, sizes: Array, groups: Groups, asked: Sequence[int]) -> dict[int, list[Candidate]]:
    """Return the best phrases of some groups, best first."""
    phrases = sample.phrases
    scored = scores(phrases.table, sizes, groups, sample.sizes)
    counts = sp.csc_array(phrases.table @ sp.csc_array(groups.members.T.astype(np.float64)))
    counts.sort_indices()
    read = groups.members @ sample.sizes
    least = np.maximum(np.clip(0.2 * read, 2.0, 3.0), LEAST * read)
    best = {}
    for group in asked:
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
            text, share = sample.spelled(places, length), float(count[row] / read[group])
            some.append((count[row], Candidate(float(values[row]), text, stems, share, len(places))))
        best[group] = _longest(some)
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


def _ranked(words: list[Candidate], phrases: list[Candidate], sample: Sample | None, group: Flags) -> list[Candidate]:
    """Return words and phrases that may name a group: a phrase takes the place of a word that is mostly in it.

    Of a word all frequent forms are returned; meaning decides between them. Persons must be what the group is about.
    """
    if sample is None:
        return words
    total = max(int(group @ sample.sizes), 1)
    free, raised = list[Candidate](), {phrase.text: phrase for phrase in phrases}
    for word in words:
        times = len(sample.places(word.stems[0], group))
        around = [p for p in phrases if len(p.stems) > 1 and word.stems[0] in p.stems and p.times >= BOUND * times]
        if around:
            longest = max(around, key=lambda one: (one.times, one.text))
            raised[longest.text] = longest._replace(score=max(raised[longest.text].score, word.score))
        else:
            share = len(sample.documents(word.stems[0], group)) / total
            forms = sample.other_forms(word.text, word.stems[0], group) if len(free) < VARIED else []
            free += [word._replace(share=share, text=form) for form in (word.text, *forms)]
    some = [*free, *raised.values()]
    some = [one for one in some if not _LOOSE.search(one.text)]
    some = [one for one in some if not sample.is_foreign(one.stems, group)] or some
    some = [one for one in some if one.share >= PERSON or not sample.is_person(one.text)] or some
    return [
        one._replace(
            leads=1.0 if PARTICIPLE.search(one.text) else sample.leads(one.text, one.stems[-1], group),
            acts=sample.acts(one.text, one.stems[0], group),
        )
        for one in some
    ]


def _choose(
    ranked: dict[int, list[Candidate]],
    chosen: dict[int, list[Candidate]],
    sample: Sample | None,
    groups: Groups,
    level: range,
) -> None:
    """Choose the names of the groups of a level: first the titles, then further words."""
    taken = {key for group in level if group in chosen for key in title_keys(chosen[group][0])}
    for parent in sorted({groups.parents[group] for group in level}):
        siblings = [group for group in level if groups.parents[group] == parent]
        above = chosen[parent] if parent >= 0 and len(groups.parts[parent]) > 1 and parent in chosen else []
        some = {group: _inherited(ranked[group], above) for group in siblings if group not in chosen}
        known = [chosen[group] for group in siblings if group in chosen]
        titles = give_titles(some, [name[0] for name in known], above[:1], taken)
        for group, candidates in some.items():
            title = titles.get(group)
            chosen[group] = [] if title is None else _furthered(title, candidates, known, sample, groups.members[group])
            known.append(chosen[group])


def _inherited(candidates: list[Candidate], above: list[Candidate]) -> list[Candidate]:
    """Return candidates with less for those that repeat the name of the parent."""
    less = [
        one._replace(score=INHERITED * one.score) if any(repeats(one, other) for other in above) else one
        for one in candidates
    ]
    return sorted(less, key=lambda one: (-one.score, one.text))


def _furthered(
    title: Candidate, candidates: list[Candidate], siblings: list[list[Candidate]], sample: Sample | None, group: Flags
) -> list[Candidate]:
    """Return the title and the best further words: nothing twice, no phrase torn, and not those of a sibling."""
    name = [title]
    for one in candidates:
        if len(name) == PARTS or one.score < WEAKEST * candidates[0].score:
            break
        if any(repeats(one, other) or (sample and sample.is_torn(one, other, group)) for other in name):
            continue
        first = {part.stems for part in (*name, one)}
        if len(name) >= ALIKE or all(len(first & {part.stems for part in other[:ALIKE]}) < 2 for other in siblings):
            name.append(one)
    return name


def _texts(parts: Sequence[Candidate], wording: Wording) -> tuple[str, tuple[str, ...]]:
    """Return title and words as people write them: with a capital, unless they are columns of a table."""
    text, *words = [part.text for part in parts] or [""]
    begins = re.match(r"[^\W_]+", text)
    title = text[0].upper() + text[1:] if wording.forms is not None and begins and begins[0].islower() else text
    return title, tuple(words)


def _shown(candidates: Sequence[Candidate], top: int) -> tuple[Term, ...]:
    return tuple(Term(one.text, round(one.score, 6)) for one in candidates[:top])
