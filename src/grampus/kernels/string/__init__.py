"""Kernels of strings: no tokens, no vocabulary; any language, code, logs, DNA."""

from .distinctive import Telling, telling_substrings
from .subsequence import Subsequence
from .substring import BoundRange, Constant, Exponential, FullString, Spectrum, String

__all__ = [
    "BoundRange",
    "Constant",
    "Exponential",
    "FullString",
    "Spectrum",
    "String",
    "Subsequence",
    "Telling",
    "telling_substrings",
]
