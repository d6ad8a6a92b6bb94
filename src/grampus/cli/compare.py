"""``compare``: what moved between two saved runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._names import number_of
from .command import argument, command, repeat_line
from .options import OutputOptions, ResultOptions
from .show import console, notes, one_step, print_json, progress_bars, say, table
from .types import RUN

if TYPE_CHECKING:
    from ..persist import Run

SHOWN = 100  # rows of a table in the terminal


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``compare``."""

    old: str = argument(type=RUN)
    new: str = argument(type=RUN)
    table: ResultOptions
    output: OutputOptions


@command(Options, "compare", "Show which documents moved between two saved runs.")
def compare(options: Options) -> None:
    """Show which documents moved between the runs in folders OLD and NEW. Documents are matched by id, clusters one to
    one so that as many documents as possible stay.

    \b
    Example:
      grampus compare monday tuesday --results moved.csv
    """
    options.table.check(options.output, ())
    from ..errors import InputError
    from ..persist import Run, compare_runs

    with progress_bars(options.output.silent) as progress, one_step(progress, "reading the runs"):
        old, new = Run.load(options.old), Run.load(options.new)
    found = compare_runs(old, new)
    if not found.shared:
        raise InputError("The two runs must have documents in common; no id of one is in the other.")
    header = ["id", "old", "new", "old_name", "new_name"]
    moved = [[name, a, b, _name(old, a), _name(new, b)] for name, a, b in found.moved]
    options.table.write(header, moved)
    if options.output.as_json:
        names = ("shared", "only_old", "only_new", "stayed", "nmi", "ari")
        rows = [dict(zip(header, row, strict=True)) for row in moved]
        value = {name: getattr(found, name) for name in names}
        print_json({**value, "flows": [list(flow) for flow in found.flows], "moved": rows, "command": repeat_line()})
    elif not options.output.quiet:
        out = console(stderr=options.table.on_stdout)
        cells = [
            [f"{a} {_name(old, a)}", f"{b} {_name(new, b)}", count, "stays" if same else "moves"]
            for a, b, count, same in found.flows[:SHOWN]
        ]
        title = f"{number_of(found.shared, 'document')} in both runs; in the same cluster: {found.stayed:,}"
        out.print(table(("from", "to", ">documents", "change"), cells, title))
        if len(found.flows) > SHOWN:
            rest = sum(count for _, _, count, _ in found.flows[SHOWN:])
            out.print(f"… and {number_of(rest, 'document')} in smaller flows; --json has all.")
        if 2 * (other := _other_texts(old, new)) > found.shared:
            has = "has" if other == 1 else "have"
            found_in = f"{number_of(other, 'document')} of the same id {has} another text in the new run"
            notes(out, [f"{found_in}: are these runs of the same documents?"])
        if found.only_old or found.only_new:
            out.print(f"Only in the old run: {found.only_old:,}; only in the new one: {found.only_new:,}.")
        out.print(f"How alike the two are (1 the same, 0 unrelated): NMI {found.nmi:.3f}, ARI {found.ari:.3f}.")
        say(out, f"Again: {repeat_line()}")


def _other_texts(old: Run, new: Run) -> int:
    """Return how many documents of both runs do not begin alike; 0 where a run has kept no texts."""
    before, after = (dict(zip(run.documents.ids, run.documents.excerpts or (), strict=False)) for run in (old, new))
    return sum(after.get(name, text) != text for name, text in before.items())


def _name(run: Run, cluster: int) -> str:
    return run.evidence.clusters[cluster].name if cluster >= 0 else "no cluster"
