"""``cluster``, ``choose-k`` and ``tree``: from documents to clusters."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import (
    SOURCE_NAMES,
    TERM_NAMES,
    Count,
    Source,
    check_terms,
    choice_options,
    machine_options,
    output_options,
    refuse,
    repeat_line,
    results_options,
    source_options,
    take_terms,
    term_options,
    use_machine,
)
from .places import check_outputs
from .report import embed_option, full_text_option
from .results import document_rows, write_rows
from .show import chart_of_k, clean, console, print_json, progress, show_run

if TYPE_CHECKING:
    from ..documents import DocumentClusterer
    from ..persist import Run
    from ..text import Corpus

TREE_FORMATS = ("text", "json", "newick", "dot")


@click.command(short_help="Cluster documents and say what the clusters are about.")
@click.argument("source")
@click.option("-k", "--clusters", type=Count(), default="auto", show_default=True, help="How many; or chosen.")
@choice_options
@click.option(
    "--splits", type=click.IntRange(min=1), default=50, show_default=True, help="To choose k and for stability."
)
@click.option("--null", is_flag=True, help="Also test whether there are any groups at all; takes longer.")
@click.option("--starts", type=click.IntRange(min=1), default=10, show_default=True, help="The best is kept.")
@click.option(
    "--init",
    type=click.Choice(["auto", "spectral", "random", "k-means++", "pddp"]),
    default="auto",
    show_default=True,
    help="Where to start.",
)
@click.option("--no-polish", is_flag=True, help="Leave out the single moves at the end.")
@click.option("--no-stability", is_flag=True, help="Leave out the measurement of stability.")
@click.option("--embeddings", type=click.Path(dir_okay=False), help="Rows of numbers for the documents, as .npy.")
@click.option("--out", type=click.Path(file_okay=False), help="Folder to save the run in; an older run is replaced.")
@click.option("--report", "page", metavar="FILE", type=click.Path(dir_okay=False), help="Write the page of the run.")
@full_text_option
@click.option("--no-text", is_flag=True, help="Leave texts and excerpts out of the saved run and the page.")
@results_options
@source_options
@term_options
@machine_options
@output_options
@click.pass_context
def cluster(ctx: click.Context, /, source: str, **options: Any) -> None:
    """Cluster the documents of SOURCE: a folder, a CSV, TSV, JSON, JSONL, text, SQLite, Parquet or DuckDB file,
    or - for standard input.

    \b
    Examples:
      grampus cluster news/ --out run --report page.html
      grampus cluster news.csv --text body --label section -k 8 --results clusters.csv
    """
    quiet, as_json = options.pop("quiet"), options.pop("as_json")
    embed = embed_option(options.pop("full_text"), options["no_text"])
    place = Source.take(source, options)
    _early(source, options, as_json)
    with progress(quiet or as_json) as tell:
        run = _run(ctx, place, options, tell)
        if options["out"]:
            tell("saving", 0, 1)
            run.save(options["out"], texts=not options["no_text"])
            tell("saving", 1, 1)
        if options["page"]:
            from ..report import write_report

            tell("writing the page", 0, 1)
            write_report(run, options["page"], texts=embed)
            tell("writing the page", 1, 1)
        if options["results"]:
            shown = run.without_texts() if options["no_text"] else run
            write_rows(options["results"], *document_rows(shown), lossless=options["lossless"])
    if as_json:
        print_json(run_json(run, options["out"]))
    elif not quiet:
        out = console(sys.stderr if options["results"] == "-" else None)
        show_run(run, out)
        if options["out"]:
            out.print(f"Saved: {clean(options['out'])}", soft_wrap=True)
        if options["page"]:
            out.print(f"Page: {clean(options['page'])}", soft_wrap=True)
        out.print(f"Again: {clean(run.provenance.command, 1000)}", soft_wrap=True)


def _run(ctx: click.Context, place: Source, options: dict[str, Any], tell: Any) -> Run:
    """Read, cluster, and sign the run with the line that repeats it."""
    machine = use_machine(options)
    corpus = place.read(lambda now: tell("reading", round(100 * (now.share or 0.0)), 100))
    tell("reading", 100, 100)
    model = _model(options, corpus, machine)
    rows = _embeddings(options.pop("embeddings"))
    if rows is None:
        model.fit(corpus, progress=tell)
    else:
        model.fit(rows, corpus=corpus, progress=tell)
    settled = {"seed": machine["random_state"]}
    found = replace(model.run_.provenance, columns=place.columns, command=repeat_line(ctx, **settled))
    return replace(model.run_, provenance=found)


def _early(source: str, options: dict[str, Any], as_json: bool) -> None:
    """Find out now what would be a pity to find out after the work."""
    if options["clusters"] != "auto":
        refuse(("ks", "scheme", "null"), "when k is given")
        if options["no_stability"]:
            refuse(("splits",), "when k is given and stability is left out")
    if not options["page"]:
        refuse(("full_text",), "without --report")
    if not options["results"]:
        refuse(("lossless",), "without --results")
    check_terms(options["kernel"])
    outputs = {"--out": options["out"], "--report": options["page"], "--results": options["results"]}
    check_outputs(outputs, (source, options["embeddings"], options["stop_words"]), as_json=as_json)
    if options["out"]:
        from ..persist.folder import is_run

        is_run(Path(options["out"]))


def _model(options: dict[str, Any], corpus: Corpus, machine: dict[str, Any]) -> DocumentClusterer:
    from ..documents import DocumentClusterer

    return DocumentClusterer(
        options.pop("clusters"),
        kernel=options.pop("kernel"),
        terms=take_terms(options, len(corpus)),
        ks=options.pop("ks"),
        scheme=options.pop("scheme"),
        n_splits=options.pop("splits"),
        null=options.pop("null"),
        stability=not options.pop("no_stability"),
        n_init=options.pop("starts"),
        init=options.pop("init"),
        polish=not options.pop("no_polish"),
        **machine,
    )


def _embeddings(place: str | None) -> Any:
    if place is None:
        return None
    import numpy as np

    try:
        return np.load(place, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise click.UsageError(f"{place} must be an array that numpy.save wrote ({error}).") from None


def run_json(run: Run, place: str | None = None) -> dict[str, Any]:
    """Return a run as plain values for machines."""
    documents = replace(run.documents, titles=None, dates=None, excerpts=None)
    header, rows = document_rows(replace(run, documents=documents))
    return {
        "documents": [dict(zip(header, row, strict=True)) for row in rows],
        "clusters": [asdict(cluster) for cluster in run.evidence.clusters],
        "choice": None if run.evidence.choice is None else asdict(run.evidence.choice),
        "kernel": run.provenance.kernel,
        "seed": run.provenance.seed,
        "outcome": run.evidence.outcome,
        "fingerprint": run.provenance.fingerprint,
        "warnings": list(run.evidence.warnings),
        "seconds": run.provenance.seconds,
        "saved": place,
        "command": run.provenance.command,
    }


@click.command("choose-k", short_help="Say how many clusters there are, and how sure that is.")
@click.argument("source")
@choice_options
@click.option("--splits", type=click.IntRange(min=1), default=50, show_default=True, help="Of the documents.")
@click.option("--null", is_flag=True, help="Also test whether there are any groups at all; takes longer.")
@source_options
@term_options
@machine_options
@output_options
@click.pass_context
def choose_k(ctx: click.Context, /, source: str, **options: Any) -> None:
    """Choose the number of clusters of the documents of SOURCE: halves of them must predict each other.

    \b
    Example:
      grampus choose-k news.jsonl --ks 2-12
    """
    quiet, as_json = options.pop("quiet"), options.pop("as_json")
    place = Source.take(source, options)
    check_terms(options["kernel"])
    machine = use_machine(options)
    from ..documents import DocumentClusterer

    with progress(quiet or as_json) as tell:
        corpus = place.read()
        model = DocumentClusterer(
            kernel=options["kernel"],
            terms=take_terms(options, len(corpus)),
            ks=options["ks"],
            scheme=options["scheme"],
            n_splits=options["splits"],
            null=options["null"],
            **machine,
        )
        choice, notes = model.choose(corpus, progress=tell), list(corpus.notes)
    line = repeat_line(ctx, seed=machine["random_state"])
    if as_json:
        print_json({**asdict(choice), "warnings": notes, "command": line})
    elif not quiet:
        out = console()
        out.print(chart_of_k(choice))
        for note in [choice.verdict, *notes]:
            out.print(clean(note, 500))
        out.print(f"Again: {clean(line, 1000)}", soft_wrap=True)


@click.command(short_help="Show the tree of a saved run, or divide documents into one.")
@click.argument("source")
@click.option(
    "-k", "--clusters", type=click.IntRange(min=1), default=8, show_default=True, help="Leaves, for documents."
)
@click.option("--cut", type=click.Choice(["zero", "full", "projection"]), default="projection", show_default=True)
@click.option("--refine", is_flag=True, help="Follow every cut by 2-means.")
@click.option("--as", "shape", type=click.Choice(TREE_FORMATS), default="text", show_default=True)
@source_options
@term_options
@machine_options
@output_options
@click.pass_context
def tree(ctx: click.Context, /, source: str, **options: Any) -> None:
    """Show the tree of a saved run, or divide the documents of SOURCE along principal directions (PDDP).

    \b
    Examples:
      grampus tree run
      grampus tree news/ -k 6 --kernel cosine
    """
    from .trees import divided, of_run

    quiet, as_json, shape = options.pop("quiet"), options.pop("as_json"), options.pop("shape")
    if as_json and shape != "json":
        refuse(("shape",), "with --json")
        shape = "json"
    machine = use_machine(options)
    saved = (Path(source) / "manifest.json").is_file()
    notes: list[str] = []
    with progress(quiet or as_json) as tell:
        tell("dividing", 0, 1)
        if saved:
            refuse((*SOURCE_NAMES, *TERM_NAMES, "kernel", "clusters", "cut", "refine"), "in the tree of a saved run")
            text = of_run(source, shape)
        else:
            place = Source.take(source, options)
            check_terms(options["kernel"])
            text, notes = divided(place, options, machine, shape)
        tell("dividing", 1, 1)
    if not quiet or as_json:
        sys.stdout.write(text + "\n")
    if quiet or as_json or shape == "json":
        return
    out = console(None if shape == "text" else sys.stderr)  # other forms are for programs
    for note in notes:
        out.print(f"Note: {clean(note, 500)}")
    if shape == "text" and not saved:
        out.print(f"Again: {clean(repeat_line(ctx), 1000)}", soft_wrap=True)
