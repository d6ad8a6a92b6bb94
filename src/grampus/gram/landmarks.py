"""Landmark selection, independent of the order of documents."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .._array import Array, as_double, as_numpy, tiles
from .._backend import current
from .._check import check_finite
from .._random import generator
from .base import Gram
from .lapack import symmetric_eigh, symmetric_eigvalsh

Documents = NDArray[np.intp]
_NOISE = 1e-12  # of the self-similarities: distances below this are rounding


TO_LANDMARKS = "The similarities to the landmarks"


def choose_landmarks(gram: Gram, count: int, choose: str, random_state: Any) -> Documents:
    """Return the indices of at most `count` distinct documents, in increasing order."""
    rng = generator(random_state)
    found = gram.documents()
    if count >= len(found.first):
        return np.sort(found.first)
    return np.sort(CHOICES[choose](gram, count, found.first, found.copies.astype(np.float64), rng))


def uniform(gram: Gram, count: int, distinct: Documents, copies: Array, rng: np.random.Generator) -> Documents:
    """Draw distinct documents with equal probability."""
    return distinct[rng.choice(len(distinct), count, replace=False)]


def spread(gram: Gram, count: int, distinct: Documents, copies: Array, rng: np.random.Generator) -> Documents:
    """Draw in proportion to the squared distance from the nearest landmark so far (k-means++ in feature space).

    Oglic & Gärtner (2017), Nyström method with kernel k-means++ samples as landmarks. Every copy counts.
    """
    diagonal = gram._diagonal().astype(np.float64)
    nearest, pull = np.full(len(gram), np.inf), copies
    drawn: list[int] = []
    while len(drawn) < count and pull.sum() > 0:
        total = np.cumsum(pull)
        place = min(int(np.searchsorted(total, rng.random() * total[-1], side="right")), len(total) - 1)
        drawn.append(int(distinct[place]))
        size = diagonal + diagonal[drawn[-1]]
        squared = size - 2.0 * _similarities(gram, drawn[-1])
        nearest = np.minimum(nearest, np.where(squared > _NOISE * np.abs(size), squared, 0.0))
        nearest[drawn[-1]] = 0.0
        pull = copies * nearest[distinct]
    return np.array(drawn, dtype=np.intp)


def _similarities(gram: Gram, document: int) -> Array:
    """Return one column of the Gram as a product, which costs a linear Gram one pass over its entries."""
    one = csr_array((np.ones(1), (np.array([document]), np.zeros(1, dtype=np.intp))), shape=(len(gram), 1))
    return gram._matmul(one)[:, 0]


def by_leverage(gram: Gram, count: int, distinct: Documents, copies: Array, rng: np.random.Generator) -> Documents:
    """Draw without replacement, with probability proportional to approximate ridge leverage scores.

    The scores come from a first uniform sample of the same size; the ridge is the mean of the eigenvalues beyond the
    leading half of its spectrum, scaled to n documents (Musco & Musco 2017, eqn 4 and theorem 3, one level deep).
    """
    pilot = uniform(gram, count, distinct, copies, rng)
    values = symmetric_eigvalsh(check_finite(gram._block(pilot, pilot).astype(np.float64), TO_LANDMARKS))[::-1]
    share, half = len(pilot) / len(gram), -(-count // 2)
    ridge = max(float(values[half:].clip(min=0.0).sum()) / half, 1e-9 * float(values[0])) / share
    if not ridge > 0:
        return pilot  # every similarity is 0
    pull = copies * leverage_scores(gram, pilot, ridge)[distinct]
    waiting = np.divide(rng.exponential(size=len(pull)), pull, out=np.full(len(pull), np.inf), where=pull > 0)
    order = np.argsort(waiting, kind="stable")[:count]  # the first arrivals are a sample without replacement
    return distinct[order[np.isfinite(waiting[order])]]


def leverage_scores(gram: Gram, pilot: Documents, ridge: float) -> Array:
    """Return (K_ii − c_iᵀ (W + λ s I)⁻¹ c_i) / λ within [0, 1], c_i the similarities to a sample of a share s.

    With all documents as the sample it is the ridge leverage score (K (K + λI)⁻¹)_ii.
    """
    values, vectors = symmetric_eigh(gram._block(pilot, pilot).astype(np.float64))
    values = values + ridge * len(pilot) / len(gram)
    values += max(0.0, -2.0 * float(values[0]))  # make an indefinite block positive definite
    namespace, block = current().blocks(gram, float(len(gram)) * len(pilot) ** 2)
    solve = namespace.asarray(vectors / np.sqrt(values))
    scores = gram._diagonal().astype(np.float64)
    for rows in tiles(len(gram), 24 * len(pilot)):
        similar = as_double(block(rows, pilot)) @ solve
        scores[rows] -= as_numpy(np.einsum("ij,ij->i", similar, similar))
    return np.clip(scores / ridge, 0.0, 1.0)


CHOICES: dict[str, Callable[[Gram, int, Documents, Array, np.random.Generator], Documents]] = {
    "uniform": uniform,
    "kmeans++": spread,
    "leverage": by_leverage,
}
