"""Compare two runs of (partly) the same documents."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from .. import metrics
from .run import Run


@dataclass(frozen=True)
class Comparison:
    """What moved between two runs.

    Attributes
    ----------
    shared, only_old, only_new : int
        Number of documents in both runs, by id, and in one of them.
    stayed : int
        Number of documents whose new cluster is the match of their old one; those in no cluster match each other.
    flows : tuple of (old, new, documents, stays)
        Largest first.
    moved : tuple of (id, old, new)
        In the order of the old run.
    nmi, ari : float or None
        Agreement over the shared documents; None if there are none.

    Examples
    --------
    >>> from grampus.persist import Comparison
    >>> Comparison(2, 0, 0, 1, ((0, 0, 1, True), (0, 1, 1, False)), (("b", 0, 1),), 0.0, 0.0).stayed
    1
    """

    shared: int
    only_old: int
    only_new: int
    stayed: int
    flows: tuple[tuple[int, int, int, bool], ...]
    moved: tuple[tuple[str, int, int], ...]
    nmi: float | None
    ari: float | None


def shared_documents(old: Run, new: Run) -> tuple[list[tuple[str, int, int]], NDArray[np.int64]]:
    """Return the documents of both runs with their clusters, and how many are in each two of these; the last are −1."""
    where = dict(zip(new.documents.ids, new.evidence.labels.tolist(), strict=True))
    before = zip(old.documents.ids, old.evidence.labels.tolist(), strict=True)
    pairs = [(name, a, where[name]) for name, a in before if name in where]
    counts = np.zeros((old.n_clusters + 1, new.n_clusters + 1), dtype=np.int64)
    for _, a, b in pairs:
        counts[a, b] += 1
    return pairs, counts


def compare_runs(old: Run, new: Run) -> Comparison:
    """Match documents by id and clusters one to one, so that as many documents as possible stay.

    Parameters
    ----------
    old, new : Run
        Two clusterings of documents with ids in common.

    Examples
    --------
    >>> from grampus import DocumentClusterer
    >>> from grampus.persist import compare_runs
    >>> run = DocumentClusterer(2, random_state=0).fit(["whale", "a whale", "bird", "birds"]).run_
    >>> compare_runs(run, run).stayed
    4
    """
    pairs, counts = shared_documents(old, new)
    sides = optimize.linear_sum_assignment(counts[:-1, :-1], maximize=True)
    match = set(zip(*(side.tolist() for side in sides), strict=True))
    match.add((-1, -1))
    flows = Counter((a, b) for _, a, b in pairs)
    moved = tuple((name, a, b) for name, a, b in pairs if (a, b) not in match)
    before, after = [a for _, a, _ in pairs], [b for _, _, b in pairs]
    return Comparison(
        len(pairs),
        len(old) - len(pairs),
        len(new) - len(pairs),
        len(pairs) - len(moved),
        tuple((a, b, n, (a, b) in match) for (a, b), n in sorted(flows.items(), key=lambda flow: (-flow[1], flow[0]))),
        moved,
        metrics.nmi(before, after) if pairs else None,
        metrics.ari(before, after) if pairs else None,
    )
