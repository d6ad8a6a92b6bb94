"""What a row returns: a figure in one line, the measures behind it, and perhaps tables, claims, notes and pictures."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

NEAR = 0.03  # a cell further than this from the published value is marked


class Unavailable(Exception):  # noqa: N818  (a notice, not an error)
    """Something the row needs is not installed here; the message says what to install."""


def program(name: str, hint: str) -> str:
    """Return where a program is; raise where it is not installed, with what to install."""
    if (found := shutil.which(name)) is None:
        raise Unavailable(f"{name} is not installed ({hint})")
    return found


@dataclass(frozen=True)
class Cell:
    """Our value, its standard error over the trials, and the published value; the last two may be missing."""

    ours: float
    published: float | None = None
    error: float | None = None
    digits: int = 3

    @classmethod
    def of(cls, values: Any, published: float | None = None) -> Cell:
        """Return the mean of some trials with its standard error."""
        return cls(float(np.mean(values)), published, float(np.std(values, ddof=1) / np.sqrt(len(values))))

    @property
    def difference(self) -> float | None:
        """Our value minus the published one, rounded to the digits shown."""
        return None if self.published is None else round(self.ours - self.published, self.digits)

    @property
    def near(self) -> bool:
        """Whether our value is within 0.03 of the published one; true when none was published."""
        return self.difference is None or abs(self.difference) <= NEAR

    def __str__(self) -> str:
        text = f"{self.ours:.{self.digits}f}"
        if self.error is not None:
            text += f" ± {self.error:.{self.digits}f}"
        if self.published is not None:
            text += f" ({self.published:g}, {self.difference:+.{self.digits}f}{'' if self.near else ' !'})"
        return text


@dataclass(frozen=True)
class Table:
    """A title, the names of the columns, and rows of texts, numbers and cells."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    @property
    def cells(self) -> list[Cell]:
        """The cells that have a published value."""
        return [c for row in self.rows for c in row if isinstance(c, Cell) and c.published is not None]

    def markdown(self) -> str:
        """Return the table in Markdown."""
        lines = [[str(name) for name in self.columns], ["---"] * len(self.columns)]
        lines += [["–" if value is None else str(value).replace("|", "\\|") for value in row] for row in self.rows]
        return f"**{self.title}**\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines)


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, whether it held here, and the evidence."""

    text: str
    held: bool
    evidence: str


@dataclass(frozen=True)
class Found:
    """The result of a row. `measures` are what the conditions judge; `pictures` draw on a matplotlib figure."""

    figure: str = ""
    measures: Mapping[str, float] = field(default_factory=dict)
    tables: Sequence[Table] = ()
    claims: Sequence[Claim] = ()
    notes: Sequence[str] = ()
    pictures: Mapping[str, Callable[[Any], None]] = field(default_factory=dict)

    @property
    def cells(self) -> list[Cell]:
        """The cells of all tables that have a published value."""
        return [cell for table in self.tables for cell in table.cells]

    def summary(self) -> str:
        """Return the figure, or the numbers of cells near the published values and of claims that held."""
        parts = [self.figure] if self.figure else []
        if self.cells and not self.figure:
            parts.append(f"{sum(cell.near for cell in self.cells)} of {len(self.cells)} cells within {NEAR}")
        if self.claims and not self.figure:
            parts.append(f"{sum(claim.held for claim in self.claims)} of {len(self.claims)} claims held")
        return ", ".join(parts)

    def markdown(self) -> str:
        """Return tables, claims and notes in Markdown."""
        parts = [table.markdown() for table in self.tables]
        if self.cells:
            ours = "ours ± standard error" if any(cell.error is not None for cell in self.cells) else "ours"
            parts.append(f"Cells: {ours} (published, difference; ! beyond {NEAR}).")
        if self.claims:
            rows = [(claim.text, "held" if claim.held else "**not held**", claim.evidence) for claim in self.claims]
            parts.append(Table("Claims", ("claim", "here", "evidence"), rows).markdown())
        return "\n\n".join([*parts, *self.notes])
