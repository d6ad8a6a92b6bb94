"""``assign``, ``evaluate`` and ``compare``: what can be done with a saved run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from .options import (
    SOURCE_NAMES,
    Source,
    machine_options,
    output_options,
    refuse,
    repeat_line,
    results_options,
    source_options,
    use_machine,
)
from .places import check_outputs
from .results import write_rows
from .show import clean, console, print_json, table

if TYPE_CHECKING:
    from ..persist import Run

SHOWN = 20  # rows of a table in the terminal


@click.command(short_help="Place new documents in the clusters of a saved run.")
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.argument("source")
@results_options
@source_options
@machine_options
@output_options
@click.pass_context
def assign(ctx: click.Context, /, run: str, source: str, **options: Any) -> None:
    """Place the documents of SOURCE in the clusters of the run in folder RUN.

    \b
    Example:
      grampus assign run new.csv --results placed.csv
    """
    quiet, as_json = options.pop("quiet"), options.pop("as_json")
    place = Source.take(source, options)
    _early(options["results"], source, as_json)
    use_machine(options)
    from ..documents import load

    model = load(run)
    corpus = place.read()
    found = model.assign(corpus)
    header = ["id", "cluster", "about", "margin", "second", "known"]
    rows = [
        [
            corpus.ids[i],
            int(found.labels[i]),
            model.clusters_[found.labels[i]].label,
            None if found.margin[i] != found.margin[i] else round(float(found.margin[i]), 4),
            None if found.second[i] < 0 else int(found.second[i]),
            bool(found.known[i]),
        ]
        for i in range(len(corpus))
    ]
    if options["results"]:
        write_rows(options["results"], header, rows, lossless=options["lossless"])
    if as_json:
        documents = [dict(zip(header, row, strict=True)) for row in rows]
        print_json({"documents": documents, "warnings": list(corpus.notes), "command": repeat_line(ctx)})
    elif not quiet:
        out = console(sys.stderr if options["results"] == "-" else None)
        columns = [("id", "left"), ("cluster", "right"), ("about", "left"), ("margin", "right")]
        out.print(table(columns, [row[:4] for row in rows[:SHOWN]], f"{len(rows)} documents placed"))
        if len(rows) > SHOWN:
            out.print(f"… and {len(rows) - SHOWN} more; --results FILE writes all of them.")
        unknown = int((~found.known).sum())
        if unknown:
            out.print(f"Note: {unknown} without any known term; their place tells nothing.")
        for note in corpus.notes:
            out.print(f"Note: {clean(note, 500)}")
        out.print(f"Again: {clean(repeat_line(ctx), 1000)}", soft_wrap=True)


def _early(results: str | None, source: str | None, as_json: bool) -> None:
    """Find out now what would be a pity to find out after the work."""
    if not results:
        refuse(("lossless",), "without --results")
    check_outputs({"--results": results}, (source,), as_json=as_json)


@click.command(short_help="Compare the clusters of a saved run with known classes.")
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.argument("source", required=False)
@source_options
@output_options
@click.pass_context
def evaluate(ctx: click.Context, /, run: str, source: str | None, **options: Any) -> None:
    """Compare the clusters of the run in folder RUN with a label column: the one it was read with, or that of
    SOURCE, whose documents are found by their ids. Documents without a label are left out.

    \b
    Examples:
      grampus evaluate run
      grampus evaluate run news.csv --label section
    """
    from .. import metrics
    from ..persist import Run

    quiet, as_json = options.pop("quiet"), options.pop("as_json")
    if source is None:
        refuse(SOURCE_NAMES, "without a SOURCE: the classes are those of the run")
    saved = Run.load(run)
    labels, classes = _labelled(saved, source, options)
    counts = metrics.contingency_table(classes, labels)
    scores = {
        "nmi": metrics.nmi(counts),
        "ari": metrics.ari(counts),
        "accuracy": metrics.accuracy(counts),
        "purity": metrics.purity(counts),
        "variation_of_information": metrics.variation_of_information(counts),
    }
    names, numbers = sorted(set(classes)), sorted(set(labels))
    cells = {name: dict.fromkeys(numbers, 0) for name in names}
    for name, number in zip(classes, labels, strict=True):
        cells[name][number] += 1
    if as_json:
        value = {"documents": len(labels), "scores": scores, "table": cells, "command": repeat_line(ctx)}
        print_json({**value, "table": {name: list(row.values()) for name, row in cells.items()}, "clusters": numbers})
    elif not quiet:
        out = console()
        columns = [("class", "left"), *((str(number), "right") for number in numbers)]
        rows = [[name, *(count or "" for count in row.values())] for name, row in cells.items()]
        out.print(table(columns, rows, f"{len(labels)} documents with a class; columns are clusters"))
        out.print(
            f"NMI {scores['nmi']:.3f}, ARI {scores['ari']:.3f}, accuracy {scores['accuracy']:.3f}, "
            f"purity {scores['purity']:.3f}, VI {scores['variation_of_information']:.3f}"
        )
        out.print(f"Again: {clean(repeat_line(ctx), 1000)}", soft_wrap=True)


def _labelled(saved: Run, source: str | None, options: dict[str, Any]) -> tuple[list[int], list[str]]:
    """Return the clusters and the classes of the documents that have one."""
    if source is None:
        if saved.classes is None:
            raise click.UsageError("The run has no label column. Name a SOURCE and its --label.")
        known = dict(zip(saved.ids, saved.classes, strict=True))
    else:
        place = Source.take(source, options)
        if not place.options["label"]:
            raise click.UsageError("Name the column of the classes with --label.")
        corpus = place.read()
        assert corpus.labels is not None
        known = dict(zip(corpus.ids, corpus.labels, strict=True))
    pairs = [(int(label), known[name]) for name, label in zip(saved.ids, saved.labels, strict=True) if known.get(name)]
    if not pairs:
        raise click.UsageError("No document of the run has a class there: ids do not match, or all labels are empty.")
    return [label for label, _ in pairs], [name for _, name in pairs]


@click.command(short_help="Say what moved where between two saved runs.")
@click.argument("old", type=click.Path(exists=True, file_okay=False))
@click.argument("new", type=click.Path(exists=True, file_okay=False))
@results_options
@output_options
@click.pass_context
def compare(ctx: click.Context, /, old: str, new: str, **options: Any) -> None:
    """Say what moved where between the runs in folders OLD and NEW. Documents are the same if their ids are;
    clusters are matched one to one so that as many documents as possible stay.

    \b
    Example:
      grampus compare monday tuesday --results moved.csv
    """
    from ..documents.compare import compare_runs
    from ..persist import Run

    _early(options["results"], None, options["as_json"])
    runs = Run.load(old), Run.load(new)
    found = compare_runs(*runs)
    header = ["id", "old", "new", "old_about", "new_about"]
    moved = [[name, a, b, runs[0].clusters[a].label, runs[1].clusters[b].label] for name, a, b in found.moved]
    if options["results"]:
        write_rows(options["results"], header, moved, lossless=options["lossless"])
    if options["as_json"]:
        value = {
            "shared": found.shared, "only_old": found.only_old, "only_new": found.only_new, "stayed": found.stayed,
            "nmi": found.nmi, "ari": found.ari, "flows": [list(flow) for flow in found.flows],
            "moved": [dict(zip(header, row, strict=True)) for row in moved], "command": repeat_line(ctx),
        }  # fmt: skip
        print_json(value)
    elif not options["quiet"]:
        out = console(sys.stderr if options["results"] == "-" else None)
        rows = [
            [
                f"{a} {runs[0].clusters[a].label}",
                f"{b} {runs[1].clusters[b].label}",
                count,
                "stays" if same else "moves",
            ]
            for a, b, count, same in found.flows[:SHOWN]
        ]
        columns = [("from", "left"), ("to", "left"), ("documents", "right"), ("", "left")]
        out.print(table(columns, rows, f"{found.shared} documents in both runs, {found.stayed} stay"))
        if found.only_old or found.only_new:
            out.print(f"{found.only_old} only in the old run, {found.only_new} only in the new one.")
        if found.shared:
            out.print(f"Agreement: NMI {found.nmi:.3f}, ARI {found.ari:.3f}")
        out.print(f"Again: {clean(repeat_line(ctx), 1000)}", soft_wrap=True)
