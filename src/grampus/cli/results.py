"""Results as files."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from .._rows import csv_text, jsonl_text
from .._workbook import parquet_bytes, xlsx_bytes
from .show import clean

BINARY = {".xlsx": xlsx_bytes, ".parquet": parquet_bytes}


def write_rows(place: str, header: Sequence[str], rows: Iterable[Sequence[Any]], *, lossless: bool) -> None:
    """Write rows to a file by its suffix, whole or not at all; ``-`` is CSV in UTF-8 on standard output."""
    from .._files import write_file

    suffix = Path(place).suffix.lower()
    if suffix in BINARY:
        write_file(Path(place), BINARY[suffix](header, rows))
        return
    text = jsonl_text(header, rows) if suffix in (".jsonl", ".ndjson") else csv_text(header, rows, lossless=lossless)
    if place != "-":
        write_file(Path(place), text.encode("utf-8", "surrogatepass"))
        return
    if sys.stdout.isatty():  # a person reads it: nothing that a terminal would interpret
        text = "\n".join(clean(line, sys.maxsize) for line in text.split("\n"))
    sys.stdout.flush()  # then the same bytes as in a file, whatever the terminal's encoding
    sys.stdout.buffer.write(text.encode("utf-8", "replace" if sys.stdout.isatty() else "surrogatepass"))
