"""The kernel nearest-centroid classifier (`validation`, §3.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array
from .._check import check_labels
from ..errors import InputError
from ..gram import Gram

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
        Which documents those are: numbers or a mask; the first t by default.

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
    if not isinstance(gram, Gram):
        raise InputError(f"gram must be a Gram; got {type(gram).__name__}. Make one with kernel.gram(X).")
    names = np.asarray(labels)
    n = len(gram)
    train = _training(documents, n, len(names) if names.ndim == 1 else 0)
    classes = check_labels(labels, len(train))
    base, sigma = gram.split_shift()
    everyone = np.full(n, -1)
    everyone[train] = classes
    distance = _distances(base, everyone, int(classes.max()) + 1, sigma)
    size = np.abs(base.diagonal()).astype(np.float64)
    least = distance.min(axis=1) + _TIE * (size + float(size.mean()))
    nearest = (distance <= least[:, None]).argmax(axis=1)
    return np.asarray(np.unique(names)[nearest])


def _distances(base: Gram, classes: NDArray[np.intp], k: int, sigma: float) -> Array:
    """Return d(i, c) − K_ii, (n, k)."""
    train = np.flatnonzero(classes >= 0)
    sizes = np.bincount(classes[train], minlength=k).astype(np.float64)
    sums = base.sum_by(classes, k)
    within = np.bincount(classes[train], weights=sums[train, classes[train]], minlength=k)
    distance = (within + sigma * sizes) / sizes**2 - 2.0 * sums / sizes
    distance[train, classes[train]] -= 2.0 * sigma / sizes[classes[train]]
    return distance


def _training(documents: Any, n: int, count: int) -> NDArray[np.intp]:
    """Return the numbers of the training documents."""
    if documents is None:
        documents = np.arange(count)
    chosen = np.asarray(documents)
    if chosen.dtype == bool and chosen.shape == (n,):
        chosen = np.flatnonzero(chosen)
    whole = chosen.ndim == 1 and chosen.dtype.kind in "iu"
    if not whole or len(chosen) == 0 or chosen.min() < 0 or chosen.max() >= n or len(np.unique(chosen)) < len(chosen):
        raise InputError(f"documents must be a mask of {n} or distinct numbers between 0 and {n - 1}, at least one.")
    if count != len(chosen):
        raise InputError(f"labels must have {len(chosen)} entries, one for each training document; got {count}.")
    return chosen.astype(np.intp)
