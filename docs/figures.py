"""Refresh the figures in tables whose last column is ``python -m lab SECTION --only NAME``, from lab/results.

``python -m docs.figures`` rewrites README.md and the pages of docs; a test checks that nothing would change. With
``--stale`` it lists instead the rows that pages quote and whose modules (`rests_on`) have changed since.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from lab.__main__ import verdict
from lab.harness import RESULTS, ROOT, ROWS, discover, load, stands

_COMMAND = re.compile(r"`python -m lab (\w+) --only ([\w-]+)` \|$")


def figure(section: str, name: str, ratio: bool) -> str:
    """Return what a row measured last; of a comparison the ratio, or our own seconds."""
    row = ROWS[section, name]
    record = load(row, RESULTS)
    if record is None:
        return "not measured yet"
    shown = record.figure.replace("|", "\\|")
    if section == "speed":
        seconds = re.search(r"Ours (.*? s),", record.body)
        shown = f"{shown.partition(' × ')[0]} ×" if ratio else seconds[1] if seconds else shown
    return f"**not met:** {shown}" if verdict(row, record).startswith("failed") else shown


def refreshed(text: str) -> str:
    """Return a page with the figures of the committed results in the last column but one."""
    lines, ratio = text.split("\n"), False
    for number, line in enumerate(lines):
        if line.startswith("|---"):
            ratio = "| ratio |" in lines[number - 1]
        if line.startswith("|") and (found := _COMMAND.search(line)):
            cells = re.split(r"(?<!\\) \| ", line)
            lines[number] = " | ".join([*cells[:-2], figure(found[1], found[2], ratio), cells[-1]])
    return "\n".join(lines)


def pages() -> Iterator[Path]:
    """Yield the pages that may hold figures."""
    yield ROOT / "README.md"
    yield from (page for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts)


def stale(text: str) -> list[str]:
    """Return the rows that a page quotes although they were measured on other code, or not at all."""
    quoted = dict.fromkeys(re.findall(r"`python -m lab (\w+) --only ([\w-]+)`", text))
    records = {name: load(ROWS[name], RESULTS) for name in quoted if name in ROWS}
    return [" ".join(name) for name, record in records.items() if record is None or not stands(ROWS[name], record)]


def main(words: list[str]) -> int:
    """Rewrite the pages, or list the stale rows that they quote and return 1 if there are any."""
    if words == ["--stale"]:
        found = {str(path.relative_to(ROOT)): stale(path.read_text(encoding="utf-8")) for path in pages()}
        lines = [f"{page}: {', '.join(rows)}" for page, rows in found.items() if rows]
        print("\n".join(lines), file=sys.stderr)
        return int(bool(lines))
    for path in pages():
        path.write_text(refreshed(path.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    discover()
    sys.exit(main(sys.argv[1:]))
