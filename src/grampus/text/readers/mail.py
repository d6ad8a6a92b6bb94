"""Mail: messages as files, mbox and maildir; the subject is the title, plain text goes before HTML."""

from collections.abc import Iterator
from email import message_from_bytes
from email.header import decode_header
from email.message import Message
from email.policy import Compat32
from email.utils import parsedate_to_datetime
from typing import Any

from ...errors import CorpusError
from .decode import check_encoding, decode
from .extract import one_line, tidy
from .html import decode_html, extract_html
from .log import Log, quoted, refusing
from .registry import BadRecord, Reader, Record, Source, Table

_COLUMNS = ("text", "title", "date", "sender", "attachments")
_DEEPEST = 50  # parts within parts
_LONGEST = 4096  # of a header; the email package is quadratic in some


class _Policy(Compat32):
    """The policy of the email package for damaged messages, with headers cut at a length."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_LONGEST]


def _header(message: Message, name: str) -> str:
    """Return a header decoded; undecodable parts as they stand."""
    value = message.get(name)
    if value is None:
        return ""
    try:
        parts = [
            part.decode(charset or "utf-8", "replace") if isinstance(part, bytes) else part
            for part, charset in decode_header(str(value))
        ]
    except Exception:  # damaged words, unknown charsets: the package raises many kinds
        parts = [str(value)]
    return one_line("".join(parts))


def _date(message: Message) -> str:
    try:
        return parsedate_to_datetime(str(message.get("Date", ""))).isoformat()
    except Exception:
        return ""


def _parts(message: Message, depth: int = 0) -> Iterator[Message]:
    """Yield the parts that hold content; of alternatives, the plain text or else the last."""
    payload: Any = message.get_payload()
    if not isinstance(payload, list) or depth > _DEEPEST:
        yield message
    elif message.get_content_type() == "multipart/alternative":
        plain = [part for part in payload if part.get_content_type() == "text/plain" and part.get_payload()]
        for part in plain[:1] or payload[-1:]:
            yield from _parts(part, depth + 1)
    else:
        for part in payload:
            yield from _parts(part, depth + 1)


def _part_text(part: Message, name: str, log: Log) -> str:
    data = part.get_payload(decode=True)
    data = data if isinstance(data, bytes) else b""
    try:
        encoding = check_encoding(part.get_content_charset())
    except ValueError:
        encoding = None
    if encoding in ("utf-8", "ascii"):
        encoding = None
    if part.get_content_type() == "text/html":
        return extract_html(decode_html(data, name, encoding, log)).pages[0]
    return tidy(decode(data, name, encoding, log))


def read_message(data: bytes, name: str, log: Log) -> dict[str, object]:
    """Return a message as the values of a record."""
    with refusing(f"{name} must be a mail; it is damaged"):
        message = message_from_bytes(data, policy=_Policy())
        if not message.keys():
            raise CorpusError(f"{name} must be a mail with headers; it has none.")
        subject = _header(message, "Subject")
        texts, attachments = [], []
        for part in _parts(message):
            file = part.get_filename()
            if file or part.get_content_disposition() == "attachment":
                attachments.append(one_line(str(file or part.get_content_type())))
            elif part.get_content_maintype() == "text":
                texts.append(_part_text(part, name, log))
    body = "\n\n".join(text for text in texts if text)
    return {
        "text": f"{subject}\n\n{body}".strip(),
        "title": subject,
        "date": _date(message),
        "sender": _header(message, "From"),
        "attachments": ", ".join(attachments),
    }


def open_mail(source: Source) -> Table:
    """Read one message."""
    values = read_message(source.content(), source.name, source.log)
    if values["attachments"]:
        source.log.say("attachments were not read", source.name)
    return Table("file", _COLUMNS, iter([Record(1, values)]), title="title", date="date")


def open_mbox(source: Source) -> Table:
    """Read a message after each line that begins with ``From`` and follows a blank one."""
    return Table("message", _COLUMNS, _messages(source), title="title", date="date")


def _messages(source: Source) -> Iterator[Record | BadRecord]:
    limit = source.limits.max_document_bytes
    attached = 0
    for number, data in enumerate(_split_mbox(source.chunks(), limit, source.name), 1):
        if data is None:
            yield BadRecord.too_large(number, limit)
            continue
        try:
            values = read_message(data, f"{source.name} message {number}", source.log)
        except CorpusError as error:
            yield BadRecord(number, "not a mail", f"is not a mail ({quoted(error)})")
            continue
        attached += bool(values["attachments"])
        yield Record(number, values)
    if attached:
        source.log.say(f"attachments of {attached} messages were not read", source.name)


def _split_mbox(pieces: Iterator[bytes], limit: int, name: str) -> Iterator[bytes | None]:
    """Yield the messages of an mbox; None for one of more than `limit` bytes."""
    message: list[bytes] = []
    size, blank, begun = 0, True, False
    for line in _byte_lines(pieces, limit):
        if blank and line.startswith(b"From "):
            if begun:
                yield b"".join(message) if size <= limit else None
            message, size, begun = [], 0, True
        elif not begun and line.strip():
            raise CorpusError(f"{name} must be an mbox; it does not begin with a line 'From '.")
        elif begun:
            size += len(line)
            if size <= limit:
                message.append(line[1:] if line.startswith(b">") and line.lstrip(b">").startswith(b"From ") else line)
        blank = not line.strip()
    if begun:
        yield b"".join(message) if size <= limit else None


def _byte_lines(pieces: Iterator[bytes], longest: int) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line + b"\n"
        if len(rest) > min(longest, 1 << 20):  # such a line is no text; it need not stay whole
            yield rest
            rest = b""
    if rest:
        yield rest


FORMATS = (
    Reader("mail", open_mail, (".eml",), in_folder=True),
    Reader("mbox", open_mbox, (".mbox", ".mbx"), in_folder=True),
)
