"""What a reproduction found: tables with the published value beside ours, claims held or not, notes, figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

NEAR = 0.03  # a cell further from the published value is marked


@dataclass(frozen=True)
class Cell:
    """Ours, its standard error over the trials, and the published value; either of the last two may be missing."""

    ours: float
    published: float | None = None
    error: float | None = None
    digits: int = 3

    @property
    def difference(self) -> float | None:
        """Ours less the published value, rounded as far as the published one can tell (two digits)."""
        return None if self.published is None else round(self.ours - self.published, self.digits)

    @property
    def near(self) -> bool:
        """Whether ours is within 0.03 of the published value; true when nothing was published."""
        return self.difference is None or abs(self.difference) <= NEAR

    def __str__(self) -> str:
        said = f"{self.ours:.{self.digits}f}"
        if self.error is not None:
            said += f" ± {self.error:.{self.digits}f}"
        if self.published is not None:
            said += f" ({self.published:g}, {self.difference:+.{self.digits}f}{'' if self.near else ' !'})"
        return said


@dataclass(frozen=True)
class Table:
    """A table: a title, the names of the columns, and rows of texts, numbers and cells."""

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
    """A sentence of a paper, whether it held here, and the numbers that say so."""

    text: str
    held: bool
    evidence: str


@dataclass(frozen=True)
class Outcome:
    """All that one reproduction has to say. `figures` are drawn, by name, on a matplotlib figure handed to them."""

    tables: Sequence[Table] = ()
    claims: Sequence[Claim] = ()
    notes: Sequence[str] = ()
    figures: dict[str, Callable[[Any], None]] = field(default_factory=dict)

    def markdown(self) -> str:
        """Return tables, claims and notes in Markdown."""
        parts = [table.markdown() for table in self.tables]
        if cells := [cell for table in self.tables for cell in table.cells]:
            near = sum(cell.near for cell in cells)
            ours = "ours ± standard error" if any(cell.error is not None for cell in cells) else "ours"
            parts.append(
                f"Cells: {ours} (published, difference; ! beyond {NEAR}). {near} of {len(cells)} within {NEAR}."
            )
        if self.claims:
            rows = [(claim.text, "held" if claim.held else "**not held**", claim.evidence) for claim in self.claims]
            parts.append(Table("Claims", ("claim", "here", "evidence"), rows).markdown())
        return "\n\n".join([*parts, *self.notes])
