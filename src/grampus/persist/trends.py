"""Trends: shares of the clusters over time, or by the values of a column, with their uncertainty."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from ..errors import InputError
from .run import Run

PERIODS = ("year", "quarter", "month", "week", "day")
Z95 = 1.959963984540054  # a normal variable is within ± this in 95 % of cases
_DATE = re.compile(r"\s*(\d{4})(?:[-/](\d{1,2}))?(?:[-/](\d{1,2}))?", re.ASCII)


@dataclass(frozen=True)
class Share:
    """The share of a cluster among the documents of one period, or with one value of a column.

    Attributes
    ----------
    period : str
    cluster : int
        −1 for the documents in no cluster.
    name : str
    documents, total : int
        Documents of the cluster there, and of all clusters and none.
    share, low, high : float
        The share, and Wilson's interval of 95 % for it (Wilson 1927).

    Examples
    --------
    >>> from grampus.persist import Share
    >>> Share("2024", 0, "whale", 5, 10, 0.5, 0.24, 0.76).period
    '2024'
    """

    period: str
    cluster: int
    name: str
    documents: int
    total: int
    share: float
    low: float
    high: float


def wilson(count: int, total: int) -> tuple[float, float]:
    """Return Wilson's score interval of 95 % for a share (Wilson 1927, J. Am. Stat. Assoc. 22, 209-212).

    Examples
    --------
    >>> from grampus.persist.trends import wilson
    >>> [round(value, 4) for value in wilson(5, 10)]
    [0.2366, 0.7634]
    """
    if total == 0:
        return 0.0, 1.0
    share, z2 = count / total, Z95**2
    middle = (share + z2 / (2 * total)) / (1 + z2 / total)
    half = Z95 / (1 + z2 / total) * math.sqrt(share * (1 - share) / total + z2 / (4 * total**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def period_of(written: str, by: str) -> str | None:
    """Return the year, quarter, month, week or day of a date as written; None if it does not say.

    Examples
    --------
    >>> from grampus.persist.trends import period_of
    >>> period_of("2024-05-17", "quarter"), period_of("2024", "month"), period_of("2024-05-17T08:00", "week")
    ('2024-Q2', None, '2024-W20')
    """
    match = _DATE.match(written)
    year, month, day = (int(part) if part else None for part in match.groups()) if match else (None, None, None)
    if year is None or (by in ("quarter", "month") and month is None) or (by in ("week", "day") and day is None):
        return None
    try:
        whole = date(year, month or 1, day or 1)
    except ValueError:
        return None
    week = whole.isocalendar()
    return {
        "year": f"{year:04d}",
        "quarter": f"{year:04d}-Q{(whole.month + 2) // 3}",
        "month": f"{year:04d}-{whole.month:02d}",
        "week": f"{week.year:04d}-W{week.week:02d}",
        "day": whole.isoformat(),
    }[by]


def trends(run: Run, by: str = "year", values: Sequence[str] | None = None) -> tuple[Share, ...]:
    """Return the share of every cluster in every period, or for every value of a column.

    Parameters
    ----------
    run : Run
    by : str
        "year", "quarter", "month", "week" or "day" of the run's dates, "label" for its labels, or the name of their
        column.
    values : sequence of str, optional
        A value for each document, to be used instead; `by` is its name.

    Returns
    -------
    tuple of Share
        By period in order, or by value with the most frequent first, then by the size of the cluster; documents without
        one are left out.

    Examples
    --------
    >>> from grampus import DocumentClusterer
    >>> from grampus.persist import trends
    >>> from grampus.text import Corpus
    >>> texts = ["whale song", "whales sing", "bird nest", "nests of birds"]
    >>> run = DocumentClusterer(2, embed=None).fit(Corpus(texts, dates=["2023", "2024", "2024", "2024-02-01"])).run_
    >>> [(one.period, one.cluster, one.documents) for one in trends(run)]
    [('2023', 0, 0), ('2023', 1, 1), ('2024', 0, 2), ('2024', 1, 1)]
    """
    written = _values(run, by) if values is None else list(values)
    if len(written) != len(run):
        raise InputError(f"values must be {len(run)}, one for each document; got {len(written)}.")
    counts: dict[str, Any] = {}
    k = run.n_clusters
    for value, label in zip(written, run.evidence.labels.tolist(), strict=True):
        if value:
            counts.setdefault(value, np.zeros(k + 1, dtype=np.int64))[label] += 1
    if not counts:
        raise InputError(f"Shares by {by} need a {by} that can be read; no document has one.")
    timed = by in PERIODS and values is None
    order = sorted(counts) if timed else sorted(counts, key=lambda value: (-int(counts[value].sum()), value))
    names = [cluster.name for cluster in run.evidence.clusters]
    largest = sorted(range(k), key=lambda cluster: -run.evidence.clusters[cluster].size)
    shares = []
    for value in order:
        total = int(counts[value].sum())
        for cluster in (*largest, *([-1] if run.n_unassigned else [])):
            count = int(counts[value][cluster])
            low, high = wilson(count, total)
            name = names[cluster] if cluster >= 0 else "no cluster"
            shares.append(Share(value, cluster, name, count, total, count / total, low, high))
    return tuple(shares)


def _values(run: Run, by: str) -> list[str | None]:
    documents, columns = run.documents, run.provenance.columns
    again = "Cluster the documents again with a column of them."
    if by in PERIODS:
        if documents.dates is None:
            raise InputError(f"Shares by {by} need dates; the run has none. {again}")
        return [period_of(written, by) for written in documents.dates]
    if documents.classes is not None and by in ("label", columns.get("label")):
        return list(documents.classes)
    if by == "label":
        raise InputError(f"Shares by label need labels; the run has none. {again}")
    raise InputError(f"by must be one of {', '.join(PERIODS)} or label, unless values are given; got {by!r}.")
