"""String kernels: no tokens and no vocabulary, for any language, code, logs or DNA."""

from .distinctive import DistinctiveSubstring, distinctive_substrings
from .subsequence import Subsequence
from .substring import BoundRange, Constant, Exponential, FullString, Spectrum, String

__all__ = [
    "BoundRange",
    "Constant",
    "DistinctiveSubstring",
    "Exponential",
    "FullString",
    "Spectrum",
    "String",
    "Subsequence",
    "distinctive_substrings",
]
