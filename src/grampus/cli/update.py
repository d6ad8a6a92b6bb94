"""``update``: add documents to a saved run, and delete some."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .._names import number_of
from .._rows import document_rows
from .command import MAIN, argument, command, option, refuse, repeat_line
from .edit import IDS, read_ids
from .options import MachineOptions, OutputOptions, ResultOptions, RowOptions, SourceOptions
from .show import console, notes, print_json, progress_bars, say, table
from .types import FOLDER, PLACE, RUN

if TYPE_CHECKING:
    from ..persist import Change, Run


SPOKEN = {"shrunken": "shrunk", "dead": "gone"}  # what became of a cluster, as people say it


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``update``."""

    run: str = argument(type=RUN)
    source: str | None = argument(required=False)
    delete: str | None = option(f"Forget documents: {IDS}.", heading=MAIN, type=PLACE)
    documents: SourceOptions
    rows: RowOptions
    page: str | None = option("Write an HTML page of the run.", "--report", heading=MAIN, type=PLACE)
    out: str | None = option("Save the updated run elsewhere. [in its place]", heading=MAIN, type=FOLDER)
    machine: MachineOptions
    table: ResultOptions
    output: OutputOptions


@command(Options, "update", "Add documents to a saved run, or delete some.")
def update(options: Options) -> None:
    """Add the documents of SOURCE to the run in folder RUN and cluster again from its answer. Numbers and names of
    clusters that survive stay.

    Deleting forgets: no text, title, id or vector of the documents is left in the run, in RUN.html next to it, or in
    the cache of embeddings. It cannot be undone. A line of the file of ids is an id exactly as it is, with its blanks;
    one that starts with a quotation mark is a JSON string, which can hold line breaks.

    \b
    Examples:
      grampus update run new.jsonl
      grampus update run --delete ids.txt
    """
    if options.source is None and options.delete is None:
        raise click.UsageError("Give documents to add, or --delete a file of ids.")
    if options.source is None:
        refuse(("embeddings",), "without documents to add")
    else:
        options.documents.check(options.source)
    inputs = (options.source, options.delete, options.rows.embeddings)
    options.table.check(options.output, inputs, out=options.out, report=options.page)
    options.machine.apply()
    from .._outputs import MANIFEST
    from ..documents import update_run
    from ..errors import InputError
    from ..persist import Run, change_run
    from ..report import write_report

    gone = read_ids(options.delete) if options.delete else ()
    with progress_bars(options.output.silent) as progress:
        new = None if options.source is None else options.rows.add(options.documents.read(options.source, progress))

        before: list[Run] = []

        def change(run: Run) -> Run:
            before.append(run)
            return update_run(run, new, delete=gone, progress=progress)

        folder = Path(options.out or options.run).resolve()
        beside = folder.with_name(f"{folder.name}.html")
        if options.out:
            run = change(Run.load(options.run))
            run.save(options.out)
        else:
            try:
                run = change_run(options.run, change)
            except InputError:
                if gone and beside.exists() and beside.stat().st_mtime < (folder / MANIFEST).stat().st_mtime:
                    write_report(Run.load(folder), beside)  # a deletion was interrupted before it came to the page
                raise
        page = options.page or (str(beside) if gone and beside.exists() else None)
        if page:
            write_report(run, page)
    options.table.write(*document_rows(run))
    _show(run, before[-1], options, page)


def _show(run: Run, before: Run, options: Options, page: str | None) -> None:
    """Print what became of the clusters."""
    last = run.history[-1]
    if options.output.as_json:
        print_json({**asdict(last), "warnings": list(run.evidence.warnings), "page": page, "command": repeat_line()})
    elif not options.output.quiet:
        out = console(stderr=options.table.on_stdout)
        rows = [
            [one.cluster, one.name, SPOKEN.get(one.kind, one.kind), one.before, one.after, _drift(one)]
            for one in _changes(run, before)
        ]
        count = number_of(last.documents, "document")
        title = f"{count}: {last.added:,} added, {last.deleted:,} deleted, {last.moved:,} moved"
        out.print(table((">#", "name", "change", ">before", ">after", ">drift"), rows, title))
        if any(one.drift is not None for one in last.changes):
            out.print("Drift: how far a cluster's new documents are from its old ones, 0 (alike) to 1 (unrelated).")
        notes(out, run.evidence.warnings)
        say(out, *([f"Page: {page}"] if page else []), f"Again: {repeat_line()}")


def _drift(one: Change) -> str:
    return "–" if one.drift is None else f"{one.drift:.2f}"


def _changes(run: Run, before: Run) -> list[Change]:
    """Return what became of every cluster, largest first; where clusters were edited, of those that the edits made."""
    from ..persist import Change

    last = run.history[-1].changes
    if run.edits:
        told = {one.name: one for one in last}
        sizes = {one.name: one.size for one in before.evidence.clusters}
        edited = Change(-1, "", "edited", 0, 0)
        last = tuple(
            replace(told.get(name, edited), cluster=one.number, name=name, before=sizes.get(name, 0), after=one.size)
            for one in run.evidence.clusters
            for name in [one.name]
        )
    return sorted(last, key=lambda one: (-one.after, one.cluster))
