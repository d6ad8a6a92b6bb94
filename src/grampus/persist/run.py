"""Run: everything one clustering of documents found, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._draw import Drawable
from .._names import number_of
from ..errors import InputError, RunError
from ..kernels import parse_kernel
from ..text import Texts
from .edited import edited_run
from .edits import Edit, apply_edits, as_kept
from .folder import as_read, finish, read_folder, replace_value, write_folder, writing
from .frame import frame_of
from .records import Documents, Layout, Level, Provenance, RunEvidence, Update
from .regrow import part_of
from .schema import check_parts, read_as
from .upgrade import SCHEMA, gone_note, upgrade

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
    edits : tuple of Edit
        What a reader changed, in order; all other parts are as edited. A saved run holds the answer that was found and
        the edits.
    history : tuple of Update
        How documents were added and deleted, and what became of the clusters.
    original : Run or None
        The run without the edits; None if there are none.

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
    edits: tuple[Edit, ...] = ()
    history: tuple[Update, ...] = ()
    original: Run | None = None

    def __post_init__(self) -> None:
        check_parts(self.provenance, self.documents, self.evidence, self.layout, self.model)

    def __len__(self) -> int:
        return len(self.evidence.labels)

    def __repr__(self) -> str:
        found = f"{number_of(len(self), 'document')} in {number_of(self.n_clusters, 'cluster')}"
        return f"<Run: {found}, kernel {self.provenance.kernel}>"

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return len(self.evidence.clusters)

    @property
    def n_unassigned(self) -> int:
        """The number of documents that belong to no cluster."""
        return int((self.evidence.labels < 0).sum())

    @property
    def n_documents(self) -> int:
        """The number of documents of the collection; more than ``len(run)`` where the run holds a sample."""
        found = self.provenance.collection.get("documents")
        return found if isinstance(found, int) else len(self)

    @cached_property
    def done(self) -> tuple[int, ...]:
        """The clusters that a reader has marked as done."""
        if not any(edit.action == "done" for edit in self.edits):
            return ()
        state = apply_edits(self.original, self.edits)
        number = state.numbers()
        return tuple(sorted(number[key] for key in state.done))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of documents of every cluster in the collection; those of the run itself after edits."""
        found = self.provenance.collection.get("sizes", ())
        whole = len(found) == self.n_clusters and all(isinstance(size, int) for size in found) and not self.edits
        return tuple(found) if whole else tuple(cluster.size for cluster in self.evidence.clusters)

    @property
    def compared(self) -> str:
        """What of the documents was compared, in plain words, such as "words (30 %) and meaning (70 %)"."""
        try:
            kernel = parse_kernel(self.provenance.kernel)
        except InputError:  # of another version
            return self.provenance.kernel
        made = self.provenance.parameters.get("inputs", {})
        record = made.get("embedding", {}) if isinstance(made, Mapping) else {}
        kind = str(record.get("kind")) if isinstance(record, Mapping) else ""
        names = {"terms": "words" if self.provenance.parameters.get("terms") else "numbers", "text": "strings"}
        names["embedding"] = {"meaning": "meaning", "vectors": "word vectors"}.get(kind, "embeddings")
        shares = kernel.shares()
        whole = sum(shares.values())
        said = {name: f" ({share / whole:.0%})".replace("%", " %") for name, share in shares.items()}
        return " and ".join(names.get(name, name) + said.get(name, "") for name in kernel.inputs)

    @property
    def levels(self) -> tuple[str, ...]:
        """The names of the levels, from coarse to fine."""
        return tuple(level.name for level in self.evidence.levels)

    @property
    def level(self) -> str:
        """The name of the level that the clusters of the run are; "" if they are none of the levels."""
        clusters = {branch.index for branch in self.evidence.tree if branch.cluster >= 0}
        return next((level.name for level in self.evidence.levels if set(level.branches) == clusters), "")

    def level_labels(self, name: str) -> NDArray[np.int32]:
        """Return the cluster of every document at a level, the largest 0; −1 for a document in none.

        Parameters
        ----------
        name : one of ``levels``
        """
        return np.asarray(part_of(self.evidence.tree, self._level(name).branches)[self.evidence.leaves])

    def level_names(self, name: str) -> tuple[str, ...]:
        """Return the short names of the clusters of a level.

        Parameters
        ----------
        name : one of ``levels``
        """
        return tuple(self.evidence.tree[index].name for index in self._level(name).branches)

    def _level(self, name: str) -> Level:
        for level in self.evidence.levels:
            if level.name == name:
                return level
        raise InputError(f"level must be one of {', '.join(map(repr, self.levels)) or 'none'}; got {name!r}.")

    def without_texts(self) -> Run:
        """Return the run without texts, excerpts, titles and typical sentences; ids, words and weights of terms stay.

        A string kernel compares new documents with the fitted texts, so without them it cannot assign any.
        """
        if self.original is not None:
            return replace(edited_run(self.original.without_texts(), self.edits), provenance=self.provenance)
        strings = any(isinstance(self.model.get(name), Texts) for name in ("texts", "input.text.texts"))
        bare = replace(self.documents, texts=None, excerpts=None, titles=None)
        clusters = tuple(replace(cluster, sentence="") for cluster in self.evidence.clusters)
        seen = replace(self.evidence, clusters=clusters)
        return replace(self, documents=bare, evidence=seen, model={} if strings else self.model)

    def edited(self, *edits: Edit) -> Run:
        """Return the run with more edits. Their numbers of clusters are those of this run.

        Clusters are numbered anew afterwards, in the same order; those that a split makes come last. Figures that were
        measured for other documents than a cluster has now are unknown.

        Parameters
        ----------
        edits : Edit
            Applied in their order. Clusters that a split makes have the numbers from ``n_clusters`` on, for the edits
            after it.

        Raises
        ------
        InputError
            A cluster or document is not there, or no document would be left in a cluster.

        Examples
        --------
        >>> from grampus import DocumentClusterer
        >>> from grampus.persist import Edit
        >>> run = DocumentClusterer(2).fit(["whale song", "whales sing", "bird nest", "nests of birds"]).run_
        >>> merged = run.edited(Edit("merge", (0, 1)), Edit("rename", (0,), name="Animals"))
        >>> [cluster.name for cluster in merged.evidence.clusters], len(merged.undone().undone().edits)
        (['Animals'], 0)
        """
        return self._with((*self.edits, *as_kept(self, edits)))

    def undone(self, count: int = 1) -> Run:
        """Return the run without its last edits, exactly as it was before them.

        Parameters
        ----------
        count : int
            How many; all if there are fewer.
        """
        return self._with(self.edits[: max(0, len(self.edits) - count)])

    def _with(self, edits: tuple[Edit, ...]) -> Run:
        """Return the run with these edits in place of its own."""
        return edited_run(self if self.original is None else self.original, edits)

    def to_frame(self, table: str = "documents", *, index: Any = None) -> Any:
        """Return one of the run's tables as a pandas data frame. Needs ``pip install 'grampus[frames]'``.

        Parameters
        ----------
        table : str
            "documents": cluster, name, second, margin, oddness, stability, x and y, indexed by id.
            "levels": the cluster of every document at each level, and its name, indexed by id.
            "clusters": name, words, size, terms, cohesion, alike, separation, nearest, stability.
            "tree": parent, size, height, gain, cluster and name of every node.
            "duplicates": pairs of near-duplicates, first and second, and their similarity.
            "choice": the score of every k that was tried; no rows where k was given.
        index : sequence or pandas.Index, optional
            One value for each document, instead of the ids: that of your frame, to join with it.

        Examples
        --------
        >>> from grampus import DocumentClusterer
        >>> run = DocumentClusterer(2).fit(["whale song", "whales sing", "bird nest", "nests of birds"]).run_
        >>> run.to_frame().loc["1", "name"]
        'Whale'
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
        with writing(path) as place:
            (self if texts else self.without_texts())._write(place)

    def _write(self, place: Path) -> None:
        """Write the answer that was found, the edits and the history; the lock is held.

        What could not be read again is not written.
        """
        run = self if self.original is None else replace(self.original, provenance=self.provenance)
        plain: dict[str, Any] = {"edits": self.edits, "history": self.history}
        arrays = {f"model.{name}": content for name, content in run.model.items()}
        for part in ("provenance", "documents", "evidence", "layout"):
            record, plain[part] = getattr(run, part), {}
            for name in (one.name for one in fields(record)):
                value = getattr(record, name)
                if isinstance(value, np.ndarray | Texts):
                    arrays[f"{part}.{name}"] = value
                else:
                    plain[part][name] = value
        read_as(type(self), as_read(plain, arrays), "")
        write_folder(place, SCHEMA, plain, arrays)

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
            if "original" in content:  # of this class, not of a folder
                raise RunError("the run has an unknown field 'original'.")
            run: Run = read_as(cls, upgrade(content, schema), "")
            note, notes = gone_note(run.provenance.parameters), run.evidence.warnings
            if note and note not in notes:
                run = replace(run, evidence=replace(run.evidence, warnings=(*notes, note)))
            return edited_run(replace(run, edits=()), run.edits)
        except RunError as error:
            raise RunError(f"{path}: {error} Recreate the run.") from None
        except InputError as error:
            raise RunError(f"{path}: the edits do not fit the run: {error} Recreate the run.") from None


def save_edits(path: str | PathLike[str], run: Run, seen: str) -> str:
    """Save the log of a run whose folder holds the same answer; return the digest of its manifest.

    Arrays and texts stay as they are, so this takes as long as writing one small file.

    Parameters
    ----------
    path : path
    run : Run
        As edited.
    seen : str
        The digest of the manifest that the run was read from.

    Raises
    ------
    RunError
        The folder holds another answer, or other edits.
    """
    with writing(path) as place:
        return replace_value(place, SCHEMA, "edits", run.edits, seen)


def change_run(path: str | PathLike[str], change: Callable[[Run], Run]) -> Run:
    """Load a run, change it, and save it in its place; nobody else can write the folder meanwhile.

    The folder holds the old run or the new one, whenever the process ends.

    Parameters
    ----------
    path : path
    change : callable
        Returns the run to save.

    Examples
    --------
    >>> import tempfile
    >>> from grampus import DocumentClusterer
    >>> from grampus.persist import Edit, change_run
    >>> model = DocumentClusterer(2).fit(["whale song", "whales sing", "bird nest", "nests of birds"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/run")
    ...     change_run(f"{folder}/run", lambda run: run.edited(Edit("merge", (0, 1)))).n_clusters
    1
    """
    with writing(path) as place:
        finish(place)
        run = change(Run.load(path))
        run._write(place)
    return run
