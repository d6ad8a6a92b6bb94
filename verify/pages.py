"""The committed results of the reproductions, read back: their rows, and what made them."""

from __future__ import annotations

from itertools import dropwhile, takewhile

from verify.commands import ROOT

RESULTS = ROOT / "reproductions" / "results"


def page(name: str) -> list[str]:
    """Return the lines of a result."""
    return (RESULTS / f"{name}.md").read_text(encoding="utf-8").splitlines()


def rows(name: str) -> list[list[str]]:
    """Return the cells of the first table of a result, without its head."""
    table = takewhile(lambda line: line.startswith("|"), dropwhile(lambda line: not line.startswith("|"), page(name)))
    return [line.strip("| ").split(" | ") for line in list(table)[2:]]


def provenance(name: str) -> str:
    """Return the command, seed, commit and date of a result."""
    return next(line for line in page(name) if line.startswith("`python -m reproductions"))
