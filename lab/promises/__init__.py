"""What Grampus promises beyond what tests can show: sizes, memory, time, other packages' numbers, killed processes."""

from __future__ import annotations

from functools import partial

from lab.harness import row

promise = partial(row, "promises")
