"""``tree``: the tree of a saved run, or one grown from documents."""

from __future__ import annotations

import json
import re
import sys
import warnings
from dataclasses import asdict, dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

from .._names import CUTS
from .command import argument, choice, command, names_of, option, refuse, repeat_line
from .options import MachineOptions, OutputOptions, SourceOptions, TermOptions, default_vectorizer
from .show import clean, console, notes, one_step, progress_bars, say
from .types import AT_LEAST_1

if TYPE_CHECKING:
    from .._progress import Progress
    from ..cluster.trees.formats import Outline

FORMATS = ("text", "json", "newick", "dot")


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``tree``."""

    source: str = argument()
    clusters: int = option("Leaves to grow from documents. [8]", "-k", "--clusters", type=AT_LEAST_1, default=8)
    shape: str = choice("", FORMATS, "--as", default="text")
    cut: str = choice("Of a direction: ", CUTS, default="projection")
    refine: bool = option("Follow every cut by 2-means.")
    documents: SourceOptions
    terms: TermOptions
    machine: MachineOptions
    output: OutputOptions


@command(Options, "tree", "Show the tree of a saved run, or grow one from documents.")
def tree(options: Options) -> None:
    """Show the tree of a saved run, or divide the documents of SOURCE along principal directions (PDDP).

    \b
    Examples:
      grampus tree run
      grampus tree news/ -k 6 --kernel cosine
    """
    from .._outputs import is_run_folder

    shape, output = options.shape, options.output
    if output.as_json and shape != "json":
        refuse(("shape",), "with --json")
        shape = "json"
    saved = is_run_folder(options.source)
    remarks: list[str] = []
    if saved:
        names = (*names_of(SourceOptions, TermOptions), "clusters", "cut", "refine")
        refuse(names, "with the tree of a saved run")
        text = _of_run(options.source, shape)
    else:
        options.documents.check(options.source)
        options.terms.check()
        with progress_bars(output.silent) as progress:
            text, remarks = _grow(options, shape, progress)
    if not output.quiet or output.as_json:
        sys.stdout.write((fitted(text, console().width) if shape == "text" else text) + "\n")
    if output.silent or shape == "json":
        return
    out = console(stderr=shape != "text")  # the other formats are for programs
    notes(out, remarks)
    if shape == "text" and not saved:
        say(out, f"Again: {repeat_line()}")


def _written(nodes: list[Outline], shape: str) -> str:
    from ..cluster.trees.formats import graphviz, newick, render_outline

    return {"text": render_outline, "newick": newick, "dot": graphviz}[shape](nodes)


def fitted(text: str, width: int) -> str:
    """Return a drawn tree within a width: narrower steps where it is deep, names continued below themselves.

    Examples
    --------
    >>> from grampus.cli.tree import fitted
    >>> print(fitted("[a] 3 documents\\n└── [b, a name that is long] 2 documents\\n    └── [c] 1 document", 24))
    [a] 3 documents
    └[b, a name that is
     long] 2 documents
     └[c] 1 document
    """
    lines = [re.fullmatch(r"((?:│   |    )*(?:├── |└── )?)(.*)", line) for line in text.split("\n")]
    parts = [(match[1], match[2]) for match in lines if match is not None]
    step = next((step for step in (4, 2) if all(len(a) * step // 4 + len(b) <= width for a, b in parts)), 1)
    found = []
    for lead, name in parts:
        drawn = "".join(lead[at : at + step] for at in range(0, len(lead), 4))
        if len(drawn) > width // 2:
            drawn = "…" + drawn[-(width // 2 - 1) :]
        below = drawn.translate({ord("├"): "│", ord("└"): " ", ord("─"): " "})
        first, *others = wrap(name, width - len(drawn), break_on_hyphens=False) or [""]
        found += [drawn + first, *(below + line for line in others)]
    return "\n".join(found)


def _of_run(place: str, shape: str) -> str:
    """Return the tree of a saved run."""
    from ..cluster.trees.formats import Outline
    from ..persist import Run

    branches = Run.load(place).evidence.tree
    if shape == "json":
        return json.dumps([asdict(branch) for branch in branches], indent=1)
    names = [f"{one.cluster}: {clean(one.name)}" if one.cluster >= 0 else clean(one.name) for one in branches]
    nodes = [Outline(name, b.size, b.height, b.children) for name, b in zip(names, branches, strict=True)]
    return _written(nodes, shape)


def _grow(options: Options, shape: str, progress: Progress) -> tuple[str, list[str]]:
    """Grow a PDDP tree from documents; return it and the remarks. Leaves are named by their words."""
    from ..cluster import PDDP
    from ..describe import keywords
    from ..errors import InputError
    from ..kernels import parse_kernel

    options.machine.apply()
    corpus = options.documents.read(options.source, progress)
    if not len(corpus):
        raise InputError("There must be at least one document; got none.")
    kernel = parse_kernel(options.terms.kernel)
    if "gram" in kernel.inputs:
        raise InputError("kernel 'precomputed' takes a Gram matrix; got texts. Name a kernel such as 'cosine|shift'.")
    vectorizer = options.terms.vectorizer(len(corpus)) or default_vectorizer(len(corpus))
    rows = list(corpus.texts) if kernel.reads_only_texts else vectorizer.fit_transform(corpus)
    documents = {"terms": rows, "text": list(corpus.texts)} if kernel.reads_names else rows
    model = PDDP(options.clusters, kernel=kernel, cut=options.cut, refine=options.refine)
    with one_step(progress, "dividing"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        grown = model.fit(documents).tree_
    remarks = [*corpus.notes, *(str(warning.message) for warning in caught)]
    if shape == "json":
        return json.dumps({**grown.to_dict(members=False), "warnings": remarks}, indent=1, allow_nan=False), remarks
    names = None
    if not kernel.reads_only_texts:
        words = keywords(rows, grown.labels, vectorizer.get_feature_names_out().tolist(), 3)
        names = [f"{number}: {clean(', '.join(some))}" for number, some in enumerate(words)]
    return _written(grown.outline(names), shape), remarks
