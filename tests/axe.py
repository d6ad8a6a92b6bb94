"""Fetch axe-core, which checks pages for accessibility: by npm, at one version, refused if it differs.

``python -m tests.axe`` puts it into ``.axe/``. It is used by the tests alone and is not part of the repository.
"""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import tarfile
import tempfile
from pathlib import Path

VERSION = "4.11.0"
SHA256 = "39bed7d72308f6d620789c169d699bfd7e8da80f65b545821a6b2215c3e83107"
HERE = Path(__file__).parents[1] / ".axe" / f"axe-{VERSION}.min.js"


def script() -> Path | None:
    """Return the file, or None where it was not fetched."""
    given = Path(os.environ.get("GRAMPUS_AXE", HERE))
    return given if given.is_file() else None


def fetch() -> None:
    """Fetch the package, check it, and keep its one file."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", "--silent", f"axe-core@{VERSION}"], cwd=folder, check=True, timeout=120)
        data = next(Path(folder).glob("*.tgz")).read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != SHA256:
        raise SystemExit(f"axe-core {VERSION} must have SHA-256 {SHA256}; got {found}")
    with tarfile.open(fileobj=io.BytesIO(data)) as package:
        inside = package.extractfile("package/axe.min.js")
        assert inside is not None
        HERE.parent.mkdir(exist_ok=True)
        HERE.write_bytes(inside.read())


if __name__ == "__main__":
    if script() is None:
        fetch()
    print(script())
