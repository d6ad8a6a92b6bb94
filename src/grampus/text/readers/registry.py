"""The registry of readers: one row per format, for files, compressed files, streams and files in a folder."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from tempfile import SpooledTemporaryFile
from typing import IO, Any, NamedTuple, cast

from ..._config import format_size
from ...errors import InputError
from .decode import decode_chunks, first_pieces
from .log import CorpusWarning, Log, quoted
from .options import MB, ReadLimits, ReadOptions
from .streams import COMPRESSED_SUFFIXES, Expansion, decompress, is_compressed, too_large

_HEAD = 16
_IN_MEMORY = 16 * MB


class Record(NamedTuple):
    """A record: its number in the source, from 1, and its values by column.

    Examples
    --------
    >>> from grampus.text import Record
    >>> Record(1, {"id": "w", "text": "whale song"}).values["text"]
    'whale song'
    """

    number: int
    values: Mapping[str, object]


class BadRecord(NamedTuple):
    """A record that cannot be used: the kind of problem, which is counted, and the reason, which follows its name.

    Examples
    --------
    >>> from grampus.text import BadRecord
    >>> print("notes.jsonl line {0.number} {0.reason}.".format(BadRecord(3, "not JSON", "is not JSON")))
    notes.jsonl line 3 is not JSON.
    """

    number: int
    kind: str
    reason: str

    @classmethod
    def too_large(cls, number: int, limit: float) -> BadRecord:
        """Return the record of a document beyond `ReadLimits.max_document_bytes`."""
        reason = f"larger than {format_size(limit)} (max_document_bytes)"
        return cls(number, reason, f"is {reason}")


@dataclass(frozen=True)
class Table:
    """Records of one source, read lazily.

    Parameters
    ----------
    unit : str
        What a record is called in messages: ``"line"``, ``"record"``, ``"file"``.
    columns : tuple of str or None
        None where each record has its own.
    records : iterator of Record or BadRecord
    id, title, date : str or None
        The columns of the ids, titles and dates, unless the caller names others.
    of_files : bool
        Whether the records are files: a column of texts that it lacks is one of the tables among them.

    Examples
    --------
    >>> from grampus.text import Record, Table
    >>> Table("line", ("text",), iter([Record(1, {"text": "whale song"})])).columns
    ('text',)
    """

    unit: str
    columns: tuple[str, ...] | None
    records: Iterator[Record | BadRecord]
    id: str | None = None
    title: str | None = None
    date: str | None = None
    of_files: bool = False


@dataclass(frozen=True)
class Source:
    """What a reader is given.

    Parameters
    ----------
    name : str
        The source in messages.
    stream : binary file
        Positioned at its start; use `text` or `chunks`, which decompress it within the limits.
    path : str or None
        The file or folder, for readers with ``needs_path``.
    options : ReadOptions
    query : str or None
        SQL, for readers with ``takes_query``.
    wanted : tuple of str or None
        The columns that will be used; others need not be read. None where they are to be guessed.
    log : Log
        Counts what is skipped, and collects notes.
    cleanup : contextlib.ExitStack
        Closed when reading ends, however it ends: enter connections and files here.
    member : bool
        Whether this is one of the files of a folder or an archive, and so one document unless `ReadOptions.split`
        says otherwise.
    archive : Expansion or None
        The guard of the archive that this is a member of.
    shared : dict
        Helpers for all files of one reading, by name; those with a method ``close`` are closed at its end.
    asked : tuple of str
        The columns of the text that the caller names.

    Examples
    --------
    >>> import gzip, io
    >>> from grampus.text import Source
    >>> "".join(Source("notes", io.BytesIO(gzip.compress(b"whale song"))).text())
    'whale song'
    """

    name: str
    stream: IO[bytes] | None = None
    path: str | None = None
    options: ReadOptions = field(default_factory=ReadOptions)
    query: str | None = None
    wanted: tuple[str, ...] | None = ("text", "id")
    log: Log = field(default_factory=Log)
    cleanup: ExitStack = field(default_factory=ExitStack)
    member: bool = False
    archive: Expansion | None = None
    shared: dict[str, Any] | None = None
    asked: tuple[str, ...] = ()

    @property
    def limits(self) -> ReadLimits:
        """The limits of the options."""
        return self.options.limits

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes of the stream, decompressed."""
        assert self.stream is not None
        return decompress(self.stream, self.name, self.limits, self.log, self.archive)

    def content(self) -> bytes:
        """Return the bytes of the stream, decompressed; at most `max_document_bytes`."""
        limit = self.limits.max_document_bytes
        data = b"".join(first_pieces(self.chunks(), limit + 1))
        if len(data) > limit:
            raise too_large(self.name, limit)
        return data

    def seekable(self) -> IO[bytes]:
        """Return the decompressed bytes as a file that can be read at any place, in memory or on disk."""
        assert self.stream is not None
        if self.stream.seekable() and not is_compressed(read_head(self.stream)):
            return self.stream
        whole = self.cleanup.enter_context(SpooledTemporaryFile(_IN_MEMORY))  # noqa: SIM115
        for piece in self.chunks():
            whole.write(piece)
        whole.seek(0)
        return cast("IO[bytes]", whole)

    def text(self) -> Iterator[str]:
        """Yield the text of the stream, decompressed and decoded."""
        return decode_chunks(self.chunks(), self.name, self.options.encoding, self.log)


