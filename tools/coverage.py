"""Compare what coverage.py counted with the limits, and run tests with the compiled loops that count.

`python -m tools.coverage limits LINES BRANCHES` reads .coverage/report.json, as `coverage json` writes it: coverage.py
itself has one limit for lines and branches together. `python -m tools.coverage run FOLDER TESTS…` runs tests with the
package in a folder: an editable installation would find its own first.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def shares(totals: dict[str, Any]) -> tuple[float, float]:
    """Return the shares of lines and of branches that were run, in per cent.

    Examples
    --------
    >>> from tools.coverage import shares
    >>> shares({"covered_lines": 97, "num_statements": 100, "covered_branches": 9, "num_branches": 10})
    (97.0, 90.0)
    """
    lines, branches = (totals[f"covered_{kind}"] for kind in ("lines", "branches"))
    return 100.0 * lines / totals["num_statements"], 100.0 * branches / totals["num_branches"]


def limits(least_lines: str, least_branches: str, report: str = ".coverage/report.json") -> int:
    """Return 1 below a limit."""
    lines, branches = shares(json.loads(Path(report).read_text("utf-8"))["totals"])
    said = f"lines {lines:.1f} % (at least {least_lines}), branches {branches:.1f} % (at least {least_branches})"
    sys.stdout.write(f"{said}\n")
    return int(lines < float(least_lines) or branches < float(least_branches))


def run(folder: str, *tests: str) -> int:
    """Run tests with the package in a folder."""
    import pytest

    sys.meta_path[:] = [one for one in sys.meta_path if not type(one).__module__.startswith("_editable")]
    sys.path.insert(0, folder)
    from grampus._native import _core

    assert str(_core.__file__).startswith(folder), _core.__file__
    return int(pytest.main(["-q", "-p", "no:cacheprovider", "-n", "0", *tests]))


if __name__ == "__main__":
    _, command, *words = sys.argv
    raise SystemExit(run(*words) if command == "run" else limits(*words))
