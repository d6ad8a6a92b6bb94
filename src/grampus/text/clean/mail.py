"""What mail and news add to a text: headers, signatures, lines that introduce a quotation, addresses."""

import re

_FIELD = re.compile(r"([A-Za-z][\w-]{0,40}):[ \t]*(.*)")
_FIELDS = re.compile(f"^{_FIELD.pattern}", re.MULTILINE)
_KNOWN = frozenset((
    "from", "to", "cc", "subject", "date", "message-id", "newsgroups", "path", "organization", "organisation",
    "lines", "reply-to", "references", "sender", "nntp-posting-host", "in-reply-to", "received", "return-path",
    "mime-version", "content-type", "distribution", "keywords", "summary", "delivered-to", "x-mailer", "x-newsreader",
    "followup-to", "expires", "approved", "originator", "status",
))  # fmt: skip
_KEPT = ("subject", "keywords", "summary")
_MOST_HEADERS = 200  # lines

_SIGNATURE = re.compile(r"\n-- ?\n")
_LONGEST_SIGNATURE = 12  # lines
# "In article <id> someone@somewhere (Name) writes:", and the same in other languages.
_COLON = re.compile(r":[ \t]*(?=\n|$)")
_SAYS = ("writes", "wrote", "schrieb", "schreibt", "écrit", "écrit\xa0", "escribió", "escribe", "ha scritto", "scrive",
         "skrev", "schreef")  # fmt: skip
_MARKED = re.compile(r"[@<(]|^[>|:\s]*(?:In|On|Am|Le|El|Il|Em|Den|Op) ")
_LONGEST_LINE = 300  # characters

_BEFORE_AT = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+%$!=/-<"
_AFTER_AT = re.compile(r"[\w-]{1,64}(?:\.[\w-]{1,64})+>?")
_URL_SIGN = re.compile(r"[:wW](?:(?<=:)//|(?<!:)[wW]{2}\.)")  # found much sooner than a name before it
_SCHEME = re.compile(r"(?:https?|ftps?|file|gopher|telnet|news|nntp|mailto|git|ssh)\Z", re.IGNORECASE)
_LONGEST_SCHEME = 6
_URL_REST = re.compile(r"[^\s<>\"）」]+")


def drop_headers(text: str, dropped: list[str]) -> str:
    """Drop the header of a mail or news article; the subject, keywords and summary stay.

    A header is what a text begins with: fields up to the first blank line, two of them of mail or news, and a subject
    or a sender among these.
    """
    start = 0
    if text.startswith("From ") and (end := text.find("\n")) > 0:  # the first line of a message in an mbox
        start = end + 1
    if _FIELD.match(text, start) is None:
        return text
    end = text.find("\n\n", start)
    head = text[start:] if end < 0 else text[start:end]
    fields = _FIELDS.findall(head)
    if len(fields) == head.count("\n") + 1 <= _MOST_HEADERS:  # every line is a field
        kept = [value for name, value in fields if name.lower() in _KEPT]
        return _without_head(text, start, head, {name.lower() for name, _ in fields}, kept, dropped)
    lines = head.split("\n", _MOST_HEADERS)
    names, kept, current = set(), [], ""
    for number, line in enumerate(lines):
        if line[:1] in (" ", "\t"):
            value = line
        elif (field := _FIELD.match(line)) is not None:
            current, value = field[1].lower(), field[2]
            names.add(current)
        elif number == len(lines) - 1 or end < 0:  # no blank line: the rest is text
            return text
        else:
            continue  # a field broken by hand
        if current in _KEPT:
            kept.append(value)
    return _without_head(text, start, head, names, kept, dropped)


def _without_head(text: str, start: int, head: str, names: set[str], kept: list[str], dropped: list[str]) -> str:
    """Return a text with what is kept of its head; the text itself if the fields are not those of mail or news."""
    if len(names & _KNOWN) < 2 or not names & {"from", "subject"}:
        return text
    end = start + len(head)
    dropped.append(text[:end])
    return "\n".join(value.strip() for value in kept) + text[end:]


def drop_signature(text: str, dropped: list[str]) -> str:
    """Drop what follows the last line ``--``, if it is at most 12 lines."""
    found = None
    for found in _SIGNATURE.finditer(text) if "\n--" in text else ():  # noqa: B007  (the last one)
        pass
    if found is None or text.count("\n", found.end()) > _LONGEST_SIGNATURE:
        return text
    dropped.append(text[found.start() :])
    return text[: found.start()]


def drop_introductions(text: str, dropped: list[str]) -> str:
    """Drop the lines that say who wrote what is quoted next."""
    kept, start = [], 0
    if ":" not in text:
        return text
    for found in _COLON.finditer(text):
        if not text[max(found.start() - 12, 0) : found.start()].rstrip(" ").endswith(_SAYS):
            continue
        line = text.rfind("\n", start, found.start()) + 1 or start
        before = text.rfind("\n", start, max(line - 1, start)) + 1 or start
        if text[before:line].lstrip("> |:").startswith(("In article", "In message", "In <")):
            line = before  # over two lines
        if found.end() - line < _LONGEST_LINE and _MARKED.search(text[line : found.start()]):
            kept.append(text[start:line])
            dropped.append(text[line : found.end()])
            start = found.end()
    return "".join([*kept, text[start:]]) if kept else text


def drop_addresses(text: str, dropped: list[str]) -> str:
    """Drop addresses of mail and of pages on the web."""
    if "@" in text:
        text = _drop_mail_addresses(text, dropped)
    return _drop_urls(text, dropped) if "://" in text or "www." in text else text


def _drop_urls(text: str, dropped: list[str]) -> str:
    """Drop ``scheme://…`` and ``www.…``, in any case."""
    kept, start = [], 0
    for sign in _URL_SIGN.finditer(text):
        first, rest = sign.start(), _URL_REST.match(text, sign.end())
        if first < start or rest is None:
            continue
        if text[first] == ":":
            before = text[max(start, first - _LONGEST_SCHEME) : first]
            if (scheme := _SCHEME.search(before)) is None:
                continue
            first -= len(before) - scheme.start()
        kept.append(text[start:first])
        dropped.append(text[first : rest.end()])
        start = rest.end()
    return " ".join([*kept, text[start:]]) if kept else text


def _drop_mail_addresses(text: str, dropped: list[str]) -> str:
    """Drop ``name@host``; each sign is looked at from both sides, since most words are no address."""
    first, *others = text.split("@")
    kept = [first]
    for piece in others:
        size = len(tail := kept[-1][-66:]) - len(tail.rstrip(_BEFORE_AT))
        right = _AFTER_AT.match(piece)
        if not size or right is None:
            kept += ["@", piece]
            continue
        dropped.append(f"{tail[-size:]}@{right[0]}")
        kept[-1] = kept[-1][:-size]
        kept += [" ", piece[right.end() :]]
    return "".join(kept)
