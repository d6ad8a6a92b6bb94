"""``describe-kernel``: a kernel in words and formulas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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

    kernel = parse_kernel(options.spelling)
    inputs, parts = list(kernel.inputs), explain(kernel)
    if options.output.as_json:
        said = {"spelling": str(kernel), "takes": kernel.source.takes, "inputs": inputs, "parts": parts}
        print_json({**said, "command": repeat_line()})
    elif not options.output.quiet:
        out = console()
        reads = ", ".join(READS.get(name, f"the input {name}") for name in inputs)
        out.print(clean(f"{kernel}: takes {reads}", LINE))
        for entry in parts:
            out.print(clean(f"{entry['number']}. {entry['spelling']}: {entry['words']}", LINE))
            pair(out, "", entry["formula"], 3)
        say(out, f"Again: {repeat_line()}")


def explain(kernel: Any, number: str = "") -> list[dict[str, str]]:
    """Return the number, spelling, words and formula of a kernel as written, of its parts, and of each transform.

    Examples
    --------
    >>> from grampus import parse_kernel
    >>> from grampus.cli.describe_kernel import explain
    >>> explain(parse_kernel("cosine|shift"))[1]["formula"]
    'K + σI, σ = −trace(K)/n unless it is given'
    >>> [entry["number"] for entry in explain(parse_kernel("(cosine + linear|map)|shift"))]
    ['1', '1.1', '1.2.1', '1.2.2', '2']
    """
    chain = [getattr(kernel, "head", kernel), *getattr(kernel, "tail", ())]
    found = []
    for place, entry in enumerate(chain, 1):
        own = number if number and len(chain) == 1 else f"{number}.{place}".lstrip(".")
        found.append({"number": own, "spelling": str(entry), **_explained(entry)})
        for position, part in enumerate(_parts(entry), 1):
            found += explain(part, f"{own}.{position}")
    return found


def _parts(entry: Any) -> list[Any]:
    """Return the kernels that another is made of, without their weights."""
    return [part.kernel if _weight(part) else part for part in getattr(entry, "parts", ())]


def _weight(kernel: Any) -> str:
    """Return the weight of a kernel as it is written, with a blank; "" if it has none."""
    return f"{str(kernel).partition(' * ')[0]} " if hasattr(kernel, "weight") else ""


def _explained(entry: Any) -> dict[str, str]:
    """Return the words and the formula of a kernel or transform."""
    from ..kernels import At, Product

    if isinstance(entry, At):
        plain = _explained(entry.kernel)
        return {"words": f"{plain['words']}; of the input {entry.input}", "formula": plain["formula"]}
    parts = getattr(entry, "parts", ())
    if not parts:
        words = entry.words or (type(entry).__doc__ or "").strip().partition("\n")[0]
        return {"words": words, "formula": entry.formula}
    if isinstance(entry, Product):
        formula = " · ".join(f"K{place}(x, y)" for place in range(1, len(parts) + 1))
        return {"words": "similar is what all of its parts find similar", "formula": f"K(x, y) = {formula}"}
    weighted = [entry] if _weight(entry) else parts
    formula = " + ".join(f"{_weight(part)}K{place}(x, y)" for place, part in enumerate(weighted, 1))
    words = "the similarities of its parts, added" if len(parts) > 1 else "the similarities of its part, multiplied"
    return {"words": words, "formula": f"K(x, y) = {formula}"}
