"""The answer: everything that is known so far about a collection. Each stage of the pipeline returns a fuller one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array
from .._progress import Progress
from ..cluster import Tree
from ..describe import Cluster, Name, Typicality, Wording
from ..gram import Gram
from ..kernels import Kernel
from ..persist import Branch, Choice, Layout, Run
from ..run import Apart
from ..select import Stability
from ..select.nested import SMALLEST
from ..text import Corpus, Texts
from .find.levels import Partitions, sizes_of_levels
from .find.method import Found, Method
from .find.predict import Predictor
from .given.effort import Effort
from .given.frames import Rows
from .given.guide import Guide, Told
from .given.inputs import Inputs
from .given.large import LargeSample

NOT_YET: Any = None  # what a later stage finds


@dataclass(frozen=True)
class Request:
    """What was asked for, checked.

    Attributes
    ----------
    parameters : dict
        Those of the clusterer, as they were given.
    kernel : Kernel
    method : Method
    effort : Effort
    seed : int
    command : str
        The clusterer, spelled out.
    guide : Guide or None
    progress : callable
    """

    parameters: Mapping[str, Any]
    kernel: Kernel
    method: Method
    effort: Effort
    seed: int
    command: str = ""
    guide: Guide | None = None
    progress: Progress = field(default=lambda *_: None)

    @property
    def sizes(self) -> dict[str, int] | None:
        """The number of clusters of every level that was asked for; None where they are to be found."""
        return sizes_of_levels(self.parameters["n_clusters"])

    @property
    def smallest(self) -> int:
        """How many documents a part of a cluster has on average at least; sizes that were asked for are kept to."""
        return SMALLEST if len(self.sizes or ()) < 2 else 1

    @property
    def k(self) -> int | None:
        """The number of clusters of the middle level that was asked for; None where it is to be found."""
        return None if self.sizes is None else self.sizes["middle"]


@dataclass(frozen=True)
class Before:
    """An older answer, from which an update begins.

    Attributes
    ----------
    run : Run
        Without edits.
    came_from : array of shape (n,)
        The old position of each document; −1 for a new one.
    keeps_terms : bool
        Whether old terms and weights stay, and new documents are read in them.
    steady : bool
        Whether clusters are only to follow the old ones.
    lost : bool
        Whether a cluster is known not to survive.
    polish : bool
        Whether single moves follow kernel k-means.
    forgets : bool
        Whether documents were deleted: no word that only they had may stay.
    """

    run: Run
    came_from: NDArray[np.intp]
    keeps_terms: bool
    steady: bool
    lost: bool
    polish: bool
    forgets: bool


@dataclass(frozen=True)
class Telling:
    """Begun in copies of this process where that pays; elsewhere each is made when it is asked for.

    Attributes
    ----------
    keeps : bool
        Whether an update keeps the names that clusters have.
    wording : Wording or None
        The words of the documents; None where names are kept.
    names : callable
        Returns the names of the clusters, None for those without words.
    steady : callable
        Returns the stability of the clusters, and a note.
    branches : Apart
        Returns the tree, its named records and the leaf of every document, given the clusters or their names.
    kept : callable
        Returns the beginnings and the fingerprint of the texts, and how many of them are nearly copies.
    model : callable
        Returns the parameters of the terms, the arrays that assign new documents, and a note.
    """

    keeps: bool
    wording: Wording | None
    names: Callable[[], Sequence[Name] | None]
    steady: Callable[[], tuple[Stability | None, str]]
    branches: Apart[tuple[Tree, tuple[Branch, ...], Array]] = NOT_YET
    kept: Callable[[], tuple[Texts | None, str, int]] = NOT_YET
    model: Callable[[], tuple[dict[str, Any] | None, dict[str, Any], str]] = NOT_YET


@dataclass(frozen=True)
class Beside:
    """What needs the documents alone: begun in copies of this process where that pays, else made when it is asked for.

    Attributes
    ----------
    duplicates : callable
        Returns pairs of near-duplicates, their similarities, and a note.
    known_words : callable
        Returns the share of the words of some documents that are terms; None where there are no texts of terms.
    """

    duplicates: Callable[[], tuple[Array, Array, str]]
    known_words: Callable[[], Array | None]


@dataclass(frozen=True)
class Answer:
    """Everything known so far, about m distinct documents.

    Attributes
    ----------
    request : Request
    rows : Rows
        The documents as they were given.
    texts : Corpus or None
        The texts of the rows of a matrix.
    before : Before or None
        Where an update begins.
    sample : LargeSample or None
        Of a collection that is too large to be held: the documents that are clustered, and the pieces of all.
    inputs : Inputs
        The distinct documents, as the kernel reads them.
    asked, kernel : Kernel
        As it was asked for, with every input; and with its number of components.
    gram : Gram
    beside : Beside
    guidance : Told or None
        The guide, applied to the documents.
    aside : array of shape (m,)
        Documents that are in no cluster.
    choice : Choice or None
        How the number of clusters was chosen, or whether those of a given number are groups.
    ks : dict of str to int
        The number of clusters of every level.
    begun : object
        What the method began before the number of clusters was known; None where that is nothing.
    clustering : Found
        The result of the method.
    names : dict of int to str
        Names that a guide gives to clusters.
    levels : dict of str to array of shape (m,)
        The partition of every level, from coarse to fine; `level` is the one that is the answer.
    predictor : Predictor
    stability : Stability or None
    evidence : Typicality
    duplicates : pair of arrays
        Near-duplicates, and how similar they are.
    agreement : float
        Share of the documents that would be assigned to their own cluster if they were new.
    clusters : tuple of Cluster
    nodes, tree, leaves
        The tree: as it was grown, as named records, and the leaf of every document.
    telling : Telling
        Names, stability, tree and texts, as they were begun.
    laying : callable
        Waits for the places on the map.
    layout : Layout
    notes : tuple of str
        For the reader.
    seconds : float
        Spent so far.
    """

    request: Request
    rows: Rows
    texts: Corpus | None = None
    before: Before | None = None
    sample: LargeSample | None = None
    inputs: Inputs = NOT_YET
    asked: Kernel = NOT_YET
    kernel: Kernel = NOT_YET
    gram: Gram = NOT_YET
    beside: Beside = NOT_YET
    guidance: Told | None = None
    aside: NDArray[np.bool_] = NOT_YET
    choice: Choice | None = None
    ks: dict[str, int] = NOT_YET
    begun: Any = None
    clustering: Found = NOT_YET
    names: Mapping[int, str] = NOT_YET
    levels: Partitions = NOT_YET
    level: str = "middle"
    predictor: Predictor = NOT_YET
    stability: Stability | None = None
    evidence: Typicality = NOT_YET
    duplicates: tuple[Array, Array] = NOT_YET
    agreement: float = 1.0
    clusters: tuple[Cluster, ...] = NOT_YET
    nodes: Tree = NOT_YET
    tree: tuple[Branch, ...] = NOT_YET
    leaves: Array = NOT_YET
    telling: Telling = NOT_YET
    laying: Callable[[], Array] = NOT_YET
    layout: Layout = NOT_YET
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def labels(self) -> NDArray[np.intp]:
        """The cluster of every distinct document at the level that is the answer."""
        return self.levels[self.level]

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return int(self.labels.max(initial=-1)) + 1

    @property
    def confidence(self) -> Array | None:
        """How far the views of a consensus agree on each distinct document; None at other levels and of a sample."""
        found = self.clustering.confidence
        fits = self.level == "middle" and self.sample is None and found is not None and len(found) == len(self.labels)
        return found if fits else None

    @property
    def missing(self) -> NDArray[np.bool_] | None:
        """Which of the documents had no text when they were given; None where that is not known."""
        return self.rows.missing if self.sample is None else None

    @property
    def counted(self) -> Inputs:
        """The documents; those that were set aside have no weight."""
        if not self.aside.any():
            return self.inputs
        return replace(self.inputs, weights=np.where(self.aside, 0.0, self.inputs.weights))

    def noted(self, *notes: str) -> Answer:
        """Return the answer with further notes; empty ones are left out."""
        return replace(self, notes=(*self.notes, *filter(None, notes)))
