"""Run: everything one clustering of documents found, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._draw import Drawable, Shown
from ..describe import Cluster
from ..errors import RunError
from ..text import Texts
from .folder import read_folder, write_folder

SCHEMA = 1
EXCERPT = 160  # characters of a document that are kept as its excerpt

# Every array of a run: its type and shape, with n documents, p pairs and s sampled ones.
ARRAYS: dict[str, tuple[str, tuple[str | int, ...]]] = {
    "labels": ("int32", ("n",)),
    "leaves": ("int32", ("n",)),
    "second": ("int32", ("n",)),
    "margin": ("float32", ("n",)),
    "oddness": ("float32", ("n",)),
    "stability": ("float32", ("n",)),
    "coordinates": ("float32", ("n", 2)),
    "duplicates": ("int32", ("p", 2)),
    "duplicate_similarity": ("float32", ("p",)),
    "sample": ("int32", ("s",)),
    "heatmap": ("float32", ("s", "s")),
}
TEXTS = ("ids", "titles", "classes", "dates", "texts", "excerpts")


@dataclass(frozen=True)
class Choice(Drawable):
    """How k was chosen.

    Attributes
    ----------
    best : int
        The k that was taken.
    scheme : str
        How: "RED-S", "KKM-S", ….
    ks : tuple of int
        The values tried, rising.
    mean, standard_error : tuple of float or None
        Of the score of each; None where no split gave one.
    ranking : tuple of int
        The values, best first.
    plausible : tuple of int
        Those whose mean is within one standard error of the best, rising.
    n_splits : int
        Splits of the documents that were scored.
    p_value : float or None
        Of the hypothesis that there are no groups at all; None if it was not tested.
    verdict : str
        What this means, in plain words.

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


