"""The registry of readers: one row per format, for files, compressed files, streams and files in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import IO, NamedTuple

from ...errors import InputError
from .decode import decode_chunks
from .log import Log
from .options import ReadLimits, ReadOptions
from .streams import COMPRESSED_SUFFIXES, decompress

_HEAD = 16


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
    id : str or None
        The column of the ids, unless the caller names one.

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
    wanted : tuple of str
        The columns that will be used; others need not be read.
    log : Log
        Counts what is skipped, and collects notes.
    cleanup : contextlib.ExitStack
        Closed when reading ends, however it ends: enter connections and files here.

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
    wanted: tuple[str, ...] = ("text", "id")
    log: Log = field(default_factory=Log)
    cleanup: ExitStack = field(default_factory=ExitStack)

    @property
    def limits(self) -> ReadLimits:
        """The limits of the options."""
        return self.options.limits

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes of the stream, decompressed."""
        assert self.stream is not None
        return decompress(self.stream, self.name, self.limits, self.log)

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
        Bytes that every such file has, and their offset, below 16. They overrule the name.
    needs_path : bool
        Whether the reader opens ``source.path`` itself, and so cannot read streams and compressed files.
    takes_query : bool
        Whether the reader uses ``source.query``.
    one_document : bool
        Whether a file is one document with a column ``text``: such a reader also reads the files of a folder.

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
    one_document: bool = False

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


def find_reader(path: str, stream: IO[bytes], *, one_document: bool = False) -> Reader | None:
    """Return the reader for a file, by its first bytes and then by its name; None if neither is known."""
    head = stream.read(_HEAD)
    stream.seek(0)
    stem, suffix = os.path.splitext(path.lower())
    if suffix in COMPRESSED_SUFFIXES:
        suffix = os.path.splitext(stem)[1]
    readers = [reader for reader in READERS.values() if reader.one_document or not one_document]
    by_head = (reader for reader in readers if reader.recognises(head))
    by_name = (reader for reader in readers if suffix in reader.suffixes)
    return next(by_head, None) or next(by_name, None)
