"""Kernels of vectors (dense or sparse rows of numbers), and of given Gram matrices."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._array import Array, as_double, dot, is_sparse, row_squares, tiles
from .._check import check_integer, check_matrix, check_number
from ..errors import InputError
from ..gram import DenseGram, Gram, LinearGram, self_tune
from .base import Kernel, Transform, ones
from .spelling import register
from .transforms import Normalise


@register
@dataclass(frozen=True)
class Linear(Kernel):
    """x·y. Its Gram is matrix-free: memory and time are proportional to the stored entries of X.

    Examples
    --------
    >>> import numpy as np
    >>> Linear().gram(np.array([[1.0, 2.0], [0.0, 1.0]])).dense()
    array([[5., 2.],
           [2., 1.]])
    """

    name: ClassVar[str] = "linear"
    words: ClassVar[str] = "inner product of two rows"
    formula: ClassVar[str] = "K(x, y) = x·y"

    def _cross(self, new: Any, fitted: Any) -> Array:
        return dot(new, fitted.T)

    def _diagonal(self, new: Any) -> Array:
        return row_squares(new)

    def _gram(self, fitted: Any) -> LinearGram:
        return LinearGram.trusted(fitted)

    @property
    def ignores_origin(self) -> bool:
        """True unless rows are normalised."""
        return not self.transforms


@register
@dataclass(frozen=True)
class Cosine(Linear):
    """x·y / (‖x‖‖y‖), the same as ``linear|normalise``; rows of zeros are similar to nothing.

    Examples
    --------
    >>> import numpy as np
    >>> Cosine().gram(np.array([[3.0, 4.0], [3.0, 0.0]])).dense()
    array([[1. , 0.6],
           [0.6, 1. ]])
    """

    name: ClassVar[str] = "cosine"
    words: ClassVar[str] = "cosine of the angle between two rows, independent of their lengths"
    formula: ClassVar[str] = "K(x, y) = x·y / (‖x‖ ‖y‖)"

    @property
    def source(self) -> Kernel:
        """The linear kernel."""
        return Linear()

    @property
    def transforms(self) -> tuple[Transform, ...]:
        """Normalisation of order 0."""
        return (Normalise(),)


@register
@dataclass(frozen=True)
class Polynomial(Kernel):
    """(x·y + c)^d with a whole degree d ≥ 1 and c ≥ 0 (`pddp`: c = 1).

    Examples
    --------
    >>> import numpy as np
    >>> Polynomial(2).gram(np.array([[1.0], [2.0]])).dense()
    array([[ 4.,  9.],
           [ 9., 25.]])
    """

    name: ClassVar[str] = "polynomial"
    words: ClassVar[str] = "products of up to `degree` terms at once"
    formula: ClassVar[str] = "K(x, y) = (x·y + coef0)^degree"
    degree: int
    coef0: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        self._set(degree=check_integer(self.degree, "degree", low=1), coef0=check_number(self.coef0, "coef0", low=0))

    def _cross(self, new: Any, fitted: Any) -> Array:
        return (dot(new, fitted.T) + fitted.dtype.type(self.coef0)) ** self.degree

    def _diagonal(self, new: Any) -> Array:
        return np.asarray((row_squares(new) + self.coef0) ** self.degree, dtype=new.dtype)

    @property
    def ignores_origin(self) -> bool:
        """True for the first degree."""
        return self.degree == 1

    @property
    def of_products(self) -> Callable[[Array], Array]:
        """(p + coef0)^degree."""
        return self._of_products

    def _of_products(self, products: Array) -> Array:
        return (products + self.coef0) ** self.degree


_ROUNDING = 1e-14


def squared_distances(new: Any, fitted: Any) -> Array:
    """Return ‖x − y‖² = ‖x‖² − 2 x·y + ‖y‖² for every pair of rows, in float64; rounding noise becomes 0."""
    distances = dot(as_double(new), as_double(fitted).T)
    distances *= -2.0
    left, right = row_squares(new), row_squares(fitted)
    here = isinstance(new, np.ndarray) or is_sparse(new)
    for part in tiles(len(left), 32 * max(len(right), 1)) if here else [slice(None)]:
        size = left[part, None] + right
        distances[part] += size
        distances[part][distances[part] < _ROUNDING * size] = 0.0  # copies are at distance 0
    return distances


@register
@dataclass(frozen=True)
class Gaussian(Kernel):
    """exp(−‖x − y‖² / …), in one of three conventions.

    ``gaussian(w)`` is exp(−d²/w²) as in `pddp`; ``gaussian(sigma=s)`` is exp(−d²/(2s²)) as in `normalised`;
    ``gaussian(gamma=g)`` is exp(−g d²) as in scikit-learn. Exactly one of the three must be given.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[0.0], [1.0]])
    >>> [float(Gaussian(**p).gram(x).dense()[0, 1].round(4)) for p in ({"width": 1}, {"sigma": 1}, {"gamma": 0.2})]
    [0.3679, 0.6065, 0.8187]
    """

    name: ClassVar[str] = "gaussian"
    words: ClassVar[str] = "proximity: 1 for equal rows, falling to 0 with the squared distance"
    formula: ClassVar[str] = "K(x, y) = exp(−‖x − y‖² / width²); width² = 2 sigma² = 1 / gamma"
    width: float | None = None
    sigma: float | None = field(default=None, kw_only=True)
    gamma: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in ("width", "sigma", "gamma") if getattr(self, name) is not None}
        if len(given) != 1:
            raise InputError(
                "gaussian needs exactly one of width (exp(−d²/width²)), sigma (exp(−d²/(2 sigma²))) and "
                f"gamma (exp(−gamma d²)); got {', '.join(given) or 'none'}."
            )
        ((name, value),) = given.items()
        self._set(**{name: check_number(value, name, above=0)})
        if not 1e-300 < self.rate < 1e300:
            raise InputError(f"{name} must give a rate of d² between 1e-300 and 1e300; got {value!r}.")

    @property
    def rate(self) -> float:
        """The factor of d² in the exponent, in every convention."""
        if self.gamma is not None:
            return self.gamma
        one, divisor = (1.0, self.width) if self.width is not None else (0.5, self.sigma)
        assert divisor is not None
        return one / divisor / divisor if divisor > 1e-300 else math.inf

    def _cross(self, new: Any, fitted: Any) -> Array:
        distances = squared_distances(new, fitted)
        distances *= -self.rate
        return np.exp(distances, out=distances)

    def _diagonal(self, new: Any) -> Array:
        return ones(new)

    @property
    def ignores_origin(self) -> bool:
        """True: only distances matter."""
        return True


@dataclass(frozen=True)
class _SquaredDistance(Kernel):
    """‖x − y‖², the basis of the self-tuning kernel; not a kernel itself."""

    name: ClassVar[str] = "squared distance"

    def _cross(self, new: Any, fitted: Any) -> Array:
        return squared_distances(new, fitted)

    def _diagonal(self, new: Any) -> Array:
        return np.zeros(new.shape[0], dtype=new.dtype)


@dataclass(frozen=True)
class _Tuning(Transform):
    """Similarities from squared distances, with a width for every document."""

    name: ClassVar[str] = "selftuning"
    neighbours: int

    def __call__(self, gram: Gram) -> Gram:
        return self_tune(gram, self.neighbours)


@register
@dataclass(frozen=True)
class SelfTuning(Kernel):
    """exp(−‖x − y‖² / (σ_x σ_y)), σ_x the distance to the p-th nearest document (`normalised`: p = 7).

    Not positive semi-definite in general. The width of a new document comes from its distances to the fitted ones.

    Examples
    --------
    >>> import numpy as np
    >>> SelfTuning(1).gram(np.array([[0.0], [1.0], [9.0]])).dense().round(3)
    array([[1.   , 0.368, 0.   ],
           [0.368, 1.   , 0.   ],
           [0.   , 0.   , 1.   ]])
    """

    name: ClassVar[str] = "selftuning"
    words: ClassVar[str] = "proximity with a width for each document: the distance to its nearest neighbours"
    formula: ClassVar[str] = "K(x, y) = exp(−‖x − y‖² / (σ_x σ_y)), σ_x the distance to the neighbours-th nearest"
    neighbours: int = 7

    def __post_init__(self) -> None:
        self._set(neighbours=check_integer(self.neighbours, "neighbours", low=1))

    @property
    def source(self) -> Kernel:
        """The squared distances."""
        return _SquaredDistance()

    @property
    def plain(self) -> Kernel:
        """The kernel itself: distances are no similarities."""
        return self

    @property
    def transforms(self) -> tuple[Transform, ...]:
        """The tuning of the widths."""
        return (_Tuning(self.neighbours),)

    def _cross(self, new: Any, fitted: Any) -> Array:
        return self.source._cross(new, fitted)

    def _diagonal(self, new: Any) -> Array:
        return self.source._diagonal(new)


@register
@dataclass(frozen=True)
class Precomputed(Kernel):
    """X is the Gram matrix itself; new documents are given by their similarities to the fitted ones.

    For transforms that need self-similarities (``normalise``), give new documents as the pair (similarities,
    self-similarities).

    Examples
    --------
    >>> import numpy as np
    >>> Precomputed().gram(np.array([[2.0, 1.0], [1.0, 2.0]])).trace()
    4.0
    """

    name: ClassVar[str] = "precomputed"
    words: ClassVar[str] = "a similarity matrix that you provide"
    formula: ClassVar[str] = "K is the matrix itself"
    takes: ClassVar[str] = "gram"

    def _collect(self, documents: Any) -> Any:
        return DenseGram(documents)

    def _gram(self, fitted: Any) -> DenseGram:
        return fitted

    def _collect_new(self, new: Any, fitted: Any) -> Any:
        if isinstance(new, tuple) and len(new) != 2:
            kinds = "similarities or the pair (similarities, self-similarities)"
            raise InputError(f"New documents must be {kinds}; got {len(new)}.")
        cross, diagonal = new if isinstance(new, tuple) else (new, None)
        if diagonal is not None:
            diagonal = check_matrix(np.reshape(diagonal, (-1, 1)), "the self-similarities", rows=0)[:, 0]
        cross = check_matrix(cross, "the similarities of the new documents", rows=0)
        return (cross if isinstance(cross, np.ndarray) else cross.toarray()), diagonal

    def _parts(self, new: Any, rows: int) -> Iterator[Any]:
        cross, diagonal = new
        for start in range(0, len(cross), rows):
            part = slice(start, start + rows)
            yield cross[part], None if diagonal is None else diagonal[part]

    def _cross(self, new: Any, fitted: Any) -> Array:
        return np.asarray(new[0])

    def _diagonal(self, new: Any) -> Any:
        return new[1]
