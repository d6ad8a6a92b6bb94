"""Measurements of Grampus: what it promises, its speed, its quality, and the papers' tables.

``python -m lab`` runs every row, ``python -m lab speed --only sparse-k-means`` one of them. A row is a function that
takes a `Task` and returns a `Found`, and an entry of rows.toml::

    @promise("soak")
    def soak(task: Task) -> Found:
        ...
        return Found(f"{growth:.1f} MB", {"growth": growth})

The entry says what the row shows. Its `rests_on` names modules of Grampus: a stored result is current until one of
them, or the row's own file, changes. Its `conditions` are entries of conditions.toml, which says what must hold of the
measures. Results are kept in .lab, and with ``--save`` in lab/results: one file a section, and a page made of it.
"""

from lab.found import Cell, Claim, Found, Table, Unavailable, program
from lab.harness import Task, printed, row

__all__ = ["Cell", "Claim", "Found", "Table", "Task", "Unavailable", "printed", "program", "row"]
