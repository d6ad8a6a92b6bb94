"""What an installation brings: packages and megabytes to download, of Grampus and of the packages next to it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import tomllib
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from docs.follow import build_wheel
from lab import Found, Table, Task, Unavailable
from lab.harness import ROOT
from lab.promises import promise

PLATFORM = ("--python-version", "3.12", "--python-platform", "x86_64-manylinux_2_28")
PEERS = ("scikit-learn", "bertopic", "top2vec", "orange3-text", "cuml-cu12")


def resolved(source: Path, uv: str) -> list[dict[str, Any]]:
    """Return the packages that an installation of the requirements of a file would bring."""
    lock = source.with_name("pylock.toml")
    command = [uv, "pip", "compile", "--quiet", "--format", "pylock.toml", *PLATFORM, str(source), "-o", str(lock)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable("the package index does not answer, or a package cannot be resolved")
    return list(tomllib.loads(lock.read_text(encoding="utf-8"))["packages"])


def megabytes(package: dict[str, Any]) -> float:
    """Return the size of a package's wheel, or of its source where there is none."""
    file = (package.get("wheels") or [package["sdist"]])[0]
    with urllib.request.urlopen(urllib.request.Request(file["url"], method="HEAD"), timeout=60) as answer:
        return int(answer.headers["Content-Length"]) / 1e6


def measured(source: Path, uv: str) -> tuple[int, float, list[tuple[float, str]], list[dict[str, Any]]]:
    """Return number and megabytes of the packages, each with its size, and the packages."""
    packages = resolved(source, uv)
    with ThreadPoolExecutor(8) as pool:
        sizes = sorted(zip(pool.map(megabytes, packages), (str(each["name"]) for each in packages), strict=True))
    return len(packages), sum(size for size, _ in sizes), sizes[::-1], packages


@promise(
    "footprints",
    "Packages and megabytes that a plain installation downloads (Linux, x86-64, Python 3.12), next to those of others.",
    rests_on=("_version",),
)
def footprints(task: Task) -> Found:
    uv = shutil.which("uv")
    if uv is None:
        raise Unavailable("uv is not installed (pip install uv)")
    rows, parts = [], []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "requirements.in"
        shutil.copy(ROOT / "pyproject.toml", Path(folder) / "pyproject.toml")
        own = build_wheel(Path(folder) / "wheel").stat().st_size / 1e6
        for name in ("grampus", *PEERS):
            source.write_text(f"{name}\n", encoding="utf-8")
            count, total, sizes, packages = measured(
                Path(folder) / "pyproject.toml" if name == "grampus" else source, uv
            )
            if name == "grampus":
                count, total, sizes = count + 1, total + own, sorted([*sizes, (own, "grampus")], reverse=True)
            version = next((each["version"] for each in packages if each["name"] == name), "")
            largest = ", ".join(f"{each} {size:.0f}" for size, each in sizes[:3])
            rows.append([f"{name} {version}".strip(), str(count), f"{total:.0f}", largest])
            parts.append(f"{name} {count} packages, {total:.0f} MB")
    table = Table("Wheels of a plain installation", ["package", "packages", "MB", "the largest, MB"], rows)
    return Found("; ".join(parts), tables=[table])
