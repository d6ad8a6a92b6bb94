"""Nyström approximation: a Gram of low rank from the similarities to some documents, the landmarks.

With C the similarities of all documents to the landmarks and W those among the landmarks, K ≈ C W⁺ Cᵀ = F Fᵀ with
F = C U Λ^(−1/2), W = U Λ Uᵀ (Williams & Seeger 2001, eqn 8). Memory is n × landmarks; the n × n matrix is never formed.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array, as_double, as_numpy, dot, index_array, row_squares, tiles
from .._backend import current
from .._check import check_choice, check_extension, check_finite, check_index, check_integer
from .._config import require_memory
from .._parallel import blas_threads
from ..errors import InputError
from .answers import Features
from .base import Gram, require_gram
from .collection import Collection
from .eigen import fixed_signs
from .landmarks import CHOICES, TO_LANDMARKS, choose_landmarks
from .lapack import symmetric_eigh
from .sources import LinearGram

# Eigenvalues of W below this share of the largest count as 0: their directions are rounding, which 1/λ would amplify.
_ROUNDING = {"float64": 1e-11, "float32": 1e-5}
_INDEFINITE = 100.0  # times the rounding: eigenvalues more negative than this are real


class NystromGram(LinearGram):
    """F Fᵀ, with F the features from the similarities to the landmarks; made by ``nystrom``.

    New documents are compared with the landmarks alone where a similarity under the base depends on its two documents
    only (plain kernels, ``normalise``, ``power``), otherwise with all documents (``centre``, ``map``,
    ``selftuning``). Selecting documents leaves the landmarks as they are.

    Attributes
    ----------
    rows : array of shape (n, rank)
        F.
    landmarks : array of int
        Their indices in the fitted collection, in increasing order.
    negative : array
        The negative eigenvalues of W that were dropped; empty for a positive semi-definite Gram.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram, nystrom
    >>> gram = nystrom(LinearGram(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0]])), [0, 2])
    >>> gram.dense().round(12)
    array([[1., 2., 0.],
           [2., 4., 0.],
           [0., 0., 9.]])
    >>> gram.landmarks
    array([0, 2])
    """

    def __init__(
        self,
        features: Array,
        landmarks: NDArray[np.intp],
        negative: Array,
        new: OutOfSample,
        documents: Collection | None = None,
    ) -> None:
        super().__init__(features)
        self._documents = documents
        self.landmarks, self.negative, self.new = landmarks, negative, new

    @property
    def widths(self) -> tuple[int, ...]:
        """Accepted numbers of similarities of a new document: to the landmarks, or to all fitted documents."""
        return self.new.widths

    def embed(self, cross: Array, diagonal: Array | None = None) -> Array:
        """Return the features of new documents, (m, rank), from what ``extend`` takes."""
        return self.new.features(cross, diagonal).astype(self.dtype, copy=False)

    def _extend(self, cross: Array, diagonal: Array | None) -> tuple[Array, Array | None]:
        features = self.embed(cross, diagonal)
        return dot(features, self.rows.T), row_squares(features).astype(self.dtype)

    def _take(self, index: NDArray[np.intp]) -> Gram:
        documents = None if self._documents is None else self._documents.take(index)
        return NystromGram(self.rows[index], self.landmarks, self.negative, self.new.closed(), documents)

    @property
    def approximate(self) -> bool:
        """True: small similarities may come out negative."""
        return True

    def _contents(self) -> None:
        return None  # only the landmarks are stored

    def _new_features(self, new: Any) -> Features:
        rows = self.embed(*check_extension(*self._root()._plain(new), self.widths))
        return Features(rows, np.ones(len(rows)))

    def _root(self) -> Gram:
        return self.new.below._root()

    def _compared_with(self) -> int:
        return max(self.widths)


class OutOfSample:
    """Map new documents to the features of a low-rank Gram.

    Parameters
    ----------
    below : Gram
        Transforms new documents: the landmarks' part of the base Gram, or all of it.
    columns : array of int, optional
        Columns of the landmarks in the result; all of them by default.
    project : array of shape (landmarks, rank)
        U Λ^(−1/2): from similarities to features.
    chosen : array of int, optional
        The fitted documents that `below` compares with, so that similarities to all documents are accepted too.
    n : int
        The number of fitted documents.
    """

    def __init__(self, below: Gram, columns: Any, project: Array, chosen: NDArray[np.intp] | None, n: int) -> None:
        self.below, self.columns, self.project, self.chosen, self.n = below, columns, project, chosen, n

    @classmethod
    def to(cls, gram: Gram, landmarks: NDArray[np.intp], project: Array) -> OutOfSample:
        """Return the cheapest map: through the landmarks alone, where the transforms below allow it."""
        if not gram.pairwise:
            return cls(gram, landmarks, project, None, len(gram))
        inner = gram.source
        chosen = inner.new.chosen if isinstance(inner, NystromGram) else landmarks
        return cls(gram.take(landmarks), slice(None), project, chosen, len(gram))

    @property
    def _inner(self) -> tuple[int, ...]:
        return tuple(getattr(self.below.source, "widths", (len(self.below),)))

    @property
    def widths(self) -> tuple[int, ...]:
        """Accepted numbers of similarities of a new document."""
        return self._inner if self.chosen is None else (self.n, *self._inner)

    def closed(self) -> OutOfSample:
        """Return the map for a part of the documents, which does not accept similarities to the part alone."""
        return OutOfSample(self.below, self.columns, self.project, None, self.n)

    def features(self, cross: Array, diagonal: Array | None) -> Array:
        """Return the features of new documents in float64."""
        if cross.shape[1] not in self._inner:
            cross = cross[:, self.chosen]
        similar, _ = self.below._extend(cross, diagonal)
        return np.asarray(similar[:, self.columns].astype(np.float64, copy=False) @ self.project)


def nystrom(
    gram: Gram, landmarks: int | Any = 500, *, rank: int | None = None, choose: str = "uniform", random_state: Any = 0
) -> NystromGram:
    """Approximate a Gram by one of low rank, from the similarities to some landmark documents.

    Costs n × landmarks similarities, twice that if they are not chosen uniformly, and once more with `rank`; memory is
    n × landmarks numbers. Exact for a positive semi-definite Gram when the landmarks span all documents: with as many
    landmarks as distinct documents, or as many as a linear kernel has features.

    Parameters
    ----------
    gram : Gram
        Any Gram but a shifted one. Where it is indefinite, the negative eigenvalues of the landmarks' block are
        dropped, with a warning.
    landmarks : int or array of int
        How many documents to choose, at most all distinct ones; or the indices of the documents.
    rank : int, optional
        Keep only the best approximation of this rank (to the Nyström Gram, not to its landmark block): memory n × rank.
    choose : "uniform", "kmeans++" or "leverage"
        Distinct documents with equal probability; in proportion to the squared distance from those chosen before
        (Oglic & Gärtner 2017); in proportion to approximate ridge leverage scores (Musco & Musco 2017).
    random_state : int, RandomState or None
        Seed of the choice. Documents are identified by content where that is known: their order does not matter, and
        copies are chosen once.

    Returns
    -------
    NystromGram

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import nystrom, relative_error
    >>> from grampus.kernels import Gaussian
    >>> x = np.random.default_rng(0).random((300, 2))
    >>> gram = Gaussian(1.5).gram(x)
    >>> small = nystrom(gram, 30)
    >>> small.features().rows.shape[1] <= 30, relative_error(gram, small).value < 1e-5
    (True, True)
    """
    if require_gram(gram).split_shift()[0] is not gram:
        raise InputError(
            "nystrom must come before shift: a shift changes the diagonal alone, which no Gram of low rank can follow. "
            "Write it as in 'cosine|nystrom(500)|shift'."
        )
    check_choice(choose, "choose", CHOICES)
    rank = None if rank is None else check_integer(rank, "rank", low=1)
    with blas_threads():
        if isinstance(landmarks, (int, np.integer, float)):
            count = check_integer(landmarks, "landmarks", low=1)
            chosen = choose_landmarks(gram, count, choose, random_state)
        else:
            named: Any = () if landmarks is None else landmarks
            chosen = np.unique(index_array(check_index(named, len(gram), "landmarks")))
            if len(chosen) == 0:
                raise InputError("landmarks must name at least one document; got none.")
        ordered, order = gram.canonical()
        rank_of = np.empty(len(gram), dtype=np.intp)
        rank_of[order] = np.arange(len(gram))
        marks = np.sort(rank_of[chosen])
        project, negative = _project(ordered, marks)
        if rank is not None and rank < project.shape[1]:
            project = _best(ordered, marks, project, rank)
        _require(len(gram), project.shape[1], gram.dtype.itemsize, "features")
        features = np.empty((len(gram), project.shape[1]), dtype=gram.dtype)
        for rows, part in _feature_tiles(ordered, marks, project):
            features[order[rows]] = part
    rising = np.argsort(order[marks])
    new = OutOfSample.to(gram, order[marks][rising], project[rising])
    return NystromGram(features, order[marks][rising], negative, new, gram.documents())


def _project(gram: Gram, landmarks: NDArray[np.intp]) -> tuple[Array, Array]:
    """Return U Λ^(−1/2) of the landmarks' block, largest eigenvalue first, and the negative eigenvalues."""
    _require(len(landmarks), len(landmarks), 5 * 8, "eigenvectors")  # the block, a copy, and LAPACK's own
    block = check_finite(gram._block(landmarks, landmarks).astype(np.float64), TO_LANDMARKS)
    values, vectors = symmetric_eigh(block)
    limit = _ROUNDING[gram.dtype.name] * max(float(np.abs(values).max()), 1e-300)
    negative = values[values < -_INDEFINITE * limit]
    if len(negative):
        warnings.warn(
            f"The Gram is indefinite: {len(negative)} of the {len(values)} eigenvalues of the landmarks' block are "
            f"negative, down to {negative[0] / values[-1]:.2g} of the largest. They are dropped.",
            stacklevel=3,
        )
    kept = np.flatnonzero(values > limit)[::-1]
    if len(kept) == 0:
        return np.zeros((len(landmarks), 1)), negative  # every similarity is 0: one feature, all zeros
    return fixed_signs(vectors[:, kept]) / np.sqrt(values[kept]), negative


def _best(gram: Gram, landmarks: NDArray[np.intp], project: Array, rank: int) -> Array:
    """Return the projection to the `rank` leading components of F, the best approximation of F Fᵀ of that rank."""
    square = np.zeros((project.shape[1], project.shape[1]))
    for _, part in _feature_tiles(gram, landmarks, project):
        square += part.T @ part
    _, vectors = symmetric_eigh(square, rank)
    return project @ fixed_signs(vectors[:, ::-1])


def _feature_tiles(gram: Gram, landmarks: NDArray[np.intp], project: Array) -> Iterator[tuple[slice, Array]]:
    """Yield F in float64, a tile of documents at a time."""
    count, rank = project.shape
    namespace, block = current().blocks(gram, float(len(gram)) * count * rank)
    there = namespace.asarray(project)
    for rows in tiles(len(gram), 8 * (2 * count + rank)):
        yield rows, as_numpy(as_double(check_finite(block(rows, landmarks), TO_LANDMARKS)) @ there)


def _require(rows: int, columns: int, entry: int, what: str) -> None:
    needed = f"The {rows} × {columns} {what} of nystrom"
    require_memory(rows * columns * entry, needed, "Use fewer landmarks or a smaller rank")
