"""Cluster documents through their Gram matrix."""

import logging as _logging

from ._config import config
from ._version import __version__
from .kernels import parse_kernel

__all__ = ["__version__", "config", "parse_kernel"]

_logging.getLogger("grampus").addHandler(_logging.NullHandler())
