"""How well a prediction agrees with a clustering: scores of contingency tables, and what chance gives."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from .._array import Array
from .._check import check_labels
from ..errors import InputError

CHANCE_PAIRS = 2000  # pairs of random partitions behind each expected strength


def prediction_strength(clusters: Any, predicted: Any) -> float:
    """Return the share of pairs of a cluster that are predicted together, of the worst cluster (`validation`, Eqn 1).

    Counted from the contingency table N of both partitions, n_h the size of cluster h: the minimum over h of
    Σ_j N_hj(N_hj − 1) / (n_h(n_h − 1)).
    Costs O(n). A cluster of a single document has no pairs and is left out of the minimum; if there are only such
    clusters, nothing was predicted and the strength is 0.

    Parameters
    ----------
    clusters : array of shape (n,)
        The clustering of the test documents; any labels.
    predicted : array of shape (n,)
        What a classifier trained on other documents makes of them; any labels.

    Examples
    --------
    >>> from grampus.select import prediction_strength
    >>> prediction_strength([0, 0, 0, 1, 1], [5, 5, 5, 7, 7])
    1.0
    >>> round(prediction_strength([0, 0, 0, 1, 1], [5, 5, 7, 7, 7]), 3)
    0.333
    """
    first = check_labels(clusters, len(clusters))
    second = check_labels(predicted, len(first))
    k = int(max(first.max(), second.max())) + 1
    return float(strength(tables(first[None], second[None], k))[0][0])


def tables(clusters: NDArray[Any], predicted: NDArray[Any], k: int) -> NDArray[np.int64]:
    """Count the documents of every (cluster, prediction) for many runs at once.

    Parameters
    ----------
    clusters, predicted : array of shape (runs, n)
        Numbers below k; a cluster of −1 leaves the document out.

    Returns
    -------
    array of shape (runs, k, k)
    """
    runs = np.arange(len(clusters))[:, None]
    cells = ((runs * k + clusters) * k + predicted)[clusters >= 0]
    return np.bincount(cells, minlength=len(clusters) * k * k).reshape(-1, k, k)


class Scored(NamedTuple):
    """Scores of many runs, and which of them were degenerate: a cluster had fewer than two documents."""

    values: Array
    degenerate: NDArray[np.bool_]


def strength(counts: NDArray[np.int64]) -> Scored:
    """Return the prediction strength of every table, shape (runs,)."""
    counts = counts.astype(np.float64)
    sizes = counts.sum(axis=2)
    together = (counts * (counts - 1.0)).sum(axis=2)
    paired = sizes >= 2
    shares = np.divide(together, sizes * (sizes - 1.0), out=np.full(sizes.shape, np.inf), where=paired)
    worst = shares.min(axis=1)
    return Scored(np.where(np.isinf(worst), 0.0, worst), ~paired.all(axis=1))


def partition_similarity(counts: NDArray[np.int64]) -> Scored:
    """Return the share of documents whose prediction matches under the best one-to-one matching, shape (runs,).

    The set-matching agreement of Giurcaneanu & Tabus (2004) and Lange et al. (2004); not corrected for chance.
    """
    values = np.empty(len(counts))
    for run, table in enumerate(counts):
        rows, columns = optimize.linear_sum_assignment(table, maximize=True)
        values[run] = table[rows, columns].sum() / table.sum()
    return Scored(values, (counts.sum(axis=2) < 2).any(axis=1))


def adjusted_rand(counts: NDArray[np.int64]) -> Array:
    """Return the adjusted Rand index of every table (Hubert & Arabie 1985), shape (runs,); 0 where it is undefined.

    Chance is corrected for with the sizes of the clusters as they are, so that one large cluster with a few
    outliers earns nothing.
    """
    counts = counts.astype(np.float64)

    def pairs(sizes: Array) -> Array:
        return np.asarray((sizes * (sizes - 1.0)).reshape(len(sizes), -1).sum(axis=1) / 2.0)

    together, rows, columns = pairs(counts), pairs(counts.sum(axis=2)), pairs(counts.sum(axis=1))
    expected = rows * columns / np.maximum(pairs(counts.sum(axis=(1, 2))[:, None]), 1.0)
    room = (rows + columns) / 2.0 - expected
    return np.divide(together - expected, room, out=np.zeros(len(counts)), where=room > 1e-12)


class Chance(NamedTuple):
    """The mean strength of random partitions, and its standard error."""

    mean: float
    error: float


@lru_cache(maxsize=4096)
def chance_strength(n: int, k: int, pairs: int = CHANCE_PAIRS) -> Chance:
    """Return S̄, the expected strength of two random partitions of n documents into k clusters (`validation`, Eqn 2).

    The table of two independent random partitions is multinomial with n draws over k² equal cells; `pairs` such tables
    are drawn with a seed that n and k fix, so that S̄ is always the same number.

    Examples
    --------
    >>> from grampus.select import chance_strength
    >>> chance = chance_strength(500, 2)
    >>> round(chance.mean, 2), chance.error < 0.001
    (0.5, True)
    """
    if n < 1 or k < 1 or pairs < 2:
        raise InputError(f"n and k must be at least 1 and pairs at least 2; got {n}, {k} and {pairs}.")
    rng = np.random.default_rng([n, k])
    counts = rng.multinomial(n, np.full(k * k, 1.0 / (k * k)), size=pairs).reshape(pairs, k, k)
    values = strength(counts).values
    return Chance(float(values.mean()), float(values.std(ddof=1) / np.sqrt(pairs)))


def corrected(values: Array, chance: Array) -> Array:
    """Return S' = (S − S̄)/(1 − S̄) (`validation`, Eqn 2); 0 where chance alone reaches 1."""
    room = 1.0 - chance
    return np.divide(values - chance, room, out=np.zeros(np.broadcast_shapes(values.shape, room.shape)), where=room > 0)
