"""Corpora to try things on: chapters of the World Factbook, and the documentation of SciPy's public names."""

import gzip
import importlib
import inspect
import json
import re
import types
import warnings
from collections import Counter
from pathlib import Path

from .text import Corpus

__all__ = ["scipy_docstrings", "world_factbook"]

_FACTBOOK = Path(__file__).parent / "data" / "world_factbook.jsonl.gz"

_NAMES = re.compile(r"\{'\w+'(?:, '\w+')*\}")
_SMALLEST = 20  # documents that a subpackage needs to be a class of its own


def world_factbook() -> Corpus:
    """Return 1,355 short texts about countries, labelled by chapter: history, economy, flag and four more.

    They are seven chapters of the World Factbook of November 2015, a work in the public domain that is part of the
    package. Ids name country and chapter, such as ``"France: flag"``.

    Examples
    --------
    >>> from grampus.datasets import world_factbook
    >>> corpus = world_factbook()
    >>> len(corpus), sorted(set(corpus.labels))
    (1355, ['courts', 'economy', 'elections', 'flag', 'geography', 'history', 'media'])
    """
    rows = [json.loads(line) for line in gzip.decompress(_FACTBOOK.read_bytes()).decode("utf-8").splitlines()]
    return Corpus(
        [row["text"] for row in rows],
        ids=[f"{row['country']}: {row['chapter']}" for row in rows],
        labels=[row["chapter"] for row in rows],
        source="the World Factbook of 2015",
    )


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
        warnings.simplefilter("ignore", DeprecationWarning)  # SciPy's own
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
