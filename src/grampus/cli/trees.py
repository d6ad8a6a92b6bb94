"""Trees for the command ``tree``: of a saved run, or grown from documents."""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from .options import Source, take_terms
from .show import clean

if TYPE_CHECKING:
    from ..persist import Branch


def of_run(place: str, shape: str) -> str:
    """Return the tree of a saved run."""
    from ..persist import Run

    run = Run.load(place)
    if shape == "json":
        return json.dumps([asdict(branch) for branch in run.tree], indent=1)
    writers = {"text": _text, "newick": _newick, "dot": _dot}
    return writers[shape](run.tree)


def _title(branch: Branch) -> str:
    mark = f"[{branch.cluster}] " if branch.cluster >= 0 else ""
    return f"{mark}{clean(branch.label)} ({branch.size})"


def _text(tree: tuple[Branch, ...]) -> str:
    lines: list[str] = []
    waiting = [(tree[0], "", "")]
    while waiting:
        branch, lead, below = waiting.pop()
        lines.append(lead + _title(branch))
        for child in reversed(branch.children):
            last = child == branch.children[-1]
            waiting.append((tree[child], below + ("└── " if last else "├── "), below + ("    " if last else "│   ")))
    return "\n".join(lines)


def _newick(tree: tuple[Branch, ...]) -> str:
    made: dict[int, str] = {}
    for branch in reversed(tree):
        name = "'" + _title(branch).replace("'", "''") + "'"
        inside = f"({','.join(made[child] for child in branch.children)})" if branch.children else ""
        above = f":{max(tree[branch.parent].height - branch.height, 0.0):.6g}" if branch.parent >= 0 else ""
        made[branch.index] = inside + name + above
    return made[0] + ";"


def _dot(tree: tuple[Branch, ...]) -> str:
    lines = ["digraph tree {", "  node [shape=box];"]
    for branch in tree:
        title = _title(branch).replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'  {branch.index} [label="{title}"];')
        lines.extend(f"  {branch.index} -> {child};" for child in branch.children)
    return "\n".join([*lines, "}"])


def divided(place: Source, options: dict[str, Any], machine: dict[str, Any], shape: str) -> tuple[str, list[str]]:
    """Grow a PDDP tree from documents, and return it with what there is to say; leaves are named by their words."""
    from .._array import take_rows
    from ..cluster import PDDP
    from ..describe import keywords
    from ..documents.inputs import collect
    from ..kernels import parse_kernel

    corpus = place.read()
    kernel = parse_kernel(options["kernel"])
    found = collect(corpus, kernel, take_terms(options, len(corpus)))
    model = PDDP(
        options["clusters"],
        kernel=kernel,
        cut=options["cut"],
        refine=options["refine"],
        random_state=machine["random_state"],
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        grown = model.fit(take_rows(found.features, found.group)).tree_
    notes = [*corpus.notes, *(str(warning.message) for warning in caught)]
    names = [str(number) for number in range(len(grown.leaves))]
    if found.described is not None and found.names is not None:
        words = keywords(take_rows(found.described, found.group), grown.labels, found.names, 3)
        names = [f"{number}: {clean(', '.join(some))}" for number, some in enumerate(words)]
    if shape == "json":
        return json.dumps({**grown.to_dict(members=False), "warnings": notes}, indent=1, allow_nan=False), notes
    return {"text": grown.render, "newick": grown.newick, "dot": grown.graphviz}[shape](names), notes
