"""Many files of a folder: in this process, or shared with others as soon as that pays.

Files are read here at first. Where those that are left would take longer than starting processes, they are handed on in
batches. A worker records what it skips and notes; that is told again in the order of the files, so that corpus and
notes are the same to the bit whoever reads.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any

from ..._config import settings
from ..._parallel import core_count, thread_count
from ..files import FileRecord
from .log import Collected, Log
from .options import MB
from .registry import READERS, Source

FOUND = "a table with the column of the text"  # among what the files of one reading share
PATIENCE = 1.0  # seconds of reading after which it is asked whether others should help
STARTED = 2.0  # seconds that are left from which on they do: starting them costs about one
FILE = 2000  # bytes whose reading takes as long as opening a file
BATCHES, LARGEST = 12, 8 * MB  # of a worker, so that unequal ones even out; and of one, in bytes

Values = Iterator[dict[str, object]]
ReadMember = Callable[["Member", Source], Values]
Listed = tuple["Member", Collected]
Event = tuple[Any, ...]
Read = tuple[list[Event], list[FileRecord]]


@dataclass(frozen=True)
class Member:
    """A file of a folder or an archive.

    Parameters
    ----------
    path : str
        Below the folder or archive, with slashes.
    open : callable
        Returns the file, open for bytes.
    modified : str
        ISO time, or empty.
    full_path : str or None
        Where it lies on disk.
    reader : str
        Its format, where the place tells it.
    size : int
        In bytes, where it lies on disk.
    """

    path: str
    open: Callable[[], IO[bytes]]
    modified: str = ""
    full_path: str | None = None
    reader: str = ""
    size: int = 0


def read_members(read: ReadMember, members: Iterator[Member], source: Source) -> Values:
    """Yield what is in the members, in their order."""
    asked = settings().workers
    workers = asked or min(thread_count(), core_count())
    if workers == 1 or source.member or source.archive is not None or not _only_built_in():
        for member in members:
            yield from read(member, source)
        return
    began, done = time.perf_counter(), 0
    for member in members if asked is None else ():
        yield from read(member, source)
        done += member.size + FILE
        if time.perf_counter() - began > PATIENCE:
            break
    else:
        if asked is None:
            return
    left, last = _listed(members, source.log)
    expected = (time.perf_counter() - began) * sum(one.size + FILE for one, _ in left) / max(done, 1)
    if asked is None and expected < STARTED:
        for one, said in left:
            source.log.join(said)
            yield from read(one, source)
    else:
        yield from _shared(read, left, source, workers)
    source.log.join(last)


def _only_built_in() -> bool:
    """Return whether a worker has the same readers: none was registered by a program or an installed package."""
    opens = (getattr(reader.open, "func", reader.open) for reader in READERS.values())
    return all(getattr(one, "__module__", "").startswith("grampus.") for one in opens)


def _listed(members: Iterator[Member], log: Log) -> tuple[list[Listed], Collected]:
    """Return the members that are left, each with what is said on the way to it, and what is said after the last."""
    before = log.take()
    left = [(member, log.take()) for member in members]
    last = log.take()
    log.join(before)
    return left, last


def _shared(read: ReadMember, left: list[Listed], source: Source, workers: int) -> Values:
    """Yield what is in the members, read by processes."""
    from ...run import Processes  # it brings NumPy, which the help of a command does not need

    told = {name: getattr(source, name) for name in ("name", "options", "query", "wanted", "asked")}
    said = iter([log for _, log in left])
    batches = _batches([member for member, _ in left], workers)

    for results, found in Processes(workers).map(_read_batch, batches, read, told):
        if found and source.shared is not None:
            source.shared[FOUND] = True
        for events, files in results:
            source.log.join(next(said))
            for kind, *what in events:
                if kind == "value":
                    yield what[0]
                else:
                    getattr(source.log, kind)(*what)
            source.log.files += files


def _batches(members: list[Member], workers: int) -> Iterator[list[Member]]:
    """Cut members into batches of about the same size."""
    most = min(sum(one.size + FILE for one in members) / (workers * BATCHES), LARGEST)
    batch, size = list[Member](), 0
    for member in members:
        batch.append(member)
        size += member.size + FILE
        if size >= most:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


_helpers: dict[str, Any] = {}  # of a worker, for all files that it reads: the process that reads PDF


class _Recorder(Log):
    """A log that lists what it is told, to tell it again."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Event] = []

    def skip(self, reason: str) -> None:
        self.events.append(("skip", reason))

    def note(self, what: str, where: str = "") -> None:
        self.events.append(("note", what, where))

    def say(self, what: str, where: str = "") -> None:
        self.events.append(("say", what, where))


def _read_batch(batch: list[Member], read: ReadMember, told: dict[str, Any]) -> tuple[list[Read], bool]:
    """Return the values and notes of each member in order; and whether a table had the column that was asked for."""
    results = list[Read]()
    for member in batch:
        log = _Recorder()
        for value in read(member, Source(**told, log=log, shared=_helpers)):
            log.events.append(("value", value))
        results.append((log.events, log.files))
    return results, bool(_helpers.pop(FOUND, False))
