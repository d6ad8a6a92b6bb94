"""Build the wheel and the source archive twice, from two copies in two places, and compare their bytes."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def git(*words: str) -> bytes:
    """Return what git prints."""
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True).stdout


def built(commit: str, folder: Path) -> dict[str, str]:
    """Return the SHA-256 of what a build of the committed files makes; files in it have the time of the commit."""
    source, out = folder / "source", folder / "out"
    source.mkdir(parents=True)
    subprocess.run(["tar", "x", "-C", str(source)], input=git("archive", commit), check=True)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = os.environ | {
        "PATH": path,
        "SOURCE_DATE_EPOCH": git("log", "-1", "--format=%ct", commit).decode().strip(),
    }
    command = [sys.executable, "-m", "build", "--no-isolation", "--sdist", "--wheel", "--outdir", str(out), str(source)]
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(out.iterdir())}


def main() -> int:
    """Run the command."""
    commit = git("rev-parse", "HEAD").decode().strip()
    with tempfile.TemporaryDirectory() as folder:
        first, second = built(commit, Path(folder, "one")), built(commit, Path(folder, "two", "deeper"))
    for name, digest in first.items():
        sys.stdout.write(f"{digest}  {name}{'' if second.get(name) == digest else '  DIFFERS'}\n")
    return int(first != second)


if __name__ == "__main__":
    raise SystemExit(main())
