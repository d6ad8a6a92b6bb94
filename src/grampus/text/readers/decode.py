"""From bytes to text: by byte order mark, as strict UTF-8, then by detection. Undecodable bytes are no error."""

import codecs
import re
from collections.abc import Iterator
from typing import AnyStr

from ...errors import InputError
from .log import Log

_MARKS = [  # in this order, as UTF-32's little-endian mark begins with UTF-16's
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
]
_SAMPLE = 4096
# Tried in detection, after UTF-8 has failed.
_CANDIDATES = [
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "iso8859_2", "koi8_r",
    "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr", "cp437",
]  # fmt: skip
_EUROPEAN = ("cp1252", "cp1250", "iso8859_2")
_LATIN = ("cp1254", "cp437")
_HIGH = re.compile(rb"[\x80-\xff]+")
_ENOUGH = 5  # bytes or characters beyond ASCII needed to guess another script
_MIN_WIDE = 8
_SYMBOL_IN_WORD = re.compile(r"[^\W\d_][¡-©«-´¶¸¹»-¿×÷]+[^\W\d_]|[¶¹³¼¾±][^\W\d_]")
# Control characters that no text has; bytes drawn at random have a tenth of them.
_CONTROL = re.compile(r"[\x01-\x07\x0e-\x1a\x1c-\x1f\x7f]")
_CONTROLS, _CONTROL_SHARE = 5, 0.02  # different ones, as one or two may separate fields, and of the bytes
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
    """Return the canonical name of a text encoding, or None; raise if Python does not know it."""
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
    """Return what a file is, by its first bytes, if it is not text."""
    known = next((what for magic, what in _BINARY.items() if head.startswith(magic)), None)
    noise = (b"\0" in head and _wide(head) in (None, "utf-8")) or is_noise(head.decode("latin-1"))
    return known or ("binary" if noise else None)


def is_noise(head: str) -> bool:
    """Return whether characters cannot be a text: too many different control characters are among them."""
    controls = _CONTROL.findall(head)
    return len(set(controls)) >= _CONTROLS and len(controls) > _CONTROL_SHARE * len(head)


