"""Records of a run: where it comes from, its documents, what was found about them, how to draw them, its history."""

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._draw import Drawable
from .._frame import data_frame
from ..describe import Cluster
from ..select import score_rows
from ..text import Texts
from .frame import score_columns

GIVEN = "given"  # the scheme of a k that was not chosen


class Figure(NamedTuple):
    """Smallest and largest value of a figure, and that of a document without a cluster."""

    low: float
    high: float
    alone: float


# What is measured of every document: a field of RunEvidence that is saved, checked and edited, and a column of results,
# frames and pages.
FIGURES = {
    "margin": Figure(0.0, 1.0, 0.0), "oddness": Figure(0.0, 1.0, 1.0), "stability": Figure(-1.0, 1.0, float("nan")),
}  # fmt: skip


@dataclass(frozen=True)
class Choice(Drawable):
    """How k was chosen.

    Attributes
    ----------
    best : int
        The k that was taken.
    scheme : str
        How: "levels", "RED-S", "KKM-S", …; "given" for a k that was given, and only compared with data without groups.
    ks : tuple of int
        The values tried, in ascending order.
    mean, standard_error : tuple of float or None
        Score of each value; None where no split gave one.
    ranking : tuple of int
        The values, best first.
    plausible : tuple of int
        The first of the ranking and the values that a paired comparison over the splits does not separate from it
        (``Selection.close``), in ascending order.
    n_splits : int
        Number of splits that were scored.
    p_value : float or None
        P value of the hypothesis that there are no groups; None if it was not tested.
    verdict : str
        What this means, in plain words.
    expected : tuple of float or None
        Score of data without groups at each value; empty if that was not measured.
    answer : str
        "groups", "weak groups", "no groups" or "too few"; "" if that was not measured.

    Examples
    --------
    >>> from grampus.persist import Choice
    >>> Choice(2, "RED-S", (2, 3), (0.9, 0.4), (0.01, 0.02), (2, 3), (2,), 20).plausible
    (2,)
    """

    best: int
    scheme: str
    ks: tuple[int, ...]
    mean: tuple[float | None, ...]
    standard_error: tuple[float | None, ...]
    ranking: tuple[int, ...]
    plausible: tuple[int, ...]
    n_splits: int
    p_value: float | None = None
    verdict: str = ""
    expected: tuple[float | None, ...] = ()
    answer: str = ""

    @property
    def given(self) -> bool:
        """Whether k was given, not chosen."""
        return self.scheme == GIVEN

    def to_frame(self) -> Any:
        """Return one row for each k as a pandas DataFrame: score, standard_error, standing."""
        return data_frame(*score_columns(score_rows(self)))


@dataclass(frozen=True)
class Level:
    """One of the nested partitions of a run, as branches of its tree.

    Attributes
    ----------
    name : "coarsest", "coarse", "middle", "fine" or "finest"
    branches : tuple of int
        The branch of each cluster, the largest first.

    Examples
    --------
    >>> from grampus.persist import Level
    >>> Level("coarse", (1, 2)).branches
    (1, 2)
    """

    name: str
    branches: tuple[int, ...]


