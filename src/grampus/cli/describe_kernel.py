"""``describe-kernel``: a kernel in words and formulas."""

from __future__ import annotations

from dataclasses import dataclass

from .command import argument, command, repeat_line
from .options import OutputOptions
from .show import LINE, clean, console, pair, print_json, say

READS = {
    "terms": "weighted terms or rows of numbers",
    "text": "texts as strings",
    "gram": "a Gram matrix",
    "vectors": "word vectors",
    "embedding": "embeddings",
}


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``describe-kernel``."""

    spelling: str = argument()
    output: OutputOptions


@command(Options, "describe-kernel", "Explain a kernel in words and formulas.")
def describe_kernel(options: Options) -> None:
    """Explain SPELLING, such as 'cosine|shift': a kernel, then transforms, each after a bar. Kernels add (+), multiply
    (*), take a weight (0.5 *) and the name of an input (@embedding); parentheses group.

    \b
    Examples:
      grampus describe-kernel 'cosine|power(0.6)|map'
      grampus describe-kernel 'cosine|principal(auto) + 0.5 * cosine@embedding'
    """
    from ..kernels import parse_kernel
    from ..kernels.explain import explain

    explained = explain(parse_kernel(options.spelling))
    if options.output.as_json:
        print_json({**explained, "command": repeat_line()})
    elif not options.output.quiet:
        out = console()
        reads = ", ".join(READS.get(name, f"the input {name}") for name in explained["inputs"])
        out.print(clean(f"{explained['spelling']}: takes {reads}", LINE))
        for entry in explained["parts"]:
            out.print(clean(f"{entry['number']}. {entry['spelling']}: {entry['words']}", LINE))
            pair(out, "", entry["formula"], 3)
        say(out, f"Again: {repeat_line()}")
