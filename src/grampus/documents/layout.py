"""The map: clusters as discs, similar ones near each other; inside a disc, documents by their similarities.

Two principal components show only two directions, with the other clusters on top of each other. With three clusters or
more this map shows every one, at the price that distances across it mean little.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from .._array import Array
from ..cluster import embedding_2d
from ..describe import Evidence
from ..errors import ConvergenceError, InputError
from ..gram import Gram
from ..gram.lapack import symmetric_eigh, thin_svd

FEWEST = 3  # clusters; with fewer, the principal components show everything
ROUNDS = 300
GAP = 1.1  # of the radii, between neighbouring discs
PULL = 0.35  # of the radius: how far a document on the border leans towards the other cluster


def coordinates(gram: Gram, seen: Evidence) -> Array:
    """Return two coordinates for every document, for plots; a trailing shift is ignored.

    The mean similarities to each cluster determine where in its disc a document lies. With one or two clusters the
    coordinates are the principal components of the centred Gram, and 0 if the documents do not differ.
    """
    base, _ = gram.split_shift()
    if len(seen.between) < FEWEST:
        return _principal(base)
    nearest = np.where(seen.labels >= 0, seen.labels, seen.second)  # documents in no cluster lie at a rim
    return layout(replace(seen, labels=nearest), seen.similarities)


def _principal(base: Gram) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two components of an indefinite kernel are enough
        try:
            return embedding_2d(base)
        except (InputError, ConvergenceError):
            return np.zeros((len(base), 2))


def layout(seen: Evidence, profiles: Array) -> Array:
    """Return two coordinates for every document.

    Parameters
    ----------
    seen : Evidence
        Of the partition: similarities between clusters, each document's second choice and margin.
    profiles : array of shape (n, l)
        Features of every document; each cluster spreads its documents along two principal components of them.

    Returns
    -------
    array of shape (n, 2)

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.describe import evidence
    >>> from grampus.documents.layout import layout
    >>> from grampus.gram import LinearGram
    >>> x = np.array([[0.0, 1.0], [0.1, 1.0], [0.2, 1.0], [1.0, 0.0], [1.0, 0.1]])
    >>> places = layout(evidence(LinearGram(x), [0, 0, 0, 1, 1]), x)
    >>> middles = places[:3].mean(axis=0), places[3:].mean(axis=0)
    >>> bool(np.linalg.norm(middles[0] - middles[1]) > 1.0)
    True
    """
    k = len(seen.between)
    sizes = np.bincount(seen.labels, minlength=k)
    radii = np.sqrt(np.maximum(sizes, 1) / max(len(seen.labels), 1))
    centres = arrange(seen.between, radii)
    places = np.zeros((len(seen.labels), 2))
    for cluster in range(k):
        members = np.flatnonzero(seen.labels == cluster)
        others = seen.second[members]
        lean = np.where(others[:, None] >= 0, centres[others] - centres[cluster], 0.0)
        lean /= np.maximum(np.linalg.norm(lean, axis=1, keepdims=True), 1e-12)
        doubt = 1.0 - _ranks(seen.margin[members])
        spread = disc(profiles[members], lean) + PULL * doubt[:, None] * lean
        places[members] = centres[cluster] + radii[cluster] * spread
    return places


def arrange(between: Array, radii: Array) -> Array:
    """Return centres of discs with these radii, so that they do not overlap and similar clusters are near.

    Distances are fitted by stress majorisation (de Leeuw 1977, the Guttman transform) from a start by classical
    scaling; then overlapping discs are pushed apart while all are drawn to the middle.
    """
    k = len(between)
    if k == 1:
        return np.zeros((1, 2))
    own = np.diag(between)
    scale = np.sqrt(np.maximum(np.outer(own, own), 1e-12))
    alike = np.clip(between / scale, 0.0, 1.0)
    wanted = (radii[:, None] + radii[None]) * GAP * (1.0 + 2.0 * (1.0 - alike))
    np.fill_diagonal(wanted, 0.0)
    places = _scaled(wanted)
    for _ in range(ROUNDS):
        apart = np.linalg.norm(places[:, None] - places[None], axis=2)
        ratio = np.divide(wanted, apart, out=np.zeros_like(wanted), where=apart > 1e-12)
        places = (np.diag(ratio.sum(axis=1)) - ratio) @ places / k
    for step in range(ROUNDS):
        places = _apart(places * (0.99 if step < ROUNDS * 2 // 3 else 1.0), radii)
    return places


def _scaled(wanted: Array) -> Array:
    """Return two coordinates by classical scaling; the largest entry of each is positive."""
    k = len(wanted)
    middle = np.eye(k) - 1.0 / k
    values, vectors = symmetric_eigh(-0.5 * middle @ (wanted**2) @ middle)
    vectors = vectors[:, ::-1][:, :2]
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    places = np.zeros((k, 2))
    places[:, : vectors.shape[1]] = vectors * np.sqrt(np.maximum(values[::-1][:2], 1e-9))
    return places


def _apart(places: Array, radii: Array) -> Array:
    """Push every pair of overlapping discs apart by half of their overlap."""
    between = places[:, None] - places[None]
    apart = np.linalg.norm(between, axis=2)
    missing = np.maximum((radii[:, None] + radii[None]) * GAP - apart, 0.0)
    np.fill_diagonal(missing, 0.0)
    away = between / np.maximum(apart, 1e-9)[:, :, None]
    return np.asarray(places + 0.5 * (missing[:, :, None] * away).sum(axis=1))


def disc(profiles: Array, lean: Array) -> Array:
    """Spread documents over the unit disc by their two principal components, rotated to match `lean`.

    Directions are kept, and distances from the centre are replaced by their ranks, so that the disc is filled evenly.
    """
    centred = profiles - profiles.mean(axis=0)
    left, values, _ = thin_svd(centred)
    plane = np.zeros((len(profiles), 2))
    width = int((values[:2] > 1e-9 * max(float(values[0]), 1e-300)).sum()) if len(values) else 0
    plane[:, :width] = left[:, :width]
    turn, _, back = thin_svd(plane.T @ lean)  # orthogonal Procrustes
    plane = plane @ (turn @ back)
    far = np.linalg.norm(plane, axis=1)
    return plane / np.maximum(far, 1e-12)[:, None] * np.sqrt(_ranks(far))[:, None]


def _ranks(values: Array) -> Array:
    """Return ranks from 0 to 1; equal values share theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    middle = (ends - counts / 2) / max(len(values), 1)
    return np.asarray(middle[place.reshape(-1)])
