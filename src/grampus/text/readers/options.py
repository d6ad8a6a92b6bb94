"""The options of `read_corpus`: rules for odd input, and limits."""

from dataclasses import dataclass, field, fields
from typing import Any

from ...errors import InputError
from .decode import check_encoding

MB = 10**6
GB = 10**9
SPLITS = ("auto", "lines", "paragraphs", "pages", "file")


@dataclass(frozen=True)
class ReadLimits:
    """How large a source may be, and how much work it may cause.

    Parameters
    ----------
    max_document_bytes : int
        Largest document or record.
    max_total_bytes : int
        Largest total of decompressed bytes, and of texts.
    max_ratio : float
        Largest ratio of decompressed to compressed bytes, and of the records of a database or Parquet file to the
        file's size; checked once 4 MB have come out.
    max_query_steps : int
        Most steps of SQLite's virtual machine without a record. Sorting takes 4 to 8 steps per row; the default ends a
        query that finds nothing after about ten seconds.
    max_members : int
        Most files to read from one archive; the rest is left out.
    max_seconds : float
        Longest time for a page of a PDF.

    Examples
    --------
    >>> from grampus.text import ReadLimits, ReadOptions
    >>> ReadOptions(limits=ReadLimits(max_ratio=1000)).limits.max_document_bytes
    64000000
    """

    max_document_bytes: int = 64 * MB
    max_total_bytes: int = 16 * GB
    max_ratio: float = 200.0
    max_query_steps: int = 300_000_000
    max_members: int = 10_000
    max_seconds: float = 10.0

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise InputError(f"{limit.name} must be a positive number; got {value!r}.")


@dataclass(frozen=True)
class ReadOptions:
    """The less common options of `read_corpus`.

    Parameters
    ----------
    encoding : str or None
        By default a byte order mark decides, then UTF-8, then detection with a warning.
    on_error : {"raise", "skip"}
        What to do with a record that cannot be used: raise, or leave it out and count it.
    empty : {"skip", "keep", "error"}
        What to do with a text that is empty or only white space.
    duplicate_ids : {"auto", "error", "number", "skip"}
        What to do with an id seen before: raise, make it ``id#2``, ``id#3``, …, or leave the document out. ``"auto"``
        raises if the column of the ids was named, and otherwise numbers them with a note.
    split : {"auto", "lines", "paragraphs", "pages", "file"}
        What a document is in a file of text: a line, a paragraph, a page (also a slide, sheet or chapter) or the whole
        file. By default a file of a folder or an archive is one document; a single file is looked at, with a note.
    day_first : bool or None
        Whether 03/04/2024 is 3 April. By default other dates of the source decide; if none does, yes, with a note.
    header : bool
        Whether the first row of a CSV or TSV file holds column names. Without it columns are named ``"0"``, ``"1"``, ….
    delimiter : str or None
        Of a CSV file. None is a tab for TSV; for CSV the comma or, if the first line has none, the most frequent of
        semicolon, tab and bar in it.
    numbers : sequence of str
        Columns of numbers, or of lists of numbers, that kernels can read as inputs: ``"gaussian(1)@year"``. A record
        without such a number cannot be used.
    pattern : str
        Names of the files of a folder to read: a shell pattern such as ``"*.txt"``.
    hidden : bool
        Whether to read files and folders whose names begin with a dot.
    follow_symlinks : bool
        Whether to follow symbolic links in a folder. Each folder is entered once, so loops end.
    limits : ReadLimits
        Largest sizes, and most work.

    Examples
    --------
    >>> from grampus.text import ReadOptions
    >>> ReadOptions(empty="keep", encoding="latin1").encoding
    'iso8859-1'
    """

    encoding: str | None = None
    on_error: str = "raise"
    empty: str = "skip"
    duplicate_ids: str = "auto"
    split: str = "auto"
    day_first: bool | None = None
    header: bool = True
    delimiter: str | None = None
    numbers: tuple[str, ...] = ()
    pattern: str = "*"
    hidden: bool = False
    follow_symlinks: bool = False
    limits: ReadLimits = field(default_factory=ReadLimits)

    def __post_init__(self) -> None:
        object.__setattr__(self, "encoding", check_encoding(self.encoding))
        _choice("on_error", self.on_error, ("raise", "skip"))
        _choice("empty", self.empty, ("skip", "keep", "error"))
        _choice("duplicate_ids", self.duplicate_ids, ("auto", "error", "number", "skip"))
        _choice("split", self.split, SPLITS)
        _choice("day_first", self.day_first, (None, True, False))
        delimiter = self.delimiter
        if delimiter is not None and (type(delimiter) is not str or len(delimiter) != 1 or delimiter in '"\r\n'):
            raise InputError(f"delimiter must be one character, not a quote or a line end; got {delimiter!r}.")
        numbers: Any = self.numbers
        if isinstance(numbers, str) or not all(isinstance(name, str) for name in numbers):
            raise InputError(f"numbers must be the names of columns, such as ('year',); got {numbers!r}.")
        object.__setattr__(self, "numbers", tuple(dict.fromkeys(numbers)))
        if not isinstance(self.pattern, str):
            raise InputError(f"pattern must be a shell pattern such as '*.txt'; got {self.pattern!r}.")
        if not isinstance(self.limits, ReadLimits):
            raise InputError(f"limits must be a ReadLimits; got {self.limits!r}.")


def _choice(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if not isinstance(value, str | bool | None) or value not in allowed:
        raise InputError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}.")
