"""Parameters that string kernels share, and their checks."""

from dataclasses import dataclass, field
from typing import ClassVar

from ..._check import check_integer, check_number
from ..base import Kernel
from .strings import check_unit


class StringKernel(Kernel):
    """A kernel of strings; checks the parameters that it has by their names."""

    takes: ClassVar[str] = "strings"
    unit: str

    def __post_init__(self) -> None:
        self._set(unit=check_unit(self.unit))
        if hasattr(self, "length"):
            self._set(length=check_integer(self.length, "length", low=1))
        if hasattr(self, "decay"):
            self._set(decay=check_number(self.decay, "decay", above=0))


@dataclass(frozen=True)
class WithLength(StringKernel):
    """A string kernel with a length."""

    length: int
    unit: str = field(default="characters", kw_only=True)


@dataclass(frozen=True)
class WithLengthAndDecay(StringKernel):
    """A string kernel with a length and a decay."""

    length: int
    decay: float = field(default=0.5, kw_only=True)
    unit: str = field(default="characters", kw_only=True)
