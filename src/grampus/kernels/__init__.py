"""Kernels and the small language that spells them, such as ``cosine|shift``.

A `Kernel` is parameters only. ``kernel.gram(X)`` fits it to a collection and returns a Gram; ``kernel.extend(new,
gram)`` compares new documents with it.
"""

from .algebra import At, Product, Scaled, Sum
from .base import Kernel, Piped, Transform
from .spelling import known_names, parse_kernel, register
from .string.distinctive import DistinctiveSubstring, distinctive_substrings
from .string.subsequence import Subsequence
from .string.substring import BoundRange, Constant, Exponential, FullString, Spectrum, String
from .transforms import Centre, Map, Normalise, Nystrom, Power, Principal, Shift
from .vector import Cosine, Gaussian, Linear, Polynomial, Precomputed, SelfTuning

__all__ = [
    "At", "BoundRange", "Centre", "Constant", "Cosine", "DistinctiveSubstring", "Exponential", "FullString",
    "Gaussian", "Kernel", "Linear", "Map", "Normalise", "Nystrom", "Piped", "Polynomial", "Power", "Precomputed",
    "Principal", "Product", "Scaled", "SelfTuning", "Shift", "Spectrum", "String", "Subsequence", "Sum", "Transform",
    "distinctive_substrings", "known_names", "parse_kernel", "register",
]  # fmt: skip
