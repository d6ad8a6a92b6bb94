"""A run as a file to take away: CSV, JSON, Excel, Parquet, and the single-file page."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from xml.sax.saxutils import escape

from .._rows import csv_text, document_rows
from ..errors import InputError, MissingExtraError
from ..persist import Run
from ..report import report_html

MOST_ROWS, LONGEST_CELL = 1_048_576, 32_767  # of a sheet, as Excel has them
_PARTS = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/xl/workbook.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    '<Override PartName="/xl/worksheets/sheet1.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship '
    'Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>'
    '<sheet name="documents" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": "<Relationships "
    'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" '
    'Target="worksheets/sheet1.xml"/></Relationships>',
}
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_NOT_XML = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(55296, 57344), 65534, 65535), " ")


def _csv(run: Run) -> bytes:
    return csv_text(*document_rows(run), lossless=False).encode("utf-8", "surrogatepass")


def _json(run: Run) -> bytes:
    header, rows = document_rows(run)
    return json.dumps([dict(zip(header, row, strict=True)) for row in rows], allow_nan=False).encode()


def _cell(value: Any) -> str:
    if value is None:
        return "<c/>"
    if isinstance(value, str):  # never a formula, whatever it starts with
        text = escape(value[:LONGEST_CELL].translate(_NOT_XML))
        return f'<c t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
    return f"<c><v>{value}</v></c>"


def xlsx_bytes(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Return a workbook of one sheet; texts are texts, whatever they start with.

    Examples
    --------
    >>> from grampus.app.tables import xlsx_bytes
    >>> xlsx_bytes(["id"], [["=1+1"]])[:2]
    b'PK'
    """
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _PARTS.items():
            archive.writestr(name, _HEAD + content)
        with archive.open("xl/worksheets/sheet1.xml", "w") as sheet:
            main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
            sheet.write(f'{_HEAD}<worksheet xmlns="{main}"><sheetData>'.encode())
            for row in ([*header], *rows):
                sheet.write(f"<row>{''.join(map(_cell, row))}</row>".encode())
            sheet.write(b"</sheetData></worksheet>")
    return out.getvalue()


def _xlsx(run: Run) -> bytes:
    if len(run) >= MOST_ROWS:
        raise InputError(f"A sheet of Excel holds {MOST_ROWS - 1:,} documents; these are {len(run):,}. Export CSV.")
    return xlsx_bytes(*document_rows(run))


def _parquet(run: Run) -> bytes:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("Parquet needs pyarrow: pip install 'grampus[parquet]'") from None
    header, rows = document_rows(run)
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    out = io.BytesIO()
    parquet.write_table(pyarrow.table({name: list(values) for name, values in columns.items()}), out)
    return out.getvalue()


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
