"""The cache folder: computed embeddings, and digests of files."""

import hashlib
import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from .._files import open_regular

ENVIRONMENT = "GRAMPUS_CACHE"
EMBEDDINGS = "embeddings"


def cache_folder() -> Path:
    """Return the folder of the cache, which need not exist: ``GRAMPUS_CACHE``, or the platform's own.

    Examples
    --------
    >>> import os
    >>> from unittest.mock import patch
    >>> from grampus.text.cache import cache_folder
    >>> with patch.dict(os.environ, GRAMPUS_CACHE="somewhere"):
    ...     cache_folder().name
    'somewhere'
    """
    given = os.environ.get(ENVIRONMENT)
    if given:
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "grampus" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "grampus"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "grampus"


def cache_size() -> int:
    """Return the bytes that the cache takes."""
    return sum(file.stat().st_size for file in (cache_folder() / EMBEDDINGS).rglob("*") if file.is_file())


def clear_cache() -> int:
    """Remove computed embeddings; return the bytes freed."""
    freed = cache_size()
    shutil.rmtree(cache_folder() / EMBEDDINGS, ignore_errors=True)
    return freed


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a regular file."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def files_digest(files: Iterable[Path], root: Path) -> str:
    """Return one SHA-256 for several files: of their names below `root` and their own digests, in sorted order."""
    found = hashlib.sha256()
    for name, path in sorted((path.relative_to(root).as_posix(), path) for path in files):
        found.update(f"{file_digest(path)}  {name}\n".encode())
    return found.hexdigest()
