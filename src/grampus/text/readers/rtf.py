"""RTF: the text without its codes."""

import re

from ...errors import CorpusError
from .extract import Extract, document_table, tidy
from .registry import Reader, Source, Table

_TOKEN = re.compile(
    rb"\\(?P<word>[a-z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<byte>[0-9a-fA-F]{2})|\\(?P<sign>[^a-z])"
    rb"|(?P<brace>[{}])|[\r\n]+|(?P<plain>[^\\{}\r\n]+)",
    re.DOTALL,
)
_DESTINATIONS = {
    b"fonttbl", b"colortbl", b"stylesheet", b"info", b"pict", b"header", b"headerl", b"headerr", b"headerf", b"footer",
    b"footerl", b"footerr", b"footerf", b"object", b"themedata", b"colorschememapping", b"datastore", b"listtable",
    b"listoverridetable", b"rsidtbl", b"generator", b"fldinst", b"latentstyles", b"xmlnstbl", b"filetbl", b"revtbl",
    b"bkmkstart", b"bkmkend", b"nonshppict", b"shppict", b"pntext", b"listtext",
}  # fmt: skip
_SIGNS = {
    b"par": "\n\n", b"sect": "\n\n", b"page": "\n\n", b"line": "\n", b"tab": "\t", b"cell": "\t", b"row": "\n",
    b"emdash": "—", b"endash": "–", b"lquote": "‘", b"rquote": "’", b"ldblquote": "“", b"rdblquote": "”",
    b"bullet": "•", b"~": " ", b"_": "-", b"-": "", b"\n": "\n\n", b"\r": "\n\n",
}  # fmt: skip
_DEEPEST = 1000


class _Rtf:
    """The state of reading: where text goes, and how its bytes are decoded."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.texts: dict[str, list[str]] = {"text": [], "title": [], "nowhere": []}
        self.into, self.replaced = "text", 1  # characters after \u that stand for it in old readers
        self.stack: list[tuple[str, int]] = []
        self.to_skip, self.encoding = 0, "cp1252"
        self.raw = bytearray()

    def write(self, text: str) -> None:
        if self.into != "nowhere":
            self.texts[self.into].append(text)

    def take(self, data: bytes) -> None:
        skipped = min(self.to_skip, len(data))
        self.to_skip -= skipped
        self.raw += data[skipped:]

    def flush(self) -> None:
        if self.raw:
            self.write(self.raw.decode(self.encoding, "replace"))
            self.raw.clear()

    def brace(self, brace: bytes) -> None:
        self.to_skip = 0
        if brace == b"{":
            self.stack.append((self.into, self.replaced))
            if len(self.stack) > _DEEPEST:
                raise CorpusError(f"{self.name} must not nest groups more than {_DEEPEST} deep.")
        elif self.stack:
            self.into, self.replaced = self.stack.pop()

    def word(self, word: bytes, number: int | None) -> None:
        if word == b"u" and number is not None:
            code = number + 65536 if number < 0 else number
            self.write(chr(code) if 0 <= code < 0x110000 else "\N{REPLACEMENT CHARACTER}")
            self.to_skip = self.replaced
        elif word == b"uc" and number is not None:
            self.replaced = max(0, min(number, 10))
        elif word == b"ansicpg" and number:
            self.encoding = _code_page(number)
        elif word == b"title" and self.into == "nowhere":  # within the group of properties
            self.into = "title"
        elif word in _DESTINATIONS:
            self.into = "nowhere"
        elif word in _SIGNS:
            self.write(_SIGNS[word])


def read_rtf(data: bytes, name: str) -> Extract:
    """Return the text and title of an RTF file."""
    state = _Rtf(name)
    for match in _TOKEN.finditer(data):
        kind = match.lastgroup
        if kind in ("byte", "plain"):
            state.take(match["plain"] if kind == "plain" else bytes.fromhex(match["byte"].decode()))
            continue
        state.flush()
        if kind == "brace":
            state.brace(match["brace"])
        elif kind == "sign":
            if match["sign"] == b"*":
                state.into = "nowhere"
            else:
                state.write(_SIGNS.get(match["sign"], match["sign"].decode("latin-1")))
        elif match["word"] is not None:
            state.word(match["word"], int(match["number"]) if match["number"] else None)
    state.flush()
    from ..store import replace_surrogates  # it brings NumPy, which the help of a command does not need

    text, title = (replace_surrogates("".join(state.texts[kind])) for kind in ("text", "title"))  # pairs of \u
    return Extract((tidy(text),), title)


def _code_page(number: int) -> str:
    try:
        "".encode(f"cp{number}")
    except LookupError:
        return "cp1252"
    return f"cp{number}"


def open_rtf(source: Source) -> Table:
    """Read an RTF file as text."""
    return document_table(read_rtf(source.content(), source.name), source)


FORMATS = (Reader("rtf", open_rtf, (".rtf",), (0, b"{\\rtf"), in_folder=True),)
