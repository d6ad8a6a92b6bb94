"""`read_corpus`: documents from a folder, a file, a database or a stream."""

import os
import re
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from ..._files import naming
from ..._outputs import is_page, is_run_folder
from ..._progress import Progress
from ...errors import CorpusError, InputError
from ..corpus import Corpus
from ..frame import from_frame, is_frame
from .assemble import assemble
from .decode import looks_binary
from .guess import DATES, TITLES, Columns, named_columns
from .json import open_detected
from .log import Log, quoted
from .options import ReadOptions
from .registry import READERS, Reader, Source, Table, find_reader, load_plugins, read_head
from .streams import open_source

_MBOX = re.compile(rb"From \S+[^\n]*\d{4}\r?\n(?:>?[\w-]+:[^\n]*\n)")


def read_corpus(
    source: str | os.PathLike[str] | IO[bytes] | Any,
    *,
    text: str | Sequence[str] | None = None,
    id: str | None = None,  # noqa: A002
    label: str | None = None,
    title: str | None = None,
    date: str | None = None,
    query: str | None = None,
    format: str | Reader | None = None,  # noqa: A002
    options: ReadOptions | None = None,
    progress: Progress | None = None,
) -> Corpus:
    r"""Read documents from a folder, a file, a database or a stream.

    Sources are read as streams; memory is little more than the size of the texts. Whatever is wrong with the input,
    the result is a corpus or a `CorpusError` of one line. What was left out is counted by reason in ``skipped``;
    what was guessed is listed in ``notes`` and raised as a `CorpusWarning`.

    Parameters
    ----------
    source : path, "-", "duckdb:", binary file or data frame
        A folder or a ZIP or TAR archive of files of any kind; a file of text, HTML, mail, an office document, PDF, CSV,
        JSON and more (see the guide), which may be compressed with gzip, bzip2 or xz; a SQLite, DuckDB or Parquet
        file; ``"-"`` for standard input; ``"duckdb:"`` for SQL without a database file; an open binary file; a data
        frame or column of pandas, polars or pyarrow.
    text : str or sequence of str, optional
        Column of the text. By default ``"text"`` or, if there is none, the one with the longest and most varied texts,
        with a warning that names it. Several are joined with a blank line in between. For a folder or an archive, the
        column of the tables in it; a table without it is left out, and other files are read as usual.
    id : str, optional
        Column of the id. By default ``"id"`` if there is one, else the record's number, from 1. In a folder,
        the path below it; in a pandas frame, the index.
    label, title, date : str, optional
        Columns of the label, the title and the date. Labels are read only if named; titles and dates also where the
        format has them, or a column is called so. Names match in any case. A folder has the columns ``"folder"`` (the
        first subfolder), ``"name"``, ``"path"`` and ``"modified"``.
    query : str, optional
        One SELECT, for SQLite and DuckDB. A SQLite file with a single table needs none.
    format : str or Reader, optional
        The name of a registered reader such as ``"csv"``, ``"lines"`` or ``"text"`` (the file is one document), or
        one of your own. By default found by the first bytes or the name; for standard input and open files, by the
        first characters.
    options : ReadOptions, optional
        Encoding, limits, what a document is, and rules for bad records, empty texts, repeated ids, links and CSV
        dialects.
    progress : callable, optional
        Called as ``progress("reading", done, total)`` a few times a second and at the end, in bytes of the source or,
        where it has no size, in documents (then ``total`` is None until the end).

    Returns
    -------
    Corpus

    Raises
    ------
    CorpusError
        The source cannot be read.
    MissingExtraError
        PDF, Parquet or DuckDB is asked for and not installed.

    Examples
    --------
    >>> import io
    >>> from grampus.text import read_corpus
    >>> stream = io.BytesIO(b'id,body,kind\nw,"whale song",sea\nb,bird song,air\n')
    >>> corpus = read_corpus(stream, format="csv", text="body", label="kind")
    >>> [document.text for document in corpus], corpus.labels
    (['whale song', 'bird song'], ('sea', 'air'))
    """
    if query is not None and not isinstance(query, str):
        raise InputError(f"query must be a string of SQL; got {query!r}.")
    options = ReadOptions() if options is None else options
    if not isinstance(options, ReadOptions):
        raise InputError(f"options must be a ReadOptions; got {options!r}.")
    reader = named_reader(format)
    columns = named_columns(text, id=id, label=label, title=title, date=date)
    if is_frame(source):
        if query is not None or format is not None:
            raise InputError("query and format must be left out for a data frame.")
        return from_frame(source, text=text, id=id, label=label, title=title, date=date, options=options)
    log = Log(progress)
    with ExitStack() as cleanup:
        table, opened = open_table(source, reader, columns, query, options, log, cleanup)
        corpus = assemble(table, columns, opened)
    log.warn(stacklevel=2)
    return corpus


