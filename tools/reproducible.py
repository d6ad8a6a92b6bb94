"""Build the wheel and the source archive twice, from two copies in two places, and compare their bytes."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def built(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of what a build of the committed files makes."""
    source, out = folder / "source", folder / "out"
    source.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "x", "-C", str(source)], input=archive, check=True)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    command = [sys.executable, "-m", "build", "--no-isolation", "--sdist", "--wheel", "--outdir", str(out), str(source)]
    subprocess.run(command, check=True, env=os.environ | {"PATH": path}, stdout=subprocess.DEVNULL)
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(out.iterdir())}


def main() -> int:
    """Run the command."""
    with tempfile.TemporaryDirectory() as folder:
        first, second = built(Path(folder, "one")), built(Path(folder, "two", "deeper"))
    for name, digest in first.items():
        sys.stdout.write(f"{digest}  {name}{'' if second.get(name) == digest else '  DIFFERS'}\n")
    return int(first != second)


if __name__ == "__main__":
    raise SystemExit(main())
