"""What became of one file of a folder or an archive."""

from typing import NamedTuple


class FileRecord(NamedTuple):
    """What became of one file of a folder or archive.

    ``reader`` is the format it was read as, ``documents`` how many it gave, ``reason`` why it, or a part of it, was
    left out; empty if nothing was.

    Examples
    --------
    >>> from grampus.text import FileRecord
    >>> FileRecord("scan.pdf", "pdf", 0, "a scan without text").documents
    0
    """

    path: str
    reader: str
    documents: int
    reason: str = ""
