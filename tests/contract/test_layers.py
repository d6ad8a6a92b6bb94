"""The architecture as a test: imports point down, no circles, small files, functions and signatures, and questions
about a Gram or a kernel asked of it."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from functools import cache
from pathlib import Path

import pytest

import grampus
from grampus.gram import Gram
from grampus.kernels import Kernel, Transform

PACKAGE = Path(__file__).parents[2] / "src" / "grampus"

# Top to bottom. A module may import from its own layer's package and from layers below, never above.
# Names on one line are peers that do not know each other.
LAYERS: list[set[str]] = [
    {"__main__"},
    {"cli"},
    {"app"},
    {"documents", "datasets"},
    {"notebook"},
    {"plots"},
    {"report"},
    {"persist"},
    {"describe"},
    {"select"},
    {"gpu"},
    {"cluster"},
    {"testing"},
    {"kernels", "text"},
    {"gram"},
    {"metrics"},
    {"run"},
    {"_random", "_workbook"},
    {"_backend"},
    {"_check", "_outputs", "_parallel"},
    {"_array", "_files"},
    {"_config", "_progress", "_native", "_frame"},
    {"errors", "_version", "_names", "_draw", "_later", "_rows", "_secrets", "_memory"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
MAX_LINES, MAX_CODE, MAX_PARAMETERS = 500, 80, 10

# Where a share of the memory budget is taken outside the two modules that decide about it.
SHARES = {
    "_config": "defines the budget",
    "_array": "cuts tiles",
    "gram.plan": "weighs cost",
    "gram.transforms.stored": "keeps matrices",
    "gram.transforms.map": "columns of a mapped block at a time, each a product with the base",
    "gram.base": "new documents compared at a time, each a row of similarities",
    "cluster.kmeans.loops": "bounds that rule documents out",
    "cluster.kmeans.batch": "starts that run together",
    "text.spool": "keeps pieces in memory or on disk",
    "documents.work": "predicts what is stored",
}

# Where a GPU is named outside its package and the seam to it.
NAMES_THE_GPU = {
    "_config": "the user's setting",
    "cli.options": "the user's option",
    "cli.show": "errors in the words of the command",
    "cli.doctor": "says what is installed",
    "run.dask": "hands the user's setting to workers",
    "run.runner": "hands the user's setting to workers",
    "run.copies": "makes no copy of a process that may have something on a device",
}


def modules() -> dict[str, Path]:
    """Map dotted names below the package to files; the package itself is ''."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        found[".".join(parts)] = path
    return found


@cache
def parsed(source: str) -> ast.Module:
    """Return the syntax tree of a module; each is parsed once."""
    return ast.parse(source)


def imports(name: str, path: Path, known: dict[str, Path]) -> set[str]:
    """Return the package's own modules that `path` imports: at its top, inside functions, and for type checking."""
    tree = parsed(path.read_text(encoding="utf-8"))
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found: set[str] = set()
    for node in ast.walk(tree):
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


