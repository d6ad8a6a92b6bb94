"""What must hold of the measures: conditions.toml, and the record of bounds that a change is compared with.

conditions.lock has the bound each condition had when it was introduced. A condition that is weaker now, or gone,
must be named in docs/results/tried.md, as "condition `NAME`", with the reason.
"""

from __future__ import annotations

import operator
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
DECISIONS = HERE.parent / "docs" / "results" / "tried.md"
HOLDS = {
    "at most": operator.le, "below": operator.lt, "at least": operator.ge, "above": operator.gt, "equal": operator.eq,
}  # fmt: skip


@dataclass(frozen=True)
class Condition:
    """One quantity among the measures of a row, and its bound."""

    name: str
    quantity: str
    direction: str
    bound: float
    reason: str = ""

    def missed(self, measures: Mapping[str, float]) -> str:
        """Return what is wrong with the measures, or an empty text."""
        if self.quantity not in measures:
            return f"{self.quantity} was not measured"
        value = measures[self.quantity]
        return "" if HOLDS[self.direction](value, self.bound) else f"{self.quantity} {value:g}, not {self}"

    def weaker(self, before: Condition) -> bool:
        """Whether something that failed `before` could pass now."""
        if (self.quantity, self.direction) != (before.quantity, before.direction) or self.direction == "equal":
            return self != Condition(self.name, before.quantity, before.direction, before.bound, self.reason)
        rises = self.direction in ("at most", "below")
        return self.bound > before.bound if rises else self.bound < before.bound

    def __str__(self) -> str:
        return f"{self.direction} {self.bound:g}"


def conditions(path: Path = HERE / "conditions.toml") -> dict[str, Condition]:
    """Return the conditions by name."""
    read = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: Condition(name, **entry) for name, entry in read.items()}


def recorded(path: Path = HERE / "conditions.lock") -> dict[str, Condition]:
    """Return the conditions as they were introduced: lines of ``name | quantity | direction | bound``."""
    lines = [line.split(" | ") for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {name: Condition(name, quantity, direction, float(bound)) for name, quantity, direction, bound in lines}


def complaints(now: Mapping[str, Condition], before: Mapping[str, Condition], decisions: str) -> list[str]:
    """Return what is wrong: conditions that are not recorded, or that became weaker without a paragraph."""
    found = [f"{name} is not in conditions.lock" for name in now if name not in before]
    for name, old in before.items():
        if (name not in now or now[name].weaker(old)) and f"condition `{name}`" not in decisions:
            found.append(f"{name} was {old}: docs/results/tried.md must say why condition `{name}` is weaker now")
    return found
