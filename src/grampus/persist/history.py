"""The history of a run: how documents came and went, and what became of the clusters."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = ("kept", "grown", "shrunken", "new", "split", "merged", "dead")


@dataclass(frozen=True)
class Change:
    """What an update did to one cluster.

    Attributes
    ----------
    cluster : int
        Its number after the update; before it, for one that is dead.
    name : str
    kind : str
        "kept", "grown", "shrunken", "new", "split" (from another one), "merged" (with others) or "dead".
    before, after : int
        Number of documents.
    drift : float or None
        1 − cosine of the centroids of the documents that were added and of those before; None without added documents.

    Examples
    --------
    >>> from grampus.persist import Change
    >>> Change(0, "whale", "grown", 4, 6, 0.1).kind
    'grown'
    """

    cluster: int
    name: str
    kind: str
    before: int
    after: int
    drift: float | None = None


@dataclass(frozen=True)
class Update:
    """One update of a run.

    Attributes
    ----------
    created : str
        ISO date and time in UTC.
    documents : int
        How many there are afterwards.
    added, deleted : int
    moved : int
        Documents of before that are in another cluster now.
    changes : tuple of Change

    Examples
    --------
    >>> from grampus.persist import Update
    >>> Update("2026-01-02T03:04:05Z", 6, 2, 0, 1).added
    2
    """

    created: str
    documents: int
    added: int
    deleted: int
    moved: int
    changes: tuple[Change, ...] = ()
