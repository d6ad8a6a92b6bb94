"""From bytes to text: a byte order mark, strict UTF-8, then detection. Undecodable bytes never stop it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from grampus.errors import InputError
from grampus.text._report import Log

__all__ = ["check_encoding", "decode", "decode_chunks", "looks_binary"]

_MARKS = [  # UTF-32's little-endian mark begins with UTF-16's: the order matters
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
]
_SAMPLE = 4096
# Tried in detection; UTF-8 comes before and is not among them.
_CANDIDATES = [
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "iso8859_2", "koi8_r",
    "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr", "cp437",
]  # fmt: skip
_EUROPEAN = ("cp1252", "cp1250", "iso8859_2")
_SIGN_IN_WORD = re.compile(r"[^\W\d_][¡-©«-´¶¸¹»-¿×÷]+[^\W\d_]|[¶¹³¼¾±][^\W\d_]")
_BINARY = {
    b"%PDF-": "a PDF",
    b"PK\x03\x04": "a zip archive or office document",
    b"\xd0\xcf\x11\xe0": "an old office document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"\x7fELF": "a program",
    b"SQLite format 3\0": "a database",
    b"PAR1": "a Parquet file",
}


def check_encoding(encoding: str | None) -> str | None:
    """Return the encoding's own name, or None; raise if Python has no such text encoding."""
    if encoding is None:
        return None
    try:
        info = codecs.lookup(encoding)
        "".encode(info.name)
        b"".decode(info.name)
        codecs.getincrementaldecoder(info.name)
    except (LookupError, TypeError, ValueError, UnicodeError) as error:
        raise InputError(f"encoding must be a text encoding known to Python; got {encoding!r}.") from error
    return info.name


def looks_binary(head: bytes) -> str | None:
    """Say what a file's first bytes are if they are not text."""
    for magic, what in _BINARY.items():
        if head.startswith(magic):
            return what
    if b"\0" in head and _wide(head) is None:
        return "binary"
    return None


def _wide(head: bytes) -> str | None:
    """Return UTF-16 or UTF-32 if a mark says so, or if zero bytes stand only where UTF-16 has them."""
    for mark, encoding in _MARKS[1:]:
        if head.startswith(mark):
            return encoding
    even, odd = head[::2].count(0), head[1::2].count(0)
    if even + odd < max(1, len(head) // 5) or (even and odd):
        return None
    return "utf-16-be" if even else "utf-16-le"


def _detect(sample: bytes) -> str:
    """Guess the encoding of bytes that are not UTF-8; cp1252 when nothing fits.

    Western and central European pages differ in a few letters only. Among them the one wins whose text has
    the fewest signs inside words (``p³ynie`` for ``płynie``), the western one first.
    """
    from charset_normalizer import from_bytes

    lines = [line for line in sample.splitlines(keepends=True) if not line.isascii()]
    shown = b"".join(lines)[:_SAMPLE] or sample[:_SAMPLE]
    matches = from_bytes(shown, cp_isolation=_CANDIDATES)
    best = matches.best()
    if best is None:
        return "cp1252"
    if best.encoding not in _EUROPEAN:
        return best.encoding
    possible = {name for match in matches for name in match.could_be_from_charset}
    return min(
        (name for name in _EUROPEAN if name in possible),
        key=lambda name: len(_SIGN_IN_WORD.findall(shown.decode(name, "replace"))),
    )


def _fallback(data: bytes) -> str:
    """Choose how to go on after bytes that are not UTF-8.

    Where most of what is not ASCII is good UTF-8, a few bytes are broken; otherwise it is another encoding.
    """
    text = data.decode("utf-8", "replace")
    broken = text.count("\N{REPLACEMENT CHARACTER}")
    good = sum(not character.isascii() for character in text) - broken
    return "utf-8" if good >= broken else _detect(data)


def _certain(head: bytes) -> str | None:
    """Return the encoding that the first bytes make certain, if they do."""
    for mark, marked in _MARKS:
        if head.startswith(mark):
            return marked
    return _wide(head) if b"\0" in head else None


def decode_chunks(pieces: Iterator[bytes], name: str, encoding: str | None, log: Log) -> Iterator[str]:
    """Decode a stream of bytes; notes name the file where an encoding was guessed or bytes were replaced."""
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= 64:
            break
    decoder = _Decoder(encoding or _certain(head), name, log, guess=encoding is None)
    text = decoder.feed(head).removeprefix("\ufeff")
    while text or head:
        yield text
        head = next(pieces, b"")
        text = decoder.feed(head) if head else ""
    yield decoder.feed(b"", final=True)
    decoder.finish()


class _Decoder:
    """Decode strictly until it fails once, then with replacement."""

    def __init__(self, encoding: str | None, name: str, log: Log, *, guess: bool) -> None:
        self.name, self.log, self.guess = name, log, guess
        self.encoding = encoding or "utf-8"
        self.strict = True
        self.replaced = 0
        self.inner = codecs.getincrementaldecoder(self.encoding)("strict")

    def feed(self, piece: bytes, *, final: bool = False) -> str:
        if not self.strict:
            return self._lenient(piece, final)
        held = self.inner.getstate()[0]
        try:
            return self.inner.decode(piece, final)
        except UnicodeError:
            return self._fail(bytes(held) + piece, final)

    def _fail(self, data: bytes, final: bool) -> str:
        """Choose an encoding and go on with replacement."""
        if self.guess and self.encoding == "utf-8":
            chosen = _fallback(data)
            if chosen != "utf-8":
                self.log.note(f"not UTF-8, read as {chosen} (pass encoding= if that is wrong)", self.name)
            self.encoding = chosen
        self.strict = False
        self.inner = codecs.getincrementaldecoder(self.encoding)("replace")
        return self._lenient(data, final)

    def _lenient(self, piece: bytes, final: bool) -> str:
        try:
            text = self.inner.decode(piece, final)
        except UnicodeError:  # a decoder that fails even so, e.g. UTF-7 and punycode
            text = piece.decode("latin-1")
        self.replaced += text.count("\N{REPLACEMENT CHARACTER}")
        return text

    def finish(self) -> None:
        if self.replaced:
            self.log.note(f"bytes that are not {self.encoding} became U+FFFD", self.name)


def decode(data: bytes, name: str, encoding: str | None, log: Log) -> str:
    """Decode a whole document by the same rules."""
    if encoding is None and b"\0" not in data:
        try:
            return data.decode("utf-8-sig")
        except UnicodeError:
            pass
    return "".join(decode_chunks(iter([data]), name, encoding, log))
