"""Guide: what is known before clustering: pairs of documents, labels of some, seeds of topics."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components, shortest_path

from ..._array import Array
from ..._check import check_flag
from ...describe.namer import wrong_name
from ...errors import InputError
from .evidence import evidence_of
from .inputs import Inputs
from .topics import Topic, parse_json, read_text, topics_of

SHOWN = 8  # documents of a chain of links in a message
SEEDS = 5  # documents at least that stand for the words of a topic
PER_CLUSTER = 4  # … or the part of an average topic


@dataclass(frozen=True)
class Guide:
    """What is known about some documents before they are clustered.

    Documents are named by their ids (texts) or their positions (whole numbers).

    Parameters
    ----------
    must_link : sequence of pairs of documents
        Documents that belong together; links are followed from one to the next.
    cannot_link : sequence of pairs of documents
        Documents that belong apart.
    labels : mapping of document to name, or sequence of n names
        Known topics of some documents; None, "" or −1 where it is unknown. Some may be wrong: a cluster gets the name
        that most of its labelled documents have, and clusters of one name become one.
    seeds : mapping of name to words, or to parts, or list of names
        Topics that are expected. A name alone will do where meaning is compared; the parts say more: "words",
        "documents" of the collection, "examples" (texts) and a "description".
    fixed : bool
        Whether labelled documents always stay in the cluster of their label.
    only : bool
        Whether documents are only sorted into the topics; those that fit none are in no cluster, −1.

    Examples
    --------
    >>> from grampus import DocumentClusterer
    >>> from grampus.documents import Guide
    >>> texts = ["whale song", "whales sing a song", "song of a whale", "bird nest", "a nest of birds", "nesting birds"]
    >>> model = DocumentClusterer(2).fit(texts, guide=Guide(seeds={"Sea": ["whale"], "Air": ["bird"]}))
    >>> [model.clusters_[label].name for label in model.labels_]
    ['Sea', 'Sea', 'Sea', 'Air', 'Air', 'Air']
    """

    must_link: Any = ()
    cannot_link: Any = ()
    labels: Any = None
    seeds: Any = None
    fixed: bool = False
    only: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "fixed", check_flag(self.fixed, "fixed"))
        object.__setattr__(self, "only", check_flag(self.only, "only"))
        if not self.topics and self.labels is None and self.only:  # topics are checked here
            raise InputError("only must come with topics to sort into; the guide names none.")

    @cached_property
    def topics(self) -> tuple[Topic, ...]:
        """The topics that are expected."""
        return topics_of(self.seeds)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known."""
        return not (len(self.must_link) or len(self.cannot_link) or self.topics) and self.labels is None

    def record(self) -> dict[str, Any]:
        """Return how much was known, as plain values."""
        return {
            "must_link": len(self.must_link),
            "cannot_link": len(self.cannot_link),
            "labels": 0 if self.labels is None else len(self.labels),
            "seeds": [topic.name for topic in self.topics],
            "fixed": self.fixed,
            "only": self.only,
        }


@dataclass(frozen=True)
class Told:
    """A guide, applied to m distinct documents.

    Attributes
    ----------
    names : tuple of str
        Of the topics.
    known : array of shape (m,)
        The topic of each document by labels and seed documents, −1 where it is unknown.
    seeded : array of shape (m,)
        The same, with the documents that stand for the words of a topic.
    evidence : array of shape (m, topics)
        How well each document fits what is said about each topic, in standard deviations.
    linked : array of shape (m,)
        Documents with the same number belong together; the numbers follow the order of their first documents.
    apart : array of shape (p, 2)
        Numbers of `linked` that belong apart.
    fixed, only : bool
    free : bool
        Whether the number of clusters is to be found: there are as many as the documents that fit no topic have.
    """

    names: tuple[str, ...]
    known: NDArray[np.intp]
    seeded: NDArray[np.intp]
    evidence: Array
    linked: NDArray[np.intp]
    apart: NDArray[np.intp]
    fixed: bool
    only: bool
    free: bool = False


