"""The levels of a run: one partition, or up to five nested ones of which the reader chooses."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import members_of_clusters
from ..describe import Cluster
from ..persist import Level, Run
from ..persist.edited import changed_cluster, count_labels


@dataclass(frozen=True, eq=False)
class ShownLevel:
    """A partition that the page can show.

    Attributes
    ----------
    name : str
        Such as "coarse"; "" if there is only one.
    labels : int array of shape (n,)
        The cluster of every document, or −1.
    clusters : tuple of Cluster
        What each is about.
    branches : tuple of int
        The branch of the tree that each is, −1 if it is none.
    """

    name: str
    labels: NDArray[Any]
    clusters: tuple[Cluster, ...]
    branches: tuple[int, ...] = ()


def levels_of(run: Run) -> tuple[tuple[ShownLevel, ...], int]:
    """Return the levels of a run, coarse to fine, and which of them is the run's own partition.

    Examples
    --------
    >>> from grampus import DocumentClusterer
    >>> from grampus.report.levels import levels_of
    >>> levels, own = levels_of(DocumentClusterer(2, random_state=0).fit(["whale", "a whale", "bird", "birds"]).run_)
    >>> levels[own].clusters[0].size
    2
    """
    evidence = run.evidence
    levels: list[ShownLevel] = []
    answer = -1
    for level in evidence.levels:
        name, labels = level.name, run.level_labels(level.name)
        if answer < 0 and np.array_equal(labels, evidence.labels):
            answer = len(levels)
            levels.append(ShownLevel(name, evidence.labels, evidence.clusters, level.branches))
        else:
            levels.append(ShownLevel(name, labels, _clusters(run, labels, level), level.branches))
    if answer < 0 or len(levels) < 2:
        branch = {one.cluster: one.index for one in evidence.tree}
        branches = tuple(branch.get(c, -1) for c in range(run.n_clusters))
        return (ShownLevel("", evidence.labels, evidence.clusters, branches),), 0
    return tuple(levels), answer


def _clusters(run: Run, labels: NDArray[Any], level: Level) -> tuple[Cluster, ...]:
    """Describe the clusters of a level by the clusters of the run that they hold or belong to."""
    seen, made = run.evidence, []
    for number, members in enumerate(members_of_clusters(labels, len(level.branches))):
        branch = seen.tree[level.branches[number]]
        inside, counts = count_labels(seen.labels[members])
        held = dict(zip(inside.tolist(), counts.tolist(), strict=True)) if len(inside) > 1 else {}
        words = (branch.name, *branch.words)
        made.append(changed_cluster(seen.clusters, held, number, branch.name, words, members, seen.margin))
    return tuple(made)
