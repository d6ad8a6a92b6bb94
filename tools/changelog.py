"""Collect changelog fragments, and check that tag, version and changelog agree.

`collect` moves changes/*.md into the first section of CHANGELOG.md; `release vX.Y.Z` fails unless the version and a
dated section are those of the tag and no fragment is left; `notes vX.Y.Z` prints that section.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
KINDS = ("added", "changed", "deprecated", "removed", "fixed", "security")


class ChangelogError(Exception):
    """A fragment, a tag or a section that does not fit."""


def fragments(root: Path = ROOT) -> dict[str, list[Path]]:
    """Return the fragments by kind, each list in the order of the names."""
    found: dict[str, list[Path]] = {kind: [] for kind in KINDS}
    for path in sorted((root / "changes").glob("*.md")):
        if path.name == "README.md":
            continue
        kind = path.stem.rpartition(".")[2]
        if kind not in found or not path.read_text("utf-8").strip():
            raise ChangelogError(f"a fragment must be named NAME.KIND.md and not be empty; got {path.name}")
        found[kind].append(path)
    return found


def entry(text: str) -> str:
    r"""Return a fragment as an entry of a list.

    Examples
    --------
    >>> from tools.changelog import entry
    >>> print(entry("Whales sing,\nbirds too."))
    - Whales sing,
      birds too.
    """
    return "- " + "\n  ".join(line.rstrip() for line in text.strip().splitlines())


def with_entries(section: str, kind: str, entries: list[str]) -> str:
    """Return a section of a version with entries added under the heading of their kind.

    Examples
    --------
    >>> from tools.changelog import with_entries
    >>> print(with_entries("## 0.2.0", "fixed", ["- This."]))
    ## 0.2.0
    <BLANKLINE>
    ### Fixed
    - This.
    """
    heading = f"### {kind.capitalize()}"
    if heading not in section.splitlines():
        return "\n".join([section.rstrip(), "", heading, *entries])
    head, rest = section.split(f"{heading}\n", 1)
    own, separator, after = rest.partition("\n### ")
    return f"{head}{heading}\n" + "\n".join([own.rstrip(), *entries]) + (f"\n{separator}{after}" if separator else "")


def collect(root: Path = ROOT) -> int:
    """Move all fragments into the first section of the changelog; returns how many there were."""
    file = root / "CHANGELOG.md"
    intro, first, rest = _sections(file.read_text("utf-8"))
    found = fragments(root)
    for kind, paths in found.items():
        if paths:
            first = with_entries(first, kind, [entry(path.read_text("utf-8")) for path in paths])
    file.write_text("\n\n".join(part.strip() for part in (intro, first, rest)) + "\n", "utf-8")
    moved = [path for paths in found.values() for path in paths]
    for path in moved:
        path.unlink()
    return len(moved)


def _sections(text: str) -> tuple[str, str, str]:
    """Split a changelog into what is above the first version, its section, and the rest."""
    intro, *sections = re.split(r"(?m)^(?=## )", text)
    if not sections:
        raise ChangelogError("CHANGELOG.md must have a section for a version, '## 1.2.3'")
    return intro, sections[0], "".join(sections[1:])


def notes(tag: str, root: Path = ROOT) -> str:
    """Return the section of a released version."""
    version = tag.removeprefix("v")
    text = (root / "CHANGELOG.md").read_text("utf-8")
    found = re.search(rf"(?ms)^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)\n(.*?)(?=^## |\Z)", text)
    if found is None:
        raise ChangelogError(f"CHANGELOG.md must have a section '## {version} (date)'")
    return found[1].strip()


def version_of(root: Path = ROOT) -> str:
    """Return the version that the package states."""
    found = re.search(r'(?m)^__version__ = "(.+)"$', (root / "src" / "grampus" / "_version.py").read_text("utf-8"))
    if found is None:
        raise ChangelogError("src/grampus/_version.py must have a line '__version__ = \"1.2.3\"'")
    return found[1]


def check_release(tag: str, root: Path = ROOT) -> None:
    """Fail unless version, changelog and fragments are ready for the tag."""
    version = version_of(root)
    if tag != f"v{version}":
        raise ChangelogError(f"the tag must be v{version}, the version of the package; got {tag}")
    notes(tag, root)
    left = [path.name for paths in fragments(root).values() for path in paths]
    if left:
        raise ChangelogError(f"fragments must be collected before a release; got {', '.join(left)}")


def main(arguments: list[str]) -> int:
    """Run the command."""
    try:
        match arguments:
            case ["check"]:
                fragments()
            case ["collect"]:
                sys.stdout.write(f"{collect()} fragments moved into CHANGELOG.md\n")
            case ["release", tag]:
                check_release(tag)
            case ["notes", tag]:
                sys.stdout.write(notes(tag) + "\n")
            case _:
                sys.stderr.write("usage: python -m tools.changelog check | collect | release TAG | notes TAG\n")
                return 2
    except ChangelogError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
