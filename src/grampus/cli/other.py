"""``describe-kernel``, ``demo``, ``doctor`` and ``completion``."""

from __future__ import annotations

import sys
from typing import Any

import click

from .._version import __version__
from .options import Count, machine_options, output_options, refuse, repeat_line, use_machine
from .show import clean, console, print_json, progress, show_run

# What each name means in words and as a formula; M_t is the power mean of order t, R the rows scaled to unit length.
WORDS: dict[str, tuple[str, str]] = {
    "linear": ("the inner product of two rows", "K(x, y) = x·y"),
    "cosine": ("the cosine of the angle between two rows, whatever their length", "K(x, y) = x·y / (‖x‖ ‖y‖)"),
    "polynomial": ("products of up to `degree` terms at once", "K(x, y) = (x·y + coef0)^degree"),
    "gaussian": (
        "nearness: 1 for equal rows, falling to 0 with the squared distance",
        "K(x, y) = exp(−‖x − y‖² / width²), or exp(−‖x − y‖² / (2 sigma²)), or exp(−gamma ‖x − y‖²)",
    ),
    "selftuning": (
        "nearness, where every document has a width of its own: the distance to its nearest neighbours",
        "K(x, y) = exp(−‖x − y‖² / (σ_x σ_y)), σ_x the distance to the neighbours-th nearest",
    ),
    "precomputed": ("similarities that you give", "K is the matrix itself"),
    "spectrum": ("shared substrings of exactly `length` characters", "K(s, t) = Σ_{|u| = length} #u(s) #u(t)"),
    "boundrange": ("shared substrings of at most `length` characters", "K(s, t) = Σ_{|u| ≤ length} #u(s) #u(t)"),
    "constant": ("all shared substrings", "K(s, t) = Σ_u #u(s) #u(t)"),
    "exponential": ("all shared substrings, long ones less", "K(s, t) = Σ_u decay^−|u| #u(s) #u(t)"),
    "string": (
        "shared substrings of exactly `length` characters, in kernlab's scale",
        "K(s, t) = Σ_{|u| = length} decay^(2(length + 1)) #u(s) #u(t)",
    ),
    "fullstring": (
        "shared substrings of at most `length` characters, weighted by length",
        "K(s, t) = Σ_{|u| ≤ length} decay^(2|u|) #u(s) #u(t)",
    ),
    "subsequence": (
        "shared subsequences of `length` characters, gaps allowed at a price",
        "K(s, t) = Σ over the places where a subsequence u occurs in s and in t of decay^(span in s + span in t)",
    ),
    "shift": (
        "take a number from every self-similarity (by default so much that they add up to 0), so that a document's "
        "likeness to itself does not hold it where chance put it",
        "K + σI, σ = −trace(K)/n unless it is given",
    ),
    "normalise": (
        "divide by a mean of the two self-similarities: order 0 is the cosine, infinity divides by the larger",
        "K(x, y) / M_t(K(x, x), K(y, y)), M_t the power mean of order t",
    ),
    "power": ("raise every similarity to a power: below 1, small ones gain", "K(x, y)^exponent"),
    "centre": ("move the mean of the collection to the origin", "H K H, H = I − 11ᵀ/n"),
    "nystrom": (
        "a matrix of low rank from the similarities to some documents, the landmarks",
        "C W⁺ Cᵀ, C the similarities to the landmarks and W those among them",
    ),
    "principal": (
        "keep the leading `rank` components, what many documents share (latent semantic analysis)",
        "V_r Λ_r V_rᵀ, the best approximation of rank r",
    ),
    "map": (
        "describe every document by its similarities to all others: alike is what resembles the same documents",
        "R Rᵀ, R the rows of K scaled to unit length",
    ),
}


