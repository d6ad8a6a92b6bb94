"""The command ``python -m reproductions``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from reproductions.registry import discover


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the reproductions that were named, or all; return the exit status."""
    parser = argparse.ArgumentParser("python -m reproductions", description="The papers' tables and figures.")
    parser.add_argument("paper", nargs="?", help="one paper (all by default)")
    parser.add_argument("table", nargs="?", help="one of its tables or figures (all by default)")
    parser.add_argument("--list", action="store_true", help="list the reproductions and stop")
    parser.add_argument("--quick", action="store_true", help="fewer trials and smaller sets")
    options = parser.parse_args(arguments)
    known = discover()
    chosen = [found for found in known if options.paper in (None, found.paper) and options.table in (None, found.table)]
    if not known:
        print("No reproduction is written yet.")
    elif not chosen:
        parser.error(f"no reproduction called {options.paper} {options.table or ''}".rstrip() + "; --list shows them")
    for found in chosen:
        print(f"{found.paper} {found.table}: {found.text}", flush=True)
        if not options.list:
            found.run(options.quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())
