"""Read many documents in pieces: the files of a pattern or a folder, or one large file."""

import glob
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...errors import CorpusError
from ...run import runner_for
from ..corpus import Corpus
from ..spool import Spool
from ..store import Texts
from .assemble import assemble_pieces
from .guess import named_columns
from .log import Log
from .options import MB, ReadOptions
from .read import named_reader, open_table
from .registry import find_reader

DOCUMENTS, BYTES = 50_000, 32 * MB  # of a piece, at most
_MAGIC = "*?["
_COMPRESSED = (".gz", ".bz2", ".xz", ".zip", ".parquet", ".pq")


def find_files(source: str) -> list[str]:
    """Return the files to read for a pattern such as ``'news/*.parquet'``, or for a folder of tables; else the source.

    Examples
    --------
    >>> import tempfile
    >>> from grampus.text.readers.pieces import find_files
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("b.csv", "a.csv"):
    ...         _ = Path(folder, name).write_text("text")
    ...     [Path(file).name for file in find_files(f"{folder}/*.csv")]
    ['a.csv', 'b.csv']
    """
    if os.path.isdir(source):
        inside = sorted(entry.path for entry in os.scandir(source) if not entry.name.startswith("."))
        return inside if inside and all(map(_is_table, inside)) else [source]
    if os.path.exists(source) or not any(sign in source for sign in _MAGIC):
        return [source]
    found = sorted(name for name in glob.glob(source, recursive=True) if os.path.isfile(name))
    if not found:
        raise CorpusError(f"{source} must match at least one file; it matches none.")
    return found


def _is_table(path: str) -> bool:
    reader = find_reader(path, b"") if os.path.isfile(path) else None
    return reader is not None and reader.tabular


@dataclass(frozen=True)
class PieceReader:
    """Reads sources as corpora, piece by piece; travels to workers.

    Parameters
    ----------
    columns : dict
        Names of columns as in ``read_corpus``: text, id, label, title, date.
    query, format, options
        As in ``read_corpus``.
    several : bool
        Whether ids begin with the file's name, as there are several files.
    skip : bool
        Whether a source that cannot be read is left out and named; by default it is an error.
    documents : int
        Of a piece, at most.
    """

    columns: dict[str, Any] = field(default_factory=dict)
    query: str | None = None
    format: str | None = None
    options: ReadOptions = field(default_factory=ReadOptions)
    several: bool = False
    skip: bool = False
    documents: int = DOCUMENTS

    def __call__(self, source: str) -> Iterator[Corpus]:
        """Yield the pieces of a source."""
        try:
            for corpus in self.corpora(source):
                yield self._named(source, corpus)
        except (CorpusError, OSError) as error:
            if not self.skip:
                raise
            yield Corpus([], notes=[f"{source} was left out: {error}"])

    def corpora(self, source: str) -> Iterator[Corpus]:
        """Yield a source as corpora."""
        columns = named_columns(**{"text": None, **self.columns})
        limits = (self.documents, BYTES if self.documents <= DOCUMENTS else float("inf"))
        with ExitStack() as cleanup:
            reader = named_reader(self.format)
            table, opened = open_table(source, reader, columns, self.query, self.options, Log(), cleanup)
            yield from assemble_pieces(table, columns, opened, *limits)

    def _named(self, source: str, corpus: Corpus) -> Corpus:
        """Return a piece whose ids begin with the name of its file, where there are several."""
        if not self.several:
            return corpus
        ids = Texts(f"{Path(source).name}:{one}" for one in corpus.ids)
        ids._distinct = True
        return replace(corpus, ids=ids)


def _read_file(file: str, reader: PieceReader) -> list[Corpus]:
    return list(reader(file))


@dataclass(frozen=True)
class Pieces:
    """Documents that are read in pieces; made by `read_pieces`.

    Attributes
    ----------
    source : str
    files : tuple of str
    reader : PieceReader

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from grampus.text import read_pieces
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.csv").write_text("text")
    ...     read_pieces(f"{folder}/*.csv").size
    4
    """

    source: str
    files: tuple[str, ...]
    reader: PieceReader

    @property
    def size(self) -> int:
        """Size of the files in bytes; those of a folder are counted."""
        return sum(_size(file) for file in self.files)

    @property
    def text_size(self) -> int:
        """Size of the texts in bytes, about: compressed files are taken to be a third of their texts."""
        return sum(_size(file) * (3 if file.endswith(_COMPRESSED) else 1) for file in self.files)

    def state(self) -> list[Any]:
        """Return what tells whether the files have changed: names, sizes and times."""
        return [[file, _size(file), os.stat(file).st_mtime_ns] for file in self.files]

    def __iter__(self) -> Iterator[Corpus]:
        """Yield the documents piece by piece; several files are read by the runner."""
        if len(self.files) == 1:  # one file is read as a stream
            return self.reader(self.files[0])
        runner = runner_for(self.text_size, held=True)
        return (corpus for some in runner.map(_read_file, self.files, self.reader) for corpus in some)

    def corpus(self) -> Corpus:
        """Return all documents as one corpus, in memory."""
        with Spool(source=self.source) as spool:
            spool.read(self)
            return spool.corpus()


def _size(path: str) -> int:
    if os.path.isdir(path):
        return sum(os.path.getsize(Path(place, name)) for place, _, names in os.walk(path) for name in names)
    return os.path.getsize(path)


def read_pieces(
    source: str | os.PathLike[str],
    *,
    text: str | Sequence[str] | None = None,
    id: str | None = None,  # noqa: A002
    label: str | None = None,
    title: str | None = None,
    date: str | None = None,
    query: str | None = None,
    format: str | None = None,  # noqa: A002
    options: ReadOptions | None = None,
    skip: bool = False,
) -> Pieces:
    r"""Return documents that are read in pieces, when they are clustered: more than fit into memory.

    Parameters
    ----------
    source : path or pattern
        A file, a folder, or a pattern such as ``"news/*.parquet"``. The ids of several files begin with their names.
    text, id, label, title, date, query, format, options
        As in `read_corpus`.
    skip : bool
        Whether to leave out files that cannot be read, with a note that names each; by default they are an error.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from grampus.text import read_pieces
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("a", "b"):
    ...         _ = Path(folder, f"{name}.csv").write_text("text\nwhale song\nbird nest\n")
    ...     list(read_pieces(f"{folder}/*.csv").corpus().ids)
    ['a.csv:1', 'a.csv:2', 'b.csv:1', 'b.csv:2']
    """
    files = tuple(find_files(os.fspath(source)))
    columns = {"text": text, "id": id, "label": label, "title": title, "date": date}
    reader = PieceReader(columns, query, format, options or ReadOptions(), len(files) > 1, skip)
    return Pieces(os.fspath(source), files, reader)