@click.command("describe-kernel", short_help="Explain the spelling of a kernel in words and formulas.")
@click.argument("spelling")
@output_options
@click.pass_context
def describe_kernel(ctx: click.Context, /, spelling: str, as_json: bool, quiet: bool) -> None:
    """Explain SPELLING, such as 'cosine|shift': a kernel, then transforms, each after a bar.

    \b
    Example:
      grampus describe-kernel 'cosine|power(0.6)|map'
    """
    from ..kernels import parse_kernel

    kernel = parse_kernel(spelling)
    parts = [explain(part) for part in _parts(kernel)]
    takes = {"vectors": "weighted terms or rows of numbers", "strings": "texts as they are", "gram": "a Gram matrix"}
    if as_json:
        print_json({"spelling": str(kernel), "takes": kernel.source.takes, "parts": parts, "command": repeat_line(ctx)})
    elif not quiet:
        out = console()
        out.print(f"{kernel}: takes {takes[kernel.source.takes]}", soft_wrap=True)
        for number, part in enumerate(parts, 1):
            out.print(f"{number}. {part['spelling']}: {part['words']}", soft_wrap=True)
            out.print(f"   {part['formula']}", soft_wrap=True)
        out.print(f"Again: {clean(repeat_line(ctx), 1000)}", soft_wrap=True)


def _parts(kernel: Any) -> list[Any]:
    """Return the kernel at the head as it was written, and what follows it."""
    head, tail = getattr(kernel, "head", kernel), list(getattr(kernel, "tail", ()))
    return [head, *tail]


def explain(part: Any) -> dict[str, str]:
    """Return the spelling, words and formula of one part of a kernel."""
    summary = (type(part).__doc__ or "").strip().partition("\n")[0]
    words, formula = WORDS.get(part.name, (summary, ""))
    return {"spelling": str(part), "words": words, "formula": formula}


@click.command(short_help="Cluster a real corpus that is already on this machine.")
@click.option("-k", "--clusters", type=Count(), default="auto", show_default=True, help="How many; or chosen.")
@click.option("--write", type=click.Path(file_okay=False), help="Write the corpus there as a folder, CSV and JSONL.")
@machine_options
@output_options
@click.pass_context
def demo(
    ctx: click.Context, /, clusters: int | str, write: str | None, as_json: bool, quiet: bool, **options: Any
) -> None:
    """Cluster the documentation of SciPy, which comes with Grampus's dependencies, and compare with its subpackages.

    \b
    Examples:
      grampus demo --seed 1
      grampus demo --write examples
    """
    from .. import demo as demonstration

    machine = use_machine(options)
    if write is not None:
        refuse(("clusters",), "with --write")
        places = demonstration.write_corpora(write)
        for place in () if quiet or as_json else places:
            console().print(str(place), soft_wrap=True)
        if as_json:
            print_json({"written": [str(place) for place in places], "command": repeat_line(ctx)})
        return
    with progress(quiet or as_json) as tell:
        found = demonstration.run(clusters, machine["random_state"], machine["n_jobs"], tell)
    line = repeat_line(ctx, seed=machine["random_state"])
    if as_json:
        from .clustering import run_json

        scores = {"nmi": found.nmi, "ari": found.ari, "version": __version__, "labels_sha256": found.digest}
        print_json({**run_json(found.run), **scores, "command": line})
    elif not quiet:
        out = console()
        show_run(found.run, out)
        out.print(f"Agreement with SciPy's {found.classes} subpackages: NMI {found.nmi:.3f}, ARI {found.ari:.3f}")
        out.print(f"Grampus {__version__}; labels {found.digest[:16]} (SHA-256)")
        out.print(f"Again: {line}", soft_wrap=True)


@click.command(short_help="Show versions, extras, threads and memory.")
@output_options
def doctor(as_json: bool, quiet: bool) -> None:
    """Show what Grampus works with on this machine; the first thing to put into a report of a fault.

    \b
    Example:
      grampus doctor
    """
    from .health import checks

    found = checks()
    if as_json:
        print_json(found)
    elif not quiet:
        out = console()
        for name, value in found.items():
            out.print(f"{name:22s} {value}", soft_wrap=True)
    if found["problems"] != "none":
        sys.exit(1)


@click.command(short_help="Print a script that completes commands and options in a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, /, shell: str) -> None:
    """Print a completion script for SHELL.

    \b
    Example:
      grampus completion bash
    To use it:
      grampus completion bash > ~/.grampus-complete.bash
      echo '. ~/.grampus-complete.bash' >> ~/.bashrc
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(ctx.find_root().command, {}, "grampus", "_GRAMPUS_COMPLETE").source())
