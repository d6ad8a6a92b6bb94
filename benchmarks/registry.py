"""What a row of the benchmark is, and the list of them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]
SIDES = Path(__file__).parent / "sides"


@dataclass(frozen=True)
class Side:
    """One timed thing: a script in `sides/` with ``run(inputs)``, and perhaps ``prepare(inputs)``, untimed.

    `environment` is "main" (ours), "peers" (the pinned one in .bench/peers) or "R". A side may do a part of
    the work: its seconds are multiplied by `extrapolate`, and the table says so. `packages` are the
    distributions whose versions are reported.
    """

    name: str
    script: str
    environment: str = "main"
    promise: float | None = None
    warmups: int = 1
    extrapolate: float = 1.0
    packages: tuple[str, ...] = ("numpy", "scipy")

    @property
    def path(self) -> Path:
        return SIDES / self.script


@dataclass(frozen=True)
class Agreement:
    """How close the two answers are, in words, and whether that is close enough."""

    text: str
    good: bool


@dataclass(frozen=True)
class Row:
    """A comparison of ours with peers. A peer's `promise` is the least ratio of its time to ours."""

    name: str
    text: str
    inputs: Callable[[bool], Arrays]
    ours: Side
    peers: Sequence[Side]
    agreement: Callable[[Arrays, Arrays], Agreement]
    repeats: int = 5
    timeout: float = 3600.0


ROWS: dict[str, Row] = {}


def row(name: str, text: str, **settings: Any) -> Callable[[Callable[[bool], Arrays]], Row]:
    """Register the decorated function of `quick`, which makes the input arrays, as the row `name`."""

    def register(inputs: Callable[[bool], Arrays]) -> Row:
        if name in ROWS:
            raise ValueError(f"row names must differ; {name!r} is there already")
        ROWS[name] = Row(name, text, inputs, **settings)
        return ROWS[name]

    return register


def discover() -> dict[str, Row]:
    """Import every module of `benchmarks.rows` and return the rows, by name."""
    from benchmarks import rows

    for module in pkgutil.iter_modules(rows.__path__):
        importlib.import_module(f"{rows.__name__}.{module.name}")
    return ROWS


def largest_difference(key: str, tolerance: float) -> Callable[[Arrays, Arrays], Agreement]:
    """Agree when the arrays called `key` differ by at most `tolerance` anywhere."""

    def compare(ours: Arrays, theirs: Arrays) -> Agreement:
        difference = float(np.max(np.abs(ours[key] - theirs[key])))
        return Agreement(f"max abs difference {difference:.1e} (allowed {tolerance:.0e})", difference <= tolerance)

    return compare


def equal_share(key: str, least: float) -> Callable[[Arrays, Arrays], Agreement]:
    """Agree when at least the share `least` of the entries called `key` is equal."""

    def compare(ours: Arrays, theirs: Arrays) -> Agreement:
        share = float(np.mean(ours[key] == theirs[key]))
        return Agreement(f"{share:.4%} equal (wanted {least:.2%})", share >= least)

    return compare
