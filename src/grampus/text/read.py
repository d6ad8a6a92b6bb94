"""`read_corpus`: one door to every kind of source."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import IO, Any

from grampus.errors import CorpusError, InputError
from grampus.text._assemble import Columns, assemble
from grampus.text._csv import csv_table, wide_fields
from grampus.text._databases import duckdb_table, parquet_table, sqlite_table
from grampus.text._decode import check_encoding, decode_chunks
from grampus.text._folder import folder_table
from grampus.text._options import Progress, ReadOptions
from grampus.text._report import Log, said
from grampus.text._rows import Table, json_table, jsonl_table, lines_table, sniff
from grampus.text._streams import chunks, open_source
from grampus.text.corpus import Corpus

__all__ = ["read_corpus"]

_SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".txt": "lines", ".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": "sqlite", ".parquet": "parquet",
    ".pq": "parquet", ".duckdb": "duckdb",
}  # fmt: skip
_FORMATS = ("folder", "csv", "tsv", "json", "jsonl", "lines", "sqlite", "parquet", "duckdb")
_PACKED = (".gz", ".bz2", ".xz")


def read_corpus(
    source: str | os.PathLike[str] | IO[bytes],
    *,
    text: str | Sequence[str] | None = None,
    id: str | None = None,  # noqa: A002
    label: str | None = None,
    title: str | None = None,
    date: str | None = None,
    query: str | None = None,
    format: str | None = None,  # noqa: A002
    encoding: str | None = None,
    on_error: str = "raise",
    options: ReadOptions | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Corpus:
    r"""Read documents from a folder, a file, a database or a stream.

    Sources are read as a stream; memory is little more than the texts' own size. Whatever is wrong with the
    input, the answer is a corpus or a `CorpusError` of one line. What was left out is counted by reason in
    ``skipped``; what was guessed stands in ``notes`` and is a `CorpusWarning`.

    Parameters
    ----------
    source : path, "-", "duckdb:" or binary file
        A folder of text files; a CSV, TSV, JSON, JSONL or plain text file, which may be compressed with gzip,
        bzip2 or xz; a SQLite, DuckDB or Parquet file; ``"-"`` for standard input; ``"duckdb:"`` for SQL
        without a database file; an open binary file.
    text : str or sequence of str, optional
        Column of the text, ``"text"`` by default. Several are joined with a blank line between.
    id : str, optional
        Column of the id. By default ``"id"`` if there is one, else the record's number, from 1. In a folder,
        the path below it.
    label, title, date : str, optional
        Columns of the label, the title and the date; not read unless named. A folder has the columns
        ``"folder"`` (the first subfolder), ``"name"``, ``"path"`` and ``"modified"``.
    query : str, optional
        One SELECT, for SQLite and DuckDB. A SQLite file with a single table needs none.
    format : {"folder", "csv", "tsv", "json", "jsonl", "lines", "sqlite", "parquet", "duckdb"}, optional
        By default told by the name; from standard input or an open file, by the first characters.
    encoding : str, optional
        By default a byte order mark decides, then UTF-8, then detection with a warning.
    on_error : {"raise", "skip"}, default="raise"
        What to do about a record that cannot be used: raise, or leave it out and count it.
    options : ReadOptions, optional
        Limits, and rules for empty texts, repeated ids, links and CSV dialects.
    progress : callable, optional
        Called with a `Progress` a few times a second and once at the end.

    Returns
    -------
    Corpus

    Raises
    ------
    CorpusError
        The source cannot be read.
    MissingExtraError
        Parquet or DuckDB is asked for and not installed.

    Examples
    --------
    >>> import io
    >>> from grampus.text import read_corpus
    >>> stream = io.BytesIO(b'id,body,kind\nw,"whale song",sea\nb,bird song,air\n')
    >>> corpus = read_corpus(stream, format="csv", text="body", label="kind")
    >>> [document.text for document in corpus], corpus.labels
    (['whale song', 'bird song'], ('sea', 'air'))
    """
    if on_error not in ("raise", "skip"):
        raise InputError(f"on_error must be 'raise' or 'skip'; got {on_error!r}.")
    if format is not None and format not in _FORMATS:
        raise InputError(f"format must be one of {', '.join(_FORMATS)}; got {format!r}.")
    if query is not None and not isinstance(query, str):
        raise InputError(f"query must be a string of SQL; got {query!r}.")
    options = ReadOptions() if options is None else options
    if not isinstance(options, ReadOptions):
        raise InputError(f"options must be a ReadOptions; got {options!r}.")
    if progress is not None and not callable(progress):
        raise InputError(f"progress must be a function of a Progress; got {progress!r}.")
    columns = _columns(text, id, label, title, date)
    known = check_encoding(encoding)
    log = Log(progress)
    with ExitStack() as stack:
        stack.enter_context(wide_fields(options.max_document_bytes))
        kind, table = _open(source, format, query, columns, options, known, log, stack)
        if kind == "folder" and columns.id is None:
            columns = Columns(columns.text, "path", columns.label, columns.title, columns.date)
        corpus = assemble(table, columns, options, encoding=known, on_error=on_error, log=log)
    log.warn(stacklevel=2)
    return corpus


def _columns(
    text: str | Sequence[str] | None,
    identity: str | None,
    label: str | None,
    title: str | None,
    date: str | None,
) -> Columns:
    texts: tuple[str, ...] = ("text",) if text is None else (text,) if isinstance(text, str) else ()
    if isinstance(text, Iterable) and not isinstance(text, str):
        texts = tuple(text)
    if not texts or not all(isinstance(column, str) for column in texts):
        raise InputError(f"text must be a column's name or several; got {text!r}.")
    for name, column in (("id", identity), ("label", label), ("title", title), ("date", date)):
        if column is not None and not isinstance(column, str):
            raise InputError(f"{name} must be a column's name; got {column!r}.")
    return Columns(texts, identity, label, title, date)


def _open(
    source: Any, kind: str | None, query: str | None, columns: Columns, options: ReadOptions,
    encoding: str | None, log: Log, stack: ExitStack,
) -> tuple[str, Table]:  # fmt: skip
    """Find out what the source is and open it."""
    if hasattr(source, "read"):
        return _stream(source, said(getattr(source, "name", "stream")), kind, query, options, encoding, log)
    if not isinstance(source, str | os.PathLike) or not isinstance(os.fspath(source), str):
        raise InputError(f"source must be a path, '-', 'duckdb:' or a binary file; got {type(source).__name__}.")
    path: str = os.fspath(source)
    name = said(path, 1000)
    if path == "-":
        stdin = getattr(sys.stdin, "buffer", None)
        if stdin is None:
            raise CorpusError("standard input must be open for bytes; it is closed or replaced.")
        return _stream(stdin, "standard input", kind, query, options, encoding, log)
    if path == "duckdb:":
        return "duckdb", duckdb_table(":memory:", "duckdb", query, options)
    if "\0" in path:
        raise CorpusError(f"source must be a path; {name!r} has a zero byte.")
    if kind == "folder" or (kind is None and os.path.isdir(path)):
        if not os.path.isdir(path):
            raise CorpusError(f"{name} must be a folder; it is not.")
        _no_query(query, "folder")
        return "folder", folder_table(path, options, encoding, log)
    stream = stack.enter_context(open_source(path))
    kind = kind or _kind(path, stream)
    if kind in ("sqlite", "parquet", "duckdb"):
        return kind, _database(kind, path, name, query, columns, options)
    if kind is None:
        raise CorpusError(
            f"format must be given for {name}, as its name does not tell "
            f"(known: {', '.join(_SUFFIXES)}, also with .gz, .bz2 or .xz)."
        )
    log.done, log.total = 0, os.fstat(stream.fileno()).st_size
    return _stream(stream, name, kind, query, options, encoding, log)


def _kind(path: str, stream: IO[bytes]) -> str | None:
    """Tell the format by the name, or a database by its first bytes."""
    stem, suffix = os.path.splitext(path.lower())
    if suffix in _PACKED:
        suffix = os.path.splitext(stem)[1]
    head = stream.read(16)
    stream.seek(0)
    if head == b"SQLite format 3\0":
        return "sqlite"
    if head[8:12] == b"DUCK":
        return "duckdb"
    return "parquet" if head.startswith(b"PAR1") else _SUFFIXES.get(suffix)


def _database(kind: str, path: str, name: str, query: str | None, columns: Columns, options: ReadOptions) -> Table:
    if kind == "sqlite":
        return sqlite_table(path, name, query, options)
    if kind == "duckdb":
        return duckdb_table(path, name, query, options)
    _no_query(query, "Parquet file (use 'duckdb:' and FROM 'file.parquet')")
    return parquet_table(path, name, [*columns.named(), "id"], options)


def _no_query(query: str | None, what: str) -> None:
    if query is not None:
        raise InputError(f"query must be left out for a {what}; got {said(query)!r}.")


def _stream(
    stream: IO[bytes], name: str, kind: str | None, query: str | None, options: ReadOptions,
    encoding: str | None, log: Log,
) -> tuple[str, Table]:  # fmt: skip
    """Open a stream of text records."""
    _no_query(query, "file of records")
    pieces: Iterator[str] = decode_chunks(chunks(stream, name, options, log), name, encoding, log)
    if kind is None:
        kind, pieces = sniff(pieces, options.max_document_bytes, one="jsonl")
    if kind in ("csv", "tsv"):
        return kind, csv_table(pieces, name, options, "\t" if kind == "tsv" else None)
    readers = {"json": json_table, "jsonl": jsonl_table, "lines": lines_table}
    if kind not in readers:
        raise InputError(f"format must be csv, tsv, json, jsonl or lines for a stream; got {kind!r}.")
    return kind, readers[kind](pieces, name, options)
