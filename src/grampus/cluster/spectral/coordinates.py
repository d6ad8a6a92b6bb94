"""Embedding by the leading components of the Gram itself, and two coordinates for plots."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._array import Array
from ..._check import check_integer
from ...errors import InputError
from ...gram import Eigenpairs, Gram, centre, eigenpairs, require_gram
from .laplacian import PLANE, SpectralEmbedding

_ROUNDING = {"float64": 1e-12, "float32": 1e-5}  # of the largest eigenvalue: smaller ones count as 0


@dataclass(frozen=True)
class KernelEmbedding:
    """Documents embedded by the leading components of their Gram: rows (√λ₁ v₁, …, √λ_l v_l).

    Attributes
    ----------
    coordinates : array of shape (n, l)
    eigenvalues : array of shape (l,)
        Largest first, all positive.
    plane : array of shape (n, 2)
        The first two coordinates, for plots; 0 where there are fewer.
    method : str
        How the eigenvectors were computed; see ``grampus.gram.eigenpairs``.
    dropped : array
        The requested eigenvalues that are negative or 0 and give no coordinate.
    coefficients : array of shape (n, l)
        v_j/√λ_j, the factors of a new document's similarities.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.cluster import kernel_embedding
    >>> from grampus.gram import LinearGram
    >>> np.abs(kernel_embedding(LinearGram(np.array([[3.0, 0.0], [0.0, 1.0]])), 2).coordinates)
    array([[3., 0.],
           [0., 1.]])
    """

    coordinates: Array
    eigenvalues: Array
    plane: Array
    method: str
    dropped: Array
    coefficients: Array

    def take(self, index: NDArray[np.intp]) -> KernelEmbedding:
        """Return the documents in another order."""
        rows: dict[str, Any] = {name: getattr(self, name)[index] for name in ("coordinates", "plane", "coefficients")}
        return replace(self, **rows)


def kernel_embedding(gram: Gram, n_components: int) -> KernelEmbedding:
    """Embed documents by the leading components of a Gram (`normalised`, §4.1); use ``centre`` for kernel PCA proper.

    Parameters
    ----------
    gram : Gram
        May be indefinite; negative eigenvalues give no coordinate and are dropped, with a warning.
    n_components : int
        l, from 1 to n.

    Returns
    -------
    KernelEmbedding

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.cluster import kernel_embedding
    >>> from grampus.gram import LinearGram, centre
    >>> kernel_embedding(centre(LinearGram(np.array([[1.0], [2.0], [6.0]]))), 1).coordinates.round(3)
    array([[-2.],
           [-1.],
           [ 3.]])
    """
    n = len(require_gram(gram))
    count = check_integer(n_components, "n_components", low=1, high=n, of=" (the number of documents)")
    gram, order = gram.canonical()
    pairs, limit = _leading(gram, count)
    positive = pairs.values > limit
    if not positive.any():
        raise InputError(
            "The Gram has no positive eigenvalue: no component gives a coordinate. Check that the similarities are "
            "not all 0 (centred: not all equal), and put shift last."
        )
    asked = pairs.values[:count]
    lost = int((asked < -limit).sum())
    if lost:
        warnings.warn(
            f"{lost} of {count} eigenvalues are negative (the smallest is {asked.min():g}): the Gram is indefinite, "
            "and they are dropped. Use fewer components, or make it positive semi-definite with shift(psd).",
            stacklevel=3,
        )
    kept = int(positive[:count].sum())
    vectors, roots = pairs.vectors[:, :kept], np.sqrt(pairs.values[:kept])
    embedding = KernelEmbedding(
        coordinates=vectors * roots,
        eigenvalues=pairs.values[:kept],
        plane=_plane(pairs, limit),
        method=pairs.method,
        dropped=asked[kept:],
        coefficients=vectors / roots,
    )
    return embedding.take(np.argsort(order))


def _leading(gram: Gram, count: int) -> tuple[Eigenpairs, float]:
    """Return the leading eigenpairs, at least two if there are two, and the value up to which they count as 0."""
    pairs = eigenpairs(gram, min(max(count, PLANE), len(gram)))
    return pairs, _ROUNDING[gram.dtype.name] * max(float(np.abs(pairs.values).max()), gram.magnitude)


def _plane(pairs: Eigenpairs, limit: float) -> Array:
    """Return the first two coordinates; 0 where there are none."""
    plane = np.zeros((len(pairs.vectors), PLANE))
    shown = np.flatnonzero(pairs.values[:PLANE] > limit)
    plane[:, shown] = pairs.vectors[:, shown] * np.sqrt(pairs.values[shown])
    return plane


def embedding_2d(source: Any) -> Array:
    """Return two coordinates per document, for plots; deterministic.

    Parameters
    ----------
    source : Gram, SpectralEmbedding, KernelEmbedding, EmbeddedClustering or fitted estimator
        From an embedding or its clustering, the first two of its eigenvectors (after the constant one of a
        Laplacian). From a Gram, the two principal components of the centred Gram.

    Returns
    -------
    array of shape (n, 2)

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.cluster import embedding_2d
    >>> from grampus.gram import LinearGram
    >>> embedding_2d(LinearGram(np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 1.0], [0.0, 1.0]]))).round(3)
    array([[-2. , -0.5],
           [ 2. , -0.5],
           [ 2. ,  0.5],
           [-2. ,  0.5]])
    """
    source = getattr(source, "result_", source)
    source = getattr(source, "embedding", source)
    if isinstance(source, Gram):
        ordered, order = source.canonical()
        return _plane(*_leading(centre(ordered), PLANE))[np.argsort(order)]
    if not isinstance(source, (SpectralEmbedding, KernelEmbedding)):
        kinds = "a Gram, an embedding, or a clustering made from one"
        raise InputError(f"embedding_2d needs {kinds}; got {type(source).__name__}.")
    return source.plane.copy()
