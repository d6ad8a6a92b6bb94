"""The kernel nearest-centroid classifier (`validation`, §3.1)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._check import check_labels
from ..cluster.kmeans import Centroids
from ..errors import InputError
from ..gram import Gram, require_gram

_TIE = 1e-12


def nearest_centroid(gram: Gram, labels: Any, documents: Any = None) -> NDArray[Any]:
    """Return the class whose centroid in feature space is nearest, for every document of a Gram.

    Some documents train the classifier, all are classified: one product. d(i, c) = K_ii + Σ_{j,l∈c} K_jl/n_c² −
    2 Σ_{j∈c} K_ij/n_c with c the class's training documents; a shift enters through the centroids' norms and, for a
    training document, through its own similarity to itself.

    Parameters
    ----------
    gram : Gram
    labels : array of shape (t,)
        Classes of the training documents; any labels.
    documents : array of shape (t,), optional
        The training documents, as numbers or a mask; the first t by default.

    Returns
    -------
    array of shape (n,)
        Of the labels given; in a tie the one that sorts first.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram
    >>> from grampus.select import nearest_centroid
    >>> gram = LinearGram(np.array([[0.0], [1.0], [9.0], [8.0], [2.0]]))
    >>> nearest_centroid(gram, ["low", "low", "high"])
    array(['low', 'low', 'high', 'high', 'low'], dtype='<U4')
    """
    n, names = len(require_gram(gram)), np.asarray(labels)
    train = _training(documents, n, len(names) if names.ndim == 1 else 0)
    classes = check_labels(labels, len(train))
    everyone = np.full(n, -1)
    everyone[train] = classes
    centroids = Centroids.of(gram, everyone, int(classes.max()) + 1, np.ones(n))
    base, sigma = gram.split_shift()
    distance = centroids.norms - 2.0 * centroids.similarities
    distance[train, classes] -= 2.0 * sigma * centroids.shares[train]
    size = np.abs(base.diagonal()).astype(np.float64)
    least = distance.min(axis=1) + _TIE * (size + float(size.mean()))
    nearest = (distance <= least[:, None]).argmax(axis=1)
    return np.asarray(np.unique(names)[nearest])


def _training(documents: Any, n: int, count: int) -> NDArray[np.intp]:
    """Return the numbers of the training documents."""
    chosen = np.arange(count) if documents is None else np.asarray(documents)
    if chosen.dtype == bool and chosen.shape == (n,):
        chosen = np.flatnonzero(chosen)
    whole = chosen.ndim == 1 and chosen.dtype.kind in "iu"
    if not whole or len(chosen) == 0 or chosen.min() < 0 or chosen.max() >= n or len(np.unique(chosen)) < len(chosen):
        raise InputError(f"documents must be a mask of {n} or distinct numbers between 0 and {n - 1}, at least one.")
    if count != len(chosen):
        raise InputError(f"labels must have {len(chosen)} entries, one for each training document; got {count}.")
    return chosen.astype(np.intp)
