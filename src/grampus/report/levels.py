"""The levels of a run: one partition, or up to three nested ones of which the reader chooses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..describe import Cluster
from ..persist import Run


@dataclass(frozen=True, eq=False)
class Level:
    """A partition that the page can show.

    Attributes
    ----------
    name : str
        "coarse", "middle" or "fine"; "" if there is only one.
    labels : int array of shape (n,)
        The cluster of every document, or −1.
    clusters : tuple of Cluster
        What each is about.
    """

    name: str
    labels: NDArray[Any]
    clusters: tuple[Cluster, ...]


def levels_of(run: Run) -> tuple[tuple[Level, ...], int]:
    """Return the levels of a run, coarse to fine, and which of them is the run's own partition.

    Examples
    --------
    >>> from grampus import DocumentClusterer
    >>> from grampus.report.levels import levels_of
    >>> levels, own = levels_of(DocumentClusterer(2, random_state=0).fit(["whale", "a whale", "bird", "birds"]).run_)
    >>> len(levels), own
    (1, 0)
    """
    seen = run.evidence
    found = tuple(Level(one.name, one.labels, one.clusters) for one in getattr(seen, "levels", ()))
    own = [place for place, level in enumerate(found) if np.array_equal(level.labels, seen.labels)]
    if len(found) < 2 or not own:
        return (Level("", seen.labels, seen.clusters),), 0
    found = tuple(
        Level(one.name, one.labels, seen.clusters if i == own[0] else one.clusters) for i, one in enumerate(found)
    )
    return found, own[0]
