"""Principal part: the best approximation of a Gram by one of low rank."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._array import Array, dot, row_squares, take_rows
from .._check import check_integer
from ..errors import InputError
from .base import Gram
from .contents import contents
from .eigen import eigenpairs
from .sources import LinearGram
from .transforms import Shifted

_ROUNDING = {"float64": 1e-12, "float32": 1e-6}  # of the largest eigenvalue: those below are 0
_NOTHING = 1e-20  # of the largest squared length: rows below are 0


class PrincipalGram(LinearGram):
    """F Fᵀ with F = V Λ^(1/2), the leading eigenpairs of another Gram; made by ``principal``.

    Attributes
    ----------
    features : array of shape (n, rank)
        F.
    base : Gram
        What it approximates.
    project : array of shape (n, rank)
        V Λ^(−1/2): from similarities under `base` to features.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram, principal
    >>> principal(LinearGram(np.array([[3.0, 0.0], [0.0, 1.0]])), 1).dense().round(12)
    array([[9., 0.],
           [0., 0.]])
    """

    def __init__(self, features: Array, base: Gram, project: Array, rows: NDArray[np.intp] | None = None) -> None:
        super().__init__(features)
        self.base, self.project, self.rows = base, project, rows
        self.size = float(row_squares(features).max())
        self.collection = getattr(base.source, "collection", None)

    @property
    def documents(self) -> Any:
        """What the rows are, or None where the base does not know."""
        whole = contents(self.base)
        return whole if self.rows is None or whole is None else take_rows(whole, self.rows)

    def embed(self, cross: Array, diagonal: Array | None = None) -> Array:
        """Return the features of new documents, (m, rank), from what ``extend`` takes."""
        if len(self) != len(self.base):
            raise InputError(
                "A part of a principal Gram cannot be extended: new documents must be compared with the whole "
                "collection. Extend the whole Gram and select the columns of the part."
            )
        similar, _ = self.base._extend(cross, diagonal)
        return _settled(np.asarray(dot(similar, self.project)), self.size).astype(self.dtype, copy=False)

    def _extend(self, cross: Array, diagonal: Array | None) -> tuple[Array, Array | None]:
        features = self.embed(cross, diagonal)
        return dot(features, self.features.T), row_squares(features).astype(self.dtype)

    def _take(self, index: NDArray[np.intp]) -> Gram:
        rows = index if self.rows is None else self.rows[index]
        return PrincipalGram(self.features[index], self.base, self.project, rows)


def principal(gram: Gram, rank: int = 100) -> PrincipalGram:
    """Keep the leading `rank` components of a Gram: latent semantic analysis, for any kernel.

    V_r Λ_r V_rᵀ is the best approximation of that rank (Eckart & Young 1936). What many documents share stays, what
    tells single documents apart goes; of the cosine of weighted terms it is LSA (Deerwester et al. 1990). Costs some
    hundreds of products and n × rank numbers; n × n is never formed where products do not need it. A fitted document
    that is shown as new gets its own features again.

    Parameters
    ----------
    gram : Gram
        Any but a shifted one. Negative eigenvalues are left out.
    rank : int
        r; fewer where the Gram has no more positive eigenvalues.

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
    if not isinstance(gram, Gram):
        raise InputError(f"gram must be a Gram; got {type(gram).__name__}. Make one with kernel.gram(X).")
    if isinstance(gram, Shifted):
        raise InputError(
            "principal must come before shift: a shift changes the diagonal alone, which no Gram of low rank can "
            "follow. Write it as in 'cosine|principal(100)|shift'."
        )
    rank = min(check_integer(rank, "rank", low=1), len(gram))
    pairs = eigenpairs(gram, rank)
    kept = pairs.values > _ROUNDING[gram.dtype.name] * max(float(np.abs(pairs.values).max()), 1e-300)
    if not kept.any():
        nothing = np.zeros((len(gram), 1))
        return PrincipalGram(nothing.astype(gram.dtype), gram, nothing)
    roots = np.sqrt(pairs.values[kept])
    vectors = pairs.vectors[:, kept]
    features = np.ascontiguousarray(vectors * roots)
    features = _settled(features, float(row_squares(features).max()))
    return PrincipalGram(features.astype(gram.dtype, copy=False), gram, vectors / roots)


def _settled(features: Array, size: float) -> Array:
    """Set rows to 0 that are nothing but rounding, so that no ``normalise`` makes something of them."""
    features[row_squares(features) <= _NOTHING * size] = 0.0
    return features
