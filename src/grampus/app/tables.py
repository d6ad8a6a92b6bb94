"""A run as a file to take away: CSV, JSON, Excel, Parquet, and the single-file page."""

import json
from collections.abc import Callable

from .._rows import csv_text, document_rows
from .._workbook import parquet_bytes, xlsx_bytes
from ..persist import Run
from ..report import report_html


def _csv(run: Run) -> bytes:
    return csv_text(*document_rows(run), lossless=False).encode("utf-8", "surrogatepass")


def _json(run: Run) -> bytes:
    header, rows = document_rows(run)
    return json.dumps([dict(zip(header, row, strict=True)) for row in rows], allow_nan=False).encode()


_WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
# Ending of the file: what makes it, and its type.
EXPORTS: dict[str, tuple[Callable[[Run], bytes], str]] = {
    "csv": (_csv, "text/csv; charset=utf-8"),
    "json": (_json, "application/json"),
    "xlsx": (lambda run: xlsx_bytes(*document_rows(run)), _WORKBOOK),
    "parquet": (lambda run: parquet_bytes(*document_rows(run)), "application/vnd.apache.parquet"),
    "html": (lambda run: report_html(run).encode("utf-8", "replace"), "text/html; charset=utf-8"),
}
