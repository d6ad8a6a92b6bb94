"""Mutants of a module: every place where one small change of the program can be made, and the changed source.

A mutant differs from its module in one comparison, operation, constant, condition or return. Annotations, decorators,
docstrings, messages of errors, assertions and names for type checkers are left alone: changing them changes no result.
So are arguments that decide only how much is computed at a time, whether memory suffices, is copied or is used
again, and whether lengths and numbers are looked at once more.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
JUNCTIONS: dict[type[ast.boolop], type[ast.boolop]] = {ast.And: ast.Or, ast.Or: ast.And}


RESOURCES = ("tiles", "tile_rows", "blas_threads", "require_memory", "require_device_memory", "lru_cache")
KEYWORDS = ("copy", "strict", "maxsize", "check_finite", "overwrite_a", "overwrite_b")


@dataclass(frozen=True)
class Mutant:
    """One change: its kind, its line, its number among the changes of the module, and what it says before and after."""

    number: int
    kind: str
    line: int
    text: str


def _fields(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the children in which a change could change a result."""
    skipped = {"annotation", "returns", "decorator_list", "type_params"}
    for name, value in ast.iter_fields(node):
        if name not in skipped:
            yield from (one for one in (value if isinstance(value, list) else [value]) if isinstance(one, ast.AST))


def _left_alone(node: ast.AST) -> bool:
    if isinstance(node, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in RESOURCES:
        return True
    if isinstance(node, ast.keyword) and node.arg in KEYWORDS:
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True  # a docstring
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return True
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    return isinstance(target, ast.Name) and target.id == "__all__"


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _changes(node: ast.AST) -> Iterator[tuple[str, str, Any]]:
    """Yield the changes of one node: kind, field, and the new value of the field."""
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in COMPARISONS:
            yield "comparison", "ops", [COMPARISONS[type(operator)]()]
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPERATIONS:
            if not _is_text(left) and not _is_text(right):
                yield "arithmetic", "op", OPERATIONS[type(operator)]()
        case ast.AugAssign(op=operator) if type(operator) in OPERATIONS:
            yield "arithmetic", "op", OPERATIONS[type(operator)]()
        case ast.BoolOp(op=junction):
            yield "boolean", "op", JUNCTIONS[type(junction)]()
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            yield "condition", "test", ast.UnaryOp(ast.Not(), test)
        case ast.Constant(value=bool() as value):
            yield "constant", "value", not value
        case ast.Constant(value=int() | float() as number):
            yield "constant", "value", number + 1 if abs(number) < 1e6 else 2 * number  # 1e12 + 1 is no change
        case ast.Return(value=value) if value is not None and not (
            isinstance(value, ast.Constant) and value.value is None
        ):
            yield "return", "value", ast.Constant(None)


def _sites(tree: ast.AST) -> Iterator[tuple[ast.AST, str, str, Any]]:
    if _left_alone(tree):
        return
    for kind, name, value in _changes(tree):
        yield tree, kind, name, value
    for child in _fields(tree):
        yield from _sites(child)


def mutants(source: str) -> list[Mutant]:
    r"""Return every mutant of a module, in the order of the source.

    Examples
    --------
    >>> from lab.mutants import mutants
    >>> [(found.kind, found.text) for found in mutants("def f(a):\n    return a + 1\n")]
    [('return', 'return a + 1 → return None'), ('arithmetic', 'a + 1 → a - 1'), ('constant', '1 → 2')]
    """
    found = []
    for number, (node, kind, name, value) in enumerate(_sites(ast.parse(source))):
        changed = copy.deepcopy(node)
        setattr(changed, name, value)
        before, after = (ast.unparse(ast.fix_missing_locations(one)).splitlines()[0] for one in (node, changed))
        found.append(Mutant(number, kind, getattr(node, "lineno", 0), f"{before[:80]} → {after[:80]}"))
    return found


def mutated(source: str, number: int) -> str:
    r"""Return the source with one change.

    Examples
    --------
    >>> from lab.mutants import mutated
    >>> print(mutated("def f(a):\n    return a < 1", 1))
    def f(a):
        return a <= 1
    """
    tree = ast.parse(source)
    for place, (node, _, name, value) in enumerate(_sites(tree)):
        if place == number:
            setattr(node, name, value)
            return ast.unparse(ast.fix_missing_locations(tree))
    raise ValueError(f"the module has no mutant {number}")
