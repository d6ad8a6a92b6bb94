"""Cluster documents through their Gram matrix.

The names below are loaded when they are first used, so that ``import grampus`` and the command's help stay quick.
"""

from __future__ import annotations

import logging as _logging
from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from ._draw import drawn_by as _drawn_by
from ._version import __version__

if TYPE_CHECKING:
    from ._config import config
    from .cluster import PDDP, BisectingKernelKMeans, KernelKMeans, KernelPCAKMeans, SpectralKMeans, consensus
    from .documents import DocumentClusterer, load
    from .kernels import parse_kernel
    from .select.choose_k import choose_k
    from .select.levels import Levels, choose_levels
    from .text import Corpus, TermVectorizer, read_corpus

__all__ = [  # noqa: RUF022  (plainly sorted)
    "BisectingKernelKMeans",
    "Corpus",
    "DocumentClusterer",
    "KernelKMeans",
    "KernelPCAKMeans",
    "Levels",
    "PDDP",
    "SpectralKMeans",
    "TermVectorizer",
    "__version__",
    "choose_k",
    "choose_levels",
    "config",
    "consensus",
    "load",
    "parse_kernel",
    "read_corpus",
]

_HOMES = {
    "PDDP": ".cluster",
    "BisectingKernelKMeans": ".cluster",
    "Corpus": ".text",
    "DocumentClusterer": ".documents",
    "KernelKMeans": ".cluster",
    "KernelPCAKMeans": ".cluster",
    "Levels": ".select",
    "SpectralKMeans": ".cluster",
    "TermVectorizer": ".text",
    "choose_k": ".select",
    "choose_levels": ".select",
    "config": "._config",
    "consensus": ".cluster",
    "load": ".documents",
    "parse_kernel": ".kernels",
    "read_corpus": ".text",
}

_logging.getLogger("grampus").addHandler(_logging.NullHandler())
_drawn_by("grampus.notebook")
_drawn_by("grampus.plots")


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(_import_module(_HOMES[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