def resolve(guide: Guide, inputs: Inputs) -> Told:
    """Find the documents of a guide, and refuse one that contradicts itself.

    Memory is linear in the pairs.

    Raises
    ------
    InputError
        A document does not exist; two that belong together also belong apart, or have different labels.
    """
    find, m = _Finder(inputs), len(inputs.first)
    together, apart = (_pairs(getattr(guide, name), name, find) for name in ("must_link", "cannot_link"))
    linked = _components(inputs.group[together], m)
    _check_apart(together, apart, linked, find)
    named = _labelled(guide, find)
    names = tuple(dict.fromkeys([*(topic.name for topic in guide.topics), *sorted({name for _, name in named})]))
    known = _known(named, names, linked, find)
    _check_labels(apart, known, names, find)
    evidence = np.zeros((m, len(names)))
    if guide.topics and not all(topic.documents and not topic.words for topic in guide.topics):
        evidence[:, : len(guide.topics)] = evidence_of(guide.topics, inputs)
    seeded = _seeded(evidence, known, inputs)
    apart = linked[inputs.group[apart]]
    return Told(names, known, seeded, evidence, linked, apart, guide.fixed, guide.only)


class _Finder:
    """Finds documents by id or position, and names them in messages."""

    def __init__(self, inputs: Inputs) -> None:
        self.n, self.group, self.first, self._ids = inputs.n, inputs.group, inputs.first, inputs.corpus.ids
        self._at: dict[str, int] | None = None

    def __call__(self, document: Any, what: str) -> int:
        if isinstance(document, str):
            self._at = self._at or {one: at for at, one in enumerate(self._ids)}
            if document in self._at:
                return self._at[document]
            raise InputError(f"{what} must name documents of the collection; there is none with the id {document!r}.")
        whole = isinstance(document, int | np.integer) and not isinstance(document, bool)
        if not whole or not 0 <= document < self.n:
            places = f"from 0 to {self.n - 1}"
            raise InputError(f"{what} must name documents by id, or by position {places}; got {document!r}.")
        return int(document)

    def name(self, at: int) -> str:
        return repr(self._ids[int(at)])


def _pairs(given: Any, what: str, find: _Finder) -> NDArray[np.intp]:
    """Return pairs of documents as positions, (p, 2)."""
    if not len(given):
        return np.empty((0, 2), dtype=np.intp)
    if isinstance(given, np.ndarray) and given.dtype.kind in "iu":
        if given.ndim != 2 or given.shape[1] != 2 or given.min() < 0 or given.max() >= find.n:
            raise InputError(f"{what} must be pairs of positions from 0 to {find.n - 1}; got shape {given.shape}.")
        return given.astype(np.intp)
    for pair in given:
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise InputError(f"{what} must be pairs of documents; got {pair!r}.")
    return np.array([[find(one, what) for one in pair] for pair in given], dtype=np.intp)


def _graph(pairs: NDArray[np.intp], m: int) -> Any:
    one, other = pairs.T.astype(np.int32)
    return sp.coo_array((np.ones(len(pairs), dtype=np.int8), (one, other)), shape=(m, m)).tocsr()


