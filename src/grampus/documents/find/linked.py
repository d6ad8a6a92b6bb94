"""Clusters whose sizes differ: average linkage, where it is clearly steadier than clusters of similar size."""

import numpy as np
from numpy.typing import NDArray

from ..._array import Array
from ..._parallel import blas_threads
from ..._random import seed_words
from ...gram import Gram
from ...select.evidence import DOCUMENTS, LARGE, MANY, STEADIER, agreement, leading_points
from ...select.levels import sample
from ...select.ward import WardTree


def linked_clusters(gram: Gram, weights: Array, k: int, seed: int) -> NDArray[np.intp] | None:
    """Return clusters of average linkage, −1 for documents that were not looked at; None where k-means will do.

    k-means and Ward's rule make clusters of similar size, and tear large classes where there are many small ones. So
    both kinds of tree are grown from random halves of at most 2,500 documents in their leading components, and each
    half predicts the other. Average linkage, of distances in feature space, is taken where halves agree on its clusters
    clearly more.
    """
    heavy = np.flatnonzero(weights > 0)
    if k < MANY or len(heavy) < LARGE * k:
        return None
    entropy = tuple(seed_words(seed))
    base = gram.split_shift()[0]
    part, rows = sample(base if len(heavy) == len(base) else base.take(heavy), DOCUMENTS, entropy)
    if len(rows) < LARGE * k:
        return None
    with blas_threads():
        points = leading_points(part, unit=True)
        usual = agreement(points, k, "ward", entropy)
        if usual + STEADIER > 1 or agreement(points, k, "average", entropy) < usual + STEADIER:
            return None
        labels = np.full(len(gram), -1, dtype=np.intp)
        labels[heavy[rows]] = WardTree(_distances(part), "average", apart=True).cut(k)
    return labels


def _distances(gram: Gram) -> Array:
    """Return the distances of all pairs of documents in feature space."""
    own, similar = gram.diagonal().astype(np.float64), gram.dense()
    return np.asarray(np.sqrt(np.maximum(own[:, None] + own - 2.0 * similar, 0.0)))
