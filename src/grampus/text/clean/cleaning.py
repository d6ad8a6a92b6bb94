"""Cleaning: drop from texts what is not about anything before they are counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, cached_property

from .blocks import drop_attachments
from .lines import counts_lines, drop_lines, shared_lines
from .mail import drop_addresses, drop_headers, drop_introductions, drop_signature
from .markup import drop_marks, drop_markup, drop_troff

Step = Callable[[str, list[str]], str]


@dataclass(frozen=True)
class Cleaning:
    r"""What to drop from texts before their words are counted. Quotations stay: they say what an answer is about.

    Parameters
    ----------
    headers : bool
        Headers of mail and news that a text begins with; subject, keywords and summary stay.
    signatures : bool
        What follows a line ``--`` at the end, and the lines that say who wrote a quotation.
    addresses : bool
        Addresses of mail and of the web.
    attachments : bool
        Encoded data: uuencode, base64, PGP.
    markup : bool
        HTML tags; entities become their characters; images of Markdown, directives of reStructuredText; the requests
        of manual pages in troff.
    lines : bool
        Lines of two words or more that a fifth of the documents share, and at least ten; not the first of a text.

    Examples
    --------
    >>> from grampus.text import Cleaning
    >>> cleaner = Cleaning().learn(["From: w@sea.org\nSubject: Song\n\n<b>Whales</b> sing &amp; dive"])
    >>> cleaner("From: w@sea.org\nSubject: Song\n\n<b>Whales</b> sing &amp; dive").split()
    ['Song', 'Whales', 'sing', '&', 'dive']
    """

    headers: bool = True
    signatures: bool = True
    addresses: bool = True
    attachments: bool = True
    markup: bool = True
    lines: bool = True

    def learn(self, texts: Sequence[str]) -> Cleaner:
        """Return a cleaner that knows the lines which these texts share."""
        bare, n = Cleaner(self), len(texts)
        return (
            Cleaner(self, shared_lines(bare(text) for text in texts if counts_lines(text, n))) if self.lines else bare
        )


# In this order, which `steps_for` knows, too: what is inside a header or an attachment is dropped with it.
STEPS: tuple[tuple[str, str, Step], ...] = (
    ("headers", "mail headers", drop_headers),
    ("attachments", "encoded attachments", drop_attachments),
    ("signatures", "signatures", drop_signature),
    ("signatures", "lines that introduce quotations", drop_introductions),
    ("markup", "troff requests", drop_troff),
    ("markup", "images and directives", drop_marks),
    ("markup", "tags and entities", drop_markup),
    ("addresses", "addresses", drop_addresses),
)
SHARED = "shared lines"
SINGULAR = {
    "mail headers": "mail header", "encoded attachments": "encoded attachment", "signatures": "signature",
    "lines that introduce quotations": "line that introduces a quotation", "troff requests": "troff request",
    "images and directives": "image or directive", "tags and entities": "tag or entity", "addresses": "address",
    SHARED: "shared line",
}  # fmt: skip
_WORD = re.compile(r"[^\W_]")


@cache
def _look() -> Callable[[str | bytes, int], int]:
    from ..._native._core import steps_for  # here: the help of the command does without NumPy

    return steps_for


def _wanted(text: str, among: int) -> int:
    """Return those of some steps, as bits, that may find anything in a text."""
    return _look()(text if text.isascii() else text.encode("utf-8", "surrogatepass"), among)


@dataclass
class Dropped:
    """What cleaning dropped: how many pieces of each kind, from how many documents, and the most frequent ones.

    Attributes
    ----------
    documents, pieces : dict of str to int
        By kind.
    examples : dict of str to Counter
        The first 80 characters of pieces, where they are to be kept.
    """

    documents: Counter[str] = field(default_factory=Counter)
    pieces: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Counter[str]] | None = None

    def add(self, kind: str, pieces: Sequence[str]) -> None:
        """Count the pieces dropped from one document."""
        self.documents[kind] += 1
        self.pieces[kind] += len(pieces)
        if self.examples is not None:
            self.examples.setdefault(kind, Counter()).update(" ".join(piece[:400].split())[:80] for piece in pieces)

    def note(self) -> str:
        """Return what was dropped in one line; an empty string if nothing was.

        Examples
        --------
        >>> from grampus.text.clean import Dropped
        >>> found = Dropped()
        >>> found.add("addresses", ["a@b.org", "c@d.org"])
        >>> found.note()
        'Not counted: 2 addresses (1 document).'
        """
        parts = [
            f"{self.pieces[kind]:,} {SINGULAR[kind] if self.pieces[kind] == 1 else kind} "
            f"({self.documents[kind]:,} document{'s' if self.documents[kind] > 1 else ''})"
            for kind in dict.fromkeys((*(kind for _, kind, _ in STEPS), SHARED))
            if self.documents[kind]
        ]
        return f"Not counted: {', '.join(parts)}." if parts else ""


@dataclass(frozen=True)
class Cleaner:
    """Drops what `cleaning` says and the lines of `shared` from one text at a time.

    A text of which nothing but signs would be left is returned as it is.
    """

    cleaning: Cleaning = field(default_factory=Cleaning)
    shared: frozenset[str] = frozenset()

    @cached_property
    def _steps(self) -> list[tuple[int, str, Step]]:
        return [
            (1 << at, kind, step) for at, (option, kind, step) in enumerate(STEPS) if getattr(self.cleaning, option)
        ]

    @cached_property
    def _all(self) -> int:
        return sum(bit for bit, _, _ in self._steps)

    def __call__(self, text: str, report: Dropped | None = None) -> str:
        """Return the text without what is dropped; `report` counts that."""
        wanted = _wanted(text, self._all)
        if not wanted and not self.shared:
            return text
        cleaned = text
        found: list[tuple[str, list[str]]] = []
        dropped: list[str] = []
        for bit, kind, step in self._steps:
            if not wanted & bit:
                continue
            cleaned = step(cleaned, dropped)
            if dropped:
                found.append((kind, dropped))
                dropped = []
                wanted = _wanted(cleaned, self._all & -2 * bit)  # the later ones: what was apart may be joined now
        if self.shared and "\n" in cleaned:
            cleaned = drop_lines(cleaned, self.shared, dropped)
            if dropped:
                found.append((SHARED, dropped))
        if not found or _WORD.search(cleaned) is None:
            return text
        if report is not None:
            for kind, pieces in found:
                report.add(kind, pieces)
        return cleaned

    def clean_all(self, texts: Iterable[str], report: Dropped | None = None) -> list[str]:
        """Return all texts cleaned."""
        return [self(text, report) for text in texts]


def as_cleaning(value: object) -> Cleaning | None:
    """Return the cleaning that a parameter asks for: True for all, False or None for none."""
    if isinstance(value, Cleaning):
        return value
    return Cleaning() if value is True else None


def cleaning_options(cleaning: Cleaning) -> dict[str, bool]:
    """Return a cleaning as plain values."""
    return {option.name: bool(getattr(cleaning, option.name)) for option in fields(cleaning)}
