"""Word, PowerPoint, LibreOffice Writer and Impress, EPUB: texts with their paragraphs, headings and pages."""

import posixpath
import re
from functools import partial
from typing import ClassVar
from urllib.parse import unquote

from ...errors import CorpusError
from .extract import Extract, bad_table, document_table, tidy
from .html import decode_html, extract_html
from .package import Package, XmlHandler, parse_member, properties
from .registry import Reader, Source, Table

_HEADING = re.compile(r"heading|title|titel|berschrift|titre|t[ií]?tulo|encabezado|titolo|kop\d", re.IGNORECASE)
_SLIDE = re.compile(r"ppt/slides/slide(\d+)\.xml\Z")
ZIP = (0, b"PK\x03\x04")


class _Story(XmlHandler):
    """Collect paragraphs; a heading belongs to the paragraph after it, a row of a table is a line."""

    _SKIPPED: ClassVar[frozenset[str]]
    _BREAKS: ClassVar[dict[str, str]]  # elements that stand for white space
    _TABLE: ClassVar[str]
    _ENDS: ClassVar[dict[str, str]]  # of cells, rows and tables

    def __init__(self) -> None:
        self.out: list[str] = []
        self.pages: list[str] = []
        self.heading = ""
        self.skipping = 0
        self.tables = 0
        self._open = 0  # elements around text
        self._paragraph = 0  # where the paragraph began
        self._is_heading = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self.skipping or name in self._SKIPPED:
            self.skipping += 1
        elif name in self._BREAKS:
            self.out.append(self._BREAKS[name])
        elif name == self._TABLE:
            self.tables += 1
        else:
            self.enter(name, attributes)

    def end(self, name: str) -> None:
        if self.skipping:
            self.skipping -= 1
        elif name in self._ENDS:
            self.tables -= name == self._TABLE
            self.out.append(self._ENDS[name])
        else:
            self.leave(name)

    def text(self, value: str) -> None:
        if self._open and not self.skipping:
            self.out.append(value)

    def enter(self, name: str, attributes: dict[str, str]) -> None:
        """Take the start of an element of this kind of markup."""

    def leave(self, name: str) -> None:
        """Take the end of one."""

    def begin(self, *, heading: bool = False) -> None:
        self._paragraph, self._is_heading = len(self.out), heading

    def finish(self) -> None:
        text = "".join(self.out[self._paragraph :]).strip()
        if self.tables:
            self.out.append(" ")
        elif text:
            if self._is_heading and not self.heading:
                self.heading = text
            self.out.append("\n" if self._is_heading else "\n\n")
        self._is_heading = False

    def end_page(self) -> None:
        self.pages.append(tidy("".join(self.out)))
        self.out.clear()

    def extract(self, title: str, date: str) -> Extract:
        if "".join(self.out).strip():
            self.end_page()
        return Extract(tuple(self.pages), title or self.heading, date)


class _Ooxml(_Story):
    """The markup of Word and PowerPoint, whose elements for text have the same names."""

    _SKIPPED = frozenset(("Fallback", "del", "moveFrom", "instrText"))
    _BREAKS: ClassVar = {"tab": "\t", "br": "\n", "cr": "\n"}
    _TABLE, _ENDS = "tbl", {"tc": "\t", "tr": "\n", "tbl": "\n"}
    _title_shape = False

    def enter(self, name: str, attributes: dict[str, str]) -> None:
        if name == "t":
            self._open = 1
        elif name == "p":
            self.begin(heading=self._title_shape)
        elif name == "pStyle":
            self._is_heading = bool(_HEADING.search(attributes.get("val", "")))
        elif name == "ph":
            self._title_shape = bool(_HEADING.search(attributes.get("type", "")))

    def leave(self, name: str) -> None:
        if name == "t":
            self._open = 0
        elif name == "p":
            self.finish()
        elif name == "sp":
            self._title_shape = False


