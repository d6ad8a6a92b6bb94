"""Run the code blocks of the documentation: what a page tells the reader to type works.

Pages hold three kinds of code. Examples with ``>>>`` are doctests, run by pytest with their output. Plain ``python``
blocks and the commands of ``console`` blocks are run here, page by page, in a folder with the files of `docs.samples`.
Blocks without a language, or in another one, show output, formats and formulas. ``python -m docs.blocks [PAGE …]``
runs pages.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from docs.samples import write_samples

ROOT = Path(__file__).parents[1]
FOLLOWED = ROOT / "docs" / "quickstart.md"  # run word for word, with its output, by docs.follow
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A code block: its language and its text."""

    language: str
    text: str

    @property
    def kind(self) -> str:
        """Return "doctest", "python", "console" or "shown"."""
        if self.language == "python":
            return "doctest" if ">>> " in self.text else "python"
        return "console" if self.language == "console" else "shown"


def blocks_of(page: Path) -> list[Block]:
    """Return the code blocks of a page."""
    return [Block(*found) for found in _BLOCK.findall(page.read_text(encoding="utf-8"))]


def pages() -> list[Path]:
    """Return the pages with blocks to run, except the one that is followed word for word."""
    every = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    kept = [page for page in every if page != FOLLOWED and not {"_build", "generated"} & set(page.parts)]
    return [page for page in kept if any(block.kind in ("python", "console") for block in blocks_of(page))]


def run_page(page: Path, folder: Path) -> int:
    """Run the blocks of a page in a folder, in their order; return how many statements and commands ran."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    count = 0
    for block in blocks_of(page):
        if block.kind == "python":
            exec(compile(block.text, str(page), "exec"), namespace)
            count += 1
        elif block.kind == "console":
            for line in re.findall(r"^\$ (.+)$", block.text, re.MULTILINE):
                run_command(line, folder)
                count += 1
    return count


def run_command(line: str, folder: Path) -> None:
    """Run a command of a page; `grampus` in this process, installations and `make` not at all."""
    words = shlex.split(line)
    if words[0] in ("pip", "make", "git", "pipx", "uv"):
        return
    if words[0] != "grampus":
        subprocess.run(line, shell=True, cwd=folder, check=True, capture_output=True)
        return
    from grampus.cli import main

    try:
        main(words[1:])
    except SystemExit as stop:
        if stop.code:
            raise AssertionError(f"{line}: status {stop.code}") from stop


@contextlib.contextmanager
def sample_folder() -> Iterator[Path]:
    """Provide a folder with the files of the recipes as the working folder."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        write_samples(Path(name))
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


if __name__ == "__main__":
    for place in map(Path, sys.argv[1:] or pages()):
        where = place.resolve()
        with sample_folder() as scratch, contextlib.redirect_stdout(io.StringIO()):
            ran = run_page(where, scratch)
        print(f"{ran:3} {where.relative_to(ROOT)}", flush=True)
