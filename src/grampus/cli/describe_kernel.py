"""``describe-kernel``: a kernel in words and formulas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .command import argument, command, repeat_line
from .options import OutputOptions
from .show import console, print_json, say

TAKES = {"vectors": "weighted terms or rows of numbers", "strings": "texts as strings", "gram": "a Gram matrix"}


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``describe-kernel``."""

    spelling: str = argument()
    output: OutputOptions


@command(Options, "describe-kernel", "Explain a kernel in words and formulas.")
def describe_kernel(options: Options) -> None:
    """Explain SPELLING, such as 'cosine|shift': a kernel, then transforms, each after a bar.

    \b
    Example:
      grampus describe-kernel 'cosine|power(0.6)|map'
    """
    from ..kernels import parse_kernel

    kernel = parse_kernel(options.spelling)
    takes, parts = kernel.source.takes, explain(kernel)
    if options.output.as_json:
        print_json({"spelling": str(kernel), "takes": takes, "parts": parts, "command": repeat_line()})
    elif not options.output.quiet:
        out = console()
        say(out, f"{kernel}: takes {TAKES[takes]}")
        for number, entry in enumerate(parts, 1):
            say(out, f"{number}. {entry['spelling']}: {entry['words']}")
            out.print(f"   {entry['formula']}", soft_wrap=True)
        say(out, f"Again: {repeat_line()}")


def explain(kernel: Any) -> list[dict[str, str]]:
    """Return the spelling, words and formula of a kernel as written and of each transform that follows it.

    Examples
    --------
    >>> from grampus import parse_kernel
    >>> from grampus.cli.describe_kernel import explain
    >>> explain(parse_kernel("cosine|shift"))[1]["formula"]
    'K + σI, σ = −trace(K)/n unless it is given'
    """
    parts = [getattr(kernel, "head", kernel), *getattr(kernel, "tail", ())]
    return [
        {
            "spelling": str(entry),
            "words": entry.words or (type(entry).__doc__ or "").strip().partition("\n")[0],
            "formula": entry.formula,
        }
        for entry in parts
    ]
