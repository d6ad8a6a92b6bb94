"""The command ``python -m reproductions``."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from benchmarks.commit import commit
from reproductions.data import MissingDataError
from reproductions.outcome import Outcome
from reproductions.registry import Reproduction, discover
from reproductions.steps import ROOT, SEED, STORE, Steps, key_of

RESULTS = Path(__file__).parent / "results"


def main(arguments: Sequence[str] | None = None, *, results: Path = RESULTS, store: Path = STORE) -> int:
    """Run the reproductions that were named, or all; return the exit status."""
    parser = argparse.ArgumentParser("python -m reproductions", description="The papers' tables and figures.")
    parser.add_argument("paper", nargs="?", help="one paper (all by default)")
    parser.add_argument("table", nargs="?", help="one of its tables or figures (all by default)")
    parser.add_argument("--list", action="store_true", help="list the reproductions and stop")
    parser.add_argument("--quick", action="store_true", help="fewer trials and smaller sets; nothing is saved")
    parser.add_argument("--seed", type=int, default=SEED, help=f"the one seed ({SEED})")
    options = parser.parse_args(arguments)
    known = discover()
    chosen = [found for found in known if options.paper in (None, found.paper) and options.table in (None, found.table)]
    if not known:
        print("No reproduction is written yet.")
    elif not chosen:
        parser.error(f"no reproduction called {options.paper} {options.table or ''}".rstrip() + "; --list shows them")
    for found in chosen:
        print(f"{found.paper} {found.table}: {found.text}", flush=True)
        if options.list:
            continue
        start = time.perf_counter()
        try:
            outcome = found.run(Steps(found.name, options.quick, options.seed, store, key_of()))
        except MissingDataError as error:
            print(error, file=sys.stderr)
            return 2
        print(f"\n{outcome.markdown()}\n", flush=True)
        if not options.quick:
            save(found, outcome, results, options.seed, time.perf_counter() - start)
    return 0


def save(found: Reproduction, outcome: Outcome, folder: Path, seed: int, seconds: float) -> None:
    """Write the outcome as Markdown with its provenance, and its figures as PNG where matplotlib is installed."""
    folder.mkdir(exist_ok=True)
    pictures = draw(found.name, outcome, folder)
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    made = f"`python -m reproductions {found.paper} {found.table}`, seed {seed}, commit {commit(ROOT)}"
    when = f"{datetime.now(UTC):%Y-%m-%d}, {seconds:.0f} s (less what an earlier run had done)"
    where = f"Python {platform.python_version()}, {versions}; {os.cpu_count()} cores"
    page = [f"# {found.paper}, {found.table}", found.text, outcome.markdown(), *pictures, f"{made}; {when}; {where}."]
    path = folder / f"{found.name}.md"
    part = path.with_suffix(".part")
    part.write_text("\n\n".join(page) + "\n", encoding="utf-8")
    part.replace(path)


def draw(name: str, outcome: Outcome, folder: Path) -> list[str]:
    """Draw the figures and return the Markdown that shows them; without matplotlib say what is missing."""
    if not outcome.figures:
        return []
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("figures need matplotlib: pip install matplotlib", file=sys.stderr)
        return []
    shown = []
    for title, function in outcome.figures.items():
        figure = Figure(figsize=(7, 4.5), layout="constrained")
        function(figure)
        figure.savefig(folder / f"{name}-{title}.png", dpi=110, metadata={"Software": None})
        shown.append(f"![{title}]({name}-{title}.png)")
    return shown


if __name__ == "__main__":
    sys.exit(main())
