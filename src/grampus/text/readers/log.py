"""What a reader collects besides documents: skipped items, notes and progress."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ..._progress import Progress, as_progress, throttle
from ...errors import CorpusError
from ..files import FileRecord

_LONGEST = 120
_NAMED = 3  # places that a note names


class CorpusWarning(UserWarning):
    """Something about a corpus that its user should know; also kept in ``Corpus.notes``.

    Examples
    --------
    >>> import warnings
    >>> from grampus.text import CorpusWarning
    >>> warnings.simplefilter("ignore", CorpusWarning)  # read without them
    >>> warnings.simplefilter("default", CorpusWarning)
    """


def quoted(value: object, longest: int = _LONGEST) -> str:
    """Return a name or value fit for a message: one line, no control characters, not long."""
    whole = str(value)
    if len(whole) <= longest and whole.isprintable():
        return whole
    text = "".join(
        c if c.isprintable()
        else f"\\x{ord(c) - 0xDC00:02x}" if "\udc80" <= c <= "\udcff"  # a byte of a name that is not UTF-8
        else c.encode("unicode_escape").decode("ascii")
        for c in whole[: longest + 1]
    )  # fmt: skip
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


@contextmanager
def refusing(what: str, explain: Callable[[Exception], str] = quoted) -> Iterator[None]:
    """Turn whatever a library raises for damaged input into a `CorpusError`: what must hold, and the reason."""
    try:
        yield
    except CorpusError:
        raise
    except Exception as error:  # libraries raise many kinds, some outside their own trees
        raise CorpusError(f"{what} ({explain(error)}).") from error


class Collected(NamedTuple):
    """What a log collected: items skipped by reason, notes with their places, which of them need no warning, files."""

    skipped: Counter[str]
    notes: dict[str, list[str]]
    said: set[str]
    files: list[FileRecord]


class Log:
    """Count skipped items by reason, collect notes and report progress."""

    def __init__(self, progress: Progress | None = None) -> None:
        self.skipped: Counter[str] = Counter()
        self.done = 0  # bytes of the source read so far
        self.total: int | None = None  # bytes of the whole source, where it has a size
        self.files: list[FileRecord] = []
        self._notes: dict[str, list[str]] = {}
        self._said: set[str] = set()
        self._progress = throttle(as_progress(progress))

    def skip(self, reason: str) -> None:
        """Count something left out."""
        self.skipped[reason] += 1

    def note(self, what: str, where: str = "") -> None:
        """Keep a note; notes that differ only in their place are merged."""
        self._notes.setdefault(what, []).append(where)

    def say(self, what: str, where: str = "") -> None:
        """Keep a note on a choice that needs no warning."""
        self._said.add(what)
        self.note(what, where)

    def take(self) -> Collected:
        """Return what was collected so far, and begin anew."""
        collected = Collected(self.skipped, self._notes, self._said, self.files)
        self.skipped, self._notes, self._said, self.files = Counter(), {}, set(), []
        return collected

    def join(self, other: Collected) -> None:
        """Add what was collected elsewhere, after what was collected here."""
        for reason, count in other.skipped.items():  # in the order in which they were met
            self.skipped[reason] += count
        for what, places in other.notes.items():
            self._notes.setdefault(what, []).extend(places)
        self._said |= other.said
        self.files += other.files

    def notes(self, *, warnings_only: bool = False) -> list[str]:
        """Return one line per kind of note, naming the first places."""
        lines = []
        for what, places in self._notes.items():
            if warnings_only and what in self._said:
                continue
            named = [place for place in places if place]
            more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
            lines.append(f"{what}: {', '.join(named[:_NAMED])}{more}." if named else f"{what}.")
        return lines

    def report(self, documents: int, *, last: bool = False) -> None:
        """Report the bytes read, or the documents kept where the source has no size."""
        done = documents if self.total is None else self.total if last else self.done
        self._progress("reading", done, done if last else self.total)

    def warn(self, stacklevel: int) -> None:
        """Issue every note as a `CorpusWarning`, except those on plain choices."""
        for line in self.notes(warnings_only=True):
            warnings.warn(line, CorpusWarning, stacklevel=stacklevel + 1)
