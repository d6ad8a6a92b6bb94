"""The transforms of the kernel language: parameters, checked at construction."""

from dataclasses import dataclass, field
from typing import ClassVar

from .. import gram as grams
from .._check import check_choice, check_integer, check_number
from ..errors import InputError
from ..gram import Gram
from ..gram.landmarks import CHOICES
from ..gram.transforms.normalise import check_order
from ..gram.transforms.shift import check_shift
from .base import Transform
from .spelling import register

COMPONENTS = 30, 200  # of principal(auto), at least and at most; between them as many as clusters


@register
@dataclass(frozen=True)
class Shift(Transform):
    """K + σI. By default the shift that brings the trace to 0; ``shift(psd)`` makes an indefinite Gram semi-definite.

    Examples
    --------
    >>> str(Shift()), str(Shift(-0.5)), str(Shift("psd"))
    ('shift', 'shift(-0.5)', 'shift(psd)')
    """

    name: ClassVar[str] = "shift"
    words: ClassVar[str] = "add a constant to every self-similarity; by default the one that makes them sum to 0"
    formula: ClassVar[str] = "K + σI, σ = −trace(K)/n unless it is given"
    sigma: float | str | None = None

    def __post_init__(self) -> None:
        self._set(sigma=check_shift(self.sigma))

    def __call__(self, gram: Gram) -> Gram:
        """Fit σ and return the shifted Gram."""
        return grams.shift(gram, self.sigma)


@register
@dataclass(frozen=True)
class Normalise(Transform):
    """K(x, y) / M^t(K(x, x), K(y, y)), M^t the power mean: t = 0 is the cosine, t = ∞ divides by the larger.

    Examples
    --------
    >>> str(Normalise()), str(Normalise(float("inf")))
    ('normalise', 'normalise(inf)')
    """

    name: ClassVar[str] = "normalise"
    words: ClassVar[str] = "divide by a mean of the two self-similarities; order 0 gives the cosine, inf the larger one"
    formula: ClassVar[str] = "K(x, y) / M_t(K(x, x), K(y, y)), M_t the power mean of order t"
    learns: ClassVar[bool] = False
    divides: ClassVar[bool] = True
    order: float = 0.0

    def __post_init__(self) -> None:
        self._set(order=check_order(self.order))

    def __call__(self, gram: Gram) -> Gram:
        """Return the normalised Gram."""
        return grams.normalise(gram, self.order)


@register
@dataclass(frozen=True)
class Power(Transform):
    """K(x, y)^p for non-negative similarities.

    Examples
    --------
    >>> str(Power(0.6))
    'power(0.6)'
    """

    name: ClassVar[str] = "power"
    words: ClassVar[str] = "raise every similarity to a power; below 1, small similarities gain on large ones"
    formula: ClassVar[str] = "K(x, y)^exponent"
    learns: ClassVar[bool] = False
    keeps_zero: ClassVar[bool] = True
    takes_negative: ClassVar[bool] = False
    exponent: float

    def __post_init__(self) -> None:
        self._set(exponent=check_number(self.exponent, "exponent", above=0))

    def __call__(self, gram: Gram) -> Gram:
        """Return the Gram of powers."""
        return grams.power(gram, self.exponent)


@register
@dataclass(frozen=True)
class Centre(Transform):
    """Centring: the mean of the collection becomes the origin of feature space.

    Examples
    --------
    >>> str(Centre())
    'centre'
    """

    name: ClassVar[str] = "centre"
    words: ClassVar[str] = "move the mean of the collection to the origin"
    formula: ClassVar[str] = "H K H, H = I − 11ᵀ/n"

    def __call__(self, gram: Gram) -> Gram:
        """Learn the means and return the centred Gram."""
        return grams.centre(gram)


