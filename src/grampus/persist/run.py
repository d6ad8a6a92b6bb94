"""Run: everything one clustering of documents found, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._draw import Drawable
from ..errors import InputError, RunError
from ..text import Texts
from .folder import read_folder, write_folder
from .frame import frame_of
from .records import Documents, Layout, Level, Provenance, RunEvidence
from .schema import check_parts, read
from .upgrade import SCHEMA, upgrade

EXCERPT = 160  # characters of a document that are kept as its excerpt


@dataclass(frozen=True, kw_only=True, eq=False)
class Run(Drawable):
    """What one clustering of n documents into k clusters found; row i is the i-th document as it was given.

    Plain data: strings, numbers, tuples of small records and arrays. ``DocumentClusterer`` makes one, the report is
    drawn from one, and ``save`` and ``load`` keep one in a folder: ``manifest.json`` and ``.npy`` files, nothing
    pickled, a SHA-256 of every file. A folder appears whole or not at all, and one with a changed byte is refused.

    Attributes
    ----------
    provenance : Provenance
        Where the run comes from and how to repeat it.
    documents : Documents
        Ids, titles, classes, dates, texts and excerpts.
    evidence : RunEvidence
        Labels, clusters, the choice of k, the tree, and how far to believe them.
    layout : Layout
        The map and the heatmap.
    model : dict
        Arrays and Texts that assign new documents; empty if that is not possible.

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
    >>> again.evidence.labels.tolist() == run.evidence.labels.tolist(), again.documents == run.documents
    (True, True)
    """

    provenance: Provenance
    documents: Documents
    evidence: RunEvidence
    layout: Layout
    model: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_parts(self.provenance, self.documents, self.evidence, self.layout, self.model)

    def __len__(self) -> int:
        return len(self.evidence.labels)

    def __repr__(self) -> str:
        return f"<Run: {len(self)} documents in {self.n_clusters} clusters, kernel {self.provenance.kernel}>"

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return len(self.evidence.clusters)

    @property
    def n_unassigned(self) -> int:
        """The number of documents that belong to no cluster."""
        return int((self.evidence.labels < 0).sum())

    @property
    def levels(self) -> tuple[str, ...]:
        """The names of the levels, from coarse to fine."""
        return tuple(level.name for level in self.evidence.levels)

    def level_labels(self, name: str) -> NDArray[np.int32]:
        """Return the cluster of every document at a level, the largest 0; −1 for a document in none.

        Parameters
        ----------
        name : "coarse", "middle" or "fine"
        """
        branches = self._level(name).branches
        number = np.full(len(self.evidence.tree) + 1, -1, dtype=np.int32)
        number[list(branches)] = np.arange(len(branches))
        for branch in self.evidence.tree[1:]:
            if number[branch.index] < 0:
                number[branch.index] = number[branch.parent]
        return np.asarray(number[self.evidence.leaves])

    def level_names(self, name: str) -> tuple[str, ...]:
        """Return the short names of the clusters of a level.

        Parameters
        ----------
        name : "coarse", "middle" or "fine"
        """
        return tuple(self.evidence.tree[index].label for index in self._level(name).branches)

    def _level(self, name: str) -> Level:
        for level in self.evidence.levels:
            if level.name == name:
                return level
        raise InputError(f"level must be one of {', '.join(map(repr, self.levels)) or 'none'}; got {name!r}.")

    def without_texts(self) -> Run:
        """Return the run without texts, excerpts and titles; ids, words of the clusters and weights of terms stay.

        A string kernel compares new documents with the fitted texts, so without them it cannot assign any.
        """
        strings = any(isinstance(self.model.get(name), Texts) for name in ("texts", "input.text.texts"))
        bare = replace(self.documents, texts=None, excerpts=None, titles=None)
        return replace(self, documents=bare, model={} if strings else self.model)

    def to_frame(self, table: str = "documents", *, index: Any = None) -> Any:
        """Return one of the run's tables as a pandas data frame. Needs ``pip install 'grampus[frames]'``.

        Parameters
        ----------
        table : str
            "documents": cluster, cluster_name, second, margin, oddness, stability, x and y, indexed by id.
            "levels": the cluster of every document at each level, and its name, indexed by id.
            "clusters": name, size, words, cohesion, alike, separation, nearest, stability.
            "tree": parent, size, height, gain, cluster and name of every node.
            "duplicates": pairs of near-duplicates, first and second, and their similarity.
            "choice": the score of every k that was tried; no rows where k was given.
        index : sequence or pandas.Index, optional
            One value for each document, instead of the ids: that of your frame, to join with it.

        Examples
        --------
        >>> from grampus import DocumentClusterer
        >>> run = DocumentClusterer(2).fit(["whale song", "whales sing", "bird nest", "nests of birds"]).run_
        >>> run.to_frame().loc["1", "cluster_name"]
        'whale, sing, song'
        >>> run.to_frame("clusters")["size"].tolist()
        [2, 2]
        """
        return frame_of(self, table, index)

    def save(self, path: str | PathLike[str], *, texts: bool = True) -> None:
        """Write the run into a folder, which then holds this run and nothing of an older one.

        Another process that writes the same folder is waited for, for 30 seconds.

        Parameters
        ----------
        path : path
            A folder that does not exist, is empty, or holds a run, which is replaced in one step.
        texts : bool
            False leaves out texts, excerpts and titles; see ``without_texts``.

        Raises
        ------
        RunError
            The folder holds other files, or another process is writing it.
        """
        run = self if texts else self.without_texts()
        plain: dict[str, dict[str, Any]] = {}
        arrays = {f"model.{name}": content for name, content in run.model.items()}
        for part in ("provenance", "documents", "evidence", "layout"):
            record, plain[part] = getattr(run, part), {}
            for name in (one.name for one in fields(record)):
                value = getattr(record, name)
                if isinstance(value, np.ndarray | Texts):
                    arrays[f"{part}.{name}"] = value
                else:
                    plain[part][name] = value
        write_folder(path, SCHEMA, plain, arrays)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Run:
        """Read a run from a folder. Runs of older versions are read; one with a changed byte is refused.

        Raises
        ------
        RunError
            There is no run, a byte was changed, a value cannot be, or a newer version wrote it.
        """
        schema, content = read_folder(path, SCHEMA)
        try:
            return read(cls, upgrade(content, schema), "")
        except RunError as error:
            raise RunError(f"{path}: {error} Recreate the run.") from None
