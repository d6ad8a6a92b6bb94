"""What an acceptance line is, and the list of them."""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PARTS = 11
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Figure:
    """What a line measured, whether that is enough, and what a reader may want to know beside it."""

    value: str
    passed: bool
    detail: str = ""


@dataclass(frozen=True)
class Line:
    """One promise and the function that measures it.

    A change of `sources` (the part of src/ it rests on) or of `watches` (paths beside it) makes it run again.
    """

    issue: int
    name: str
    text: str
    module: str
    function: str
    needs_data: bool = False
    timeout: float = 3600.0
    sources: tuple[str, ...] = ("src",)
    watches: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return f"{self.issue}.{self.name}"


LINES: dict[str, Line] = {}


def line(
    issue: int,
    name: str,
    text: str,
    *,
    needs_data: bool = False,
    timeout: float = 3600.0,
    sources: tuple[str, ...] = ("src",),
    watches: tuple[str, ...] = (),
) -> Callable[[Callable[[], Figure]], Callable[[], Figure]]:
    """Register the decorated function as an acceptance line; the function itself is unchanged.

    `issue` is the part, from 1 to 11; `needs_data` holds the line back without the corpora (`GRAMPUS_DATA`);
    `timeout` is in seconds. A line runs again when a path in `sources` (all of src/ unless a line rests on a part),
    its own module or a path in `watches` changed.
    """
    if not 1 <= issue <= PARTS:
        raise ValueError(f"issue must be between 1 and {PARTS}; got {issue}")

    def register(function: Callable[[], Figure]) -> Callable[[], Figure]:
        made = Line(issue, name, text, function.__module__, function.__name__, needs_data, timeout, sources, watches)
        if made.id in LINES:
            raise ValueError(f"line names must differ; {made.id!r} is there already")
        LINES[made.id] = made
        return function

    return register


def discover() -> list[Line]:
    """Import every ``verify.issue_NN_*`` and return the lines, by part and in the order they are written."""
    for module in sorted(pkgutil.iter_modules([str(HERE)]), key=lambda found: found.name):
        if module.name.startswith("issue_"):
            importlib.import_module(f"verify.{module.name}")
    return sorted(LINES.values(), key=lambda found: found.issue)


def corpora() -> Path:
    """Return the folder of the research corpora; only for lines with ``needs_data=True``."""
    return Path(os.environ["GRAMPUS_DATA"])
