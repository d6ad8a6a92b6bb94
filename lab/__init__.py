"""Measurements of Grampus: what it promises, its speed, its quality, and the papers' tables.

``python -m lab`` runs every row, ``python -m lab speed --only sparse-k-means`` one of them. A row is a function that
takes a `Task` and returns a `Found`::

    @promise("anmi", "ANMI of 250 partitions in under 2 s.", rests_on=("metrics",), conditions=("anmi-seconds",))
    def anmi(task: Task) -> Found:
        ...
        return Found(f"{seconds:.2f} s", {"seconds": seconds})

`rests_on` names modules of Grampus: a stored result is current until one of them, or the row's own file, changes.
`conditions` names entries of conditions.toml, which says what must hold of the measures.
"""

from lab.found import Cell, Claim, Found, Table, Unavailable
from lab.harness import Task, row

__all__ = ["Cell", "Claim", "Found", "Table", "Task", "Unavailable", "row"]
