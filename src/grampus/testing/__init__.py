"""Checks for your own Grams, kernels and readers: the conformance suites that those of this library pass."""

from .conformance import check_gram
from .reader import check_reader

__all__ = ["check_gram", "check_reader"]
