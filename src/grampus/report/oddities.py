"""Near-copies as groups, and documents that stand out from their cluster."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from .._array import members_of_clusters
from ..persist import Run

MOST_GROUPS, MOST_OUTLIERS = 200, 60
ODD = 0.5  # an outlier resembles its cluster at most half as much as the median document does
FENCE = 4.0  # and falls short of it by so many times what the lower quartile does: Tukey's fence
FEWEST = 8  # documents of a cluster that make quartiles worth computing


@dataclass(frozen=True)
class Copies:
    """Documents linked by pairs of near-duplicates.

    Attributes
    ----------
    documents : tuple of int
        Ascending.
    similarity : float
        Of the least similar pair that links them.
    """

    documents: tuple[int, ...]
    similarity: float


def copy_groups(run: Run) -> list[Copies]:
    """Return the groups of near-copies of a run, largest first, then most similar.

    Examples
    --------
    >>> from grampus import DocumentClusterer
    >>> from grampus.report.oddities import copy_groups
    >>> texts = ["whale song", "bird nest", "whale song", "birds sing", "whale song"]
    >>> [group.documents for group in copy_groups(DocumentClusterer(2, random_state=0).fit(texts).run_)]
    [(0, 2, 4)]
    """
    pairs, similarity = run.evidence.duplicates, run.evidence.duplicate_similarity
    if not len(pairs):
        return []
    links = sp.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(run), len(run)))
    _, part = connected_components(links, directed=False)
    lowest = np.full(part.max() + 1, np.inf)
    np.minimum.at(lowest, part[pairs[:, 0]], similarity)
    linked = np.unique(pairs)
    members: dict[int, list[int]] = {}
    for place in linked.tolist():
        members.setdefault(int(part[place]), []).append(place)
    groups = [Copies(tuple(places), float(lowest[number])) for number, places in members.items()]
    return sorted(groups, key=lambda group: (-len(group.documents), -group.similarity, group.documents))


def outliers(run: Run) -> NDArray[np.intp]:
    """Return the documents that stand out from their cluster, oddest first.

    A document must resemble its cluster at most half as much as the median document there does, and lie beyond Tukey's
    fence of these shortfalls: in a loose cluster, or in data without groups, nothing stands out.
    """
    labels, oddness = run.evidence.labels, np.nan_to_num(run.evidence.oddness.astype(np.float64))
    found = np.zeros(len(run), dtype=bool)
    for members in members_of_clusters(labels, run.n_clusters):
        if len(members) >= FEWEST:
            fence = max(ODD, FENCE * float(np.quantile(oddness[members], 0.75)))
            found[members] = oddness[members] > fence
    places = np.flatnonzero(found)
    return places[np.argsort(-oddness[places], kind="stable")]
