"""Marks by which Grampus knows what it has written itself, whatever it is called and wherever it lies."""

import re
from io import SEEK_END
from pathlib import Path
from typing import IO

from ._files import open_regular

MANIFEST = "manifest.json"
RUN_FORMAT = "grampus run"  # in the manifest of a run
_RUN = f'\n "format": "{RUN_FORMAT}",'.encode()
_PAGE = b'<meta name="generator" content="Grampus '
TABLE_MARK = b"results of Grampus"  # at the end of a workbook and of a Parquet file
_TABLE = re.compile(rb'"id","cluster","name","words","margin",|\{"id": .*"cluster": .*"name": .*"words": .*"margin": ')
_TAIL = 2**16
_HEAD = 2**18  # bytes in which a mark must stand: the list of arrays comes before it


def is_run_folder(path: str) -> bool:
    """Return whether a folder is a run that Grampus saved."""
    try:
        with open_regular(Path(path, MANIFEST), 2**40) as stream:
            return _RUN in stream.read(_HEAD)
    except OSError:
        return False


def is_page(stream: IO[bytes]) -> bool:
    """Return whether a file is a page that Grampus wrote; go back to its start."""
    head = stream.read(_HEAD) if stream.read(15).lower() == b"<!doctype html>" else b""
    stream.seek(0)
    return _PAGE in head


def is_output(stream: IO[bytes]) -> bool:
    """Return whether a file is a page or a table of results that Grampus wrote; go back to its start."""
    if is_page(stream):
        return True
    line = stream.readline(_HEAD)
    stream.seek(0)
    if line.startswith((b"PK", b"PAR1")) and stream.seekable():
        stream.seek(max(0, stream.seek(0, SEEK_END) - _TAIL))
        line = stream.read(_TAIL)
        stream.seek(0)
        return TABLE_MARK in line
    return _TABLE.match(line) is not None
