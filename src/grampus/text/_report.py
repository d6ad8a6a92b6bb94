"""What a reader collects besides documents: skipped things, notes, progress; and how it names things."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from grampus.text._options import CorpusWarning, Progress

__all__ = ["Log", "said", "size"]

_LONGEST = 120
_EVERY = 0.1  # seconds between two calls of progress


def said(value: object, longest: int = _LONGEST) -> str:
    """Return a name or value as it may stand in a message: one line, no control characters, not long."""
    text = "".join(
        c if c.isprintable()
        else f"\\x{ord(c) - 0xDC00:02x}" if "\udc80" <= c <= "\udcff"  # a byte of a name that is not UTF-8
        else c.encode("unicode_escape").decode("ascii")
        for c in str(value)[: longest + 1]
    )  # fmt: skip
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def size(count: float) -> str:
    """Return a number of bytes in words.

    >>> size(64 * 2**20)
    '64 MiB'
    """
    count = min(count, 1e30)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            break
        count /= 1024
    return f"{count:.4g} {unit}"


@dataclass
class Log:
    """Skipped things by reason, notes, and progress while reading."""

    progress: Callable[[Progress], object] | None = None
    skipped: Counter[str] = field(default_factory=Counter)
    _notes: dict[str, list[str]] = field(default_factory=dict)
    done: int | None = None
    total: int | None = None
    _next: float = 0.0

    def skip(self, reason: str) -> None:
        self.skipped[reason] += 1

    def note(self, what: str, where: str = "") -> None:
        """Keep a note; notes that differ in their place only become one."""
        self._notes.setdefault(what, []).append(where)

    def notes(self) -> list[str]:
        """Return one line per kind of note, naming the first places."""
        lines = []
        for what, places in self._notes.items():
            named = [place for place in places if place]
            more = f" and {len(named) - 3} more" if len(named) > 3 else ""
            lines.append(f"{what}: {', '.join(named[:3])}{more}." if named else f"{what}.")
        return lines

    def tell(self, documents: int, *, last: bool = False) -> None:
        """Call the user's progress function, at most a few times a second."""
        if self.progress is None:
            return
        now = time.monotonic()
        if last or now >= self._next:
            self._next = now + _EVERY
            self.progress(Progress(documents, self.done, self.total))

    def warn(self, stacklevel: int) -> None:
        for line in self.notes():
            warnings.warn(line, CorpusWarning, stacklevel=stacklevel + 1)
