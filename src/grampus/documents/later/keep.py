"""Keep what readers know of an older answer: numbers, names and edits; and cluster one cluster again."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..._progress import Progress
from ...errors import InputError, RunError
from ...persist import Edit, Graft, Run
from ...persist.compare import shared_documents
from ...persist.edited import renumbered
from ...persist.edits import refit
from ...text import Corpus
from ..tell.naming import renamed
from .follow import alike, same_clusters


def keep_answer(run: Run, old: Run) -> Run:
    """Return a run with the numbers, names and edits of an older one of (partly) the same documents.

    Clusters are matched by their documents: two are the same if they share at least half of the documents that one of
    them has and both runs hold. A warning says which names and edits no longer fit.

    Parameters
    ----------
    run : Run
        Without edits.
    old : Run

    Examples
    --------
    >>> from grampus import DocumentClusterer
    >>> from grampus.documents import keep_answer
    >>> from grampus.persist import Edit
    >>> texts = ["whale song", "whales sing", "bird nest", "nests of birds"]
    >>> old = DocumentClusterer(2).fit(texts).run_.edited(Edit("rename", (0,), name="Sea"))
    >>> keep_answer(DocumentClusterer(2, random_state=1).fit(texts).run_, old).evidence.clusters[0].name
    'Sea'
    """
    base = old if old.original is None else old.original
    became = matched(base, run)
    numbers = _numbers(run.n_clusters, became)
    run = renumbered(run, numbers)
    became = {before: numbers[after] for before, after in became.items()}
    lost = [cluster.name for cluster in base.evidence.clusters if cluster.number not in became]
    notes = [f"{len(lost)} of {base.n_clusters} clusters did not survive: {', '.join(lost[:3])}."] if lost else []
    run = renamed(run, {after: base.evidence.clusters[before].name for before, after in became.items()}, notes)
    edits, missed = refit(run, old.edits, base, became)
    if missed:
        run = replace(run, evidence=replace(run.evidence, warnings=(*run.evidence.warnings, *missed)))
    return replace(run, history=old.history)._with(edits)


def matched(old: Run, new: Run) -> dict[int, int]:
    """Return which clusters of two runs are the same, by their documents."""
    return same_clusters(alike(shared_documents(old, new)[1])[:-1, :-1])


def _numbers(k: int, became: Mapping[int, int]) -> list[int]:
    """Return new numbers: the old ones for clusters that survive where there are so many, the free ones for others."""
    numbers = {after: before for before, after in became.items() if before < k}
    free = iter([number for number in range(k) if number not in numbers.values()])
    return [numbers[c] if c in numbers else next(free) for c in range(k)]


def cluster_within(run: Run, cluster: int, model: Any, progress: Progress | None = None) -> Run:
    """Cluster the documents of one cluster again, with terms of their own, and graft the result into the tree.

    The clusters of the run stay; `Edit("split", …)` makes the new branches clusters. It is an edit, so that it can be
    undone.

    Parameters
    ----------
    run : Run
        With texts.
    cluster : int
    model : DocumentClusterer
        Not fitted; how to cluster them.
    progress : callable, optional

    Examples
    --------
    >>> from grampus import DocumentClusterer
    >>> from grampus.documents import cluster_within
    >>> texts = ["whale song", "whales sing", "whale bone", "bones of whales", "bird nest", "nests of birds"]
    >>> run = DocumentClusterer(2).fit(texts).run_
    >>> inside = cluster_within(run, int(run.evidence.labels[0]), DocumentClusterer(2))
    >>> inside.n_clusters, inside.edits[-1].action
    (2, 'graft')
    """
    if not 0 <= cluster < run.n_clusters:
        raise InputError(f"cluster must be from 0 to {run.n_clusters - 1}; got {cluster}.")
    documents = run.documents.take(np.flatnonzero(run.evidence.labels == cluster))
    if documents.texts is None:
        raise RunError("This run holds no texts, so that none of its clusters can be clustered again.")
    corpus = Corpus(documents.texts, documents.ids, titles=documents.titles)
    inside = model.fit(corpus, progress=progress).run_.evidence
    whole = run.evidence.clusters[cluster].name
    counts = np.bincount(inside.leaves[inside.leaves >= 0], minlength=len(inside.tree))
    leaves = np.where(inside.leaves < 0, int(counts.argmax()), inside.leaves)
    grafts = tuple(
        Graft(one.parent, one.name if one.index else whole, one.order, one.height, one.gain,
              tuple(documents.ids.take(np.flatnonzero(leaves == one.index))), one.words)
        for one in inside.tree
    )  # fmt: skip
    return run.edited(Edit("graft", (cluster,), grafts=grafts))
