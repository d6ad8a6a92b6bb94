"""Kernels add, multiply and scale, and each may name the input of a corpus that it reads."""

import math
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._array import Array
from ..errors import InputError
from ..gram import product, weighted_sum
from ..gram.algebra import check_weight
from ..gram.sources import SourceGram
from .base import DEFAULT_INPUTS, Kernel, Piped, Transform, spell_inside
from .spelled import spell

INPUT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


@dataclass(frozen=True)
class At(Kernel):
    """A kernel that reads a named input of a corpus, written ``kernel@input``; made by ``kernel.at(input)``.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.kernels import Linear
    >>> kernel = Linear().at("embedding")
    >>> str(kernel)
    'linear@embedding'
    >>> kernel.gram({"embedding": np.array([[1.0], [2.0]])}).dense()
    array([[1., 2.],
           [2., 4.]])
    """

    kernel: Kernel
    input: str

    def __post_init__(self) -> None:
        if not INPUT_NAME.fullmatch(str(self.input)):
            raise InputError(f"input must be letters, digits and underscores; got {self.input!r}.")
        takes = self.kernel.source.takes
        if isinstance(self.kernel, At | Piped | CombinedKernel):
            raise InputError(f"input must follow the name of a kernel that has none yet; '{self.kernel}' is another.")
        if takes == "gram":
            raise InputError(f"input must not be named: '{self.kernel}' is the Gram matrix itself.")
        if (takes == "strings") != (self.input == "text"):
            wants = "'text'" if takes == "strings" else "rows of numbers, not 'text'"
            raise InputError(f"input must be {wants} for '{self.kernel}'; got {self.input!r}.")

    def __str__(self) -> str:
        return f"{self.kernel}@{self.input}"

    @property
    def takes(self) -> str:  # type: ignore[override]
        """What the kernel takes."""
        return self.kernel.source.takes

    @property
    def inputs(self) -> tuple[str, ...]:
        """The named input."""
        return (self.input,)

    @property
    def source(self) -> Kernel:
        """The plain kernel, at the same input."""
        return self if self.kernel.source is self.kernel else At(self.kernel.source, self.input)

    @property
    def plain(self) -> Kernel:
        """The similarities, at the same input."""
        return At(self.kernel.plain, self.input)

    @property
    def transforms(self) -> tuple[Transform, ...]:
        """The transforms of the kernel."""
        return self.kernel.transforms

    def _pick(self, documents: Any) -> Any:
        picked = super()._pick(documents)
        if picked is documents and self.input != DEFAULT_INPUTS[self.takes]:
            raise InputError(
                f"kernel '{self}' reads the input {self.input!r}; got a collection without names. Name it, as in "
                f"{{{self.input!r}: X}}, or leave '@{self.input}' out."
            )
        return picked

    def _collect(self, documents: Any) -> Any:
        return self.kernel._collect(documents)

    def _gram(self, fitted: Any) -> SourceGram:
        return self.kernel._gram(fitted)

    def _collect_new(self, new: Any, fitted: Any) -> Any:
        return self.kernel._collect_new(new, fitted)

    def _cross(self, new: Any, fitted: Any) -> Array:
        return self.kernel._cross(new, fitted)

    def _diagonal(self, new: Any) -> Array:
        return self.kernel._diagonal(new)


