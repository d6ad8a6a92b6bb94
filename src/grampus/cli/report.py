"""``report``: the page of a saved run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import click

from .._names import EMBEDS
from .command import argument, command, option, repeat_line
from .options import OutputOptions
from .outputs import check_outputs
from .show import console, print_json, progress_bars, say


@dataclass(frozen=True, kw_only=True)
class TextOptions:
    """How much of the texts is kept."""

    heading: ClassVar[str] = "Output"
    texts: Literal["excerpts", "full", "none"] = option(
        "Texts to keep: excerpts, full, or none, nor titles and a word index. [excerpts]",
        type=click.Choice(EMBEDS),
        default=EMBEDS[0],
    )


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``report``."""

    run: str = argument(type=click.Path(exists=True, file_okay=False))
    out: str | None = option("The page. [RUN.html, next to the folder]", type=click.Path(dir_okay=False))
    edits: str | None = option(
        "Apply edits saved from the page.",
        type=click.Path(exists=True, dir_okay=False),
    )
    texts: TextOptions
    output: OutputOptions


@command(Options, "report", "Write a saved run as one HTML page that works offline.")
def report(options: Options) -> None:
    """Write the run in folder RUN as one HTML page: map, tree, clusters and evidence.

    \b
    Examples:
      grampus report run
      grampus report run --edits edits.json --out page.html
    """
    texts, folder = options.texts.texts, Path(options.run)
    out = Path(options.out) if options.out else folder.resolve().with_name(f"{folder.resolve().name}.html")
    check_outputs({"--out": str(out)}, (options.edits, str(folder / "manifest.json")))
    from ..persist import Run
    from ..report import read_edits, write_report

    with progress_bars(options.output.silent) as progress:
        progress("reading the run", 0, 1)
        saved = Run.load(folder)
        progress("reading the run", 1, 1)
        edits = read_edits(options.edits, saved) if options.edits else ()
        progress("writing the page", 0, 1)
        write_report(saved, out, texts=texts, edits=edits)
        progress("writing the page", 1, 1)
    size = out.stat().st_size
    if options.output.as_json:
        print_json({"page": str(out), "bytes": size, "command": repeat_line()})
    elif not options.output.quiet:
        say(console(), f"Page: {out} ({size / 1e6:.1f} MB)", f"Again: {repeat_line()}")