@dataclass(frozen=True)
class Branch:
    """A node of the tree. Above the clusters are merges of them, below are their parts.

    Attributes
    ----------
    index, parent : int
        Its place in ``Run.tree``, and its parent's; −1 for the root.
    children : tuple of int
        Empty for a leaf.
    size : int
        Documents below it.
    order : int
        The how many-th split from the top it is, from 0; −1 for a leaf. Keeping the splits 0 … j−1 leaves j + 1 parts;
        with j + 1 = k these are the clusters.
    height : float
        Squared distances of its documents to their centroid (scatter).
    gain : float
        By how much its split lowers the sum of the scatters; 0 for a leaf.
    cluster : int
        The cluster that it is exactly, or −1.
    label : str
        A short name.

    Examples
    --------
    >>> from grampus.persist import Branch
    >>> Branch(0, -1, (), 4, -1, 2.5, 0.0, 0, "whale").label
    'whale'
    """

    index: int
    parent: int
    children: tuple[int, ...]
    size: int
    order: int
    height: float
    gain: float
    cluster: int
    label: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Run(Shown):
    """What one clustering of n documents into k clusters found; row i is the i-th document as it was given.

    Plain data: strings, numbers, tuples of small records and arrays. ``DocumentClusterer`` makes one, the report is
    drawn from one, and ``save`` and ``load`` keep one in a folder: ``manifest.json`` and ``.npy`` files, nothing
    pickled, a SHA-256 of every file. A folder appears whole or not at all, and one with a changed byte is refused.

    Attributes
    ----------
    kernel : str
        The kernel's spelling.
    parameters : dict
        What the clusterer was told, as plain values.
    seed : int or None
        Of every random step.
    command : str
        The line that repeats the run.
    source : str
        Where the documents came from.
    columns : dict of str to str
        Which column of the source gave "text", "id", "title", "label" and "date", where that is known.
    fingerprint : str
        A digest of the documents, whatever their order.
    created : str
        When, as an ISO date in UTC.
    seconds : float
        How long it took.
    versions : dict of str to str
        Of Grampus, Python and the libraries used.
    warnings : tuple of str
        What a reader should know, in plain words.
    outcome : str
        "converged", "oscillated" or "max_iter".
    objective : float
        The k-means objective without the shift.
    agreement : float
        Share of the documents that would get their own label again if shown as new.

    ids : Texts
        One for each document.
    titles, classes, dates : Texts or None
        The columns of titles, labels and dates, if there were some; "" where one is unknown. ``classes`` is the column
        that clusters are compared with.
    texts : Texts or None
        The documents themselves; None when left out, or when the documents were not texts.
    excerpts : Texts or None
        The first 160 characters of each, white space folded; None when left out.

    labels : int32 array of shape (n,)
        The cluster of every document, 0 … k−1; the largest cluster is 0.
    clusters : tuple of Cluster
        What each is about; ``clusters[c].number == c``.
    choice : Choice or None
        How k was chosen; None when it was given.
    tree : tuple of Branch
        The root first. Merges of clusters above, parts of clusters below.
    leaves : int32 array of shape (n,)
        The leaf of the tree (its index in ``tree``) that holds each document.
    second : int32 array of shape (n,)
        The next nearest cluster; −1 if there is only one.
    margin : float32 array of shape (n,)
        1 − d₁²/d₂², own cluster against the second: 0 on the border, 1 on the centroid.
    oddness : float32 array of shape (n,)
        1 − (mean similarity to the other documents of the cluster) / (the cluster's median of that), within 0 and 1: 0
        is usual, 1 resembles nothing there.
    stability : float32 array of shape (n,)
        How often the document stayed with its cluster when the documents were drawn anew; NaN if not measured.
    coordinates : float32 array of shape (n, 2)
        A map of the documents.
    duplicates : int32 array of shape (p, 2)
        Pairs of documents that are nearly the same, most similar first.
    duplicate_similarity : float32 array of shape (p,)
        Their cosine.
    sample : int32 array of shape (s,)
        Documents shown in the heatmap, cluster by cluster.
    heatmap : float32 array of shape (s, s)
        Their similarities under the kernel, without a shift.
    model : dict
        Arrays and Texts from which new documents are placed; empty if that is not possible.

    Examples
    --------
    >>> import tempfile
    >>> from grampus import DocumentClusterer
    >>> from grampus.persist import Run
    >>> texts = ["whale song", "whales sing a song", "bird nest", "a nest of birds"]
    >>> run = DocumentClusterer(2, random_state=0).fit(texts).run_
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run.save(f"{folder}/run")
    ...     again = Run.load(f"{folder}/run")
    >>> again.labels.tolist() == run.labels.tolist(), again.ids == run.ids, again.n_clusters
    (True, True, 2)
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
    warnings: tuple[str, ...] = ()
    outcome: str
    objective: float
    agreement: float

    ids: Texts
    titles: Texts | None = None
    classes: Texts | None = None
    dates: Texts | None = None
    texts: Texts | None = None
    excerpts: Texts | None = None

    labels: NDArray[np.int32]
    clusters: tuple[Cluster, ...]
    choice: Choice | None = None
    tree: tuple[Branch, ...]
    leaves: NDArray[np.int32]
    second: NDArray[np.int32]
    margin: NDArray[np.float32]
    oddness: NDArray[np.float32]
    stability: NDArray[np.float32]
    coordinates: NDArray[np.float32]
    duplicates: NDArray[np.int32]
    duplicate_similarity: NDArray[np.float32]
    sample: NDArray[np.int32]
    heatmap: NDArray[np.float32]
    model: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check(self)

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"<Run: {len(self)} documents in {self.n_clusters} clusters, kernel {self.kernel}>"

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return len(self.clusters)

    def without_texts(self) -> Run:
        """Return the run without texts and excerpts; ids, titles, words of the clusters and weights of terms stay.

        A string kernel compares new documents with the fitted texts, so that such a run can then place none.
        """
        strings = any(isinstance(value, Texts) and name == "texts" for name, value in self.model.items())
        return replace(self, texts=None, excerpts=None, model={} if strings else self.model)

    def save(self, path: str | PathLike[str], *, texts: bool = True) -> None:
        """Write the run into a folder, which then holds this run and nothing of an older one.

        Parameters
        ----------
        path : path
            A folder that is not there yet, is empty, or holds a run, which is replaced in one step.
        texts : bool
            False leaves out texts and excerpts; see ``without_texts``.
        """
        run = self if texts else self.without_texts()
        plain, arrays = {}, {}
        for part in fields(run):
            value = getattr(run, part.name)
            if isinstance(value, np.ndarray | Texts):
                arrays[part.name] = value
            elif part.name == "model":
                arrays |= {f"model.{name}": content for name, content in value.items()}
            else:
                plain[part.name] = value
        write_folder(path, SCHEMA, plain, arrays)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Run:
        """Read a run from a folder; one that is not exactly as it was written is refused.

        Raises
        ------
        RunError
            There is no run, a byte was changed, or a newer version wrote it.
        """
        plain, arrays = read_folder(path, SCHEMA)
        try:
            for name, record in (("choice", Choice), ("clusters", Cluster), ("tree", Branch)):
                plain[name] = _records(plain[name], record)
            plain["warnings"] = tuple(plain["warnings"])
            model = {
                name.removeprefix("model."): arrays.pop(name) for name in list(arrays) if name.startswith("model.")
            }
            return cls(**plain, **arrays, model=model)
        except (KeyError, TypeError, AttributeError) as error:
            raise RunError(f"{path} does not hold the parts of a run ({error}). Make the run anew.") from None


def _records(values: Any, record: type) -> Any:
    """Build records from the lists and dictionaries of the manifest."""
    if values is None:
        return None
    if isinstance(values, dict):
        return record(**{name: _frozen(value) for name, value in values.items()})
    return tuple(_records(value, record) for value in values)


def _frozen(value: Any) -> Any:
    """Turn lists into tuples, and pairs of a text and a number into terms."""
    from ..describe import Term

    if not isinstance(value, list):
        return value
    if len(value) == 2 and isinstance(value[0], str):
        return Term(value[0], float(value[1]))
    return tuple(map(_frozen, value))


def _check(run: Run) -> None:
    """Refuse a run whose parts do not fit together; what is read from a folder may be anything."""
    n = len(run.ids)
    sizes: dict[str | int, int] = {"n": n, "p": len(run.duplicates), "s": len(run.sample), 2: 2}
    for name, (dtype, shape) in ARRAYS.items():
        array = getattr(run, name)
        wanted = tuple(sizes[axis] for axis in shape)
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.shape != wanted:
            raise RunError(f"{name} of a run must be {dtype} of shape {wanted}; got {_kind(array)}.")
    for name in TEXTS:
        texts = getattr(run, name)
        if texts is not None and (not isinstance(texts, Texts) or len(texts) != n):
            raise RunError(f"{name} of a run must be {n} texts, one for each document.")
    k, nodes = len(run.clusters), len(run.tree)
    places = [place for c in run.clusters for place in (*c.central, *c.borderline, *c.odd)]
    _within("labels", run.labels, 0, k)
    _within("second", run.second, -1, k)
    _within("leaves", run.leaves, 0, nodes)
    _within("duplicates", run.duplicates, 0, n)
    _within("sample", run.sample, 0, n)
    _within("documents of the clusters", places, 0, n)
    _within("children in the tree", [child for branch in run.tree for child in branch.children], 0, nodes)
    if [c.number for c in run.clusters] != list(range(k)) or [b.index for b in run.tree] != list(range(nodes)):
        raise RunError("clusters and branches of a run must be numbered from 0 in their order.")
    if [c.size for c in run.clusters] != np.bincount(run.labels, minlength=k).tolist():
        raise RunError("sizes of the clusters of a run must be those of its labels.")


def _within(what: str, values: Any, low: int, high: int) -> None:
    found = np.asarray(values)
    if found.size and (found.dtype.kind not in "iu" or found.min() < low or found.max() >= high):
        raise RunError(f"{what} of a run must be whole numbers from {low} to {high - 1}.")


def _kind(value: Any) -> str:
    return f"{value.dtype} of shape {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
