"""A saved run that is open: kept in memory, and saved with every change."""

import os
from collections.abc import Callable
from pathlib import Path
from threading import RLock
from typing import Any

from .._outputs import MANIFEST
from ..errors import GrampusError, InputError, RunError
from ..persist import Edit, Run
from ..persist.edits import digest
from ..persist.folder import manifest_digest, writing
from ..persist.run import save_edits
from ..persist.schema import read_as
from ..report.edits import MADE

ACTIONS = tuple(action for action in MADE if action != "exclude")  # the page keeps its documents
MOST_EDITS = 1000  # of one request
MOST_KEPT = 3  # answers that can be brought back
MOST_PAST = 4  # edited runs that are kept for undoing


class StaleError(GrampusError):
    """A change was asked for a run as it was before another one."""


class OpenRun:
    """A run in a folder, and its revision: a digest of the manifest, which every change of the folder changes.

    What another process saves is noticed, and never overwritten: a change names the revision it was made for.

    Parameters
    ----------
    place : path
        The folder of the run.

    Examples
    --------
    >>> import tempfile
    >>> from grampus import DocumentClusterer
    >>> from grampus.app import OpenRun
    >>> from grampus.persist import Edit
    >>> model = DocumentClusterer(2).fit(["whale song", "whales sing", "bird nest", "nests of birds"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/run")
    ...     store = OpenRun(f"{folder}/run")
    ...     run, revision = store.change(store.revision, lambda run: run.edited(Edit("merge", (0, 1))))
    ...     run.n_clusters, OpenRun(f"{folder}/run").run.n_clusters, revision == store.revision
    (1, 1, True)
    """

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self.place = Path(place)
        self._lock = RLock()
        self._seen: Any = None
        self._past: list[Run] = []  # as they were before the last changes
        self._before: list[tuple[Run, Run]] = []  # runs that were replaced as a whole, and what took their place
        self.run, self.revision = self._read()

    def _read(self) -> tuple[Run, str]:
        """Return the run in the folder and its revision."""
        while True:
            before, status = manifest_digest(self.place), self._status()
            run = Run.load(self.place)
            if manifest_digest(self.place) == before:
                self._seen = status
                return run, before

    def _status(self) -> Any:
        try:
            found = (self.place / MANIFEST).stat()
        except OSError:
            raise RunError(f"{self.place} no longer holds a run.") from None
        return found.st_ino, found.st_size, found.st_mtime_ns

    def look(self) -> tuple[Run, str]:
        """Return the run and its revision, read again where another process has changed the folder."""
        with self._lock:
            if self._status() != self._seen:
                if manifest_digest(self.place) != self.revision:
                    self.run, self.revision = self._read()
                else:
                    self._seen = self._status()
            return self.run, self.revision

    def change(self, seen: str, change: Callable[[Run], Run]) -> tuple[Run, str]:
        """Change the edits of the run, and save them; refuse where the run is not as it was seen.

        Raises
        ------
        StaleError
            The run was changed since; nothing was written.
        """
        with self._lock:
            run, revision = self._as_seen(seen)
            changed = change(run)
            self._past = [*self._past[1 - MOST_PAST :], run]
            try:
                self.revision = save_edits(self.place, changed, revision)
            except RunError:
                if self.look()[1] != revision:
                    raise StaleError("The run was changed by a command meanwhile. Nothing was written.") from None
                raise
            self.run, self._seen = changed, self._status()
            return self.run, self.revision

    def replace(self, seen: str, made: Run) -> tuple[Run, str]:
        """Save another answer in place of the run, which `undone` brings back while this object lives.

        Raises
        ------
        StaleError
            The run was changed since; nothing was written.
        """
        with self._lock:
            run, revision = self._as_seen(seen)
            written = self._write(revision, made)
            self._before = [*self._before[1 - MOST_KEPT :], (run, made)]
            return written

    def undone(self, seen: str) -> tuple[Run, str]:
        """Take back the last edit, or the last answer that took the place of another."""
        with self._lock:
            run, revision = self._as_seen(seen)
            if self._before and run.edits == self._before[-1][1].edits and digest(run) == digest(self._before[-1][1]):
                written = self._write(revision, self._before[-1][0])
                self._before.pop()
                return written
            return self.change(seen, self._as_before)

    def _as_seen(self, seen: str) -> tuple[Run, str]:
        """Return the run and its revision; refuse where it is not what was seen."""
        run, revision = self.look()
        if seen != revision:
            raise StaleError("The run was changed meanwhile, in another tab or by a command. Nothing was written.")
        return run, revision

    def _as_before(self, run: Run) -> Run:
        """Return the run without its last edit: as it was kept, or else made again."""
        kept = (one for one in self._past if _found(one) is _found(run) and one.edits == run.edits[:-1])
        return next(kept, None) or run.undone()

    @property
    def kept(self) -> int:
        """How many answers can be brought back."""
        return len(self._before)

    def _write(self, revision: str, made: Run) -> tuple[Run, str]:
        with writing(self.place) as place:
            if manifest_digest(self.place) != revision:
                raise StaleError("The run was changed by a command meanwhile. Nothing was written.")
            made._write(place)
            self.run, self.revision, self._seen = made, manifest_digest(self.place), self._status()
        return self.run, self.revision


def _found(run: Run) -> Run:
    """Return the run without edits."""
    return run if run.original is None else run.original


def edits_asked(content: Any, run: Run) -> tuple[Edit, ...]:
    """Return the edits of a request, whose documents are rows of the run."""
    listed = content if isinstance(content, list) else []
    if not 0 < len(listed) <= MOST_EDITS:
        raise InputError(f"edits must be a list of 1 to {MOST_EDITS}.")
    edits = []
    for one in listed:
        rows = one.get("documents", []) if isinstance(one, dict) else []
        named = {**one, "documents": [run.documents.ids[row] for row in checked_rows(rows, len(run))]} if rows else one
        edits.append(read_as(Edit, named, "edit"))
    if any(edit.action not in ACTIONS for edit in edits):
        raise InputError(f"edits must be of the kinds {', '.join(ACTIONS)}.")
    return tuple(edits)


def checked_rows(rows: Any, n: int) -> list[int]:
    """Return row numbers of documents; refuse what is none."""
    if not isinstance(rows, list) or not all(type(row) is int and 0 <= row < n for row in rows):
        raise InputError(f"documents must be a list of rows from 0 to {n - 1}.")
    return list(dict.fromkeys(rows))
