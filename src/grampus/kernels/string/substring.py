"""Substring kernels: one mechanism, with one weight function each.

With m(i, j) the length of the longest common prefix of the suffixes of x at i and of y at j, each of them is
K(x, y) = Σ_ij Σ_{l ≤ m(i,j)} w(l), for a weight w(l) of the length l.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..._array import Array
from ...errors import InputError
from ..spelling import register
from .base import StringKernel, WithLength, WithLengthAndDecay
from .features import Lengths, build_index
from .matching import cross
from .strings import Text, read_strings
from .substring_gram import SubstringGram, Substrings


class SubstringKernel(StringKernel):
    """A kernel that counts common substrings, each weighted by its length; collections are lists of strings."""

    @property
    @abstractmethod
    def weights(self) -> Lengths:
        """The weight of a substring by its length."""

    def _collect(self, documents: Any) -> Substrings:
        return Substrings(build_index(read_strings(documents, self.unit), self.weights))

    def _collect_new(self, new: Any, fitted: Substrings) -> Text:
        return read_strings(new, self.unit, "new documents", rows=0)

    def _gram(self, fitted: Substrings) -> SubstringGram:
        return SubstringGram(fitted)

    def _cross(self, new: Text, fitted: Substrings) -> Array:
        block = cross(new, fitted.index)
        return block if fitted.rows is None else block[:, fitted.rows]

    def _diagonal(self, new: Text) -> Array:
        return build_index(new, self.weights).diagonal()


@register
class Spectrum(SubstringKernel, WithLength):
    """Count the common substrings of exactly `length` characters: w(l) = 1 for l = length.

    Leslie, Eskin & Noble (2002). Costs O(N log N) time and memory in the N characters of the collection.

    Parameters
    ----------
    length : int
        At least 1.
    unit : {"characters", "bytes"}, default="characters"
        Unicode code points, or UTF-8 bytes.

    Examples
    --------
    >>> from grampus.kernels import Spectrum
    >>> Spectrum(2).gram(["banana", "ananas"]).dense()
    array([[9., 8.],
           [8., 9.]])
    """

    name: ClassVar[str] = "spectrum"
    words: ClassVar[str] = "shared substrings of exactly `length` characters"
    formula: ClassVar[str] = "K(s, t) = Σ_{|u| = length} #u(s) #u(t)"

    @property
    def weights(self) -> Lengths:
        """1 at `length`."""
        return Lengths(self.length, self.length)


@register
class BoundRange(SubstringKernel, WithLength):
    """Count the common substrings of at most `length` characters: w(l) = 1 for l ≤ length.

    Parameters
    ----------
    length : int
        At least 1. Long lengths cost little: substrings that always occur together are one feature.
    unit : {"characters", "bytes"}, default="characters"
        Unicode code points, or UTF-8 bytes.

    Examples
    --------
    >>> from grampus.kernels import BoundRange
    >>> BoundRange(2).gram(["abc", "bcd"]).dense()
    array([[5., 3.],
           [3., 5.]])
    """

    name: ClassVar[str] = "boundrange"
    words: ClassVar[str] = "shared substrings of at most `length` characters"
    formula: ClassVar[str] = "K(s, t) = Σ_{|u| ≤ length} #u(s) #u(t)"

    @property
    def weights(self) -> Lengths:
        """1 up to `length`."""
        return Lengths(1, self.length)


@register
@dataclass(frozen=True)
class Constant(SubstringKernel):
    """Count all common substrings: w(l) = 1.

    Parameters
    ----------
    unit : {"characters", "bytes"}, default="characters"
        Unicode code points, or UTF-8 bytes.

    Examples
    --------
    >>> from grampus.kernels import Constant
    >>> Constant().gram(["abc", "bcd"]).dense()
    array([[6., 3.],
           [3., 6.]])
    """

    name: ClassVar[str] = "constant"
    words: ClassVar[str] = "all shared substrings"
    formula: ClassVar[str] = "K(s, t) = Σ_u #u(s) #u(t)"
    unit: str = field(default="characters", kw_only=True)

    @property
    def weights(self) -> Lengths:
        """1 at every length."""
        return Lengths()


@register
@dataclass(frozen=True)
class Exponential(SubstringKernel):
    """Count all common substrings, long ones with less weight: w(l) = decay^−l (Vishwanathan & Smola 2003).

    Parameters
    ----------
    decay : float
        Greater than 0. Above 1, weights fall with length; below 1 they grow, and long documents overflow (an error).
    unit : {"characters", "bytes"}, default="characters"
        Unicode code points, or UTF-8 bytes.

    Examples
    --------
    >>> from grampus.kernels import Exponential
    >>> Exponential(2).gram(["abc", "bcd"]).dense()
    array([[2.125, 1.25 ],
           [1.25 , 2.125]])
    """

    name: ClassVar[str] = "exponential"
    words: ClassVar[str] = "all shared substrings, long ones weighted less"
    formula: ClassVar[str] = "K(s, t) = Σ_u decay^−|u| #u(s) #u(t)"
    decay: float
    unit: str = field(default="characters", kw_only=True)

    @property
    def weights(self) -> Lengths:
        """decay^−l."""
        return Lengths(rate=-math.log(self.decay))


@register
class String(SubstringKernel, WithLengthAndDecay):
    """Count the common substrings of exactly `length` characters in kernlab's scale: w(l) = decay^(2(l + 1)).

    The same as ``spectrum(length)`` times a number; with ``normalise`` they are equal.

    Parameters
    ----------
    length : int
        At least 1.
    decay : float, default=0.5
        Greater than 0.
    unit : {"characters", "bytes"}, default="characters"
        Unicode code points, or UTF-8 bytes.

    Examples
    --------
    >>> from grampus.kernels import String
    >>> String(1, decay=0.5).gram(["ab", "b"]).dense()
    array([[0.125 , 0.0625],
           [0.0625, 0.0625]])
    """

    name: ClassVar[str] = "string"
    words: ClassVar[str] = "shared substrings of exactly `length` characters, scaled as in kernlab"
    formula: ClassVar[str] = "K(s, t) = Σ_{|u| = length} decay^(2(length + 1)) #u(s) #u(t)"

    def __post_init__(self) -> None:
        super().__post_init__()
        if abs(self._power * math.log(self.decay)) > 600.0:
            raise InputError(
                f"decay must leave decay^(2(length + 1)) within the range of numbers; got {self.decay:g} with length "
                f"{self.length}. 'spectrum({self.length})' has the same similarities without the factor."
            )

    @property
    def _power(self) -> float:
        """2(length + 1), bounded to fit a float."""
        return 2.0 * min(self.length + 1, 2**63)

    @property
    def weights(self) -> Lengths:
        """decay^(2(length + 1)) at `length`."""
        return Lengths(self.length, self.length, scale=self.decay**self._power)


@register
class FullString(SubstringKernel, WithLengthAndDecay):
    """Count the common substrings of at most `length` characters, weighted by length: w(l) = decay^(2l).

    Parameters
    ----------
    length : int
        At least 1.
    decay : float, default=0.5
        Greater than 0; below 1, long substrings count less.
    unit : {"characters", "bytes"}, default="characters"
        Unicode code points, or UTF-8 bytes.

    Examples
    --------
    >>> from grampus.kernels import FullString
    >>> FullString(2, decay=0.5).gram(["ab", "abc"]).dense()
    array([[0.5625, 0.5625],
           [0.5625, 0.875 ]])
    """

    name: ClassVar[str] = "fullstring"
    words: ClassVar[str] = "shared substrings of at most `length` characters, weighted by length"
    formula: ClassVar[str] = "K(s, t) = Σ_{|u| ≤ length} decay^(2|u|) #u(s) #u(t)"

    @property
    def weights(self) -> Lengths:
        """decay^(2l) up to `length`."""
        return Lengths(1, self.length, rate=2.0 * math.log(self.decay))
