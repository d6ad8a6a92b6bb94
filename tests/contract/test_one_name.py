"""One name, one type: a class or public function name is defined in one module of the library."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

from tests.contract.test_layers import parsed

PACKAGE = Path(__file__).parents[2] / "src" / "grampus"

# The command line names a function after its command, and its options `Options`, in every file.
COMMANDS, OPTIONS = {"command", "group"}, "Options"


def defined(source: str, *, command_line: bool = False) -> set[str]:
    """Return the classes and public functions at the top of a module, without what click's convention names."""
    names = set()
    for node in parsed(source).body:
        if isinstance(node, ast.ClassDef) and not (command_line and node.name == OPTIONS):
            names.add(node.name)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            decorators = {ast.unparse(entry).partition("(")[0].rpartition(".")[2] for entry in node.decorator_list}
            if not (command_line and decorators & COMMANDS):
                names.add(node.name)
    return names


def doubled(modules: dict[str, set[str]]) -> dict[str, list[str]]:
    """Return the names that several modules define, with the modules."""
    places = defaultdict(list)
    for module, names in sorted(modules.items()):
        for name in sorted(names):
            places[name].append(module)
    return {name: where for name, where in places.items() if len(where) > 1}


def test_every_name_has_one_meaning():
    modules = {
        str(path.relative_to(PACKAGE)): defined(
            path.read_text(encoding="utf-8"), command_line=path.relative_to(PACKAGE).parts[0] == "cli"
        )
        for path in PACKAGE.rglob("*.py")
    }
    assert "Gram" in modules["gram/base.py"]
    assert doubled(modules) == {}


def test_the_check_can_fail():
    source = (
        "class Level: ...\ndef read(): ...\ndef _own(): ...\n@command(Options)\ndef cluster(): ...\nclass Options: ..."
    )
    assert defined(source) == {"Level", "read", "cluster", "Options"}
    assert defined(source, command_line=True) == {"Level", "read"}
    assert doubled({"a": {"Level", "read"}, "b": {"Level"}}) == {"Level": ["a", "b"]}
