"""How much Python there is: lines of code without blanks, comments and docstrings."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

from lab import Found, Task
from lab.harness import ROOT
from lab.promises import promise

NOT_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_lines(path: Path) -> int:
    """Return the lines of a file that hold code."""
    text = path.read_text(encoding="utf-8")
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NOT_CODE:
            found |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            found -= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(found)


@promise("code-lines", "Lines of Python in src, lab and docs.", rests_on=("documents",))
def lines(task: Task) -> Found:
    counted = {name: sum(map(code_lines, sorted((ROOT / name).rglob("*.py")))) for name in ("src", "lab", "docs")}
    text = ", ".join(f"{name} {count:,}" for name, count in counted.items())
    return Found(f"{sum(counted.values()):,} ({text})", {name: float(count) for name, count in counted.items()})