class _Odf(_Story):
    """The markup of OpenDocument."""

    _SKIPPED = frozenset(
        ("tracked-changes", "annotation", "note-citation", "sequence-decls", "forms", "scripts", "automatic-styles",
         "font-face-decls", "notes", "table-of-content", "desc", "title")
    )  # fmt: skip
    _BREAKS: ClassVar = {"s": " ", "tab": "\t", "line-break": "\n"}
    _TABLE, _ENDS = "table", {"table-cell": "\t", "table-row": "\n", "table": "\n"}

    def enter(self, name: str, attributes: dict[str, str]) -> None:
        if name in ("p", "h"):
            self._open += 1
            if self._open == 1:
                self.begin(heading=name == "h" or bool(_HEADING.match(attributes.get("style-name", ""))))

    def leave(self, name: str) -> None:
        if name in ("p", "h"):
            self._open -= 1
            if self._open == 0:
                self.finish()
            else:
                self.out.append(" ")
        elif name == "page":
            self.end_page()


def open_docx(source: Source) -> Table:
    """Read a Word document: its paragraphs, tables and notes."""
    package = Package(source)
    story = _Ooxml()
    parse_member(package, "word/document.xml", story)
    for notes in ("word/footnotes.xml", "word/endnotes.xml"):
        if notes in package:
            parse_member(package, notes, story)
    return document_table(story.extract(*properties(package, "docProps/core.xml")), source)


def open_pptx(source: Source) -> Table:
    """Read a PowerPoint presentation: a slide is a page."""
    package = Package(source)
    slides = sorted((int(match[1]), match[0]) for info in package.members if (match := _SLIDE.match(info.filename)))
    if not slides:
        raise CorpusError(f"{source.name} must have slides; it has none.")
    story = _Ooxml()
    for _, member in slides:
        parse_member(package, member, story)
        story.end_page()
    title, date = properties(package, "docProps/core.xml")
    return document_table(story.extract(title or story.pages[0].partition("\n")[0], date), source)


def open_odf(source: Source) -> Table:
    """Read an OpenDocument text or presentation."""
    package = Package(source)
    if "META-INF/manifest.xml" in package and b"encryption-data" in package.read("META-INF/manifest.xml"):
        raise CorpusError(f"{source.name} must not be encrypted; save it without a password.")
    story = _Odf()
    parse_member(package, "content.xml", story)
    return document_table(story.extract(*properties(package, "meta.xml")), source)


class _Attributes(XmlHandler):
    """Collect the attributes of some elements."""

    def __init__(self, *names: str) -> None:
        self.found: dict[str, list[dict[str, str]]] = {name: [] for name in names}

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name in self.found:
            self.found[name].append(attributes)


def collect_attributes(package: Package, member: str, *names: str) -> dict[str, list[dict[str, str]]]:
    """Return the attributes of every element with one of these names, in order."""
    handler = _Attributes(*names)
    parse_member(package, member, handler)
    return handler.found


def open_epub(source: Source) -> Table:
    """Read an EPUB: a chapter is a page."""
    package = Package(source)
    roots = collect_attributes(package, "META-INF/container.xml", "rootfile")["rootfile"]
    root = roots[0].get("full-path", "") if roots else ""
    found = collect_attributes(package, root, "item", "itemref")
    places = {item.get("id"): item.get("href", "") for item in found["item"]}
    chapters = [
        posixpath.normpath(posixpath.join(posixpath.dirname(root), unquote(places.get(entry.get("idref"), ""))))
        for entry in found["itemref"]
    ]
    locked: set[str] = set()
    if "META-INF/encryption.xml" in package:
        references = collect_attributes(package, "META-INF/encryption.xml", "CipherReference")["CipherReference"]
        locked = {unquote(reference.get("URI", "")) for reference in references}
    readable = [name for name in dict.fromkeys(chapters) if name in package and name not in locked]
    if not readable:
        return bad_table("encrypted (digital rights management)" if locked else "a book without text")
    pages = [decode_html(package.read(name), source.name, None, source.log) for name in readable]
    title, date = properties(package, root)
    return document_table(Extract(tuple(extract_html(page).pages[0] for page in pages), title, date), source)


_row = partial(Reader, magic=ZIP, in_folder=True)
FORMATS = (
    _row("docx", open_docx, (".docx", ".docm", ".dotx")),
    _row("pptx", open_pptx, (".pptx", ".pptm", ".ppsx")),
    _row("odt", open_odf, (".odt", ".ott")),
    _row("odp", open_odf, (".odp", ".otp")),
    _row("epub", open_epub, (".epub",)),
)