def _wide(head: bytes) -> str | None:
    """Return the encoding of a byte order mark, or UTF-16 if nearly every second byte, and no other, is zero."""
    if marked := _marked(head):
        return marked
    even, odd = head[::2].count(0), head[1::2].count(0)
    if len(head) < _MIN_WIDE or (even and odd) or 4 * (even + odd) < 3 * (len(head) // 2):
        return None
    return "utf-16-be" if even else "utf-16-le"


def _detect(sample: bytes) -> str:
    """Guess the encoding of bytes that are not UTF-8; cp1252 when nothing fits.

    Bytes beyond ASCII that mostly stand alone are accented letters; other scripts have them in runs. One pair is no
    evidence: ``São`` in cp1252 is also valid Big5. Western and central European code pages differ in a few letters
    only; the one with the fewest symbols inside words wins (``p³ynie`` for ``płynie``), the western one first.
    """
    from charset_normalizer import from_bytes

    lines = [line for line in sample.splitlines(keepends=True) if not line.isascii()]
    excerpt = b"".join(lines)[:_SAMPLE] or sample[:_SAMPLE]
    matches = from_bytes(excerpt, cp_isolation=_CANDIDATES)
    best = matches.best()
    if best is not None and best.encoding not in _EUROPEAN and _supports(excerpt, best.encoding):
        return best.encoding
    possible = {name for match in matches for name in match.could_be_from_charset}
    return min(
        [name for name in _EUROPEAN if name in possible] or ["cp1252"],
        key=lambda name: len(_SYMBOL_IN_WORD.findall(excerpt.decode(name, "replace"))),
    )


def _supports(sample: bytes, encoding: str) -> bool:
    """Return whether a sample has enough evidence for an encoding that is not European."""
    runs = [len(run) for run in _HIGH.findall(sample)]
    alone = 2 * runs.count(1) > sum(runs)
    characters = sum(not character.isascii() for character in sample.decode(encoding, "replace"))
    return characters >= _ENOUGH and alone == (encoding in _LATIN)


def _with_byte_order(encoding: str, head: bytes) -> str:
    """Fix the byte order of a given UTF-16 or UTF-32, so that an invalid unit later on cannot lose it."""
    if encoding not in ("utf-16", "utf-32"):
        return encoding
    marked = _wide(head)
    return marked if marked and marked.startswith(encoding) else f"{encoding}-le"


def _mostly_utf_8(data: bytes) -> bool:
    """Return whether most of what is not ASCII is valid UTF-8, with a few invalid bytes in between."""
    text = data.decode("utf-8", "replace")
    broken = text.count("\N{REPLACEMENT CHARACTER}")
    return sum(not character.isascii() for character in text) >= 2 * broken


def _marked(head: bytes) -> str | None:
    """Return the encoding that a byte order mark names."""
    return next((encoding for mark, encoding in _MARKS if head.startswith(mark)), None)


def first_pieces(pieces: Iterator[AnyStr], least: float) -> list[AnyStr]:
    """Return the first pieces: as many as have at least so many bytes or characters, or all there are."""
    found: list[AnyStr] = []
    length = 0
    while length < least and (piece := next(pieces, None)) is not None:
        found.append(piece)
        length += len(piece)
    return found


def decode_chunks(pieces: Iterator[bytes], name: str, encoding: str | None, log: Log) -> Iterator[str]:
    """Decode a stream of bytes; notes name the file if its encoding was guessed or bytes were replaced."""
    head = b"".join(first_pieces(pieces, 64))
    chosen = _with_byte_order(encoding, head) if encoding else _wide(head)
    decoder = _Decoder(chosen, name, log, guess=encoding is None)
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
        state = self.inner.getstate()
        try:
            return self.inner.decode(piece, final)
        except UnicodeError:
            return self._fail(state, piece, final)

    def _fail(self, state: tuple[bytes, int], piece: bytes, final: bool) -> str:
        """Choose an encoding and continue with replacement, from the state before the piece."""
        self.strict = False
        if self.guess and self.encoding == "utf-8":
            data = bytes(state[0]) + piece
            self.encoding = "utf-8" if _mostly_utf_8(data) else _detect(data)
            if self.encoding != "utf-8":
                self.log.note(_guessed(self.encoding), self.name)
            self.inner = codecs.getincrementaldecoder(self.encoding)("replace")
            return self._lenient(data, final)
        self.inner = codecs.getincrementaldecoder(self.encoding)("replace")
        self.inner.setstate(state)
        return self._lenient(piece, final)

    def _lenient(self, piece: bytes, final: bool) -> str:
        try:
            text = self.inner.decode(piece, final)
        except UnicodeError:  # some decoders fail even so, such as UTF-7 and punycode
            text = piece.decode("latin-1")
        self.replaced += text.count("\N{REPLACEMENT CHARACTER}")
        return text

    def finish(self) -> None:
        if self.replaced:
            self.log.note(_replaced(self.encoding), self.name)


def _guessed(encoding: str) -> str:
    return f"not UTF-8, read as {encoding} (pass encoding= if that is wrong)"


def _replaced(encoding: str) -> str:
    return f"bytes that are not {encoding} became U+FFFD"


def decode(data: bytes, name: str, encoding: str | None, log: Log) -> str:
    """Decode a whole document by the same rules."""
    if encoding is None and b"\0" not in data:
        try:
            return data.decode("utf-8-sig")
        except UnicodeError:
            pass
    return "".join(decode_chunks(iter([data]), name, encoding, log))


class ValueDecoder:
    """Decode the values of a database, which share one encoding.

    A value is UTF-8, or begins with a byte order mark. Otherwise the first value with enough evidence decides for all
    that follow; values before it are read as cp1252. Zero bytes belong to the value and are no evidence.
    """

    def __init__(self, encoding: str | None, log: Log) -> None:
        self.encoding, self.log = encoding, log
        self.guess: str | None = None

    def decode(self, data: bytes, name: str) -> str:
        """Return a value as text; notes name it if its encoding was guessed or bytes were replaced."""
        if self.encoding is not None:
            return decode(data, name, self.encoding, self.log)
        try:
            return data.decode("utf-8-sig")
        except UnicodeError:
            pass
        marked = _marked(data)
        chosen = marked or self._choose(data)
        text = data.decode(chosen, "replace").removeprefix("\ufeff")
        if marked is None and chosen != "utf-8":
            self.log.note(_guessed(chosen), name)
        if "\N{REPLACEMENT CHARACTER}" in text:
            self.log.note(_replaced(chosen), name)
        return text

    def _choose(self, data: bytes) -> str:
        if _mostly_utf_8(data):
            return "utf-8"
        if self.guess is None and sum(map(len, _HIGH.findall(data))) >= _ENOUGH:
            self.guess = _detect(data)
        return self.guess or "cp1252"
