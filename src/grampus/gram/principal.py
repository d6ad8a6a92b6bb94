"""Principal components: the best approximation of a Gram by one of low rank."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array, dot, row_squares
from .._check import check_integer
from ..errors import InputError
from .answers import Features
from .base import Gram, require_gram
from .collection import Collection
from .eigen import eigenpairs
from .sources import LinearGram
from .transforms.normalise import normalise

_ROUNDING = {"float64": 1e-12, "float32": 1e-6}  # of the largest eigenvalue: smaller ones count as 0
_UNIT = {"float64": 1e-9, "float32": 1e-4}  # self-similarities nearer to 1 count as 1
_NOTHING = 1e-20  # of the largest squared length: shorter rows count as 0


class PrincipalGram(LinearGram):
    """F Fᵀ with F = V Λ^(1/2), the leading eigenpairs of another Gram; made by ``principal``.

    Attributes
    ----------
    rows : array of shape (n, rank)
        F.
    base : Gram
        The Gram that is approximated.
    project : array of shape (n, rank)
        V Λ^(−1/2): from similarities under `base` to features.
    wider : PrincipalGram or None
        The same with more components, where these were computed with them.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram, principal
    >>> principal(LinearGram(np.array([[3.0, 0.0], [0.0, 1.0]])), 1).dense().round(12)
    array([[9., 0.],
           [0., 0.]])
    """

    def __init__(self, features: Array, base: Gram, project: Array, part: NDArray[np.intp] | None = None) -> None:
        super().__init__(features)
        self.base, self.project, self.part = base, project, part
        self.size = float(row_squares(features).max())
        self._directions: Array | None = None
        self.wider: PrincipalGram | None = None

    def documents(self) -> Collection:
        """Return the documents of the base, or the selected part of them."""
        whole = self.base.documents()
        return whole if self.part is None else whole.take(self.part)

    def embed(self, cross: Array, diagonal: Array | None = None) -> Array:
        """Return the features of new documents, (m, rank), from what ``extend`` takes."""
        if self.part is not None:
            raise InputError(
                "A part of a principal Gram cannot be extended: new documents must be compared with the whole "
                "collection. Extend the whole Gram and select the columns of the part."
            )
        similar, _ = self.base._extend(cross, diagonal)
        return self._settled(np.asarray(dot(similar, self.project)))

    def _settled(self, features: Array) -> Array:
        return _settled(features, self.size).astype(self.dtype, copy=False)

    def _extend(self, cross: Array, diagonal: Array | None) -> tuple[Array, Array | None]:
        features = self.embed(cross, diagonal)
        return dot(features, self.rows.T), row_squares(features).astype(self.dtype)

    def _new_features(self, new: Any) -> Features | None:
        if self.part is not None:
            return None
        below, explicit = self.base._new_features(new), self.base.features()
        if below is None or explicit is None:
            rows = self.embed(*self._root()._plain(new))
        else:
            if self._directions is None:
                self._directions = explicit.project(self.project)
            rows = self._settled(below.onto(self._directions))
        return Features(rows, np.ones(len(rows)))

    def _root(self) -> Gram:
        return self.base._root()

    def _compared_with(self) -> int:
        return self.base._compared_with()

    @property
    def pairwise(self) -> bool:
        """False: a new document is compared with all fitted ones."""
        return False

    def _at_rank(self, rank: int) -> PrincipalGram:
        own = self.rows.shape[1]
        if rank == own or self.part is not None:
            return self
        if rank > own:
            return principal(self.base, rank) if self.wider is None else self.wider._at_rank(rank)
        rows = _settled(np.ascontiguousarray(self.rows[:, :rank]), float(row_squares(self.rows[:, :rank]).max()))
        part = PrincipalGram(rows, self.base, np.ascontiguousarray(self.project[:, :rank]))
        part.wider = self
        return part

    def _take(self, index: NDArray[np.intp]) -> Gram:
        if self.part is None and len(index) == len(self):
            return _Reordered(self, index)
        part = index if self.part is None else self.part[index]
        return PrincipalGram(self.rows[index], self.base, self.project, part)


class _Reordered(PrincipalGram):
    """The same documents in another order; what serves new documents only follows when it is needed."""

    def __init__(self, first: PrincipalGram, index: NDArray[np.intp]) -> None:
        LinearGram.__init__(self, first.rows[index])
        self.first, self.index, self.size = first, index, first.size
        self.part, self.wider, self._directions = None, None, None

    @cached_property
    def base(self) -> Gram:  # type: ignore[override]
        return self.first.base._take(self.index)

    @cached_property
    def project(self) -> Array:  # type: ignore[override]
        return np.asarray(self.first.project[self.index])

    @cached_property
    def _names(self) -> Collection:
        return self.first.documents().take(self.index)

    def documents(self) -> Collection:
        return self._names

    def _take(self, index: NDArray[np.intp]) -> Gram:
        return self.first._take(self.index[index])  # the base of a part is that of all, in any order


def principal(gram: Gram, rank: int = 100, *, spare: int = 0) -> PrincipalGram:
    """Keep the leading `rank` components of a Gram: latent semantic analysis, for any kernel.

    V_r Λ_r V_rᵀ is the best approximation of that rank (Eckart & Young 1936). It keeps what many documents share and
    drops what is particular to single documents; for the cosine of weighted terms it is LSA (Deerwester et al. 1990).
    Costs some hundreds of products and n × rank numbers; n × n is never formed where products do not need it. A fitted
    document given as new gets its own features again.

    Parameters
    ----------
    gram : Gram
        Any but a shifted one. Negative eigenvalues are dropped.
    rank : int
        r; fewer where the Gram has no more positive eigenvalues.
    spare : int
        Compute as many components at once if that is more, for ``at_rank``.

    Returns
    -------
    PrincipalGram

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import DenseGram, principal
    >>> gram = principal(DenseGram(np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 1.0]])), 1)
    >>> gram.dense().round(6)
    array([[0.9, 0.9, 0. ],
           [0.9, 0.9, 0. ],
           [0. , 0. , 0. ]])
    """
    if require_gram(gram).split_shift()[0] is not gram:
        raise InputError(
            "principal must come before shift: a shift changes the diagonal alone, which no Gram of low rank can "
            "follow. Write it as in 'cosine|principal(100)|shift'."
        )
    rank = min(check_integer(rank, "rank", low=1), len(gram))
    if spare > rank:
        wider = principal(gram, spare)
        return wider if wider.rows.shape[1] <= rank else wider._at_rank(rank)
    ordered, order = gram.canonical()
    pairs = eigenpairs(ordered, rank)
    kept = pairs.values > _ROUNDING[gram.dtype.name] * max(float(np.abs(pairs.values).max()), 1e-300)
    if not kept.any():
        nothing = np.zeros((len(gram), 1))
        return PrincipalGram(nothing.astype(gram.dtype), gram, nothing)
    roots = np.sqrt(pairs.values[kept])
    vectors = np.empty((len(gram), int(kept.sum())))
    vectors[order] = pairs.vectors[:, kept]
    features = np.ascontiguousarray(vectors * roots)
    features = _settled(features, float(row_squares(features).max()))
    return PrincipalGram(features.astype(gram.dtype, copy=False), gram, vectors / roots)


def at_rank(gram: Gram, rank: int) -> Gram:
    """Return a Gram with its leading `rank` components; what came after a reduction is applied again.

    `cosine|principal(30)|normalise` at rank 15 is `cosine|principal(15)|normalise`: fewer components are taken from
    those at hand, more are computed anew. A Gram that was not reduced before is reduced by ``principal``, without its
    shift, and normalised again if its self-similarities are all 1.

    Parameters
    ----------
    gram : Gram
    rank : int
        Fewer where the Gram has no more positive eigenvalues.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus import parse_kernel
    >>> from grampus.gram import at_rank
    >>> gram = parse_kernel("cosine|principal(3)|normalise").gram(np.random.default_rng(0).random((9, 5)))
    >>> at_rank(gram, 2).features().rows.shape
    (9, 2)
    """
    rank = check_integer(rank, "rank", low=1)
    base = require_gram(gram).split_shift()[0]
    found = base._at_rank(rank)
    if found is not None:
        return found
    own = base.diagonal().astype(np.float64)
    unit = own.max(initial=0.0) > 0 and bool(np.abs(own[own > 0] - 1.0).max() < _UNIT[gram.dtype.name])
    reduced = principal(base, rank)
    return normalise(reduced) if unit else reduced


def _settled(features: Array, size: float) -> Array:
    """Set rows that are only rounding to 0, so that ``normalise`` does not inflate them."""
    features[row_squares(features) <= _NOTHING * size] = 0.0
    return features
