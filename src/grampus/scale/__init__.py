"""Rows in pieces: in memory, on disk, or on Dask workers.

An algorithm on parts needs two things of them: a function of each piece, and a sum over the pieces. Every number that
is summed lies on a grid coarse enough for the sum to be exact (``scale.exact``), so results do not depend on how the
rows are cut, where the pieces are, or in which order they are finished.
"""

from .exact import exact_step, snap
from .parts import Disk, Memory, Parts, Record, Scratch, Traffic

__all__ = ["Disk", "Memory", "Parts", "Record", "Scratch", "Traffic", "exact_step", "snap"]
