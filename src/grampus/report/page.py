"""What a report shows: a run, and what is derived from it."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .._names import number_of
from ..persist import Edit, Run
from ..text import Texts
from .levels import ShownLevel, levels_of
from .verdict import Statement, lead, verdict

Embed = Literal["excerpts", "full", "none"]
UNKNOWN_DAY = int(np.iinfo(np.int32).min)
FEWEST_DATES = 2  # different days that make a chart of time worth drawing


@dataclass(frozen=True, eq=False)
class Page:
    """A run and what the report shows of it.

    Attributes
    ----------
    run : Run
    titles : Texts or None
        None also where texts were left out.
    texts : Texts or None
        Excerpts, full texts, or None.
    whole : bool
        Whether the texts are complete.
    days : int32 array of shape (n,) or None
        Days since 1970-01-01, `UNKNOWN_DAY` where a date cannot be read; None where there are not two different ones.
    statements : tuple of Statement
        The verdict.
    lead : Statement
        How far to believe the clusters, in a sentence.
    levels : tuple of ShownLevel
        Partitions to choose from, coarse to fine.
    own : int
        Which of them the run's own is.
    """

    run: Run
    titles: Texts | None
    texts: Texts | None
    whole: bool
    days: NDArray[np.int32] | None
    statements: tuple[Statement, ...]
    lead: Statement
    levels: tuple[ShownLevel, ...]
    own: int

    @property
    def map_note(self) -> str:
        """What distance means on the map."""
        laid_out = self.run.layout.representatives
        placed = f" {laid_out:,} documents were laid out, the others placed beside those they resemble most."
        groups = " Distances between groups mean little. Pale dots lie between two groups."
        return (
            f"Each dot is a document; neighbours are similar.{groups if self.run.n_clusters > 1 else ''}"
            f"{placed if laid_out else ''}"
        )

    @property
    def text_note(self) -> str:
        """How much of the documents the page holds."""
        if self.texts is None:
            return "This page holds no text, title or word index of the documents, only ids."
        held = "the full text" if self.whole else "the first 160 characters"
        searched = " Search covers every word of every document." if self.run.documents.texts is not None else ""
        return f"This page holds {held} of each document.{searched}"

    @property
    def headline(self) -> str:
        """The number of documents and of clusters."""
        n, k, none = len(self.run), self.run.n_clusters, self.run.n_unassigned
        apart = f", {none:,} in no cluster" if none else ""
        return f"{number_of(n, 'document')} in {number_of(k, 'cluster')}{apart}"

    @property
    def title(self) -> str:
        """What was clustered."""
        return readable(self.run.provenance.source) or "Documents"

    @property
    def labels(self) -> list[int]:
        """The clusters as shown; the last is −1 if there are documents in no cluster."""
        return [*range(self.run.n_clusters), *([-1] if self.run.n_unassigned else [])]

    def name(self, label: int) -> str:
        """Return the name of a cluster, also of none."""
        return self.run.evidence.clusters[label].name or f"Cluster {label + 1}" if label >= 0 else "No cluster"


def page_of(run: Run, embed: Embed = "excerpts", edits: Sequence[Edit] = ()) -> Page:
    """Return what the page of a run shows, with further edits."""
    run = run.edited(*edits) if edits else run
    full = embed == "full" and run.documents.texts is not None
    texts = None if embed == "none" else run.documents.texts if full else run.documents.excerpts
    days = None if run.documents.dates is None else days_of(run.documents.dates)
    titles = None if embed == "none" else run.documents.titles
    levels, own = levels_of(run)
    return Page(run, titles, texts, full, days, verdict(run), lead(run), levels, own)


def days_of(dates: Sequence[str]) -> NDArray[np.int32] | None:
    """Return ISO dates (or their first ten characters, or a bare year or month) as days since 1970.

    Examples
    --------
    >>> from grampus.report.page import days_of
    >>> days_of(["1970-01-02", "1971", "soon"]).tolist()
    [1, 365, -2147483648]
    """
    epoch = date(1970, 1, 1).toordinal()
    days = np.full(len(dates), UNKNOWN_DAY, dtype=np.int32)
    for place, text in enumerate(dates):
        written = text.strip()[:10].replace("/", "-")
        whole = written + "-01-01"[: 3 * (2 - written.count("-"))] if written[:4].isdigit() else written
        try:
            days[place] = date.fromisoformat(whole).toordinal() - epoch
        except ValueError:
            continue
    known = days[days != UNKNOWN_DAY]
    return days if len(np.unique(known)) >= FEWEST_DATES else None


def readable(text: str) -> str:
    """Return a text without control characters, on one line."""
    kept = "".join(" " if unicodedata.category(c) in ("Cc", "Cs") else c for c in text)
    return " ".join(kept.split())
