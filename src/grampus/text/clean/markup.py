"""Markup left in texts: HTML, also escaped or what tokenising left of it, images and directives, and troff."""

import re
from functools import partial
from html import unescape
from unicodedata import normalize

from .blocks import cut

_ELEMENTS = (
    "abbr|address|article|aside|a|base|big|blockquote|body|br|button|b|caption|center|cite|code|col|dd|del|details|"
    "div|dl|dt|em|embed|figure|font|footer|form|frame|h[1-6]|header|head|hr|html|iframe|img|input|ins|i|kbd|label|"
    "link|li|main|map|meta|nav|noscript|object|ol|option|param|picture|pre|p|q|script|section|select|small|span|"
    "strike|strong|style|sub|summary|sup|svg|s|table|tbody|td|textarea|tfoot|thead|th|title|tr|tt|ul|u|var|video"
)
_TAG = re.compile(rf"<!doctype[^>]*>|</?(?:{_ELEMENTS})(?:\s[^<>]{{0,2000}})?/?>", re.IGNORECASE | re.DOTALL)
# Without one of these, "<U>" may be a company, a type or a key.
_SURE = re.compile(
    rf"<(?:/(?:{_ELEMENTS})\s*>|(?:{_ELEMENTS})\s+[\w:-]+\s*=|(?:br|hr)\s*/?>|!doctype|!--)", re.IGNORECASE
)
# What is dropped from its first to its last sign; none of it is searched twice.
_HIDDEN = (
    (re.compile(r"<script\b", re.IGNORECASE), "</script>"),
    (re.compile(r"<style\b", re.IGNORECASE), "</style>"),
    (re.compile("<!--"), "-->"),
)
_ENTITY = re.compile(r"&(?:#\d{1,6}|#x[\da-f]{1,5}|[a-z][a-z\d]{1,30});", re.IGNORECASE)
_PAGE = re.compile(r"\s{0,99}(?:<\?xml[^>]{0,200}>\s{0,99})?<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_BARE_ENTITY = re.compile(r"(?<![\w&])(?:#39|quot|amp|nbsp|lt|gt);")  # whose ampersand was lost
_BARE = ("#39", "quot", "amp", "nbsp", "lt", "gt")
# "&lt;a href=…&gt;" whose punctuation is gone: "lt href http … gt", "lt gt", "lt br gt"; "lt ibm gt" is a company.
_REMAINS = re.compile(r"\blt ((?:\w+ ){0,60}?)gt\b")
_OF_TAG = re.compile(rf"(?:{_ELEMENTS})\s|(?:\w+ )*(?:href|src|http)\b", re.IGNORECASE)
_REMAINING_ENTITY = re.compile(r"(?:quot|nbsp)\b(?<=\b(?:quot|nbsp))")  # letters first: few places are tried

# Of Markdown, images, also inside links, and the addresses of links; of reStructuredText, directives with their
# options, addresses of links and "|name|", which stands for an image as a rule.
_TARGET = r"(?:\([^()\n]{0,2000}\)|\[[^\[\]\n]{0,300}\])"
_IMAGE = re.compile(rf"\[!\[[^\[\]\n]{{0,300}}\]{_TARGET}\s{{0,9}}\]{_TARGET}?|!\[[^\[\]\n]{{0,300}}\]{_TARGET}")
_TARGET_LINE = re.compile(r"^[ ]{0,3}\[[^\]\n]{1,300}\]:[ \t]*<?https?://\S+", re.MULTILINE)
_DIRECTIVE = re.compile(
    r"^[ \t]*\.\.[ \t]+(?:(?:\|[^|\n]+\|[ \t]+)?[\w-]+::|_[^:\n]+:).*(?:\n[ \t]*:[\w -]+:(?!`).*)*", re.MULTILINE
)
_SUBSTITUTION = re.compile(r"(?<!\S)\|[^|\s](?:[^|\n]{0,60}[^|\s])?\|_{0,2}(?![^\s.,;:])")

_TROFF_REQUEST = re.compile(r"^[.'][ \t]*(?:\\[\"#]|[A-Za-z]{1,3}\b|\.$)", re.MULTILINE)
_TROFF_BLOCK = re.compile(r"^\.(?:ig|de1?|am)\b", re.MULTILINE)
_TROFF_DROPPED = re.compile(
    r"^[.'][ \t]*(?:\\[\"#].*|(?:TH|so|ds|if|ie|el|nr|tr|ft|nh|ad|hy|na|ta|as|rm|rr|mso|Dd|Os)\b.*|\.|)$", re.MULTILINE
)
_TROFF_CONTROL = re.compile(r"^[.'].*$", re.MULTILINE)
_TROFF_SECTION = re.compile(r"^\.S[Hh]\b", re.MULTILINE)
_TROFF_MACRO = re.compile(r"^(?:\.[ \t]*%?[A-Za-z]\w*|'[ \t]*[A-Za-z]{1,3})\b", re.MULTILINE)
_TBL_FORMAT = re.compile(r"^\.TS.*\n(?:[^\n.]*\n){0,9}?[^\n.]*\.[ \t]*\n", re.MULTILINE)  # "allbox;", "lb l l."
# Macros of mdoc inside a request: ".It Fl a Ar width".
_MDOC_REQUEST = re.compile(r"^(\.[ \t]*[A-Z][a-z])(.*)$", re.MULTILINE)
_MDOC_MACRO = re.compile(
    r"(?<!\S)(?:A[cdnopqr]|B[coqlk]|Br[coq]|C[dm]|D[coqv]|E[cmorv]|F[alnort]|I[ct]|L[ki]|M[st]|N[mos]|O[copstux]|P[acfopq]|"
    r"Q[coql]|R[sv]|S[choqstxy]|T[an]|U[dx]|V[at]|X[cor])(?!\S)"
)
_TROFF_ESCAPE = re.compile(
    r"\\(?:f(?:\[[^\]\n]*\]|\(..|.)|s[-+]?\d{1,2}|\*?\((?P<two>..)|\*?\[(?P<long>[^\]\n]*)\]|\".*|[-&/,^|:%!c])"
)
# Characters by their names in groff_char(7): an accent and its letter, letters of their own, and signs in words.
_TROFF_ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", ":": "\u0308", "~": "\u0303", ",": "\u0327"}
_TROFF_NAMES = {
    "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "/o": "ø", "/O": "Ø", "/l": "ł", "/L": "Ł", "oa": "å",
    "oA": "Å", "vs": "š", "vS": "Š", "vz": "ž", "vZ": "Ž", "Sd": "ð", "-D": "Ð", "Tp": "þ", "TP": "Þ", ".i": "ı",
    "at": "@", "aq": "'", "Aq": "'", "cq": "’", "oq": "‘", "hy": "-", "en": "–", "em": "—",
    "ff": "ff", "fi": "fi", "fl": "fl", "Fi": "ffi", "Fl": "ffl",
}  # fmt: skip
_SURROGATES = 0xD800  # codes from here on are left out: no letter of a manual page is among them
_TROFF_UNICODE = re.compile(r"u[0-9A-F]{4,6}(?:_[0-9A-F]{4,6})*|char\d{1,3}")


def drop_markup(text: str, dropped: list[str]) -> str:
    """Drop tags and resolve entities, once more if that brings escaped tags to light.

    Of a whole page the main text is left, as the reader of HTML files reads it.
    """
    if _PAGE.match(text):
        return _main_text(text, dropped)
    if "&" in text:
        text = _resolved(text, dropped)
    if "<" in text and _SURE.search(text):
        for first, last in _HIDDEN:
            text = _cut_between(first, last, text, dropped)
        text = cut(_TAG, text, dropped)
    if ";" in text and any(part.endswith(_BARE) for part in text.split(";")):
        text = cut(_BARE_ENTITY, text, dropped)
    if " gt" in text and "lt " in text:
        text = _REMAINS.sub(partial(_without_remains, dropped), text)
    if "quot" in text or "nbsp" in text:
        text = cut(_REMAINING_ENTITY, text, dropped)
    return text


def drop_marks(text: str, dropped: list[str]) -> str:
    """Drop the images of Markdown, badges for the most part, and the directives of reStructuredText."""
    if "[" in text:  # one character is found much sooner than two
        text = cut(_IMAGE, text, dropped) if "![" in text else text
        text = cut(_TARGET_LINE, text, dropped) if "]:" in text else text
    if ".. " in text and ("::" in text or ".. _" in text):
        found = len(dropped)
        text = cut(_DIRECTIVE, text, dropped)
        text = cut(_SUBSTITUTION, text, dropped) if len(dropped) > found else text
    return text


def _main_text(page: str, dropped: list[str]) -> str:
    from ..readers.html import extract_html

    dropped.extend(_TAG.findall(page))
    return "\n".join(extract_html(page).pages)


def _without_remains(dropped: list[str], found: re.Match[str]) -> str:
    """Return what is left of "lt … gt": nothing of a tag, the words of anything else."""
    inside = found[1]
    dropped.append(found[0])
    return " " if not inside or _OF_TAG.match(inside) else inside


def _resolved(text: str, dropped: list[str]) -> str:
    """Resolve entities; those that were escaped twice, too."""
    for _ in range(2):
        found = [entity for entity in _ENTITY.findall(text) if unescape(entity) != entity]
        if not found:
            break
        dropped.extend(found)
        text = unescape(text)
    return text


def _cut_between(first: re.Pattern[str], last: str, text: str, dropped: list[str]) -> str:
    """Drop what begins with a match and ends with a sign, each time; an end that is missing ends the search."""
    kept, start = [], 0
    lower = text.lower() if first.flags & re.IGNORECASE else text
    lower = lower if len(lower) == len(text) else text  # a letter whose lower case is longer
    while (found := first.search(text, start)) is not None and (end := lower.find(last, found.end())) >= 0:
        kept.append(text[start : found.start()])
        dropped.append(text[found.start() : end + len(last)])
        start = end + len(last)
    return " \n".join([*kept, text[start:]]) if kept else text


def drop_troff(text: str, dropped: list[str]) -> str:
    r"""Drop the requests and escapes of a manual page's source, such as ``.SH`` and ``\fB``.

    A source has a line ``.TH`` or ``.Dt``, and one ``.SH`` or ``.Sh``.
    """
    if "\n.S" not in text or ("\n.SH" not in text and "\n.Sh" not in text) or (".TH" not in text and ".Dt" not in text):
        return text
    dropped.extend(_TROFF_REQUEST.findall(text))
    text = _cut_between(_TROFF_BLOCK, "\n..\n", text, dropped)
    if section := _TROFF_SECTION.search(text):  # before it, macros are defined and set
        text = _TROFF_CONTROL.sub("", text[: section.start()]) + text[section.start() :]
    text = _TROFF_DROPPED.sub("", text)
    text = _TBL_FORMAT.sub("", text)
    if "\n.Sh" in text:
        text = _MDOC_REQUEST.sub(lambda found: found[1] + _MDOC_MACRO.sub("", found[2]), text)
    text = _TROFF_MACRO.sub("", text)
    return _TROFF_ESCAPE.sub(_troff_character, text)


def _troff_character(found: re.Match[str]) -> str:
    r"""Return the letter or sign of an escape such as ``\(^o``, ``\[:o]`` or ``\[u00E9]``; nothing for all others."""
    name = found["two"] or found["long"] or ""
    if not name:
        return "-" if found[0] == "\\-" else ""
    if _TROFF_UNICODE.fullmatch(name):
        codes = [int(name[4:])] if name.startswith("char") else [int(code, 16) for code in name[1:].split("_")]
        return normalize("NFC", "".join(map(chr, codes))) if max(codes) < _SURROGATES else ""
    if len(name) == 2 and name[0] in _TROFF_ACCENTS and name[1].isalpha():
        return normalize("NFC", name[1] + _TROFF_ACCENTS[name[0]])
    return _TROFF_NAMES.get(name, "")
