"""Describe every cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._check import check_partition
from ..gram import Gram
from ..kernels.string.distinctive import distinctive_substrings
from .cluster import Cluster, Term
from .evidence import Evidence, evidence
from .phrases import phrases
from .terms import describing_terms, distinguishing_terms

READ = 60  # central documents of a cluster to search for phrases
WORDS = 3  # in a label
STRONG = 0.1  # contrast from which a phrase may be part of a label


def describe(
    gram: Gram,
    labels: Any,
    *,
    weights: Any = None,
    terms: Sequence[str] | None = None,
    texts: Sequence[str] | None = None,
    stop_words: frozenset[str] = frozenset(),
    spelling: Mapping[str, str] | None = None,
    counts: Any = None,
    found: Evidence | None = None,
    top: int = 10,
) -> tuple[Cluster, ...]:
    """Describe every cluster: terms, phrases, a short label, documents to read, cohesion and separation.

    Parameters
    ----------
    gram : Gram
        With a substring kernel, the terms are its distinctive substrings.
    labels : array of shape (n,)
        Cluster numbers 0 … k−1.
    weights : array or sparse array of shape (n, m), optional
        Weighted terms of the documents; see ``distinguishing_terms`` and ``describing_terms`` for the formulas.
    terms : sequence of m strings, optional
        The names of the columns of `weights`.
    texts : sequence of n strings, optional
        The documents, for phrases (see ``phrases``). The 60 most central ones of each cluster are searched.
    stop_words : frozenset of str
        For phrases.
    spelling : mapping of str to str, optional
        What to show in place of a term: the word of a stem, see ``spellings``.
    counts : array of shape (n,), optional
        The number of equal documents that each row represents.
    found : Evidence, optional
        The result of ``evidence(gram, labels, counts)``, if it is already known.
    top : int
        Terms for each cluster.

    Returns
    -------
    tuple of Cluster

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.describe import describe
    >>> from grampus.gram import LinearGram
    >>> x = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    >>> [cluster.label for cluster in describe(LinearGram(x), [0, 0, 1], weights=x, terms=["whale", "bird"])]
    ['whale', 'bird']
    """
    clusters = check_partition(labels, len(gram))
    found = evidence(gram, clusters, counts) if found is None else found
    k = len(found.between)
    inside = clusters >= 0
    each = None if counts is None else np.asarray(counts)[inside]
    sizes = np.bincount(clusters[inside], weights=each).astype(int).tolist()
    distinguishing, describing = _terms(gram, clusters, weights, terms, counts, top)
    found_phrases: list[list[Term]] = [[] for _ in range(k)]
    if texts is not None and gram.source.vocabulary is None:
        found_phrases = phrases([[texts[i] for i in found.central(c, READ)] for c in range(k)], stop_words)
    if spelling:
        distinguishing, describing = (
            [spelled(group, spelling) for group in kind] for kind in (distinguishing, describing)
        )
    return tuple(
        Cluster(
            c,
            sizes[c],
            short_label(distinguishing[c], found_phrases[c]) or f"cluster {c + 1}",
            tuple(distinguishing[c]),
            tuple(describing[c]),
            tuple(found_phrases[c]),
            tuple(found.central(c)),
            tuple(found.borderline(c)),
            tuple(found.outliers(c)),
            round(found.cohesion(c), 6),
            found.nearest(c),
            round(found.separation(c), 6),
        )
        for c in range(k)
    )


def _terms(
    gram: Gram, clusters: Any, weights: Any, terms: Sequence[str] | None, counts: Any, top: int
) -> tuple[list[list[Term]], list[list[Term]]]:
    """Return the distinguishing and the describing terms of every cluster."""
    k = int(clusters.max()) + 1
    nothing: list[list[Term]] = [[] for _ in range(k)]
    if gram.source.vocabulary is not None:
        found = distinctive_substrings(gram, clusters, top=top)
        return [[Term(_text(part.substring), round(part.contrast, 6)) for part in group] for group in found], nothing
    if weights is None or terms is None:
        return nothing, nothing
    return (
        distinguishing_terms(weights, clusters, terms, top, counts),
        describing_terms(weights, clusters, terms, top, counts),
    )


def _text(substring: str | bytes) -> str:
    return substring if isinstance(substring, str) else substring.decode("utf-8", "replace")


def spelled(terms: Sequence[Term], spelling: Mapping[str, str]) -> list[Term]:
    """Show words in place of stems."""
    return [Term(spelling.get(term.text, term.text), term.score) for term in terms]


def short_label(terms: Sequence[Term], phrases: Sequence[Term] = ()) -> str:
    """Return up to three words or phrases that name a cluster; a frequent phrase replaces the words it contains.

    Parameters
    ----------
    terms : sequence of Term
        Distinguishing terms, best first.
    phrases : sequence of Term
        Phrases, best first.

    Examples
    --------
    >>> from grampus.describe import Term, short_label
    >>> short_label([Term("whale", 0.4), Term("sea", 0.3), Term("song", 0.2)], [Term("blue whale", 0.5)])
    'blue whale, sea, song'
    """
    strong = [phrase.text for phrase in phrases if phrase.score >= STRONG]
    chosen: list[str] = []
    for term in terms:
        word = term.text.strip()
        if not word or any(f" {word} " in f" {other} " for other in chosen):
            continue
        chosen.append(next((phrase for phrase in strong if f" {word} " in f" {phrase} "), word))
        if len(chosen) == WORDS:
            break
    return ", ".join(chosen)