@register
@dataclass(frozen=True)
class Map(Transform):
    """The empirical kernel map: R Rᵀ, R the rows of the Gram scaled to unit length.

    Examples
    --------
    >>> str(Map())
    'map'
    """

    name: ClassVar[str] = "map"
    words: ClassVar[str] = "describe every document by its similarities to all others, and compare those"
    formula: ClassVar[str] = "R Rᵀ, R the rows of K scaled to unit length"
    divides: ClassVar[bool] = True

    def __call__(self, gram: Gram) -> Gram:
        """Learn the norms and return the mapped Gram."""
        return grams.empirical_map(gram)


@register
@dataclass(frozen=True)
class Nystrom(Transform):
    """A Gram of low rank from the similarities to landmark documents: memory n × landmarks for any kernel.

    Parameters
    ----------
    landmarks : int, default=500
        How many documents to choose, at most all distinct ones.
    rank : int, optional
        Keep only the best approximation of this rank.
    choose : "uniform", "kmeans++" or "leverage"
        How landmarks are chosen; see ``grampus.gram.nystrom``.
    seed : int, default=0
        Seed of the choice. It is part of the kernel, so that a spelling determines the Gram.

    Examples
    --------
    >>> str(Nystrom()), str(Nystrom(200, choose="kmeans++"))
    ('nystrom', 'nystrom(200, choose=kmeans++)')
    """

    name: ClassVar[str] = "nystrom"
    words: ClassVar[str] = "low-rank approximation from the similarities to a few documents, the landmarks"
    formula: ClassVar[str] = "C W⁺ Cᵀ, C the similarities to the landmarks and W those among them"
    keeps_zero: ClassVar[bool] = True
    has_landmarks: ClassVar[bool] = True
    landmarks: int = 500
    rank: int | None = field(default=None, kw_only=True)
    choose: str = field(default="uniform", kw_only=True)
    seed: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        self._set(
            landmarks=check_integer(self.landmarks, "landmarks", low=1),
            rank=None if self.rank is None else check_integer(self.rank, "rank", low=1),
            choose=check_choice(self.choose, "choose", CHOICES),
            seed=check_integer(self.seed, "seed", low=0, high=2**32 - 1),
        )

    def __call__(self, gram: Gram) -> Gram:
        """Choose the landmarks and return the Gram of low rank."""
        return grams.nystrom(gram, self.landmarks, rank=self.rank, choose=self.choose, random_state=self.seed)

    def _components(self, spare: bool) -> int:
        return self.rank or self.landmarks


@register
@dataclass(frozen=True)
class Principal(Transform):
    """The leading `rank` components of a Gram: latent semantic analysis, for any kernel.

    Parameters
    ----------
    rank : int or "auto"
        Number of components; "auto" is k, from 30 to 200, and 30 where no number of clusters is known.

    Examples
    --------
    >>> str(Principal(50)), Principal("auto").for_clusters(80)
    ('principal(50)', Principal(rank=80))
    """

    name: ClassVar[str] = "principal"
    words: ClassVar[str] = "keep the leading `rank` components, which many documents share; auto is k, from 30 to 200"
    formula: ClassVar[str] = "V_r Λ_r V_rᵀ, the best approximation of rank r"
    keeps_zero: ClassVar[bool] = True
    rank: int | str = 100
    spare: ClassVar[int] = 0

    def __post_init__(self) -> None:
        if isinstance(self.rank, str):
            if self.rank != "auto":
                raise InputError(f"rank must be a whole number or 'auto'; got {self.rank!r}.")
        else:
            self._set(rank=check_integer(self.rank, "rank", low=1))

    def for_clusters(self, k: int, spare: int = 0) -> Transform:
        """Return as many components as clusters, from 30 to 200, for ``principal(auto)``; `spare` ones on the side."""
        least, most = COMPONENTS
        found = Principal(min(max(least, k), most) if isinstance(self.rank, str) else self.rank)
        found._set(spare=spare)
        return found

    def __call__(self, gram: Gram) -> Gram:
        """Learn the components and return the Gram of low rank."""
        return grams.principal(gram, self._components(spare=False), spare=self.spare)

    def _components(self, spare: bool) -> int:
        rank = COMPONENTS[0] if isinstance(self.rank, str) else self.rank
        return max(rank, self.spare) if spare else rank
