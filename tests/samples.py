"""Small files of every kind that the readers know, made without any library."""

from __future__ import annotations

import io
import tarfile
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_ODF = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
)
_CORE = '<c:p xmlns:c="c" xmlns:dc="d"><dc:title>{title}</dc:title><dc:created>2024-06-06T09:30:00Z</dc:created></c:p>'


def zipped(members: Mapping[str, bytes | str], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a ZIP file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as file:
        for name, data in members.items():
            file.writestr(zipfile.ZipInfo(name), data, compression)
    return out.getvalue()


def tarred(members: Mapping[str, bytes | str], compression: str = "") -> bytes:
    """Return a TAR file."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=f"w:{compression}") as file:  # type: ignore[call-overload]
        for name, data in members.items():
            content = data.encode() if isinstance(data, str) else data
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
    return out.getvalue()


def word_body(paragraphs: Sequence[str], heading: str = "") -> str:
    """Return the main part of a Word document."""
    head = f'<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>{escape(heading)}</w:t></w:r></w:p>'
    body = "".join(f"<w:p><w:r><w:t>{escape(text)}</w:t></w:r></w:p>" for text in paragraphs)
    return f'<?xml version="1.0"?><w:document {_W}><w:body>{head if heading else ""}{body}</w:body></w:document>'


def docx(paragraphs: Sequence[str], *, heading: str = "", title: str = "", body: str | bytes = "") -> bytes:
    """Return a Word document; `body` replaces its main part."""
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "docProps/core.xml": _CORE.format(title=title),
            "word/document.xml": body or word_body(paragraphs, heading),
        }
    )


def pptx(slides: Sequence[tuple[str, str]]) -> bytes:
    """Return a presentation of slides with a title and a text."""
    shape = '<p:sp><p:nvPr><p:ph type="{kind}"/></p:nvPr><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:sp>'
    members = {"[Content_Types].xml": "<Types/>", "ppt/presentation.xml": "<p/>"}
    for number, (title, text) in enumerate(slides, 1):
        shapes = shape.format(kind="title", text=escape(title)) + shape.format(kind="body", text=escape(text))
        members[f"ppt/slides/slide{number}.xml"] = f'<p:sld xmlns:p="p" xmlns:a="a">{shapes}</p:sld>'
    return zipped(members)


def sheet_body(rows: Sequence[Sequence[str]]) -> str:
    """Return a sheet of a workbook, with its strings in place."""
    cells = "".join(
        f'<row r="{r}">'
        + "".join(
            f'<c r="{chr(64 + c)}{r}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
            for c, value in enumerate(row, 1)
        )
        + "</row>"
        for r, row in enumerate(rows, 1)
    )
    return f'<worksheet xmlns="s"><sheetData>{cells}</sheetData></worksheet>'


def xlsx(
    sheets: Mapping[str, Sequence[Sequence[str]]], *, more: Mapping[str, str] | None = None, body: str | bytes = ""
) -> bytes:
    """Return a workbook; `body` replaces its first sheet."""
    names = "".join(f'<sheet name="{escape(name)}" r:id="r{n}"/>' for n, name in enumerate(sheets, 1))
    links = "".join(f'<Relationship Id="r{n}" Target="worksheets/sheet{n}.xml"/>' for n in range(1, len(sheets) + 1))
    members: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "xl/workbook.xml": f'<workbook xmlns="s" xmlns:r="r"><sheets>{names}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f"<Relationships>{links}</Relationships>",
    }
    members |= {f"xl/worksheets/sheet{n}.xml": sheet_body(rows) for n, rows in enumerate(sheets.values(), 1)}
    if body:
        members["xl/worksheets/sheet1.xml"] = body
    return zipped(members | dict(more or {}))


def odf_body(paragraphs: Sequence[str], heading: str = "") -> str:
    """Return the content of an OpenDocument text."""
    head = f"<text:h>{escape(heading)}</text:h>" if heading else ""
    body = "".join(f"<text:p>{escape(text)}</text:p>" for text in paragraphs)
    text = f"<office:body><office:text>{head}{body}</office:text></office:body>"
    return f"<office:document-content {_ODF}>{text}</office:document-content>"


def odt(paragraphs: Sequence[str], *, heading: str = "", body: str | bytes = "") -> bytes:
    """Return an OpenDocument text."""
    kind = "application/vnd.oasis.opendocument.text"
    return zipped({"mimetype": kind, "content.xml": body or odf_body(paragraphs, heading)})


def ods(rows: Sequence[Sequence[str]]) -> bytes:
    """Return an OpenDocument spreadsheet of one sheet."""
    cells = "".join(
        "<table:table-row>"
        + "".join(f"<table:table-cell><text:p>{escape(value)}</text:p></table:table-cell>" for value in row)
        + "</table:table-row>"
        for row in rows
    )
    body = (
        f'<office:document-content {_ODF}><table:table table:name="S">{cells}</table:table></office:document-content>'
    )
    return zipped({"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": body})


def epub(chapters: Sequence[str], *, title: str = "") -> bytes:
    """Return a book of chapters."""
    items = "".join(f'<item id="c{n}" href="c{n}.xhtml"/>' for n in range(len(chapters)))
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    members = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container><rootfile full-path="in/book.opf"/></container>',
        "in/book.opf": f"<package><metadata><title>{title}</title></metadata>"
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
    }
    members |= {f"in/c{n}.xhtml": f"<html><body><p>{escape(text)}</p></body></html>" for n, text in enumerate(chapters)}
    return zipped(members)


def rtf(paragraphs: Sequence[str], *, title: str = "") -> bytes:
    """Return an RTF file; letters beyond ASCII as \\u."""
    code = "".join(c if c.isascii() else f"\\u{ord(c)}?" for c in "\\par\n".join(paragraphs))
    info = f"{{\\info{{\\title {title}}}{{\\author X}}}}" if title else ""
    return f"{{\\rtf1\\ansi\\ansicpg1252{{\\fonttbl{{\\f0 Arial;}}}}{info}\\f0 {code}\\par}}".encode("ascii")


def locked_zip(files: Mapping[str, bytes | str]) -> bytes:
    """Return a ZIP file that calls its first member encrypted."""
    data = bytearray(zipped(files, zipfile.ZIP_STORED))
    for start in (data.index(b"PK\x03\x04") + 6, data.index(b"PK\x01\x02") + 8):
        data[start] |= 1
    return bytes(data)


def leading_out() -> bytes:
    """Return a ZIP file whose names lead out of it, with a link."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name in ("../up.txt", "/root.txt", "a/../../b.txt"):
            file.writestr(name, "out of the archive")
        link = zipfile.ZipInfo("link.txt")
        link.external_attr = 0o120777 << 16
        file.writestr(link, "/etc/passwd")
    return out.getvalue()


def locked_pdf(page: str) -> bytes:
    """Return a PDF that needs a password."""
    entry = b"trailer<</Encrypt<</Filter/Standard/V 1/R 2/O(%s)/U(%s)/P -4>>/ID[(a)(a)]" % (b"o" * 32, b"u" * 32)
    return pdf([page]).replace(b"trailer<<", entry)


def pdf(
    pages: Sequence[str],
    *,
    title: str = "",
    picture: bool = False,
    packed: bool = True,
    repeat: int = 1,
    line: bytes = b"",
) -> bytes:
    """Return a PDF with a line of text a page, or a picture; `repeat` names each page several times."""
    objects: list[bytes] = []

    def add(body: bytes) -> int:
        objects.append(body)
        return len(objects)

    def stream(data: bytes, entries: bytes = b"") -> bytes:
        data, name = (zlib.compress(data), b"/Filter/FlateDecode") if packed else (data, b"")
        return b"<<%s%s/Length %d>>stream\n%s\nendstream" % (entries, name, len(data), data)

    font = add(b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
    image = add(
        stream(b"\0" * 4, b"/Type/XObject/Subtype/Image/Width 2/Height 2/BitsPerComponent 8/ColorSpace/DeviceGray")
    )
    kids, root = [], len(objects) + 2 * len(pages) + 1
    for text in pages:
        shown = b"q 500 0 0 700 50 50 cm /I Do Q" if picture else b"BT /F 12 Tf 50 700 Td (%s) Tj ET"
        content = add(stream(line or (shown if picture else shown % text.encode("cp1252"))))
        resources = b"<</Font<</F %d 0 R>>/XObject<</I %d 0 R>>>>" % (font, image)
        kids.append(
            add(
                b"<</Type/Page/Parent %d 0 R/MediaBox[0 0 600 800]/Resources%s/Contents %d 0 R>>"
                % (root, resources, content)
            )
        )
    names = b" ".join(b"%d 0 R" % kid for kid in kids * repeat)
    add(b"<</Type/Pages/Kids[%s]/Count %d>>" % (names, len(kids) * repeat))
    catalog = add(b"<</Type/Catalog/Pages %d 0 R>>" % root)
    info = add(b"<</Title(%s)/CreationDate(D:20240606093000Z)>>" % title.encode())
    out = bytearray(b"%PDF-1.5\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + b"".join(b"%010d 00000 n \n" % p for p in places)
    out += b"trailer<</Size %d/Root %d 0 R/Info %d 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1, catalog, info, start,
    )  # fmt: skip
    return bytes(out)
