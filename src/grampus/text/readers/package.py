"""ZIP files and the XML in them, read within limits: no DTD, no entities, no member that grows beyond all measure."""

import io
from collections.abc import Iterator
from typing import IO
from xml.parsers import expat
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from ..._config import format_size
from ...errors import CorpusError
from .log import quoted, refusing
from .options import MB
from .registry import Source, read_head
from .streams import Expansion, too_large

_CHUNK = 1 << 16
_DEEPEST = 500
_LARGEST_DIRECTORY = 16 * MB  # of names; some 200,000 members
_END = b"PK\x05\x06"
_END_LENGTH = 22 + 65535  # with the longest comment
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_ENCRYPTED = 0x1
_METHODS = (ZIP_STORED, ZIP_DEFLATED, ZIP_BZIP2)  # LZMA may ask for gigabytes


class Package:
    """A ZIP file: its members, and their bytes, within `max_ratio` times the size of the file."""

    def __init__(self, source: Source) -> None:
        stream = source.seekable()
        self.name, self.limits = source.name, source.limits
        size = stream.seek(0, io.SEEK_END)
        stream.seek(0)
        if read_head(stream).startswith(_OLD_OFFICE):
            name = source.name
            raise CorpusError(f"{name} must not be encrypted or in an old office format; save it without a password.")
        _check_directory(stream, size, source.name)
        with refusing(f"{source.name} must be a valid ZIP file"):
            self.file = source.cleanup.enter_context(ZipFile(stream))
        self.expansion = Expansion(source.name, source.limits, size, source.archive)

    @property
    def members(self) -> list[ZipInfo]:
        """Every member, in the order of the file's directory."""
        return self.file.infolist()

    def __contains__(self, name: str) -> bool:
        return name in self.file.NameToInfo

    def chunks(self, member: str | ZipInfo, limit: float | None = None) -> Iterator[bytes]:
        """Yield the bytes of a member, by default at most `max_document_bytes`."""
        limit = self.limits.max_document_bytes if limit is None else limit
        info = member if isinstance(member, ZipInfo) else self.file.NameToInfo.get(member)
        name = quoted(info.filename if info else member)
        if info is None:
            raise CorpusError(f"{self.name} must have a member {name}; it has none.")
        if info.flag_bits & _ENCRYPTED:
            raise CorpusError(f"{self.name} must not be encrypted; {name} is.")
        if info.compress_type not in _METHODS:
            raise CorpusError(f"{self.name} must be compressed by deflate or bzip2; {name} is not.")
        self.expansion.check(info.file_size, info.compress_size, f"of {name} would become")
        total = 0
        with refusing(f"{self.name} must be a valid ZIP file; {name} is damaged"), self.file.open(info) as file:
            while piece := file.read(_CHUNK):
                total += len(piece)
                if total > limit:
                    raise too_large(name, limit)
                self.expansion.add(len(piece))
                yield piece

    def read(self, member: str | ZipInfo) -> bytes:
        """Return the bytes of a member."""
        return b"".join(self.chunks(member))


def _check_directory(stream: IO[bytes], size: int, name: str) -> None:
    """Refuse a file whose list of members alone is too long to load."""
    stream.seek(max(0, size - _END_LENGTH))
    tail = stream.read(_END_LENGTH)
    stream.seek(0)
    at = tail.rfind(_END)
    length = int.from_bytes(tail[at + 12 : at + 16], "little") if at >= 0 else 0
    if length > _LARGEST_DIRECTORY:
        raise CorpusError(f"{name} must have a directory of at most {format_size(_LARGEST_DIRECTORY)}; it has more.")


class XmlHandler:
    """What a reader of XML overrides; names come without their namespace."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Take the start of an element."""

    def end(self, name: str) -> None:
        """Take the end of an element."""

    def text(self, value: str) -> None:
        """Take characters."""


def parse_xml(pieces: Iterator[bytes], handler: XmlHandler, name: str) -> Iterator[None]:
    """Feed XML to a handler; yields after each piece, so that what was found can be taken away."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise CorpusError(f"{name} must not nest elements more than {_DEEPEST} deep.")
        handler.start(_local(tag), {_local(key): value for key, value in attributes.items()} if attributes else {})

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        handler.end(_local(tag))

    def refuse(*_: object) -> None:
        raise CorpusError(f"{name} must not define a document type or entities.")

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, handler.text
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        for piece in pieces:
            parser.Parse(piece, False)
            yield
        parser.Parse(b"", True)
        yield
    except expat.ExpatError as error:
        raise CorpusError(f"{name} must be valid XML; it is damaged ({quoted(error)}).") from error


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


def parse_member(package: Package, member: str, handler: XmlHandler, limit: float | None = None) -> None:
    """Feed a whole member to a handler."""
    for _ in parse_xml(package.chunks(member, limit), handler, f"{package.name} ({quoted(member)})"):
        pass


class _Properties(XmlHandler):
    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self._open = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._open = name

    def text(self, value: str) -> None:
        if self._open:
            self.found[self._open] = self.found.get(self._open, "") + value

    def end(self, name: str) -> None:
        self._open = ""


_NO_TITLES = {"", "powerpoint presentation", "word document", "document", "presentation", "untitled", "title"}
_DATES = ("created", "creation-date", "date", "modified")


def properties(package: Package, member: str) -> tuple[str, str]:
    """Return the title and the date that a document's properties name; empty where they do not."""
    handler = _Properties()
    if member in package:
        parse_member(package, member, handler)
    title = handler.found.get("title", "").strip()
    date = next((handler.found[name].strip() for name in _DATES if handler.found.get(name, "").strip()), "")
    return "" if title.casefold() in _NO_TITLES else title, date
