"""From bytes to text: a byte order mark, strict UTF-8, then detection. Undecodable bytes never stop it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from grampus.errors import InputError
from grampus.text._report import Log

__all__ = ["Values", "check_encoding", "decode", "decode_chunks", "looks_binary"]

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
_LATIN = ("cp1254", "cp437")
_HIGH = re.compile(rb"[\x80-\xff]+")
_ENOUGH = 5  # bytes beyond ASCII, or characters of several bytes, that a guess of another script must rest on
_SHORTEST_WIDE = 8
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
    """Return UTF-16 or UTF-32 if a mark says so, or UTF-16 if most of every second bytes, and no other, are zero."""
    for mark, encoding in _MARKS[1:]:
        if head.startswith(mark):
            return encoding
    even, odd = head[::2].count(0), head[1::2].count(0)
    if len(head) < _SHORTEST_WIDE or (even and odd) or 4 * (even + odd) < 3 * (len(head) // 2):
        return None
    return "utf-16-be" if even else "utf-16-le"


def _detect(sample: bytes) -> str:
    """Guess the encoding of bytes that are not UTF-8; cp1252 when nothing fits.

    Where bytes beyond ASCII mostly stand alone they are letters with accents; another script has them in rows. One pair
    is no evidence: ``São`` in cp1252 is also good Big5. Western and central European pages differ in a few letters
    only. Among them the one wins whose text has the fewest signs inside words (``p³ynie`` for ``płynie``), the western
    one first.
    """
    from charset_normalizer import from_bytes

    lines = [line for line in sample.splitlines(keepends=True) if not line.isascii()]
    shown = b"".join(lines)[:_SAMPLE] or sample[:_SAMPLE]
    matches = from_bytes(shown, cp_isolation=_CANDIDATES)
    best = matches.best()
    if best is not None and best.encoding not in _EUROPEAN and _bears_out(shown, best.encoding):
        return best.encoding
    possible = {name for match in matches for name in match.could_be_from_charset}
    return min(
        [name for name in _EUROPEAN if name in possible] or ["cp1252"],
        key=lambda name: len(_SIGN_IN_WORD.findall(shown.decode(name, "replace"))),
    )


def _bears_out(sample: bytes, encoding: str) -> bool:
    """Say whether a sample has enough of what tells an encoding that is not European."""
    runs = [len(run) for run in _HIGH.findall(sample)]
    alone = 2 * runs.count(1) > sum(runs)
    characters = sum(not character.isascii() for character in sample.decode(encoding, "replace"))
    return characters >= _ENOUGH and alone == (encoding in _LATIN)


def _ordered(encoding: str, head: bytes) -> str:
    """Settle the byte order of a stated UTF-16 or UTF-32, so that a broken unit later on cannot lose it."""
    if encoding not in ("utf-16", "utf-32"):
        return encoding
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), None) or _wide(head)
    return marked if marked and marked.startswith(encoding) else f"{encoding}-le"


def _mostly_utf_8(data: bytes) -> bool:
    """Say whether most of what is not ASCII is good UTF-8, with a few broken bytes among it."""
    text = data.decode("utf-8", "replace")
    broken = text.count("\N{REPLACEMENT CHARACTER}")
    return sum(not character.isascii() for character in text) >= 2 * broken


def _fallback(data: bytes) -> str:
    """Choose how to go on after bytes that are not UTF-8: a few broken ones, or another encoding."""
    return "utf-8" if _mostly_utf_8(data) else _detect(data)


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
    chosen = _ordered(encoding, head) if encoding else _certain(head)
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
        """Choose an encoding and go on with replacement, in the state before the piece."""
        self.strict = False
        if self.guess and self.encoding == "utf-8":
            data = bytes(state[0]) + piece
            self.encoding = _fallback(data)
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
        except UnicodeError:  # a decoder that fails even so, e.g. UTF-7 and punycode
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


class Values:
    """Decode the single values of a database, which share one encoding as the texts of one file do.

    A value is UTF-8, or begins with a byte order mark. Otherwise the first value long enough to tell decides for all
    that follow; until then they are read as cp1252. Zero bytes are part of a value and say nothing.
    """

    def __init__(self, encoding: str | None, log: Log) -> None:
        self.encoding, self.log = encoding, log
        self.guess: str | None = None

    def decode(self, data: bytes, name: str) -> str:
        """Return a value as text; notes name it where something was guessed or replaced."""
        if self.encoding is not None:
            return decode(data, name, self.encoding, self.log)
        try:
            return data.decode("utf-8-sig")
        except UnicodeError:
            pass
        marked = next((marked for mark, marked in _MARKS if data.startswith(mark)), None)
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
