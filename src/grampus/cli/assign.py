"""``assign``: new documents in the clusters of a saved run."""

from dataclasses import dataclass

from .._names import number_of
from .._rows import cluster_cells, rounded
from .command import MAIN, argument, command, option, repeat_line
from .options import MachineOptions, OutputOptions, ResultOptions, RowOptions, SourceOptions
from .show import console, notes, one_step, print_json, progress_bars, say, table
from .types import RUN

SHOWN = 20  # rows of a table in the terminal


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``assign``."""

    run: str = argument(type=RUN)
    source: str = argument()
    outliers: bool = option("Leave documents unlike anything seen in no cluster.", heading=MAIN)
    documents: SourceOptions
    rows: RowOptions
    machine: MachineOptions
    table: ResultOptions
    output: OutputOptions


@command(Options, "assign", "Assign new documents to the clusters of a saved run.")
def assign(options: Options) -> None:
    """Assign the documents of SOURCE to the clusters of the run in folder RUN.

    \b
    Example:
      grampus assign run new.csv --results assigned.csv
    """
    options.documents.check(options.source)
    options.table.check(options.output, (options.source, options.rows.embeddings))
    options.machine.apply()
    from ..documents import load

    with progress_bars(options.output.silent) as progress:
        with one_step(progress, "reading the run"):
            model = load(options.run)
        corpus = options.rows.add(options.documents.read(options.source, progress))
        with one_step(progress, "assigning"):
            found = model.assign(corpus, outliers=options.outliers)
    likeness = [float("nan")] * len(corpus) if found.likeness is None else found.likeness
    header = ["id", "cluster", "name", "margin", "second", "known", "likeness", "unlike", "probability",
              "second_probability"]  # fmt: skip
    names = [cluster.name for cluster in model.clusters_]
    rows = [
        [corpus.ids[i], *cluster_cells(int(found.labels[i]), names), rounded(found.margin[i]),
         cluster_cells(int(found.second[i]), names)[0], bool(found.known[i]), rounded(likeness[i]),
         bool(found.unlike[i]), rounded(found.probability[i]), rounded(found.second_probability[i])]
        for i in range(len(corpus))
    ]  # fmt: skip
    options.table.write(header, rows)
    if options.output.as_json:
        documents = [dict(zip(header, row, strict=True)) for row in rows]
        print_json({"documents": documents, "warnings": list(corpus.notes), "command": repeat_line()})
    elif not options.output.quiet:
        out = console(stderr=options.table.on_stdout)
        columns = ("id", ">cluster", "name", ">probability", "fits")
        sure = [f"{share:.2f}" if share == share else "" for share in found.probability.tolist()]  # noqa: PLR0124
        marks = ["yes" if fits else "no: unlike all" for fits in found.fits.tolist()]
        marks = [mark if known else "no: no known word" for mark, known in zip(marks, found.known, strict=True)]
        shown = [
            [row[0], "–" if row[1] is None else row[1], row[2], *more]
            for row, *more in zip(rows[:SHOWN], sure, marks, strict=False)
        ]
        out.print(table(columns, shown, f"{number_of(len(rows), 'document')} assigned"))
        if len(rows) > SHOWN:
            out.print(f"… and {len(rows) - SHOWN:,} more; --results FILE writes all of them.")
        unknown = int((~found.known).sum())
        if unknown:
            many = number_of(unknown, "document has", "documents have")
            notes(out, [f"{many} no word that the run knows: in no cluster."])
        unlike = int((found.unlike & found.known).sum())
        if unlike:
            way = "Left in no cluster" if options.outliers else "Put in the nearest cluster; --outliers leaves out such"
            many = number_of(unlike, "document is", "documents are")
            notes(out, [f"{many} unlike anything in the run. {way}."])
        notes(out, corpus.notes)
        say(out, f"Again: {repeat_line()}")