class CombinedKernel(Kernel):
    """A kernel made of others: a sum, a product, or one with a weight. Its Gram asks the parts' Grams."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Kernel, ...]:
        """The kernels that are combined."""

    @abstractmethod
    def _of(self, parts: Sequence[Kernel]) -> Kernel:
        """Return the same combination of other kernels."""

    @property
    def takes(self) -> str:  # type: ignore[override]
        """What all parts take; ``"mixed"`` where they differ or read inputs that only a name tells apart."""
        kinds = {part.source.takes for part in self.parts}
        named = any(name not in DEFAULT_INPUTS.values() for name in self.inputs)
        return "mixed" if named or len(kinds) > 1 else kinds.pop()

    @property
    def inputs(self) -> tuple[str, ...]:
        """The inputs of the parts."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.inputs))

    def _pick(self, documents: Any) -> Any:
        if self.takes == "mixed" and not isinstance(documents, Mapping):
            names = ", ".join(f"{name!r}: …" for name in self.inputs)
            raise InputError(f"kernel '{self}' reads named inputs; got a collection without names. Give {{{names}}}.")
        return documents  # every part picks its own

    def _collect(self, documents: Any) -> Any:
        return documents

    def _cross(self, new: Any, fitted: Any) -> Array:
        return self.cross(new, fitted)

    def _diagonal(self, new: Any) -> Array:
        return self.diagonal(new)

    def _learned(self) -> list[str]:
        return [name for part in self.parts for name in part._learned()]

    def for_clusters(self, k: int, spare: int = 0) -> Kernel:
        """Return the kernel with the parameters that follow k filled in, in every part."""
        return self._of([part.for_clusters(k, spare) for part in self.parts])

    def _unreduced(self, transforms: tuple[Transform, ...]) -> Kernel:
        return self._of([part.unreduced(*transforms) for part in self.parts])

    def _empty(self, documents: Any, transforms: tuple[Transform, ...], from_texts: bool) -> NDArray[np.bool_]:
        return self._nothing([part.empty(documents, from_texts=from_texts) for part in self.parts])

    def _nothing(self, empty: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """Return which documents have nothing to compare, given which of them have nothing for each part."""
        return np.logical_and.reduce(empty)


@dataclass(frozen=True)
class Scaled(CombinedKernel):
    """A kernel with a weight, written ``0.5 * kernel``.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.kernels import Linear
    >>> kernel = 0.5 * Linear()
    >>> str(kernel), kernel.gram(np.eye(2)).dense().tolist()
    ('0.5 * linear', [[0.5, 0.0], [0.0, 0.5]])
    """

    _binds: ClassVar[int] = 1
    weight: float
    kernel: Kernel

    def __post_init__(self) -> None:
        weight, kernel = check_weight(self.weight), self.kernel
        if isinstance(kernel, Scaled):
            weight, kernel = check_weight(weight * kernel.weight), kernel.kernel
        self._set(weight=weight, kernel=kernel)

    def __str__(self) -> str:
        return f"{spell(self.weight)} * {spell_inside(self.kernel, self._binds)}"

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The kernel alone."""
        return (self.kernel,)

    def _of(self, parts: Sequence[Kernel]) -> Kernel:
        return Scaled(self.weight, parts[0])

    def _gram(self, fitted: Any) -> Any:
        return weighted_sum([self.kernel.gram(fitted)], [self.weight])


@dataclass(frozen=True)
class Sum(CombinedKernel):
    """Kernels added, written ``0.5 * cosine + 0.5 * cosine@embedding``; made by ``+``.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.kernels import Cosine, Linear
    >>> kernel = Cosine() + 0.5 * Linear()
    >>> str(kernel)
    'cosine + 0.5 * linear'
    >>> kernel.gram(np.array([[2.0], [4.0]])).dense()
    array([[3., 5.],
           [5., 9.]])
    """

    _binds: ClassVar[int] = 0
    terms: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        self._set(terms=_flat(self.terms, Sum))

    def __str__(self) -> str:
        return " + ".join(spell_inside(part, 1) for part in self.terms)

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The kernels that are added."""
        return self.terms

    def _of(self, parts: Sequence[Kernel]) -> Kernel:
        return Sum(tuple(parts))

    def _weighted(self) -> list[tuple[float, Kernel]]:
        return [(part.weight, part.kernel) if isinstance(part, Scaled) else (1.0, part) for part in self.terms]

    def shares(self) -> dict[str, float]:
        """Return the weight of every input; nothing if a part reads several.

        Examples
        --------
        >>> from grampus import parse_kernel
        >>> parse_kernel("0.3 * cosine|principal(30) + 0.7 * cosine@embedding").shares()
        {'terms': 0.3, 'embedding': 0.7}
        """
        found: dict[str, float] = {}
        for weight, part in self._weighted():
            if len(part.inputs) > 1:
                return {}
            found[part.inputs[0]] = found.get(part.inputs[0], 0.0) + weight
        return found

    def _gram(self, fitted: Any) -> Any:
        weighted = self._weighted()
        return weighted_sum([kernel.gram(fitted) for _, kernel in weighted], [weight for weight, _ in weighted])


@dataclass(frozen=True)
class Product(CombinedKernel):
    """Kernels multiplied, written ``cosine * gaussian(1)@embedding``; made by ``*``. Similar is what all find similar.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.kernels import Cosine, Linear
    >>> (Linear() * Linear()).gram(np.array([[1.0], [2.0]])).dense()
    array([[ 1.,  4.],
           [ 4., 16.]])
    """

    _binds: ClassVar[int] = 1
    factors: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        self._set(factors=_flat(self.factors, Product))
        if any(isinstance(part, Scaled) for part in self.factors):
            raise InputError("factors must have no weights of their own; multiply the product: 0.5 * (a * b).")

    def __str__(self) -> str:
        return " * ".join(spell_inside(part, 2) for part in self.factors)

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The kernels that are multiplied."""
        return self.factors

    def _of(self, parts: Sequence[Kernel]) -> Kernel:
        return reduce(lambda left, right: left * right, parts)

    def _gram(self, fitted: Any) -> Any:
        return product([part.gram(fitted) for part in self.factors])

    def _nothing(self, empty: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """Return which documents have nothing to compare for any part: their products are 0."""
        return np.logical_or.reduce(empty)


def _flat(parts: Any, kind: Any) -> tuple[Kernel, ...]:
    """Return kernels with those of nested sums (products) in their place; at least two."""
    if not isinstance(parts, tuple) or not all(isinstance(part, Kernel) for part in parts) or len(parts) < 2:
        raise InputError(f"{kind.__name__} takes a tuple of two kernels or more; got {parts!r}.")
    return tuple(inner for part in parts for inner in (part.parts if isinstance(part, kind) else (part,)))


def _combine(kernel: Kernel, mark: str, other: Any) -> Any:
    """Return ``kernel + other``, ``kernel * other``, or the kernel at the input `other`."""
    if mark == "@":
        return _at(kernel, other)
    if isinstance(other, Kernel):
        return Sum((kernel, other)) if mark == "+" else _times(kernel, other)
    if mark == "*" and isinstance(other, (Real, np.number)):
        return Scaled(other, kernel)  # type: ignore[arg-type]
    return NotImplemented


def _times(left: Kernel, right: Kernel) -> Kernel:
    """Return the product; weights of the factors become that of the product."""
    weights = [part.weight for part in (left, right) if isinstance(part, Scaled)]
    bare = tuple(part.kernel if isinstance(part, Scaled) else part for part in (left, right))
    return Scaled(math.prod(weights), Product(bare)) if weights else Product(bare)


def _at(kernel: Kernel, name: str) -> Kernel:
    """Return the kernel at an input: every plain kernel in it reads that."""
    if isinstance(kernel, Piped):
        return Piped(_at(kernel.head, name), kernel.tail)
    if isinstance(kernel, CombinedKernel):
        return kernel._of([_at(part, name) for part in kernel.parts])
    return At(kernel, name)


Kernel._combine = _combine
