"""One list of the papers' claims, held or not, from the stored results: lab/results/claims.md."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from lab.conditions import conditions
from lab.harness import Record, Row, load

SENTENCE = re.compile(r"\(§[^)]*\)")  # the text of a row that is itself a sentence of a paper
CLAIM = re.compile(r"^\| (.+?) \| (held|\*\*not held\*\*) \| (.+) \|$", re.MULTILINE)
LONGEST = 160  # characters of evidence; the row has all of it


def of(row: Row, record: Record) -> Iterator[tuple[str, str, str]]:
    """Yield claim, verdict and evidence of one result."""
    if SENTENCE.search(row.shows) and record.measures:
        known = conditions()
        held = not any(known[name].missed(record.measures) for name in row.conditions)
        yield row.shows, "held" if held else "**not held**", record.figure
    for claim, verdict, evidence in CLAIM.findall(record.body):
        yield claim, verdict, evidence if len(evidence) <= LONGEST else f"{evidence[:LONGEST].rsplit(' ', 1)[0]} …"


def page(rows: Sequence[Row], folder: Path) -> str:
    """Return the Markdown page: a table of claims for each paper."""
    parts = ["# The papers' claims", "Written by `python -m lab papers --save`."]
    for paper, members in groupby(rows, key=lambda row: row.name.partition("-")[0]):
        lines = ["| claim | here | evidence | row, commit |", "|---|---|---|---|"]
        for row in members:
            if (record := load(row, folder)) is None:
                continue
            made = f"`{row.name}`, {record.made.get('commit', '–')}"
            lines += [f"| {claim} | {here} | {evidence} | {made} |" for claim, here, evidence in of(row, record)]
        held = sum(" | held | " in line for line in lines)
        total = f"{held} of {len(lines) - 2} held."
        parts += [f"<!-- claims of {paper} -->", total, "\n".join(lines), f"<!-- end of claims of {paper} -->"]
    return "\n\n".join(parts) + "\n"
