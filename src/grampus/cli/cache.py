"""``cache``: prepared word vectors and computed embeddings."""

from __future__ import annotations

from dataclasses import dataclass

import click

from .command import command
from .options import OutputOptions


@click.group("cache", short_help="Show or clear the cache of vectors and embeddings.")
def cache() -> None:
    """Show or clear what is kept between runs in GRAMPUS_CACHE, or in the platform's cache folder.

    \b
    Examples:
      grampus cache show
      grampus cache clear
    """


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``cache show`` and ``cache clear``."""

    output: OutputOptions


@command(Options, "show", "Show where the cache is and what it takes.")
def show(options: Options) -> None:
    """Show the folder of the cache, and the space that it takes.

    \b
    Example:
      grampus cache show
    """
    from .._config import format_size
    from ..text.cache import cache_folder, cache_sizes

    sizes = cache_sizes()
    lines = (f"{part:11s} {format_size(size)}" for part, size in sizes.items())
    options.output.print({"folder": str(cache_folder()), **sizes}, f"folder      {cache_folder()}", *lines)


@command(Options, "clear", "Remove prepared vectors and computed embeddings.")
def clear(options: Options) -> None:
    """Remove prepared word vectors and computed embeddings. Names of vector sets stay; their files are read again when
    they are used.

    \b
    Example:
      grampus cache clear
    """
    from .._config import format_size
    from ..text.cache import clear_cache

    freed = clear_cache()
    options.output.print({"freed": freed}, f"Freed {format_size(freed)}.")


for each in (show, clear):
    cache.add_command(each)
