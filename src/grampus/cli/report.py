"""``report``: the page of a saved run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .options import Command, output_options, repeat_line
from .places import check_outputs
from .show import clean, console, print_json


def embed_option(full: bool, none: bool) -> Any:
    """Return how much of the texts goes into the page."""
    if full and none:
        raise click.UsageError("--full-text and --no-text exclude each other.")
    return "full" if full else "none" if none else "excerpts"


def full_text_option(command: Command) -> Command:
    """Add ``--full-text``."""
    help_text = "Put whole texts into the page, not excerpts of 160 characters."
    return click.option("--full-text", is_flag=True, help=help_text)(command)


@click.command(short_help="Write the page of a saved run: one HTML file that needs no network.")
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.option("--out", type=click.Path(dir_okay=False), help="The page. [RUN.html, beside the folder]")
@click.option("--edits", type=click.Path(exists=True, dir_okay=False), help="Names and merges saved from the page.")
@full_text_option
@click.option("--no-text", is_flag=True, help="Leave out every text; ids, titles and terms stay.")
@output_options
@click.pass_context
def report(ctx: click.Context, /, run: str, **options: Any) -> None:
    """Write the page of the run in folder RUN: map, tree, clusters, evidence, all in one file.

    \b
    Examples:
      grampus report run
      grampus report run --edits edits.json --out page.html
    """
    embed = embed_option(options["full_text"], options["no_text"])
    folder = Path(run)
    out = Path(options["out"]) if options["out"] else folder.resolve().with_name(f"{folder.resolve().name}.html")
    check_outputs({"--out": str(out)}, (options["edits"], str(folder / "manifest.json")))
    from ..persist import Run
    from ..report import read_edits, write_report

    saved = Run.load(folder)
    edits = read_edits(options["edits"], saved) if options["edits"] else None
    write_report(saved, out, texts=embed, edits=edits)
    if options["as_json"]:
        print_json({"page": str(out), "bytes": out.stat().st_size, "command": repeat_line(ctx)})
    elif not options["quiet"]:
        shown = console()
        shown.print(f"Page: {clean(str(out), 1000)} ({out.stat().st_size / 1e6:.1f} MB)", soft_wrap=True)
        shown.print(f"Again: {clean(repeat_line(ctx), 1000)}", soft_wrap=True)