@dataclass(frozen=True)
class Branch:
    """A node of the tree: a merge of clusters, a cluster, or a part of one.

    Attributes
    ----------
    index, parent : int
        Its position in the tree, and its parent's, which is smaller; −1 for the root.
    children : tuple of int
        Empty for a leaf.
    size : int
        Number of documents below it.
    order : int
        Position of its split, counted from the top; −1 for a leaf. The splits 0 … j−1 leave j + 1 parts; with
        j + 1 = k these are the clusters.
    height : float
        Sum of the squared distances of its documents to their centroid (scatter).
    gain : float
        How much its split lowers the sum of the scatters; 0 for a leaf.
    cluster : int
        The cluster that it equals, or −1.
    name : str
        A short name.
    words : tuple of str
        Up to three further words.

    Examples
    --------
    >>> from grampus.persist import Branch
    >>> Branch(1, 0, (), 4, -1, 2.5, 0.0, 0, "whale")
    <Branch 1: whale (4) in 0>
    """

    index: int
    parent: int
    children: tuple[int, ...]
    size: int
    order: int
    height: float
    gain: float
    cluster: int
    name: str
    words: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Branch {self.index}: {self.name} ({self.size:,}) in {self.parent}>"


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where a run comes from and how to repeat it.

    Attributes
    ----------
    kernel : str
        The kernel's spelling.
    parameters : dict
        Parameters of the clusterer, as plain values.
    seed : int or None
        Seed of every random step.
    command : str
        The command that repeats the run.
    source : str
        Where the documents came from.
    columns : dict of str to str
        Which column of the source gave "text", "id", "title", "label" and "date", where that is known.
    fingerprint : str
        A digest of the documents, independent of their order.
    created : str
        ISO date and time in UTC.
    seconds : float
        How long it took.
    versions : dict of str to str
        Versions of Grampus, Python and the libraries used.
    languages : dict of str to int
        How many documents are in each language, by code, the most frequent first; empty if that was not looked for.
    collection : dict
        Where the run holds a sample, the whole collection: how many documents there are, in each cluster and in the
        run ("documents", "sizes", "shown"), and in how many pieces they were read ("pieces"). Empty if the run holds
        all.

    Examples
    --------
    >>> from grampus import DocumentClusterer
    >>> run = DocumentClusterer(2, kernel="cosine", random_state=7).fit(["whale", "a whale", "bird", "birds"]).run_
    >>> run.provenance.kernel, run.provenance.seed
    ('cosine', 7)
    """

    kernel: str
    parameters: dict[str, Any]
    seed: int | None
    command: str
    source: str
    columns: dict[str, str] = field(default_factory=dict)
    fingerprint: str
    created: str
    seconds: float
    versions: dict[str, str]
    languages: dict[str, int] = field(default_factory=dict)
    collection: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Documents:
    """The documents of a run, as columns of n texts.

    Attributes
    ----------
    ids : Texts
        One for each document.
    titles, classes, dates : Texts or None
        Columns of titles, labels and dates, if there are any; "" where one is unknown. Clusters are compared with
        ``classes``.
    texts : Texts or None
        The documents; None if they were left out or are not texts.
    excerpts : Texts or None
        The first 160 characters of each, with white space collapsed; None if left out.

    Examples
    --------
    >>> from grampus.persist import Documents
    >>> from grampus.text import Texts
    >>> Documents(ids=Texts(["a", "b"])).titles is None
    True
    """

    ids: Texts
    titles: Texts | None = None
    classes: Texts | None = None
    dates: Texts | None = None
    texts: Texts | None = None
    excerpts: Texts | None = None

    def take(self, places: Any) -> Self:
        """Return the documents at some places, in that order."""
        held = {one.name: getattr(self, one.name) for one in fields(self)}
        return type(self)(**{name: column and column.take(places) for name, column in held.items()})

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of every document by its id."""
        return {one: row for row, one in enumerate(self.ids)}

    @cached_property
    def coded_classes(self) -> tuple[tuple[str, ...], NDArray[np.intp]]:
        """The different classes in the order of their first document, and that of every document."""
        codes: dict[str, int] = {}
        rows = [codes.setdefault(value, len(codes)) for value in self.classes or ()]
        return tuple(codes), np.array(rows, dtype=np.intp)


