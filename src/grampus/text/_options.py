"""What a reader may be told, and what it says back while it works."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

from grampus.errors import InputError

__all__ = ["CorpusWarning", "Progress", "ReadOptions"]

MiB = 1 << 20
GiB = 1 << 30


class CorpusWarning(UserWarning):
    """Something about a corpus that a reader should know; also kept in ``Corpus.notes``.

    Examples
    --------
    >>> import warnings
    >>> from grampus.text import CorpusWarning
    >>> warnings.simplefilter("ignore", CorpusWarning)  # to read without them
    >>> warnings.simplefilter("default", CorpusWarning)
    """


class Progress(NamedTuple):
    """How far reading has come; handed to ``read_corpus(progress=…)`` a few times a second and at the end.

    Attributes
    ----------
    documents : int
        Documents kept so far.
    done, total : int or None
        Bytes of the source read so far (compressed ones, if it is compressed), and of the whole source.
        None where the source does not tell.

    Examples
    --------
    >>> from grampus.text import Progress
    >>> Progress(documents=10, done=50, total=200).share
    0.25
    """

    documents: int
    done: int | None = None
    total: int | None = None

    @property
    def share(self) -> float | None:
        """Part of the source that was read, between 0 and 1, or None."""
        return min(1.0, self.done / self.total) if self.done is not None and self.total else None


@dataclass(frozen=True)
class ReadOptions:
    """The rarer choices of `read_corpus`: limits, and rules for odd input.

    Parameters
    ----------
    empty : {"skip", "keep", "error"}
        What to do with a text of nothing but white space.
    duplicate_ids : {"error", "number", "skip"}
        What to do with an id that was seen before: raise, make it ``id#2``, ``id#3``, …, or leave the
        document out.
    header : bool
        Whether the first row of a CSV or TSV file holds column names. Without it columns are called
        ``"0"``, ``"1"``, ….
    delimiter : str or None
        Of a CSV file. None is a tab for TSV and otherwise the comma, or, if the first line has none, the
        semicolon, tab or bar it has most of.
    pattern : str
        Which files of a folder to read, by name: a shell pattern such as ``"*.txt"``.
    hidden : bool
        Whether files and folders whose names begin with a dot are read.
    follow_symlinks : bool
        Whether symbolic links in a folder are followed. A folder is entered once, so loops end.
    max_document_bytes : int
        Largest document or record.
    max_total_bytes : int
        Largest total, of decompressed bytes and of texts.
    max_ratio : float
        Largest ratio of decompressed to compressed bytes, and of the records of a database or Parquet file to its
        size; looked at once 4 MiB have come out.
    max_query_steps : int
        Most steps of SQLite's virtual machine without a record; the default is half a minute or so.

    Examples
    --------
    >>> from grampus.text import ReadOptions
    >>> ReadOptions(empty="keep").max_document_bytes == 64 * 2**20
    True
    """

    empty: str = "skip"
    duplicate_ids: str = "error"
    header: bool = True
    delimiter: str | None = None
    pattern: str = "*"
    hidden: bool = False
    follow_symlinks: bool = False
    max_document_bytes: int = 64 * MiB
    max_total_bytes: int = 16 * GiB
    max_ratio: float = 200.0
    max_query_steps: int = 1_000_000_000

    def __post_init__(self) -> None:
        _choice("empty", self.empty, ("skip", "keep", "error"))
        _choice("duplicate_ids", self.duplicate_ids, ("error", "number", "skip"))
        delimiter = self.delimiter
        if delimiter is not None and (type(delimiter) is not str or len(delimiter) != 1 or delimiter in '"\r\n'):
            raise InputError(f"delimiter must be one character, not a quote or a line end; got {delimiter!r}.")
        if not isinstance(self.pattern, str):
            raise InputError(f"pattern must be a shell pattern such as '*.txt'; got {self.pattern!r}.")
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name.startswith("max_") and (
                isinstance(value, bool) or not isinstance(value, int | float) or not value > 0
            ):
                raise InputError(f"{field.name} must be a positive number; got {value!r}.")


def _choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InputError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}.")
