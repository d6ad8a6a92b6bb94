"""``edit``: correct the clusters of a saved run."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .._names import LEVELS, number_of
from .._rows import document_rows
from .command import argument, choice, command, option, refuse, repeat_line
from .options import OutputOptions, ResultOptions
from .show import console, print_json, say, table
from .types import CLUSTER, FOLDER, RUN

if TYPE_CHECKING:
    from ..persist import Edit, Run

IDS = "file of ids, one a line"


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``edit``."""

    run: str = argument(type=RUN)
    edits: str | None = argument(required=False, type=click.Path(exists=True, dir_okay=False))
    rename: tuple[str, ...] = option("Name a cluster, as in 3='Space flight'.", multiple=True, metavar="K=NAME")
    merge: tuple[str, ...] = option("Put clusters together, as in 4,7.", multiple=True, metavar="K,K")
    split: tuple[int, ...] = option("Divide a cluster along the tree.", multiple=True, type=CLUSTER, metavar="K")
    into: int = option("Parts of --split. [2]", type=click.IntRange(2), default=2)
    move: tuple[str, ...] = option(f"Put documents into a cluster: {IDS}.", multiple=True, metavar="FILE:K")
    noise: tuple[str, ...] = option(f"Take documents out of all clusters: {IDS}.", multiple=True, metavar="FILE")
    exclude: tuple[str, ...] = option(f"Leave documents out of the run: {IDS}.", multiple=True, metavar="FILE")
    done: tuple[int, ...] = option("Mark a cluster as looked through.", multiple=True, type=CLUSTER, metavar="K")
    reopen: tuple[int, ...] = option("Take that mark away.", multiple=True, type=CLUSTER, metavar="K")
    level: str | None = choice("Make another level the clusters, before other edits: ", LEVELS, default=None)
    undo: bool = option("Undo the last edit first.")
    out: str | None = option("Save the edited run elsewhere. [in its place]", type=FOLDER)
    table: ResultOptions
    output: OutputOptions


@command(Options, "edit", "Rename, merge, split and correct clusters of a saved run.")
def edit(options: Options) -> None:
    """Edit the clusters of the run in folder RUN, by options or by the edits.json of its page. Numbers are those that
    the run has before the command. The run keeps what was found and a log of the edits. A line of a file of ids is an
    id exactly as it is, with its blanks; one that starts with a quotation mark is a JSON string.

    \b
    Examples:
      grampus edit run --rename 2="Space flight" --merge 0,1
      grampus edit run edits.json
      grampus edit run --undo
    """
    from ..persist import Edit, Run, change_run

    if not options.split:
        refuse(("into",), "without --split")
    options.table.check(options.output, (options.edits,), out=options.out)
    asked = requested(options)
    changes = asked or options.edits or options.undo or options.level

    def change(run: Run) -> Run:
        before = run.undone() if options.undo else run
        if options.edits:
            from ..report import read_edits

            before = before.edited(*read_edits(options.edits, before))
        if options.level:
            before = before.edited(Edit("level", level=options.level))
        return before.edited(*asked) if asked else before

    if options.out:
        run = change(Run.load(options.run))
        run.save(options.out)
    else:
        run = change_run(options.run, change) if changes else Run.load(options.run)
    options.table.write(*document_rows(run))
    _show(run, options)


def _show(run: Run, options: Options) -> None:
    """Print the clusters and the log."""
    from ..persist.edits import plain

    if options.output.as_json:
        clusters = [
            {"number": one.number, "name": one.name, "size": one.size, "done": one.number in run.done}
            for one in run.evidence.clusters
        ]
        print_json({"clusters": clusters, "edits": plain(run.edits), "command": repeat_line()})
    elif not options.output.quiet:
        out = console(stderr=options.table.on_stdout)
        done = run.done
        rows = [
            [one.number, one.size, one.name, *(["done" if one.number in done else ""] if done else [])]
            for one in sorted(run.evidence.clusters, key=lambda one: (-one.size, one.number))
        ]
        columns = (">#", ">documents", "name", *([""] if done else []))
        out.print(table(columns, rows, f"{number_of(len(run), 'document')}, {number_of(len(run.edits), 'edit')}"))
        for number, one in enumerate(run.edits, 1):
            say(out, f"{number}. {in_words(one)}")
        say(out, f"Again: {repeat_line()}")


def in_words(edit: Edit) -> str:
    """Return what an edit does, in a line; clusters have the numbers of the log."""
    clusters = ", ".join(map(str, edit.clusters))
    documents = number_of(len(edit.documents), "document")
    return {
        "rename": f"rename {clusters} to {edit.name}",
        "merge": f"merge {clusters}",
        "split": f"split {clusters} into {edit.parts or 2}",
        "move": f"move {documents} to {clusters}",
        "noise": f"{documents} in no cluster",
        "exclude": f"{documents} left out",
        "graft": f"branches of {clusters} clustered again",
        "done": f"{clusters} is done",
        "reopen": f"{clusters} is open again",
        "level": f"clusters of the level {edit.level}",
    }[edit.action]


def requested(options: Options) -> list[Edit]:
    """Return the edits of the options: documents first, then splits, merges and names."""
    from ..persist import Edit

    found = [Edit("exclude", documents=read_ids(place)) for place in options.exclude]
    found += [Edit("noise", documents=read_ids(place)) for place in options.noise]
    for given in options.move:
        place, colon, cluster = given.rpartition(":")
        if not colon or not cluster.isascii() or not cluster.isdigit():
            raise click.UsageError(f"--move takes a file of ids and a cluster, as in ids.txt:5; got {given!r}.")
        found.append(Edit("move", (int(cluster),), read_ids(place)))
    found += [Edit("split", (cluster,), parts=options.into) for cluster in options.split]
    for given in options.merge:
        if not re.fullmatch(r"\d{1,9}(\s*,\s*\d{1,9})+", given, re.ASCII):
            raise click.UsageError(f"--merge takes numbers of clusters, as in 4,7; got {given!r}.")
        found.append(Edit("merge", tuple(int(number) for number in given.split(","))))
    found += [Edit("done", (cluster,)) for cluster in options.done]
    found += [Edit("reopen", (cluster,)) for cluster in options.reopen]
    for given in options.rename:
        cluster, equals, name = given.partition("=")
        if not equals or not cluster.strip().isascii() or not cluster.strip().isdigit():
            raise click.UsageError(f"--rename takes a cluster and its name, as in 3='Space flight'; got {given!r}.")
        found.append(Edit("rename", (int(cluster),), name=name))
    return found


def read_ids(place: str) -> tuple[str, ...]:
    """Read ids of documents, one a line; an id counts once.

    A line is an id exactly as it is; one that starts with a quotation mark is a JSON string. Lines end with LF or CRLF,
    and those with nothing but white space are skipped: no id is taken for another, or for two.
    """
    from .._files import open_regular
    from ..errors import InputError

    try:
        with open_regular(Path(place), 1_000_000_000) as stream:
            lines = stream.read().decode("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise InputError(f"{place} must be a text file of ids in UTF-8.") from None
    ids = []
    for number, line in enumerate(lines, 1):
        if line.startswith('"'):
            try:
                ids.append(str(json.loads(line)))
            except ValueError:
                raise InputError(
                    f"{place}, line {number}: an id that starts with a quotation mark must be written as a JSON "
                    f"string, such as {json.dumps(line.removesuffix(chr(13)))[:80]}."
                ) from None
        elif line and not line.isspace():
            ids.append(line.removesuffix("\r"))
    return tuple(dict.fromkeys(ids))
