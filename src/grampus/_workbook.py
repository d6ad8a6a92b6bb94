"""Rows as files of other programs: an Excel workbook, a Parquet file."""

import io
import zipfile
from collections.abc import Iterable, Sequence
from html import escape
from itertools import chain
from typing import Any

from ._outputs import TABLE_MARK
from .errors import InputError, MissingExtraError

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


def _cell(value: Any) -> str:
    if value is None:
        return "<c/>"
    if isinstance(value, str):  # never a formula, whatever it starts with
        text = escape(value[:LONGEST_CELL].translate(_NOT_XML), quote=False)
        return f'<c t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
    return f"<c><v>{value}</v></c>"


def xlsx_bytes(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Return a workbook of one sheet; texts are texts, whatever they start with.

    Examples
    --------
    >>> from grampus._workbook import xlsx_bytes
    >>> xlsx_bytes(["id"], [["=1+1"]])[:2]
    b'PK'
    """
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = TABLE_MARK
        for name, content in _PARTS.items():
            archive.writestr(name, _HEAD + content)
        with archive.open("xl/worksheets/sheet1.xml", "w") as sheet:
            main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
            sheet.write(f'{_HEAD}<worksheet xmlns="{main}"><sheetData>'.encode())
            for number, row in enumerate(chain([header], rows)):
                if number >= MOST_ROWS:
                    raise InputError(f"A sheet of Excel has {MOST_ROWS - 1:,} rows; these are more. Use .csv.")
                sheet.write(f"<row>{''.join(map(_cell, row))}</row>".encode())
            sheet.write(b"</sheetData></worksheet>")
    return out.getvalue()


def parquet_bytes(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Return a Parquet file of one table."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("Parquet needs pyarrow: pip install 'grampus[parquet]'") from None
    columns = list(zip(*rows, strict=True)) or [()] * len(header)
    made = pyarrow.table({name: list(values) for name, values in zip(header, columns, strict=True)})
    out = io.BytesIO()
    parquet.write_table(made.replace_schema_metadata({"written": TABLE_MARK}), out)
    return out.getvalue()
