"""ZIP and TAR archives: their files through the same readers as those of a folder. Nothing is written to disk."""

import io
import stat
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import IO, Any, cast
from zipfile import ZipInfo

from ..._config import format_size
from ...errors import CorpusError
from .log import quoted, refusing
from .many import Member
from .members import members_table, skip_member
from .office import ZIP
from .options import MB
from .package import Package
from .registry import READERS, Reader, Source, Table
from .streams import Expansion, too_large

# What a ZIP file holds if it is not an archive but a document.
_DOCUMENTS = {
    "word/document.xml": "docx",
    "ppt/presentation.xml": "pptx",
    "xl/workbook.xml": "xlsx",
    "META-INF/container.xml": "epub",
}
_MIMETYPES = {b"text": "odt", b"presentation": "odp", b"spreadsheet": "ods"}
_LARGEST_HEADER = 1 * MB
_IRREGULAR = "not a regular file (link or device)"


def open_zip(source: Source) -> Table:
    """Read the members of a ZIP archive, or the office document or book that it is."""
    package = Package(source)
    kind = _document_kind(package)
    if kind:
        package.file.close()
        return READERS[kind].open(source)
    _refuse_nested(source)
    members = _chosen(_zip_members(package, source), source, whole=True)
    return members_table(members, replace(source, archive=package.expansion))


def _document_kind(package: Package) -> str | None:
    if "mimetype" in package and "content.xml" in package:
        kind = package.read("mimetype").removeprefix(b"application/vnd.oasis.opendocument.")
        return _MIMETYPES.get(kind.partition(b"-")[0].strip())
    return next((kind for member, kind in _DOCUMENTS.items() if member in package), None)


def _refuse_nested(source: Source) -> None:
    if source.archive is not None:
        raise CorpusError(f"{source.name} must not be an archive in an archive; unpack the outer one first.")


def _unusable(path: str, *, hidden: bool) -> str | None:
    """Return why a member's name rules it out."""
    parts = path.replace("\\", "/").split("/")
    dotted = any(part.startswith(".") and part not in (".", "..") for part in parts)
    if path.startswith("__MACOSX/") or (dotted and not hidden):
        return "hidden (its name begins with a dot)"
    if path.startswith(("/", "\\")) or ".." in parts or (len(parts[0]) > 1 and parts[0][1] == ":"):
        return "name that leads out of the archive"
    return None


def _chosen(found: Iterator[tuple[Member, str]], source: Source, *, whole: bool) -> Iterator[Member]:
    """Yield the members to read, of members and why they cannot be read; name the others, or only the first beyond."""
    read, most = 0, source.limits.max_members
    for member, problem in found:
        reason = _unusable(member.path, hidden=source.options.hidden) or problem
        read += not reason
        if not reason and read > most:
            reason = f"beyond the first {most:,} files of an archive (max_members)"
        if not reason:
            yield member
            continue
        skip_member(source.log, member.path, reason)
        if read > most and not whole:
            return


def _zip_members(package: Package, source: Source) -> Iterator[tuple[Member, str]]:
    for info in package.members:
        mode, problem = info.external_attr >> 16, ""
        if info.filename.endswith("/"):
            continue
        if mode and stat.S_IFMT(mode) and not stat.S_ISREG(mode):
            problem = _IRREGULAR
        elif info.flag_bits & 1:
            problem = "encrypted"
        elif not info.file_size and source.options.empty == "skip":
            problem = "empty text"
        time = "{:04d}-{:02d}-{:02d}T{:02d}:{:02d}:{:02d}".format(*info.date_time)
        yield Member(info.filename, partial(_open_zip_member, package, info), time), problem


def _open_zip_member(package: Package, info: ZipInfo) -> IO[bytes]:
    return io.BytesIO(package.read(info))


class _Forward:
    """Bytes of a stream as tarfile wants them: it goes forward only, and never reads much at once."""

    def __init__(self, pieces: Iterator[bytes], name: str) -> None:
        self._pieces, self._name = pieces, name
        self._rest, self._at = b"", 0

    def tell(self) -> int:
        return self._at

    def read(self, size: int) -> bytes:
        if size > _LARGEST_HEADER:
            limit = format_size(_LARGEST_HEADER)
            raise CorpusError(f"{self._name} must have headers of at most {limit}; one is larger.")
        parts = []
        while size > 0:
            if not self._rest:
                self._rest = next(self._pieces, b"")
                if not self._rest:
                    break
            part, self._rest = self._rest[:size], self._rest[size:]
            size -= len(part)
            self._at += len(part)
            parts.append(part)
        return b"".join(parts)

    def seek(self, place: int) -> int:
        while self._at < place and self.read(min(place - self._at, _LARGEST_HEADER)):
            pass
        if self._at != place:
            raise CorpusError(f"{self._name} must be a complete TAR file; it ends too early or is damaged.")
        return place


def open_tar(source: Source) -> Table:
    """Read the members of a TAR archive, which may be compressed."""
    _refuse_nested(source)
    forward = _Forward(source.chunks(), source.name)
    assert source.stream is not None
    size = float("inf")
    if source.stream.seekable():
        size = source.stream.seek(0, io.SEEK_END)
        source.stream.seek(0)
    guard = Expansion(source.name, source.limits, size)
    members = _chosen(_tar_members(forward, source), source, whole=False)
    return members_table(members, replace(source, archive=guard))


def _tar_members(forward: _Forward, source: Source) -> Iterator[tuple[Member, str]]:
    file = cast("IO[bytes]", forward)
    with refusing(f"{source.name} must be a valid TAR file"), tarfile.open(fileobj=file, mode="r:") as tar:
        for info in tar:
            cast("Any", tar).members.clear()  # the list would grow with the archive
            if not info.isdir():
                problem = _IRREGULAR if not info.isreg() or info.issparse() else ""
                yield Member(info.name.removeprefix("./"), partial(_open_tar_member, tar, info, source)), problem


def _open_tar_member(tar: tarfile.TarFile, info: tarfile.TarInfo, source: Source) -> IO[bytes]:
    limit = source.limits.max_document_bytes
    if info.size > limit:
        raise too_large(quoted(info.name), limit)
    with refusing(f"{quoted(info.name)} must be complete in its archive"):
        file = tar.extractfile(info)
        return io.BytesIO(b"" if file is None else b"".join(iter(partial(file.read, 1 << 16), b"")))


FORMATS = (
    Reader("zip", open_zip, (".zip",), ZIP, in_folder=True),
    Reader("tar", open_tar, (".tar", ".tgz", ".tbz2", ".txz"), in_folder=True),
)