@dataclass(frozen=True)
class Reader:
    r"""A format: how it is recognised, and how it is opened.

    Parameters
    ----------
    name : str
        The value of ``format=`` and ``--format``.
    open : callable
        Takes a `Source` and returns a `Table`; raises `CorpusError` if the source cannot be read.
    suffixes : tuple of str
        Of file names, in lower case, with the dot; ``.gz``, ``.bz2`` and ``.xz`` may follow.
    magic : (int, bytes) or None
        Bytes that every such file has, and their offset, below 16. They overrule the name, which decides between
        readers with the same magic.
    needs_path : bool
        Whether the reader opens ``source.path`` itself, and so cannot read streams and compressed files.
    takes_query : bool
        Whether the reader uses ``source.query``.
    in_folder : bool
        Whether the reader also reads the files of a folder and of an archive. It gives a column ``text`` and perhaps
        ``title`` and ``date``; a file is one document where ``source.member`` is set.
    tabular : bool
        Whether it gives rows with columns of any names. In a folder each row is a document, and the column of the text
        is found for each file.

    See Also
    --------
    register_reader : make a reader known to `read_corpus`.
    grampus.testing.check_reader : check that a reader keeps its promises.

    Examples
    --------
    >>> import io
    >>> from grampus.text import Reader, Record, Table, read_corpus
    >>> def open_paragraphs(source):
    ...     paragraphs = "".join(source.text()).split("\n\n")
    ...     records = (Record(n, {"text": text}) for n, text in enumerate(paragraphs, 1))
    ...     return Table("paragraph", ("text",), records)
    >>> paragraphs = Reader("paragraphs", open_paragraphs, suffixes=(".par",))
    >>> read_corpus(io.BytesIO(b"whale song\n\nbird song"), format=paragraphs).texts == ["whale song", "bird song"]
    True
    """

    name: str
    open: Callable[[Source], Table]
    suffixes: tuple[str, ...] = ()
    magic: tuple[int, bytes] | None = None
    needs_path: bool = False
    takes_query: bool = False
    in_folder: bool = False
    tabular: bool = False

    def recognises(self, head: bytes) -> bool:
        """Return whether a file's first bytes are of this format."""
        return self.magic is not None and head.startswith(self.magic[1], self.magic[0])


READERS: dict[str, Reader] = {}


def register_reader(reader: Reader) -> None:
    """Make a reader known to `read_corpus`, for files, streams and the files of a folder.

    Parameters
    ----------
    reader : Reader

    Raises
    ------
    InputError
        Its name or a suffix is taken.

    Examples
    --------
    >>> from grampus.text import Reader, register_reader
    >>> register_reader(Reader("csv", open=None))
    Traceback (most recent call last):
    ...
    grampus.errors.InputError: a reader's name must be new; 'csv' is taken.
    """
    if reader.name in READERS:
        raise InputError(f"a reader's name must be new; {reader.name!r} is taken.")
    taken = {suffix for other in READERS.values() for suffix in other.suffixes}
    for suffix in reader.suffixes:
        if suffix in taken or suffix in COMPRESSED_SUFFIXES:
            raise InputError(f"a reader's suffixes must be new; {suffix!r} is taken.")
    READERS[reader.name] = reader


@cache
def load_plugins() -> None:
    """Register the readers of installed packages, which name them as entry points of the group ``grampus.readers``."""
    for entry in entry_points(group="grampus.readers"):
        try:
            register_reader(entry.load())
        except Exception as error:  # a package of someone else: it may fail in any way, and must not stop the reading
            problem = f"the reader {entry.name!r} of an installed package could not be loaded ({quoted(error)})."
            warnings.warn(problem, CorpusWarning, stacklevel=2)


def find_reader(path: str, head: bytes, *, in_folder: bool = False) -> Reader | None:
    """Return the reader for a file, by its first bytes and then by its name; None if neither is known."""
    stem, suffix = os.path.splitext(path.lower())
    if suffix in COMPRESSED_SUFFIXES:
        suffix = os.path.splitext(stem)[1]
    readers = [reader for reader in READERS.values() if reader.in_folder or not in_folder]
    by_head = [reader for reader in readers if reader.magic is not None and reader.recognises(head)]
    by_name = [reader for reader in readers if suffix and suffix in reader.suffixes]
    both = [reader for reader in by_name if reader in by_head]
    found = next(iter(both + by_head + by_name), None)
    if found is None and not load_plugins.cache_info().currsize:
        load_plugins()
        return find_reader(path, head, in_folder=in_folder)
    return found


def read_head(stream: IO[bytes]) -> bytes:
    """Return the first bytes of a stream, and go back to its start."""
    head = stream.read(_HEAD)
    stream.seek(0)
    return head