def code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> int:
    """Count the lines of a function's body without its docstring, comments and blanks."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    inside = lines[body[0].lineno - 1 : function.end_lineno] if body else []
    return sum(1 for line in inside if line.strip() and not line.strip().startswith("#"))


def functions(source: str) -> dict[str, int]:
    """Return the functions of a module with their lines of code."""
    lines = source.splitlines()
    return {
        node.name: code_lines(node, lines)
        for node in ast.walk(parsed(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_functions_fit_on_a_screen():
    too_long = {
        f"{name}.{function}": lines
        for name, path in modules().items()
        for function, lines in functions(path.read_text(encoding="utf-8")).items()
        if lines > MAX_CODE
    }
    assert too_long == {}


def public_signatures() -> dict[str, int]:
    """Return how many parameters every public function, class and method takes, without self."""
    found = {}
    homes = [grampus, *(importlib.import_module(f"grampus.{name}") for name in PUBLIC_MODULES)]
    for home in homes:
        for public in home.__all__:
            thing = getattr(home, public)
            name = f"{home.__name__}.{public}".removeprefix("grampus.")
            if inspect.isfunction(thing):
                found[name] = len(inspect.signature(thing).parameters)
            elif inspect.isclass(thing) and thing.__module__.startswith("grampus"):
                frozen = hasattr(thing, "__dataclass_fields__")  # a result: nobody writes its fields out
                if "__init__" in vars(thing) and not frozen:
                    found[name] = len(inspect.signature(thing).parameters)
                for method, function in inspect.getmembers(thing, inspect.isfunction):
                    if not method.startswith("_"):
                        found[f"{name}.{method}"] = len(inspect.signature(function).parameters) - 1
    return found


PUBLIC_MODULES = ("cluster", "describe", "documents", "errors", "gram", "kernels", "metrics", "persist", "plots",
                  "report", "select", "testing", "text")  # fmt: skip


def test_public_signatures_have_at_most_ten_parameters():
    wide = {name for name, count in public_signatures().items() if count > MAX_PARAMETERS}
    assert wide == set()


def kinds_of(*bases: type) -> set[str]:
    """Return the names of all classes below some."""
    for name in modules():
        if name.startswith(("gram", "kernels")):
            importlib.import_module(f"grampus.{name}")
    kinds, waiting = set(), list(bases)
    while waiting:
        below = waiting.pop().__subclasses__()
        kinds |= {kind.__name__ for kind in below if kind.__module__.startswith("grampus.")}
        waiting.extend(below)
    return kinds


def asked_kinds(source: str, kinds: set[str]) -> list[str]:
    """Return the questions which of some kinds a value is: isinstance, issubclass and class patterns."""
    return [
        ast.unparse(node)
        for node in ast.walk(parsed(source))
        if (
            isinstance(node, ast.Call)
            and called(node) in ("isinstance", "issubclass")
            and kinds & last_names(node.args[1])
        )
        or (isinstance(node, ast.MatchClass) and kinds & last_names(node.cls))
    ]


def last_names(node: ast.AST) -> set[str]:
    """Return the names in an expression, those of attributes included."""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return names | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}


def asked_spellings(source: str) -> list[str]:
    """Return the questions about what a kernel takes, which attributes it has, and how it is spelled.

    A spelling is ``str(kernel)`` or a variable that holds it. It may be stored and shown, but not compared, searched,
    cut or matched.
    """
    if "kernel" not in source.lower():
        return []
    nodes = list(ast.walk(parsed(source)))
    assigned = [pair for node in nodes if isinstance(node, ast.Assign) for pair in pairs(node)]
    spelled = {target.id for targets, value in assigned if is_spelling(value, set()) for target in targets}
    return [ast.unparse(node) for node in nodes if is_question(node, spelled)]


def is_question(node: ast.AST, spelled: set[str]) -> bool:
    """Return whether an expression asks for the kind or the spelling of a kernel."""
    if isinstance(node, ast.Attribute):
        return node.attr == "takes" or is_spelling(node.value, spelled)
    if isinstance(node, ast.Compare):
        return any(is_spelling(part, spelled) for part in (node.left, *node.comparators))
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and node.func.value.id == "re":
        return any(is_spelling(argument, spelled) for argument in node.args)
    return called(node) in ("getattr", "hasattr", "type") and about_kernel(node.args[0])


def called(node: ast.Call) -> str:
    """Return the name of a function that is called by its bare name; "" otherwise."""
    return node.func.id if isinstance(node.func, ast.Name) else ""


def about_kernel(node: ast.expr) -> bool:
    """Return whether an expression names a kernel."""
    return any("kernel" in name.lower() for name in last_names(node))


def pairs(node: ast.Assign) -> list[tuple[list[ast.Name], ast.expr]]:
    """Return the names of an assignment with the value that each gets, part by part for tuples."""
    if len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
        both = zip(node.targets[0].elts, node.value.elts, strict=False)
        return [([target], value) for target, value in both if isinstance(target, ast.Name)]
    return [([target for target in node.targets if isinstance(target, ast.Name)], node.value)]


def is_spelling(node: ast.expr, spelled: set[str]) -> bool:
    """Return whether an expression is the spelling of a kernel."""
    if isinstance(node, ast.Name):
        return node.id in spelled
    return (
        isinstance(node, ast.Call)
        and called(node) in ("str", "repr")
        and len(node.args) == 1
        and about_kernel(node.args[0])
    )


def test_nothing_above_gram_asks_what_kind_of_gram_it_has():
    kinds = kinds_of(Gram)
    assert {"DenseGram", "LinearGram", "Shifted", "NystromGram", "Taken"} <= kinds
    asked = {
        name: calls
        for name, path in modules().items()
        if layer(name) != "gram" and (calls := asked_kinds(path.read_text(encoding="utf-8"), kinds))
    }
    assert asked == {}


def test_nothing_outside_kernels_asks_what_kind_of_kernel_it_has():
    kinds = kinds_of(Kernel, Transform)
    assert {"Linear", "CombinedKernel", "Piped", "StringKernel", "Normalise", "Principal"} <= kinds
    asked = {
        name: questions
        for name, path in modules().items()
        if layer(name) != "kernels"
        and (questions := asked_kinds(source := path.read_text(encoding="utf-8"), kinds) + asked_spellings(source))
    }
    assert asked == {}


def test_shares_of_the_memory_budget_are_taken_in_few_places():
    found = {name for name, path in modules().items() if re.search(r"memory\s*//", path.read_text(encoding="utf-8"))}
    assert found <= set(SHARES)


def names_the_gpu(name: str, source: str) -> bool:
    """Return whether a module knows of GPUs; files can be devices, too."""
    words = "cupy|cuda|gpu|\\bxp\\b" + ("" if layer(name) in ("text", "_files") else "|device")
    return re.search(words, source, re.IGNORECASE) is not None


def test_the_gpu_is_known_to_its_package_and_the_seam_alone(graph):
    named = {name for name, path in modules().items() if names_the_gpu(name, path.read_text(encoding="utf-8"))}
    assert {name for name in named if layer(name) not in ("gpu", "_backend")} == set(NAMES_THE_GPU)
    assert [name for name, targets in graph.items() if layer(name) != "gpu" and "gpu" in map(layer, targets)] == []


def test_the_check_can_fail():
    """An upward arrow and a circle are found where there are some."""
    assert upward_arrows({"gram.base": {"cluster.results"}, "cluster.results": {"gram.base"}}) == [
        "gram.base imports cluster.results"
    ]
    assert upward_arrows({"text.corpus": {"kernels.vector"}}) == ["text.corpus imports kernels.vector"]
    assert circles({"a": {"b"}, "b": {"a"}, "c": {"a"}}) == ["a", "b"]
    source = 'def f():\n    """Text."""\n    # why\n    a = 1\n\n    return isinstance(a, (int, DenseGram))\n'
    assert functions(source) == {"f": 2}
    assert asked_kinds(source, {"DenseGram"}) == ["isinstance(a, (int, DenseGram))"]
    assert asked_kinds("isinstance(a, Gram)", {"DenseGram"}) == []
    assert asked_kinds("isinstance(a, kernels.Map)", {"Map"}) == ["isinstance(a, kernels.Map)"]
    assert asked_kinds("match a:\n    case Map():\n        pass", {"Map"}) == ["Map()"]
    assert names_the_gpu("gram.base", "import numpy as xp")
    assert not names_the_gpu("gram.base", "expand(example)")
    assert not names_the_gpu("text.files", "a device, FIFO or socket")


@pytest.mark.parametrize(
    "question",
    [
        "kernel.source.takes",
        "str(kernel) == 'cosine'",
        "re.fullmatch('cosine.*', str(self.kernel))",
        "str(kernel).startswith",
        "hasattr(kernel, 'weight')",
    ],
)
def test_questions_about_a_kernel_are_seen(question):
    assert asked_spellings(question) == [question]


def test_a_spelling_may_be_stored_and_shown():
    assert asked_spellings("spelled, ways = str(kernel), []\n'nystrom' in spelled") == ["'nystrom' in spelled"]
    assert asked_spellings("spelled = str(kernel)\nprint(f'{kernel}', spelled)") == []


def test_imports_for_type_checking_count(tmp_path):
    path = tmp_path / "tree.py"
    path.write_text("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .formats import Outline\n")
    assert imports("trees.tree", path, {"trees.tree": path, "trees.formats": path}) == {"trees.formats"}


def silences(tree: ast.AST) -> list[int]:
    """Return the lines that ignore warnings of every kind."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", "") in ("simplefilter", "filterwarnings")
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value == "ignore"
        and len(node.args) + len(node.keywords) < 2
    ]


def test_no_module_silences_warnings_of_every_kind():
    assert silences(ast.parse('warnings.simplefilter("ignore")')) == [1]
    assert not silences(ast.parse('warnings.simplefilter("ignore", UserWarning)'))
    assert not [(name, lines) for name, path in modules().items() if (lines := silences(parsed(path.read_text())))]
