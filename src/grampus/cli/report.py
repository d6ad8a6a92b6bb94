"""``report``: the page of a saved run."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import click

from .._names import EMBEDS, Embed
from .command import argument, choice, command, option, repeat_line
from .options import OutputOptions
from .outputs import check_outputs
from .show import one_step, progress_bars
from .types import PLACE, RUN


@dataclass(frozen=True, kw_only=True)
class TextOptions:
    """How much of the texts is kept."""

    heading: ClassVar[str] = "Output"
    texts: Embed = choice("Texts to keep, with their titles and words: ", EMBEDS, default=EMBEDS[0])  # noqa: RUF009  (a field)


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``report``."""

    run: str = argument(type=RUN)
    out: str | None = option("The page. [RUN.html, next to the folder]", type=PLACE)
    edits: str | None = option("Apply edits saved from the page.", type=click.Path(exists=True, dir_okay=False))
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
        with one_step(progress, "reading the run"):
            saved = Run.load(folder)
        edits = read_edits(options.edits, saved) if options.edits else ()
        with one_step(progress, "writing the page"):
            write_report(saved, out, texts=texts, edits=edits)
    size = out.stat().st_size
    value = {"page": str(out), "bytes": size, "command": repeat_line()}
    options.output.print(value, f"Page: {out} ({size / 1e6:.1f} MB)", f"Again: {repeat_line()}")
