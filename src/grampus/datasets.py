"""Corpora that come with our dependencies: the documentation of SciPy's public names, by subpackage."""

from __future__ import annotations

import importlib
import inspect
import re
import types
import warnings
from collections import Counter

from .text import Corpus

__all__ = ["scipy_docstrings"]

_NAMES = re.compile(r"\{'\w+'(?:, '\w+')*\}")
_SMALLEST = 20  # documents that a subpackage needs to be a class of its own


def scipy_docstrings() -> Corpus:
    """Return the docstrings of SciPy's public functions, classes and distributions, labelled by subpackage.

    Only subpackages with at least 20 of them are included; a text that appears under two names is included once.

    Examples
    --------
    >>> from grampus.datasets import scipy_docstrings
    >>> corpus = scipy_docstrings()
    >>> len(corpus) > 1000, "linalg" in set(corpus.labels)
    (True, True)
    """
    import scipy

    found: dict[str, tuple[str, str]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy's own deprecations
        for subpackage in sorted(scipy.__all__):
            module = getattr(scipy, subpackage, None)
            if not isinstance(module, types.ModuleType):
                continue
            module = importlib.import_module(module.__name__)
            for name in sorted(getattr(module, "__all__", ())):
                thing = getattr(module, name, None)
                text = _steady(inspect.getdoc(thing) or "") if callable(thing) else ""
                if text:
                    found.setdefault(text, (subpackage, name))
    sizes = Counter(subpackage for subpackage, _ in found.values())
    kept = [(text, *names) for text, names in found.items() if sizes[names[0]] >= _SMALLEST]
    return Corpus(
        [text for text, _, _ in kept],
        ids=[f"scipy.{subpackage}.{name}" for _, subpackage, name in kept],
        labels=[subpackage for _, subpackage, _ in kept],
        source=f"docstrings of SciPy {scipy.__version__}",
    )


def _steady(text: str) -> str:
    """Remove what differs between processes: random numbers, and sets of names in the order of their hashes."""
    lines = (line for line in text.splitlines() if "# may vary" not in line)
    return _NAMES.sub(lambda names: ", ".join(sorted(re.findall(r"'\w+'", names[0]))), "\n".join(lines)).strip()
