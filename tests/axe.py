"""Fetch axe-core, which checks pages for accessibility: from npm's registry, at one version, refused if it differs.

``python -m tests.axe`` puts it into ``.axe/``. It is used by the tests alone and is not part of the repository.
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
import urllib.request
from pathlib import Path

VERSION = "4.11.0"
SHA256 = "39bed7d72308f6d620789c169d699bfd7e8da80f65b545821a6b2215c3e83107"
ADDRESS = f"https://registry.npmjs.org/axe-core/-/axe-core-{VERSION}.tgz"
HERE = Path(__file__).parents[1] / ".axe" / f"axe-{VERSION}.min.js"


def script() -> Path | None:
    """Return the file, or None where it was not fetched."""
    given = Path(os.environ.get("GRAMPUS_AXE", HERE))
    return given if given.is_file() else None


def fetch() -> None:
    """Fetch the package, check it, and keep its one file."""
    data = urllib.request.urlopen(ADDRESS, timeout=60).read()
    found = hashlib.sha256(data).hexdigest()
    if found != SHA256:
        raise SystemExit(f"{ADDRESS} must have SHA-256 {SHA256}; got {found}")
    with tarfile.open(fileobj=io.BytesIO(data)) as package:
        inside = package.extractfile("package/axe.min.js")
        assert inside is not None
        HERE.parent.mkdir(exist_ok=True)
        HERE.write_bytes(inside.read())


if __name__ == "__main__":
    if script() is None:
        fetch()
    print(script())
