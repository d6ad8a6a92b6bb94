"""The command ``python -m verify``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from verify.registry import PARTS, Line, discover
from verify.report import markdown, summary, terminal, write
from verify.run import STORE, Result, key_of, run, stored

RESULTS = Path(__file__).parent / "RESULTS.md"


def select(lines: list[Line], only: Sequence[str]) -> list[Line]:
    """Return the lines with these ids or of these parts; all when none is named."""
    known = {line.id for line in lines} | {str(line.issue) for line in lines}
    if unknown := [name for name in only if name not in known]:
        raise ValueError(f"no line or part called {', '.join(unknown)}; --list shows them")
    return [line for line in lines if not only or line.id in only or str(line.issue) in only]


def main(arguments: Sequence[str] | None = None, *, store: Path = STORE, results_file: Path = RESULTS) -> int:
    """Measure what has no figure yet, write the table, return 1 if a line failed."""
    parser = argparse.ArgumentParser("python -m verify", description="Every acceptance line at full size.")
    parser.add_argument("--only", nargs="+", default=[], metavar="ID", help="lines (1.anmi) or parts (1)")
    parser.add_argument("--list", action="store_true", help="list the lines and stop")
    parser.add_argument("--fresh", action="store_true", help="measure again what has a figure already")
    options = parser.parse_args(arguments)
    lines, console = discover(), Console()
    try:
        selected = select(lines, options.only)
    except ValueError as error:
        parser.error(str(error))
    if options.list:
        for line in selected:
            console.print(f"{line.id} ({line.issue} of {PARTS}): {line.text}", highlight=False)
        return 0
    results: dict[Line, Result] = {}
    for line in lines:
        key = key_of(line)
        known = None if options.fresh and line in selected else stored(line, key, store)
        if (known is None or known.older) and line in selected:
            console.print(f"measuring {line.id} …", highlight=False)
            known = run(line, key, store)
        results[line] = known or Result("not run", detail="no figure yet")
    write(results_file, markdown(results))
    chosen = {line: results[line] for line in selected}
    console.print(terminal(chosen))
    console.print(summary(chosen), highlight=False)
    return int(any(result.bad for result in chosen.values()))


if __name__ == "__main__":
    sys.exit(main())
