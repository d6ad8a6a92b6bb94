"""Rows in pieces, with a function of each piece and a sum over the pieces.

A piece is a record of arrays for every step of the work that has reached it: texts, counts, rows, features. ``derive``
adds a step, ``each`` brings small results to the client in the order of the pieces, ``total`` adds them up. Functions
are pure: they see the arrays of their piece and what is shared by all pieces, and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._config import format_size
from .._files import naming, new_folder, remove_folder, write_file
from .._parallel import results_in_threads, thread_count
from .._version import __version__
from ..errors import InputError, MemoryBudgetError, PartsError

Record = Mapping[str, NDArray[Any]]
Function = Callable[..., Any]

_MANIFEST = "job.json"
_AHEAD = 4  # pieces that each thread may be ahead of what is added up


@dataclass
class Traffic:
    """Tasks and bytes between the client and the pieces, by step.

    Attributes
    ----------
    tasks, sent, received : dict of str to int
        Tasks, bytes sent with them (what all pieces share counts once for each worker) and bytes that came back.
    """

    tasks: dict[str, int] = field(default_factory=dict)
    sent: dict[str, int] = field(default_factory=dict)
    received: dict[str, int] = field(default_factory=dict)

    def add(self, step: str, tasks: int, sent: int = 0, received: int = 0) -> None:
        """Count a step's tasks and bytes."""
        step = step.strip("_").replace("_", " ")
        for table, value in ((self.tasks, tasks), (self.sent, sent), (self.received, received)):
            table[step] = table.get(step, 0) + value

    def record(self) -> dict[str, dict[str, int]]:
        """Return the tables as plain values, without zeros."""
        tables = {"tasks": self.tasks, "bytes_sent": self.sent, "bytes_received": self.received}
        return {name: {step: value for step, value in table.items() if value} for name, table in tables.items()}


class Scratch:
    """A folder for the pieces and for finished sums; bounded, and removed at the end.

    Two jobs never share a folder: its name is a digest of what the job depends on. A job that was interrupted finds
    what it has finished. Without a place, a folder of the system is used, and nothing is left after an error either.

    Parameters
    ----------
    place : path, optional
        Where to make the folder.
    job : dict
        What the job depends on, as JSON values.
    limit : int, optional
        Most bytes that the pieces may take.
    """

    def __init__(self, place: str | Path | None, job: Mapping[str, Any], limit: int | None = None) -> None:
        content = json.dumps({"grampus": __version__, **job}, sort_keys=True, default=str)
        self.kept, self._alone = place is not None, False
        self.limit, self.used = limit, 0
        if place is None:
            self.folder = Path(tempfile.mkdtemp(prefix="grampus-"))
        else:
            digest = hashlib.blake2b(content.encode(), digest_size=8).hexdigest()
            self.folder = Path(place) / f"grampus-{digest}"
            self._alone = not self.folder.parent.exists()
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            manifest = self.folder / _MANIFEST
            self.resumed = manifest.exists()
            if not self.resumed:
                write_file(manifest, content.encode())
        except BaseException:
            if not self.kept or not os.path.lexists(self.folder / _MANIFEST):
                self._remove()
            raise

    def once(self, name: str, compute: Callable[[], Record]) -> Record:
        """Return arrays that were saved under a name, or compute and save them."""
        file = self.folder / f"{name}.npz"
        if file.exists():
            try:
                with np.load(file, allow_pickle=False) as stored:
                    return dict(stored)
            except (OSError, ValueError) as error:
                raise PartsError(f"{file} cannot be read ({error}). Delete {self.folder} and start again.") from None
        found = compute()
        self.save(name, found)
        return found

    def save(self, name: str, arrays: Record) -> None:
        """Save arrays under a name, over older ones."""
        buffer = io.BytesIO()
        np.savez(buffer, **dict[str, Any](arrays))
        write_file(self.folder / f"{name}.npz", buffer.getbuffer())

    def write(self, step: str, place: int, record: Record) -> None:
        """Write a piece, whole or not at all."""
        size = sum(array.nbytes for array in record.values())
        if self.limit is not None and self.used + size > self.limit:
            raise MemoryBudgetError(
                f"The pieces must fit into {format_size(self.limit)} of scratch space; step '{step}' needs more. Free "
                f"space in {self.folder.parent}, or name another folder with scratch=… (--scratch)."
            )
        with new_folder(self._path(step, place)) as fresh:
            for name, array in record.items():
                _write_array(fresh / f"{name}.npy", array)
        self.used += size

    def has(self, step: str, place: int) -> bool:
        """Return whether a piece is finished."""
        return self._path(step, place).is_dir()

    def read(self, step: str, place: int) -> Record:
        """Return a piece, memory-mapped."""
        folder = self._path(step, place)
        return {file.stem: _mapped(file) for file in sorted(folder.glob("*.npy"))}

    def drop(self, step: str) -> None:
        """Delete the pieces of a step."""
        size = sum(file.stat().st_size for file in (self.folder / step).rglob("*.npy"))
        remove_folder(self.folder / step)
        self.used -= size

    def close(self, finished: bool) -> None:
        """Delete the folder; an unfinished job keeps the one that was asked for."""
        if finished or not self.kept:
            self._remove()

    def _remove(self) -> None:
        remove_folder(self.folder)
        if self._alone:
            with contextlib.suppress(OSError):  # other jobs may be in it
                self.folder.parent.rmdir()

    def _path(self, step: str, place: int) -> Path:
        return self.folder / step / f"{place:06d}"


