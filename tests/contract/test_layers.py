"""The architecture as a test: imports point down, no circles, no file over 500 lines."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "grampus"

# Top to bottom. A module may import from its own layer's package and from layers below, never above.
# Names on one line are peers that do not know each other.
LAYERS: list[set[str]] = [
    {"__main__"},
    {"cli"},
    {"documents", "datasets"},
    {"notebook"},
    {"report", "plots"},
    {"persist"},
    {"describe"},
    {"select"},
    {"cluster"},
    {"testing"},
    {"kernels", "text"},
    {"gram"},
    {"metrics"},
    {"_random"},
    {"_check", "_parallel"},
    {"_array", "_files"},
    {"_config", "_progress"},
    {"errors", "_version", "_draw"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
MAX_LINES, MAX_GRAM_LINES = 500, 200


def modules() -> dict[str, Path]:
    """Map dotted names below the package to files; the package itself is ''."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        found[".".join(parts)] = path
    return found


def imports(name: str, path: Path, known: dict[str, Path]) -> set[str]:
    """Return the package's own modules that `path` imports, also inside functions; not for type checking."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    guarded = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in guarded:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = package.split(".")[: len(package.split(".")) - (node.level - 1)] if package else []
                base = ".".join(["grampus", *[p for p in up if p], *([node.module] if node.module else [])])
            for alias in node.names:  # a module of the package, or a name inside one
                whole = f"{base}.{alias.name}"
                found.add(whole if whole.removeprefix("grampus").lstrip(".") in known else base)
    inside = {target.removeprefix("grampus").lstrip(".") for target in found if target.split(".")[0] == "grampus"}
    return {target for target in inside if target in known and target not in ("", name)}


def layer(name: str) -> str:
    return name.partition(".")[0]


def upward_arrows(graph: dict[str, set[str]]) -> list[str]:
    """Return the imports that point up or sideways."""
    return [
        f"{name} imports {target}"
        for name, targets in graph.items()
        if name
        for target in targets
        if layer(target) != layer(name) and RANK[layer(target)] <= RANK[layer(name)]
    ]


def circles(graph: dict[str, set[str]]) -> list[str]:
    """Return the modules that reach themselves; a package's __init__ is read as its parts' front door."""
    found = []
    for start, targets in graph.items():
        seen: set[str] = set()
        stack = list(targets)
        while stack:
            name = stack.pop()
            if name in seen:
                continue
            seen.add(name)
            stack.extend(graph.get(name, ()))
        if start in seen:
            found.append(start)
    return found


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    known = modules()
    return {name: imports(name, path, known) for name, path in known.items()}


def test_every_module_has_a_layer(graph):
    assert {layer(name) for name in graph if name} <= set(RANK)


def test_imports_point_down(graph):
    assert upward_arrows(graph) == []


def test_no_circles(graph):
    assert circles(graph) == []


def test_files_hold_one_idea():
    too_long = {
        name: lines
        for name, path in modules().items()
        if (lines := path.read_text(encoding="utf-8").count("\n")) > MAX_LINES
    }
    assert too_long == {}
    base = modules().get("gram.base")
    assert base is not None
    assert base.read_text(encoding="utf-8").count("\n") <= MAX_GRAM_LINES


def test_the_check_can_fail():
    """An upward arrow and a circle are found where there are some."""
    assert upward_arrows({"gram.base": {"cluster.results"}, "cluster.results": {"gram.base"}}) == [
        "gram.base imports cluster.results"
    ]
    assert upward_arrows({"text.corpus": {"kernels.vector"}}) == ["text.corpus imports kernels.vector"]
    assert circles({"a": {"b"}, "b": {"a"}, "c": {"a"}}) == ["a", "b"]
