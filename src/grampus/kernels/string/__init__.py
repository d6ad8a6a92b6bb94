"""Kernels of strings: no tokens, no vocabulary; any language, code, logs, DNA."""

from .subsequence import Subsequence
from .substring import BoundRange, Constant, Exponential, FullString, Spectrum, String
from .telling import Telling, telling_substrings

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
