"""Describe every cluster."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._check import check_partition
from ..gram import Gram
from ..kernels.string.distinctive import distinctive_substrings
from .cluster import Cluster, Term
from .names import PARTS, Name, name_partition
from .sentences import Quotable, most_typical, quotable
from .terms import describing_terms
from .typicality import Typicality, typicality
from .wording import Wording

READ = 12  # central documents of a cluster to search for a typical sentence


def describe(
    gram: Gram,
    labels: Any,
    wording: Wording | None = None,
    *,
    names: Sequence[Name] | Callable[[], Sequence[Name] | None] | None = None,
    counts: Any = None,
    measured: Typicality | None = None,
    top: int = 10,
) -> tuple[Cluster, ...]:
    """Describe every cluster: a name, terms, phrases, a sentence, documents to read, cohesion and separation.

    Parameters
    ----------
    gram : Gram
        With a substring kernel, the terms are its distinctive substrings.
    labels : array of shape (n,)
        Cluster numbers 0 … k−1.
    wording : Wording, optional
        The terms and texts of the documents; see ``name_partition`` for how names are made of them.
    names : sequence of Name or callable, optional
        The result of ``name_partition(wording, labels)`` or of one level of ``name_levels``, if it is already known; or
        what waits for it, which is called when everything else is known.
    counts : array of shape (n,), optional
        The number of equal documents that each row represents.
    measured : Typicality, optional
        The result of ``typicality(gram, labels, counts)``, if it is already known.
    top : int
        Terms for each cluster.

    Returns
    -------
    tuple of Cluster

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.describe import Wording, describe
    >>> from grampus.gram import LinearGram
    >>> x = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    >>> [cluster.name for cluster in describe(LinearGram(x), [0, 0, 1], Wording(x, ["whale", "bird"]))]
    ['whale', 'bird']
    """
    clusters = check_partition(labels, len(gram))
    measured = typicality(gram, clusters, counts) if measured is None else measured
    k = len(measured.between)
    inside = clusters >= 0
    each = None if counts is None else np.asarray(counts)[inside]
    sizes = np.bincount(clusters[inside], weights=each).astype(int).tolist()
    quotes = [_quotable(wording, measured.central(c, READ)) for c in range(k)]
    names, describing = _named(gram, clusters, wording, names, counts, top)
    titles = [name.name for name in titled(names)]
    shares: Any = np.full((2, k), np.nan)
    if wording is not None and wording.meaning is not None and k > 1:
        said = [", ".join((title, *name.words)) for title, name in zip(titles, names, strict=True)]
        shares = wording.meaning.recognised(clusters, said)
    return tuple(
        Cluster(
            c,
            sizes[c],
            titles[c],
            names[c].terms,
            describing[c],
            names[c].phrases,
            tuple(measured.central(c)),
            tuple(measured.borderline(c)),
            tuple(measured.outliers(c)),
            round(measured.cohesion(c), 6),
            measured.nearest(c),
            round(measured.separation(c), 6),
            sentence=_sentence(wording, names[c], quotes[c]),
            alike=_known(measured.alike[c]),
            mixed=bool(measured.mixed[c]),
            name_share=_known(shares[0][c]),
            centre_share=_known(shares[1][c]),
            words=names[c].words,
        )
        for c in range(k)
    )


def titled(names: Sequence[Name]) -> list[Name]:
    """Return the titles and further words alone, with a number for a title where a cluster has none.

    Examples
    --------
    >>> from grampus.describe import Name
    >>> from grampus.describe.describe import titled
    >>> [name.name for name in titled([Name("Whales", (), (), ()), Name("", (), (), ())])]
    ['Whales', 'cluster 2']
    """
    return [Name(name.name or f"cluster {c + 1}", name.words, (), ()) for c, name in enumerate(names)]


def _named(
    gram: Gram, clusters: Any, wording: Wording | None, names: Any, counts: Any, top: int
) -> tuple[Sequence[Name], list[tuple[Term, ...]]]:
    """Return the names of the clusters, and the terms that describe each."""
    k = int(clusters.max()) + 1
    describing: list[tuple[Term, ...]] = [() for _ in range(k)]
    if gram.source.vocabulary is not None:
        groups = distinctive_substrings(gram, clusters, top=top)
        terms = [tuple(Term(_text(part.substring), round(part.contrast, 6)) for part in group) for group in groups]
        return [_substrings(some) for some in terms], describing
    if wording is None:
        return [Name("", (), (), ())] * k, describing
    described = describing_terms(wording.weights, clusters, wording.terms, top, counts)
    describing = [tuple(Term(wording.usual(term.text), term.score) for term in group) for group in described]
    names = names() if callable(names) else names
    names = name_partition(wording, clusters) if names is None else names
    return [name._replace(terms=name.terms[:top]) for name in names], describing


def _known(value: Any) -> float | None:
    return None if np.isnan(value) else round(float(value), 6)


def _text(substring: str | bytes) -> str:
    return substring if isinstance(substring, str) else substring.decode("utf-8", "replace")


def _substrings(substrings: tuple[Term, ...]) -> Name:
    """Return a name of the first substrings that are not part of each other."""
    chosen: list[str] = []
    for term in substrings:
        text = term.text.strip()
        if text and len(chosen) < PARTS and not any(text in other or other in text for other in chosen):
            chosen.append(text)
    return Name(chosen[0] if chosen else "", tuple(chosen[1:]), substrings, ())


def _quotable(wording: Wording | None, central: Sequence[int]) -> list[Quotable]:
    if wording is None or wording.texts is None:
        return []
    texts, titles = wording.texts, wording.titles
    return quotable(
        [texts[at] for at in central], wording.stem, [] if titles is None else [titles[at] for at in central]
    )


def _sentence(wording: Wording | None, name: Name, quotes: list[Quotable]) -> str:
    if wording is None or not quotes:
        return ""
    words = re.findall(r"[^\W_]+", " ".join((name.name, *name.words)).lower())
    return most_typical(quotes, [*map(wording.stem, words)])