def _write_array(file: Path, array: NDArray[Any]) -> None:
    """Write an array as .npy; unlike ``np.save``, say why where it fails."""
    kept = np.ascontiguousarray(array).reshape(array.shape)
    with file.open("xb") as out:
        np.lib.format.write_array_header_1_0(out, np.lib.format.header_data_from_array_1_0(kept))
        out.write(kept.reshape(-1).view(np.uint8).data)


def _mapped(file: Path) -> NDArray[Any]:
    with naming(file):
        try:
            return np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
        except ValueError:  # an empty array cannot be mapped
            return np.asarray(np.load(file, allow_pickle=False))


def is_final(error: object) -> bool:
    """Return whether a type of error would come again: such a job has nothing to resume."""
    return isinstance(error, type) and issubclass(error, InputError)


class Parts(ABC):
    """The rows of a collection in pieces.

    Parameters
    ----------
    scratch : Scratch
        Keeps finished sums, and the pieces where they are on disk.

    Attributes
    ----------
    traffic : Traffic
    workers : int
        Processes or threads that work on pieces at the same time.
    """

    where = ""

    def __init__(self, scratch: Scratch) -> None:
        self.scratch = scratch
        self.traffic = Traffic()

    def __enter__(self) -> Parts:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.close(finished=kind is None or is_final(kind))

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of pieces."""

    @abstractmethod
    def begin(self, step: str, function: Function, sources: Sequence[Any]) -> None:
        """Make the pieces: ``function(source)`` yields records, or is one where pieces are on workers."""

    @abstractmethod
    def derive(self, step: str, function: Function, needs: Sequence[str], *shared: Any) -> None:
        """Add a step to every piece: ``function(*needed records, *shared)`` returns its record."""

    @abstractmethod
    def each(self, function: Function, needs: Sequence[str], *shared: Any, name: str = "") -> Iterator[Any]:
        """Yield ``function(*needed records, *shared)`` of every piece, in their order."""

    @abstractmethod
    def drop(self, *steps: str) -> None:
        """Forget steps that are no longer needed."""

    def total(self, function: Function, needs: Sequence[str], *shared: Any, name: str = "") -> Any:
        """Return the sum of arrays, or tuples of arrays, over the pieces."""
        return reduce(add, self.each(function, needs, *shared, name=name))

    def close(self, finished: bool = True) -> None:
        """Remove the scratch folder."""
        self.scratch.close(finished)


class _Local(Parts):
    """Pieces of this process; threads share them."""

    def __init__(self, scratch: Scratch) -> None:
        super().__init__(scratch)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def begin(self, step: str, function: Function, sources: Sequence[Any]) -> None:
        """Make the pieces: ``function(source)`` yields records."""
        known = self.scratch.once if self._stores() else (lambda _, compute: compute())

        def read() -> Record:
            place = 0
            for source in sources:
                for record in function(source):
                    self._keep(step, place, record)
                    place += 1
            return {"count": np.array(place)}

        self._count = int(known(f"{step}-read", read)["count"])
        self.traffic.add(step, self._count)

    def derive(self, step: str, function: Function, needs: Sequence[str], *shared: Any) -> None:
        """Add a step to every piece."""

        def make(place: int) -> None:
            if not self._has(step, place):
                self._keep(step, place, function(*(self._get(need, place) for need in needs), *shared))

        if not self._finished(step):
            for _ in results_in_threads(make, self._count):
                pass
            self._finish(step)
        self.traffic.add(step, self._count)

    def each(self, function: Function, needs: Sequence[str], *shared: Any, name: str = "") -> Iterator[Any]:
        """Yield a function of every piece, in their order."""

        def call(place: int) -> Any:
            return function(*(self._get(need, place) for need in needs), *shared)

        self.traffic.add(name or function.__name__, self._count)
        step = _AHEAD * thread_count()  # bounds the results that wait for their turn
        for first in range(0, self._count, step):
            yield from results_in_threads(lambda at: call(first + at), min(step, self._count - first))  # noqa: B023

    def _stores(self) -> bool:
        return False

    def _finished(self, step: str) -> bool:
        return False

    def _finish(self, step: str) -> None:
        """Remember that a step is finished, also after it was dropped."""

    @abstractmethod
    def _keep(self, step: str, place: int, record: Record) -> None: ...
    @abstractmethod
    def _has(self, step: str, place: int) -> bool: ...
    @abstractmethod
    def _get(self, step: str, place: int) -> Record: ...


class Memory(_Local):
    """Pieces in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.scale import Memory, Scratch
    >>> with Memory(Scratch(None, {})) as parts:
    ...     parts.begin("rows", lambda some: [{"x": np.array(one)} for one in some], [[[1.0, 2.0], [3.0]]])
    ...     parts.derive("squares", lambda rows: {"x": rows["x"] ** 2}, ["rows"])
    ...     len(parts), float(parts.total(lambda squares: squares["x"].sum(), ["squares"]))
    (2, 14.0)
    """

    where = "memory"

    def __init__(self, scratch: Scratch) -> None:
        super().__init__(scratch)
        self._records: dict[tuple[str, int], Record] = {}

    def _keep(self, step: str, place: int, record: Record) -> None:
        self._records[step, place] = record

    def _has(self, step: str, place: int) -> bool:
        return (step, place) in self._records

    def _get(self, step: str, place: int) -> Record:
        return self._records[step, place]

    def drop(self, *steps: str) -> None:
        """Forget steps."""
        for key in [key for key in self._records if key[0] in steps]:
            del self._records[key]


class Disk(_Local):
    """Pieces in a scratch folder, memory-mapped; an interrupted job finds those that are finished.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.scale import Disk, Scratch
    >>> with Disk(Scratch(None, {})) as parts:
    ...     parts.begin("rows", lambda some: [{"x": np.array(one)} for one in some], [[[1.0, 2.0], [3.0]]])
    ...     float(parts.total(lambda rows: rows["x"].sum(), ["rows"]))
    6.0
    """

    where = "disk"

    def _stores(self) -> bool:
        return True

    def _finished(self, step: str) -> bool:
        return (self.scratch.folder / f"{step}.done").exists()

    def _finish(self, step: str) -> None:
        write_file(self.scratch.folder / f"{step}.done", b"")

    def _keep(self, step: str, place: int, record: Record) -> None:
        if not self.scratch.has(step, place):
            self.scratch.write(step, place, record)

    def _has(self, step: str, place: int) -> bool:
        return self.scratch.has(step, place)

    def _get(self, step: str, place: int) -> Record:
        return self.scratch.read(step, place)

    def drop(self, *steps: str) -> None:
        """Delete steps."""
        for step in steps:
            self.scratch.drop(step)


def add(a: Any, b: Any) -> Any:
    """Add two results of pieces: arrays, or tuples of arrays."""
    return tuple(x + y for x, y in zip(a, b, strict=True)) if isinstance(a, tuple) else a + b


def nbytes(values: Iterable[Any]) -> int:
    """Return the size of arrays, and of those inside tuples and dicts."""
    total = 0
    for value in values:
        if isinstance(value, Mapping):
            total += nbytes(value.values())
        elif isinstance(value, list | tuple):
            total += nbytes(value)
        else:
            total += int(getattr(value, "nbytes", 0))
    return total