@dataclass(frozen=True, kw_only=True, eq=False)
class RunEvidence:
    """What was found about n documents in k clusters, and how far to believe it.

    A document with label −1 belongs to no cluster: it is in no leaf of the tree, and its second choice is the nearest
    cluster.

    Attributes
    ----------
    labels : int32 array of shape (n,)
        The cluster of every document, 0 … k−1, or −1; the largest cluster is 0.
    clusters : tuple of Cluster
        What each is about; ``clusters[c].number == c``.
    choice : Choice or None
        How k was chosen; None if it was given.
    levels : tuple of Level
        Nested partitions, from coarse to fine; ``labels`` are those of one of them, mostly of the middle one.
    tree : tuple of Branch
        The root first, parents before children. Merges of clusters above, parts of clusters below.
    leaves : int32 array of shape (n,)
        The leaf of the tree (its position in ``tree``) that holds each document, or −1.
    second : int32 array of shape (n,)
        The next nearest cluster; −1 if there is only one.
    margin : float32 array of shape (n,)
        1 − d₁²/d₂², own cluster against the second: 0 on the border, 1 on the centroid.
    oddness : float32 array of shape (n,)
        1 − (mean similarity to the other documents of the cluster) / (its median over the cluster), from 0 (usual) to
        1 (resembles nothing there).
    stability : float32 array of shape (n,)
        How often the document stayed with its cluster when the documents were resampled; NaN if not measured.
    duplicates : int32 array of shape (p, 2)
        Pairs of near-duplicates, most similar first.
    duplicate_similarity : float32 array of shape (p,)
        Their cosine.
    outcome : str
        "converged", "oscillated" or "max_iter".
    objective : float
        The k-means objective without the shift.
    agreement : float
        Share of the documents that would get their own label again as new documents.
    warnings : tuple of str
        What a reader should know, in plain words.

    Examples
    --------
    >>> from grampus import DocumentClusterer
    >>> run = DocumentClusterer(2, embed=None).fit(["whale", "a whale", "bird", "birds"]).run_
    >>> run.evidence.labels.tolist(), run.evidence.outcome
    ([1, 1, 0, 0], 'converged')
    """

    labels: NDArray[np.int32]
    clusters: tuple[Cluster, ...]
    choice: Choice | None = None
    levels: tuple[Level, ...] = ()
    tree: tuple[Branch, ...]
    leaves: NDArray[np.int32]
    second: NDArray[np.int32]
    margin: NDArray[np.float32]
    oddness: NDArray[np.float32]
    stability: NDArray[np.float32]
    duplicates: NDArray[np.int32]
    duplicate_similarity: NDArray[np.float32]
    outcome: str
    objective: float
    agreement: float
    warnings: tuple[str, ...] = ()

    def figures(self) -> dict[str, NDArray[np.float32]]:
        """Return what was measured of every document, by name; NaN where it is unknown."""
        return {name: getattr(self, name) for name in FIGURES}


@dataclass(frozen=True, kw_only=True, eq=False)
class Layout:
    """Where documents are drawn.

    Attributes
    ----------
    coordinates : float32 array of shape (n, 2)
        A map of the documents.
    sample : int32 array of shape (s,)
        Documents shown in the heatmap, cluster by cluster.
    heatmap : float32 array of shape (s, s)
        Their similarities under the kernel, without a shift.
    representatives : int
        Documents that were laid out, the others placed beside them; 0 if all were laid out.

    Examples
    --------
    >>> from grampus import DocumentClusterer
    >>> run = DocumentClusterer(2, embed=None).fit(["whale", "a whale", "bird", "birds"]).run_
    >>> run.layout.coordinates.shape, run.layout.heatmap.shape
    ((4, 2), (2, 2))
    """

    coordinates: NDArray[np.float32]
    sample: NDArray[np.int32]
    heatmap: NDArray[np.float32]
    representatives: int = 0


@dataclass(frozen=True)
class Change:
    """What an update did to one cluster.

    Attributes
    ----------
    cluster : int
        Its number after the update; before it, for one that is dead.
    name : str
    kind : str
        "kept", "grown", "shrunken", "new", "split" (from another one), "merged" (with others) or "dead".
    before, after : int
        Number of documents.
    drift : float or None
        1 − cosine of the centroids of the documents that were added and of those before; None without added documents.

    Examples
    --------
    >>> from grampus.persist import Change
    >>> Change(0, "whale", "grown", 4, 6, 0.1).kind
    'grown'
    """

    cluster: int
    name: str
    kind: str
    before: int
    after: int
    drift: float | None = None


@dataclass(frozen=True)
class Update:
    """One update of a run.

    Attributes
    ----------
    created : str
        ISO date and time in UTC.
    documents : int
        How many there are afterwards.
    added, deleted : int
    moved : int
        Documents of before that are in another cluster now.
    changes : tuple of Change

    Examples
    --------
    >>> from grampus.persist import Update
    >>> Update("2026-01-02T03:04:05Z", 6, 2, 0, 1).added
    2
    """

    created: str
    documents: int
    added: int
    deleted: int
    moved: int
    changes: tuple[Change, ...] = ()
