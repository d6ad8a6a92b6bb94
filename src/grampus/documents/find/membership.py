"""How surely documents belong to their clusters: probabilities that a refit without the document would agree with."""

import warnings
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from ..._array import Array
from ...cluster import kernel_kmeans
from ...cluster.kmeans.centroids import Centroids
from ...gram import Gram

DOCUMENTS = 1500  # that probabilities are fitted on
PARTS, STARTS = 4, 10  # of the documents, each left out once; starts of each refit
FEWEST = 8  # documents a cluster, or nothing can be left out
SHARPNESS = np.exp(np.linspace(0.0, 4.5, 19))  # what is tried
OWN = (0.0, 0.5, 1.0, 2.0, 3.0, 4.5)
CHANCE = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3)


@dataclass(frozen=True)
class MembershipRule:
    """How distances become probabilities: ``(1 − chance) softmax(own − sharpness d² / scale) + chance / k``.

    Attributes
    ----------
    scale : float
        The mean distance between the nearest centroid and all.
    sharpness : float
    own : float
        What it counts that a document is in a cluster.
    chance : float
    """

    scale: float = 1.0
    sharpness: float = 10.0
    own: float = 0.0
    chance: float = 0.02

    def apply(self, squared: Array, labels: NDArray[np.intp] | None = None) -> Array:
        """Return probabilities that sum to 1 in each row; `labels` are the clusters of the documents, if they have any.

        Examples
        --------
        >>> import numpy as np
        >>> from grampus.documents.find.membership import MembershipRule
        >>> MembershipRule(chance=0.0).apply(np.array([[0.2, 0.2], [0.1, 0.6]])).round(3).tolist()
        [[0.5, 0.5], [0.993, 0.007]]
        """
        k = squared.shape[1]
        fit = -self.sharpness / self.scale * np.where(np.isfinite(squared), squared, np.inf)
        if labels is not None:
            inside = np.flatnonzero(labels >= 0)
            fit[inside, labels[inside]] += self.own
        shares = np.exp(fit - fit.max(axis=1, keepdims=True, initial=-1e300))
        return (1.0 - self.chance) * shares / shares.sum(axis=1, keepdims=True) + self.chance / k


def membership_rules(gram: Gram, labels: NDArray[np.intp], weights: Array) -> tuple[MembershipRule, MembershipRule]:
    """Return how distances become probabilities: for fitted documents, and for new ones.

    Four times a quarter of the documents is left out, the others are clustered again, and their centroids say where
    those left out belong. The rules are those under which that is most likely.

    Parameters
    ----------
    gram : Gram
    labels, weights : arrays of shape (m,)
    """
    heavy = np.flatnonzero((weights > 0) & (labels >= 0))
    at = heavy if len(heavy) <= DOCUMENTS else heavy[np.linspace(0, len(heavy) - 1, DOCUMENTS).astype(np.intp)]
    _, own = np.unique(labels[at], return_inverse=True)
    k = int(own.max(initial=-1)) + 1
    base = gram.split_shift()[0]
    base = base if len(at) == len(base) else base.take(at)
    if k < 2:
        return MembershipRule(chance=0.0), MembershipRule(chance=0.0)
    squared = Centroids.of(base, own, k, np.ones(len(at))).fitted()
    scale = float(np.mean(squared.mean(axis=1) - squared.min(axis=1))) or 1.0
    if len(at) < FEWEST * k:
        return MembershipRule(scale, own=1.0), MembershipRule(scale)
    again = _refitted(base, own, k)
    return _likeliest(squared, own, again, scale, OWN), _likeliest(squared, own, again, scale, (0.0,))


def _refitted(base: Gram, labels: NDArray[np.intp], k: int) -> NDArray[np.intp]:
    """Return the cluster that each document is in by a refit without it."""
    part = np.random.default_rng(0).permutation(len(labels)) % PARTS
    found = np.zeros(len(labels), dtype=np.intp)
    for out in range(PARTS):
        rest = np.flatnonzero(part != out)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a cluster may stay empty
            again = kernel_kmeans(base.take(rest), k, init="k-means++", n_init=STARTS, random_state=out).labels
        table = np.zeros((k, k))
        np.add.at(table, (again, labels[rest]), 1.0)
        rows, columns = optimize.linear_sum_assignment(table, maximize=True)
        whole = np.full(len(labels), -1, dtype=np.intp)
        whole[rest] = columns[np.argsort(rows)][again]
        squared = Centroids.of(base, whole, k, np.ones(len(labels))).fitted()
        found[part == out] = squared[part == out].argmin(axis=1)
    return found


def _likeliest(
    squared: Array, labels: NDArray[np.intp], again: NDArray[np.intp], scale: float, own: tuple[float, ...]
) -> MembershipRule:
    rows = np.arange(len(labels))
    best, most = MembershipRule(scale), -np.inf
    for bonus, sharpness in product(own, SHARPNESS.tolist()):
        rule = MembershipRule(scale, sharpness, bonus, 0.0)
        shares = rule.apply(squared, labels)[rows, again]
        for chance in CHANCE:
            likely = float(np.log((1.0 - chance) * shares + chance / squared.shape[1] + 1e-9).mean())
            if likely > most + 1e-12:
                best, most = MembershipRule(scale, sharpness, bonus, chance), likely
    return best