def _components(pairs: NDArray[np.intp], m: int) -> NDArray[np.intp]:
    """Return the number of the group that each document is linked to, by the order of their first documents."""
    if not len(pairs):
        return np.arange(m)
    found = connected_components(_graph(pairs, m), directed=False)[1]
    _, first, group = np.unique(found, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[group.reshape(-1)]


def _check_apart(together: NDArray[np.intp], apart: NDArray[np.intp], linked: NDArray[np.intp], find: _Finder) -> None:
    """Refuse documents that belong together, by whatever chain of links, and apart."""
    ends = linked[find.group[apart]]
    wrong = np.flatnonzero(ends[:, 0] == ends[:, 1])
    if not len(wrong):
        return
    one, other = apart[wrong[0]].tolist()
    if find.group[one] == find.group[other]:
        raise InputError(f"cannot_link must be between different documents; {find.name(one)} and {find.name(other)} "
                         "have the same content.")  # fmt: skip
    graph, first = _graph(find.group[together], len(linked)), find.group[one]
    before = shortest_path(graph, directed=False, unweighted=True, indices=first, return_predecessors=True)[1]
    at, chain = int(find.group[other]), [other]
    while before[at] >= 0 and len(chain) < SHOWN:
        at = int(before[at])
        chain.append(int(find.first[at]))
    chain[-1] = one if at == find.group[one] else chain[-1]
    through = " – ".join(find.name(at) for at in reversed(chain))
    raise InputError(
        f"must_link and cannot_link contradict each other on {len(wrong)} pair{'s' if len(wrong) > 1 else ''}: "
        f"{find.name(one)} and {find.name(other)} belong apart, and are linked by {through}. Remove one of these."
    )


def _labelled(guide: Guide, find: _Finder) -> list[tuple[int, str]]:
    """Return documents with the names that labels and seed documents give them."""
    found: list[tuple[int, str]] = []
    given = guide.labels
    if isinstance(given, Mapping):
        found = [(find(one, "labels"), str(name)) for one, name in given.items() if not _unknown(name)]
    elif given is not None:
        if isinstance(given, str) or len(given) != find.n:
            raise InputError(f"labels must have {find.n} entries, one for each document; got {len(given)}.")
        found = [(at, str(name)) for at, name in enumerate(given) if not _unknown(name)]
    for at, name in found:
        if wrong := wrong_name(name):
            raise InputError(f"labels must be names of one line of 1 to 80 characters; {find.name(at)}: {wrong}.")
    for topic in guide.topics:
        found += [(find(one, f"the documents of {topic.name!r}"), topic.name) for one in topic.documents]
    return found


def _unknown(name: Any) -> bool:
    return name is None or name in ("", -1) or name != name  # noqa: PLR0124  (not a number)


def _known(
    named: Iterable[tuple[int, str]], names: Sequence[str], linked: NDArray[np.intp], find: _Finder
) -> NDArray[np.intp]:
    """Return the topic of every linked group of documents, spread to its documents; refuse two for one."""
    number, first = {name: at for at, name in enumerate(names)}, dict[int, int]()
    topic = np.full(int(linked.max()) + 1, -1, dtype=np.intp)
    for at, name in named:
        unit = linked[find.group[at]]
        if topic[unit] >= 0 and topic[unit] != number[name]:
            other = first[int(unit)]
            why = "they are linked" if other != at else "it has both"
            raise InputError(
                f"labels must agree: {find.name(other)} is {names[topic[unit]]!r} and {find.name(at)} is {name!r}, but "
                f"{why if find.group[other] != find.group[at] or other == at else 'their contents are equal'}."
            )
        topic[unit] = number[name]
        first.setdefault(int(unit), at)
    return topic[linked]


def _check_labels(apart: NDArray[np.intp], known: NDArray[np.intp], names: Sequence[str], find: _Finder) -> None:
    """Refuse documents of one label that belong apart."""
    ends = known[find.group[apart]]
    wrong = np.flatnonzero((ends[:, 0] == ends[:, 1]) & (ends[:, 0] >= 0))
    if len(wrong):
        one, other = apart[wrong[0]].tolist()
        raise InputError(
            f"cannot_link and labels contradict each other: {find.name(one)} and {find.name(other)} belong apart, and "
            f"both are {names[ends[wrong[0], 0]]!r}."
        )


def _seeded(evidence: Array, known: NDArray[np.intp], inputs: Inputs) -> NDArray[np.intp]:
    """Add the documents that fit a topic best, and better than any other."""
    found = known.copy()
    if not evidence.any():
        return found
    best = evidence.argmax(axis=1)
    most = max(SEEDS, int((inputs.weights > 0).sum()) // (PER_CLUSTER * evidence.shape[1]))
    for topic in range(evidence.shape[1]):
        own = evidence[:, topic]
        at = np.flatnonzero((best == topic) & (own > 0) & (known < 0) & (inputs.weights > 0))
        found[at[np.argsort(-own[at], kind="stable")[:most]]] = topic
    return found


def as_guide(given: Any) -> Guide | None:
    """Return a guide that was given as such, or as topics: from names to words, or a list of names.

    Examples
    --------
    >>> from grampus.documents.given.guide import as_guide
    >>> [topic.name for topic in as_guide({"Flags": ["flag", "stripes"], "Climate": []}).topics]
    ['Flags', 'Climate']
    """
    return given if given is None or isinstance(given, Guide) else Guide(seeds=given)


# -- files


def read_labels(path: str | PathLike[str]) -> dict[str, str]:
    """Read known labels from a JSON object from ids to names."""
    given = parse_json(read_text(path), path)
    if not isinstance(given, dict) or not all(isinstance(name, str) for name in given.values()):
        raise InputError(f'{path} must be a JSON object from ids to names, such as {{"12": "Space"}}.')
    return given


def read_pairs(path: str | PathLike[str]) -> list[tuple[str, str]]:
    """Read pairs of ids: a JSON list of pairs, or lines of two ids with a comma or a tab between them."""
    text = read_text(path)
    if text.lstrip()[:1] == "[":
        rows = parse_json(text, path)
    else:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter="\t" if "\t" in text else ",") if row]
    found = []
    for number, row in enumerate(rows, 1):
        if not isinstance(row, list) or len(row) != 2 or not all(isinstance(one, str | int) for one in row):
            raise InputError(f"{path} must hold pairs of ids; row {number} is {str(row)[:60]!r}.")
        found.append((str(row[0]).strip(), str(row[1]).strip()))
    return found
