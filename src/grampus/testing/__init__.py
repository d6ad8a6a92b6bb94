"""Checks for your own Grams and kernels: the conformance suite that every Gram of this library passes."""

from .conformance import check_gram

__all__ = ["check_gram"]
