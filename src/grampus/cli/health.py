"""What ``grampus doctor`` looks at."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

REQUIRED = ("numpy", "scipy", "scikit-learn", "threadpoolctl", "click", "rich", "PyStemmer", "charset-normalizer")
EXTRAS = {"numba": "fast", "pyarrow": "parquet", "duckdb": "duckdb", "pandas": "frames", "matplotlib": "plots"}


def checks() -> dict[str, Any]:
    """Return versions, extras, threads and memory, and what is wrong with them."""
    from .. import __version__
    from .._config import config, format_size
    from .._parallel import core_count, thread_count

    problems = []
    found: dict[str, Any] = {
        "grampus": __version__,
        "python": platform.python_version(),
        "machine": platform.platform(),
    }
    for name in REQUIRED:
        installed = _version(name)
        found[name] = installed or "missing"
        if installed is None:
            problems.append(f"{name} is missing")
    for name, extra in EXTRAS.items():
        found[name] = _version(name) or f"not installed; pip install 'grampus[{extra}]'"
    found["cores"] = core_count()
    found["threads"] = thread_count()
    found["BLAS"] = _blas()
    found["memory budget"] = format_size(config().memory)
    found["output encoding"] = sys.stdout.encoding
    found["problems"] = "; ".join(problems) or "none"
    return found


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _blas() -> str:
    import numpy  # noqa: F401  (loads its BLAS, which is then seen)
    from threadpoolctl import threadpool_info

    found = [f"{info['internal_api']} {info['version'] or ''} ({info['num_threads']} threads)".replace("  ", " ")
             for info in threadpool_info() if info["user_api"] == "blas"]  # fmt: skip
    return ", ".join(dict.fromkeys(found)) or "unknown"
