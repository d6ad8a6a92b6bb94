"""``evaluate``: the clusters of a saved run against known classes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from .._names import number_of
from .command import argument, command, names_of, refuse, repeat_line
from .options import OutputOptions, SourceOptions
from .show import clean, console, pair, print_json, progress_bars, say, table
from .types import RUN

if TYPE_CHECKING:
    from ..persist import Run

NAMED = 12  # clusters up to which their names are listed below the table
# Measures: their names, and what they mean.
SCORES = {
    "nmi": ("NMI", "what the clusters tell about the classes; 0 nothing, 1 everything"),
    "ari": ("ARI", "pairs of documents on which both agree; 0 by chance, 1 all"),
    "accuracy": ("accuracy", "documents that are right if each cluster stands for one class"),
    "purity": ("purity", "documents in a cluster where their class is the most frequent"),
    "variation_of_information": ("VI", "what one does not tell about the other, in nats; 0 is best"),
}


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``evaluate``."""

    run: str = argument(type=RUN)
    source: str | None = argument(required=False)
    documents: SourceOptions
    output: OutputOptions


@command(Options, "evaluate", "Compare the clusters of a saved run with known classes.")
def evaluate(options: Options) -> None:
    """Compare the clusters of the run in folder RUN with a label column: the one it was read with, or that of
    SOURCE, whose documents are matched by id. Documents without a label are ignored.

    \b
    Examples:
      grampus evaluate run
      grampus evaluate run news.csv --label section
    """
    from .. import metrics
    from ..persist import Run

    if options.source is None:
        refuse(names_of(SourceOptions), "without SOURCE: the classes are those of the run")
    saved = Run.load(options.run)
    pairs = _labelled(options, saved)
    labels, classes = [label for label, _ in pairs], [name for _, name in pairs]
    counts = metrics.contingency_table(classes, labels)
    scores = {name: getattr(metrics, name)(counts) for name in SCORES}
    clusters, cells = [cluster for cluster, _ in Counter(sorted(labels)).most_common()], Counter(pairs)
    rows = {name: [cells[cluster, name] for cluster in clusters] for name in sorted(set(classes))}
    if options.output.as_json:
        value = {"documents": len(labels), "scores": scores, "table": rows, "command": repeat_line()}
        print_json({**value, "clusters": clusters})
    elif not options.output.quiet:
        out = console()
        out.print(_table(rows, clusters, out.width, f"{number_of(len(labels), 'document')} with a class"))
        names = [f"{cluster.number} {clean(cluster.name)}" for cluster in saved.evidence.clusters if cluster.name]
        if 0 < len(names) <= NAMED:
            out.print(f"Clusters: {', '.join(names)}.")
        for name, score in scores.items():
            called, meaning = SCORES[name]
            pair(out, f"{called:9} {score:.3f}", meaning, 18)
        say(out, f"Again: {repeat_line()}")


def _table(rows: dict[str, list[int]], clusters: list[int], width: int, title: str) -> object:
    """Return classes by clusters; where that is too wide, each class with its clusters, largest first."""
    columns = [max(len(str(value)) for value in column) for column in zip(clusters, *rows.values(), strict=True)]
    if max(map(len, (*rows, "class"))) + sum(columns) + 3 * len(columns) + 4 <= width:
        cells = [[name, *(count or "" for count in row)] for name, row in rows.items()]
        return table(["class", *(f">{cluster}" for cluster in clusters)], cells, f"{title}; columns are clusters")
    cells = []
    for name, row in rows.items():
        held = [(-count, cluster) for cluster, count in zip(clusters, row, strict=True) if count]
        cells.append([name, sum(row), ", ".join(f"{cluster} ({-count})" for count, cluster in sorted(held))])
    return table(["class", ">documents", "clusters (documents)"], cells, title)


def _labelled(options: Options, saved: Run) -> list[tuple[int, str]]:
    """Return the cluster and the class of the documents that have one."""
    if options.source is None:
        if saved.documents.classes is None:
            raise click.UsageError("The run has no label column. Name a SOURCE and its --label.")
        known = dict(zip(saved.documents.ids, saved.documents.classes, strict=True))
    else:
        options.documents.check(options.source)
        if not options.documents.label:
            raise click.UsageError("Name the column of the classes with --label.")
        with progress_bars(options.output.silent) as progress:
            corpus = options.documents.read(options.source, progress)
        assert corpus.labels is not None
        known = dict(zip(corpus.ids, corpus.labels, strict=True))
    labelled = zip(saved.documents.ids, saved.evidence.labels.tolist(), strict=True)
    pairs = [(label, known[name]) for name, label in labelled if known.get(name)]
    if not pairs:
        raise click.UsageError("No document of the run has a class there: ids do not match, or all labels are empty.")
    return pairs
