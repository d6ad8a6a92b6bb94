"""Cluster documents through their Gram matrix.

The names below are loaded when they are first used, so that ``import grampus`` and the command's help stay quick.
"""

import logging as _logging
from typing import TYPE_CHECKING

from ._draw import drawn_by as _drawn_by
from ._later import loaded_later as _loaded_later
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
    "BisectingKernelKMeans", "Corpus", "DocumentClusterer", "KernelKMeans", "KernelPCAKMeans", "Levels", "PDDP",
    "SpectralKMeans", "TermVectorizer", "__version__", "choose_k", "choose_levels", "config", "consensus", "load",
    "parse_kernel", "read_corpus",
]  # fmt: skip

_MODULES = {
    "_config": ("config",),
    "cluster": ("PDDP", "BisectingKernelKMeans", "KernelKMeans", "KernelPCAKMeans", "SpectralKMeans", "consensus"),
    "documents": ("DocumentClusterer", "load"),
    "kernels": ("parse_kernel",),
    "select": ("Levels", "choose_k", "choose_levels"),
    "text": ("Corpus", "TermVectorizer", "read_corpus"),
}

_logging.getLogger("grampus").addHandler(_logging.NullHandler())
_drawn_by("grampus.notebook")
_drawn_by("grampus.plots")
_PUBLIC = (
    "cluster", "datasets", "describe", "documents", "errors", "gram", "kernels", "metrics", "persist", "plots",
    "report", "select", "testing", "text",
)  # fmt: skip

__getattr__, __dir__ = _loaded_later(__name__, _MODULES, _PUBLIC)
