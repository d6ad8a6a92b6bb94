"""Encoded attachments in texts: uuencode, base64, PGP."""

import re

_UUENCODED = re.compile(r"^begin [0-7]{3,4} .*\n(?:[ -`]{1,62}\n)+?`?\s*end\b", re.MULTILINE)
_UU_LINES = re.compile(r"M(?<=^M)[!-`]{60}[ \t]*\n(?:^M[!-`]{60}[ \t]*\n){2,}(?:^[!-`]{2,61}\n)?", re.MULTILINE)
_BASE64 = re.compile(r"(?:^[A-Za-z0-9+/]{56,76}[ \t]*\n){3,}(?:^[A-Za-z0-9+/]{1,76}={0,2}[ \t]*$)?", re.MULTILINE)
_PGP = re.compile(
    r"^-----BEGIN PGP (?!SIGNED)[A-Z ]+-----$.*?(?:^-----END PGP [A-Z ]+-----$|\Z)", re.MULTILINE | re.DOTALL
)
_LONG_LINES = re.compile(r"\n\S{56,78}[ \t]*\n\S{56}")


def cut(pattern: re.Pattern[str], text: str, dropped: list[str], blank: str = " ") -> str:
    """Replace what matches by a blank, and remember it."""

    def replaced(found: re.Match[str]) -> str:
        dropped.append(found[0])
        return blank

    return pattern.sub(replaced, text)


def drop_attachments(text: str, dropped: list[str]) -> str:
    """Drop blocks of encoded data: at least three long lines of it, or what has its own first and last line."""
    if "-----BEGIN PGP " in text:
        text = cut(_PGP, text, dropped, "\n")
    if "\nbegin " in text or text.startswith("begin "):
        text = cut(_UUENCODED, text, dropped, "\n")
    if _LONG_LINES.search(text):
        text = cut(_BASE64, cut(_UU_LINES, text, dropped, "\n"), dropped, "\n")
    return text
