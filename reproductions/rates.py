"""`validation`: what §4.1 says of table 1, held or not, from the committed table."""

from __future__ import annotations

import re
from pathlib import Path

from reproductions.outcome import Claim, Outcome
from reproductions.registry import reproduction
from reproductions.steps import Steps
from reproductions.validation import KERNEL_SCHEMES, SCHEMES, TABLE_1

RESULT = Path(__file__).parent / "results" / "validation-table1.md"


def committed() -> dict[str, tuple[int, int]]:
    """Return our overall rates of first and top-3 hits by scheme, in per cent."""
    rows = [line.strip("| ").split(" | ") for line in RESULT.read_text(encoding="utf-8").splitlines()]
    found = {row[2]: re.findall(r"(\d+) \(", " ".join(row[3:])) for row in rows if row[0] == "overall"}
    return {scheme: (int(first), int(three)) for scheme, (first, three) in found.items()}


@reproduction(
    "validation", "rates", "What the paper says of its artificial sets, held or not, from the committed table."
)
def claims(steps: Steps) -> Outcome:
    """Compare the schemes with the print and with each other."""
    ours = committed()
    found = []
    for scheme in SCHEMES:
        there = tuple(values[SCHEMES.index(scheme)] for values in TABLE_1["overall"])
        reached = all(mine >= theirs for mine, theirs in zip(ours[scheme], there, strict=True))
        said = f"{ours[scheme][0]} and {ours[scheme][1]} %, published {there[0]} and {there[1]} %"
        found.append(Claim(f"{scheme} is right first, and among three, as often as published.", reached, said))
    first = {scheme: rates[0] for scheme, rates in ours.items()}
    told = ", ".join(f"{scheme} {rate} %" for scheme, rate in first.items())
    above = min(first[scheme] for scheme in KERNEL_SCHEMES) > max(first["KM-S"], first["KM-P"])
    found.append(Claim("Both kernel schemes are right first more often than those of k-means.", above, told))
    found.append(Claim("RED-S is right first more often than KKM-S.", first["RED-S"] > first["KKM-S"], told))
    return Outcome(claims=found)
