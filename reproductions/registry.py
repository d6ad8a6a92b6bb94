"""What a reproduction is, and the list of them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reproductions.outcome import Outcome
from reproductions.steps import Steps

HELPERS = ("__main__", "data", "outcome", "protocol", "registry", "steps", "terms")


@dataclass(frozen=True)
class Reproduction:
    """One table or figure of one paper; `run` is given its steps, which say whether a quick run is wanted."""

    paper: str
    table: str
    text: str
    run: Callable[[Steps], Outcome]

    @property
    def name(self) -> str:
        """The paper and the table, as the results' files are called."""
        return f"{self.paper}-{self.table}"


REPRODUCTIONS: dict[tuple[str, str], Reproduction] = {}


def reproduction(
    paper: str, table: str, text: str
) -> Callable[[Callable[[Steps], Outcome]], Callable[[Steps], Outcome]]:
    """Register the decorated function as the reproduction of `table` in `paper`."""

    def register(function: Callable[[Steps], Outcome]) -> Callable[[Steps], Outcome]:
        if (paper, table) in REPRODUCTIONS:
            raise ValueError(f"reproductions must differ; {paper} {table} is there already")
        REPRODUCTIONS[paper, table] = Reproduction(paper, table, text, function)
        return function

    return register


def discover() -> list[Reproduction]:
    """Import every module beside this one and return what they registered."""
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if module.name not in HELPERS:
            importlib.import_module(f"reproductions.{module.name}")
    return list(REPRODUCTIONS.values())
