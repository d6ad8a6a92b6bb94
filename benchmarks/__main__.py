"""The command ``python -m benchmarks``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from benchmarks.measure import Outcome, compare
from benchmarks.processes import ROOT
from benchmarks.registry import discover
from benchmarks.report import RESULTS, cells, provenance, save


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the rows that were named, or all; return the exit status."""
    parser = argparse.ArgumentParser("python -m benchmarks", description="Grampus and its peers, timed by turns.")
    parser.add_argument("names", nargs="*", help="rows to run (all by default)")
    parser.add_argument("--list", action="store_true", help="list the rows and stop")
    parser.add_argument("--quick", action="store_true", help="small inputs, one repetition, nothing judged")
    parser.add_argument("--strict", action="store_true", help="fail when a row failed, disagrees or is short")
    options = parser.parse_args(arguments)
    rows = discover()
    if unknown := sorted(set(options.names) - set(rows)):
        parser.error(f"no row called {', '.join(unknown)}; there are {', '.join(sorted(rows))}")
    console = Console()
    if options.list:
        for row in rows.values():
            console.print(f"{row.name}: {row.text} Peers: {', '.join(peer.name for peer in row.peers)}.")
        return 0
    made = provenance()
    console.print("\n".join(f"{key}: {value}" for key, value in made.items()), highlight=False)
    outcomes: list[Outcome] = []
    for name in options.names or rows:
        console.print(f"measuring {name} …")
        measured = list(compare(rows[name], quick=options.quick))
        save(name, measured, made, ROOT / ".bench" / "quick" if options.quick else RESULTS)
        outcomes += measured
    table = Table("row", "peer", "ours", "peer's", "ratio", "promise", "agreement", "status")
    for outcome in outcomes:
        table.add_row(*cells(outcome))
    console.print(table)
    return int(options.strict and any(outcome.bad for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
