"""Part 9: pictures of results (the page itself has its own module)."""

from __future__ import annotations

from verify import Figure, line
from verify.commands import run_tests


@line(
    9,
    "plots",
    "Each picture draws what the result holds, takes an Axes and never touches pyplot; results are escaped tables in a "
    "notebook; without matplotlib there is one line.",
    watches=("tests", "verify/commands.py"),
)
def plots() -> Figure:
    return run_tests("tests/unit/test_plots.py", "src/grampus/plots", needs=65)
