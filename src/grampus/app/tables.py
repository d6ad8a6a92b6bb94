"""A run as a file to take away: CSV, JSON, Excel, Parquet, and the single-file page."""

from __future__ import annotations

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


def _xlsx(run: Run) -> bytes:
    return xlsx_bytes(*document_rows(run))


def _parquet(run: Run) -> bytes:
    return parquet_bytes(*document_rows(run))


def _page(run: Run) -> bytes:
    return report_html(run).encode("utf-8", "replace")


# Ending of the file: what makes it, and its type.
EXPORTS: dict[str, tuple[Callable[[Run], bytes], str]] = {
    "csv": (_csv, "text/csv; charset=utf-8"),
    "json": (_json, "application/json"),
    "xlsx": (_xlsx, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    "parquet": (_parquet, "application/vnd.apache.parquet"),
    "html": (_page, "text/html; charset=utf-8"),
}