def open_table(
    source: Any, reader: Reader | None, columns: Columns, query: str | None, options: ReadOptions, log: Log,
    cleanup: ExitStack,
) -> tuple[Table, Source]:  # fmt: skip
    """Open a source with the reader that is named or fits it; return its records, and what the reader was given."""
    shared: dict[str, Any] = {}
    if isinstance(source, str | os.PathLike):
        cleanup.enter_context(naming(Path(source)))
    cleanup.callback(_close, shared)
    given: dict[str, Any] = {"options": options, "query": query, "log": log, "cleanup": cleanup, "shared": shared}
    wanted = (*columns.named(), *options.numbers, "id", *TITLES, *DATES) if columns.text else None
    reader, opened = _open(source, reader, {**given, "wanted": wanted, "asked": columns.text})
    if query is not None and not (reader and reader.takes_query):
        takers = " and ".join(other.name for other in READERS.values() if other.takes_query)
        raise InputError(f"query must be left out except for {takers}; got {quoted(query)!r} for {opened.name}.")
    return reader.open(opened) if reader else open_detected(opened), opened


def _close(shared: dict[str, Any]) -> None:
    for helper in shared.values():
        if hasattr(helper, "close"):
            helper.close()


def named_reader(name: str | Reader | None) -> Reader | None:
    """Return the reader of a name; None for None."""
    if name is None or isinstance(name, Reader):
        return name
    if name not in READERS:
        load_plugins()
    if name not in READERS:
        raise InputError(f"format must be one of {', '.join(READERS)}; got {name!r}.")
    return READERS[name]


def _open(source: Any, reader: Reader | None, given: dict[str, Any]) -> tuple[Reader | None, Source]:
    """Find the reader, None for a stream to be recognised by its first characters, and what it is to read."""
    if hasattr(source, "read"):
        return _open_stream(source, quoted(getattr(source, "name", "stream")), reader, given)
    if not isinstance(source, str | os.PathLike) or not isinstance(os.fspath(source), str):
        raise InputError(f"source must be a path, '-', 'duckdb:' or a binary file; got {type(source).__name__}.")
    path: str = os.fspath(source)
    name = quoted(path, 1000)
    if path == "-":
        stdin = getattr(sys.stdin, "buffer", None)
        if stdin is None:
            raise CorpusError("standard input must be open for bytes; it is closed or replaced.")
        return _open_stream(stdin, "standard input", reader, given)
    if path == "duckdb:":
        return READERS["duckdb"], Source("duckdb", **given)
    folder = READERS["folder"]
    if "\0" in path:
        raise CorpusError(f"source must be a path; {name!r} has a zero byte.")
    if reader is None and (own := _own(path)):
        raise CorpusError(f"{name} must be documents; it is a {own} of Grampus. See it with grampus open {name}.")
    if reader is folder or (reader is None and os.path.isdir(path)):
        if not os.path.isdir(path):
            raise CorpusError(f"{name} must be a folder; it is not.")
        return folder, Source(name, path=path, **given)
    stream = given["cleanup"].enter_context(open_source(path))
    reader = reader or find_reader(path, read_head(stream))
    if reader is None:
        head = stream.read(8192)
        stream.seek(0)
        if what := looks_binary(head):
            advice = "; save it as .docx, .xlsx or .pptx" if "office" in what else ""
            raise CorpusError(f"{name} must be a file of a known kind; it looks like {what}{advice}.")
        reader = READERS["mbox"] if _MBOX.match(head) else None
    if reader is None or not reader.needs_path:
        given["log"].total = os.fstat(stream.fileno()).st_size
    return reader, Source(name, stream, path, **given)


def _own(path: str) -> str:
    """Return what Grampus itself wrote at a path; empty for documents."""
    if os.path.isdir(path):
        return "saved run" if is_run_folder(path) else ""
    with open_source(path) as stream:
        return "page" if is_page(stream) else ""


def _open_stream(
    stream: IO[bytes], name: str, reader: Reader | None, given: dict[str, Any]
) -> tuple[Reader | None, Source]:
    if reader is not None and reader.needs_path:
        names = ", ".join(other.name for other in READERS.values() if not other.needs_path)
        raise InputError(f"format must be one of {names} for a stream; got {reader.name!r}.")
    return reader, Source(name, stream, **given)
