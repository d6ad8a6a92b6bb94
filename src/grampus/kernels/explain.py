"""A kernel in words and formulas."""

from typing import Any

from .algebra import At, Product, Scaled
from .base import Kernel, Piped, Transform
from .spelled import spell


def explain(kernel: Kernel) -> dict[str, Any]:
    """Return the spelling of a kernel, what it takes and reads, and its parts with their words and formulas.

    Examples
    --------
    >>> from grampus import parse_kernel
    >>> from grampus.kernels.explain import explain
    >>> explain(parse_kernel("cosine|shift"))["parts"][1]["formula"]
    'K + σI, σ = −trace(K)/n unless it is given'
    >>> [part["number"] for part in explain(parse_kernel("(cosine + linear|map)|shift"))["parts"]]
    ['1', '1.1', '1.2.1', '1.2.2', '2']
    """
    return {
        "spelling": str(kernel),
        "takes": kernel.source.takes,
        "inputs": list(kernel.inputs),
        "parts": _explain_parts(kernel, ""),
    }


def _explain_parts(kernel: Kernel, number: str) -> list[dict[str, str]]:
    """Return the number, spelling, words and formula of a kernel as written, of its parts, and of each transform."""
    chain: list[Kernel | Transform] = [kernel.head, *kernel.tail] if isinstance(kernel, Piped) else [kernel]
    explained = []
    for place, entry in enumerate(chain, 1):
        numbered = number if number and len(chain) == 1 else f"{number}.{place}".lstrip(".")
        explained.append({"number": numbered, "spelling": str(entry), **_words(entry)})
        for position, part in enumerate(entry.parts if isinstance(entry, Kernel) else (), 1):
            bare = part.kernel if isinstance(part, Scaled) else part
            explained += _explain_parts(bare, f"{numbered}.{position}")
    return explained


def _words(entry: Kernel | Transform) -> dict[str, str]:
    """Return the words and the formula of a kernel or transform."""
    if isinstance(entry, At):
        plain = _words(entry.kernel)
        return {"words": f"{plain['words']}; of the input {entry.input}", "formula": plain["formula"]}
    parts = entry.parts if isinstance(entry, Kernel) else ()
    if not parts:
        words = entry.words or (type(entry).__doc__ or "").strip().partition("\n")[0]
        return {"words": words, "formula": entry.formula}
    if isinstance(entry, Product):
        formula = " · ".join(f"K{place}(x, y)" for place in range(1, len(parts) + 1))
        return {"words": "similar is what all of its parts find similar", "formula": f"K(x, y) = {formula}"}
    weighted = [entry] if isinstance(entry, Scaled) else parts
    formula = " + ".join(f"{_weight(part)}K{place}(x, y)" for place, part in enumerate(weighted, 1))
    words = "the similarities of its parts, added" if len(parts) > 1 else "the similarities of its part, multiplied"
    return {"words": words, "formula": f"K(x, y) = {formula}"}


def _weight(kernel: Kernel) -> str:
    """Return the weight of a kernel as it is written, with a blank; "" if it has none."""
    return f"{spell(kernel.weight)} " if isinstance(kernel, Scaled) else ""
