"""What a reproduction is, and the list of them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Reproduction:
    """One table or figure of one paper; `run` is called with True for a quick, smaller run."""

    paper: str
    table: str
    text: str
    run: Callable[[bool], None]


REPRODUCTIONS: dict[tuple[str, str], Reproduction] = {}


def reproduction(paper: str, table: str, text: str) -> Callable[[Callable[[bool], None]], Callable[[bool], None]]:
    """Register the decorated function as the reproduction of `table` in `paper`."""

    def register(function: Callable[[bool], None]) -> Callable[[bool], None]:
        if (paper, table) in REPRODUCTIONS:
            raise ValueError(f"reproductions must differ; {paper} {table} is there already")
        REPRODUCTIONS[paper, table] = Reproduction(paper, table, text, function)
        return function

    return register


def discover() -> list[Reproduction]:
    """Import every module beside this one and return what they registered."""
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if module.name not in ("__main__", "data", "registry"):
            importlib.import_module(f"reproductions.{module.name}")
    return list(REPRODUCTIONS.values())
