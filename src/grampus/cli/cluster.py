"""``cluster``: from documents to clusters."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from .._config import format_size
from .command import MAIN, argument, command, names_of, option, refuse, repeat_line
from .limits import predicted
from .options import (
    AT_LEAST_1,
    FILE,
    Count,
    MachineOptions,
    OutputOptions,
    ResultOptions,
    SourceOptions,
    SplitOptions,
    TermOptions,
    VectorOptions,
    _Type,
)
from .parts import PartsOptions
from .report import TextOptions
from .results import document_rows
from .show import console, print_json, progress_bars, say, show_run, table

if TYPE_CHECKING:
    from rich.console import Console

    from .._progress import Progress
    from ..documents import Guide, PredictedCost
    from ..persist import Run
    from ..text import Corpus

STARTS = ("auto", "spectral", "random", "k-means++", "pddp")
LEVELS = ("coarse", "middle", "fine")
LARGE = 10**9  # documents in parts, for defaults that depend on their number
METHODS = ("consensus", "kernel-kmeans", "pddp", "bisecting", "spectral", "kernel-pca")


@dataclass(frozen=True, kw_only=True)
class StartOptions:
    """How clusters are found for a given k."""

    heading: ClassVar[str] = "Clustering"
    method: str = option(
        f"What finds the clusters: {', '.join(METHODS)}. [{METHODS[0]}]", type=click.Choice(METHODS), default=METHODS[0]
    )
    starts: int = option("Starts; the best is kept. [10]", type=AT_LEAST_1, default=10)
    init: str = option(f"Initial clusters: {', '.join(STARTS)}. [auto]", type=click.Choice(STARTS), default="auto")
    no_polish: bool = option("Skip the final moves of single documents.")
    no_stability: bool = option("Do not measure stability.")


@dataclass(frozen=True, kw_only=True)
class NameOptions:
    """How clusters are named."""

    heading: ClassVar[str] = "Names"
    name_with: str | None = option("Ask a program: JSON in, names out. See the guide.", metavar="COMMAND")
    name_timeout: int = option("Seconds the program may take. [300]", type=AT_LEAST_1, default=300)
    names: str | None = option("JSON file from names to ids of documents.", type=click.Path(dir_okay=False))

    def check(self) -> None:
        """Fail early: the file must be readable."""
        if not self.name_with:
            refuse(("name_timeout",), "without --name-with")
        if self.names:
            from ..documents.naming import read_names

            read_names(self.names)

    def apply(self, run: Run, out: str | None, progress: Progress) -> Run:
        """Return the run with the names that were asked for; an older run in the same folder remembers them."""
        from ..describe import NameCommand
        from ..documents import with_names, with_names_of
        from ..errors import RunError
        from ..persist import Run

        if self.name_with:
            earlier = None
            with suppress(RunError, OSError):
                earlier = Run.load(out) if out and Path(out).exists() else None
            progress("asking for names", 0, 1)
            run = with_names(run, NameCommand(self.name_with, self.name_timeout), earlier)
            progress("asking for names", 1, 1)
        return with_names_of(run, self.names) if self.names else run


class Share(_Type):
    """A share between 0 and 1, ``auto`` or ``off``."""

    name = "SHARE|auto|off"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """Parse the share."""
        from ..documents.outliers import check_outliers
        from ..errors import InputError

        try:
            found = value if value in ("auto", "off") else float(value)
            check_outliers(found)
        except (ValueError, InputError):
            self.fail(f"{value!r} must be a share between 0 and 1 such as 0.05, 'auto' or 'off'.", param, ctx)
        return found


@dataclass(frozen=True, kw_only=True)
class GuideOptions:
    """What is known about some documents."""

    heading: ClassVar[str] = "What is known"
    seed_terms: str | None = option("JSON file from topics to words.", metavar="FILE", type=FILE)
    labels_known: str | None = option("JSON file from ids to topics of some documents.", metavar="FILE", type=FILE)
    must_link: str | None = option("File of pairs of ids that belong together.", metavar="FILE", type=FILE)
    cannot_link: str | None = option("File of pairs of ids that belong apart.", metavar="FILE", type=FILE)
    keep_labels: bool = option("Never move documents whose topic is known.")

    @property
    def files(self) -> tuple[str | None, ...]:
        """The files to read."""
        return (self.seed_terms, self.labels_known, self.must_link, self.cannot_link)

    def read(self) -> Guide | None:
        """Fail early: read the files; None if there are none."""
        from ..documents import Guide
        from ..documents.guide import read_labels, read_pairs, read_seeds

        if not any(self.files):
            refuse(("keep_labels",), "without --labels-known or --seed-terms")
            return None
        return Guide(
            must_link=read_pairs(self.must_link) if self.must_link else (),
            cannot_link=read_pairs(self.cannot_link) if self.cannot_link else (),
            labels=read_labels(self.labels_known) if self.labels_known else None,
            seeds=read_seeds(self.seed_terms) if self.seed_terms else None,
            fixed=self.keep_labels,
        )


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``cluster``."""

    source: str = argument()
    clusters: int | str = option("Number of clusters. [chosen]", "-k", "--clusters", type=Count(), default="auto")
    documents: SourceOptions
    page: str | None = option(
        "Write an HTML page of the run.", "--report", heading=MAIN, metavar="FILE", type=click.Path(dir_okay=False)
    )
    out: str | None = option(
        "Save the run in a folder, over an older run.", heading=MAIN, type=click.Path(file_okay=False)
    )
    terms: TermOptions
    others: VectorOptions
    level: str = option(
        f"The level to answer with: {', '.join(LEVELS)}. [middle]",
        heading="Choosing k",
        type=click.Choice(LEVELS),
        default="middle",
    )
    choice: SplitOptions
    start: StartOptions
    outliers: float | str = option(
        "Set aside documents unlike any group: auto, off, or at most a share. [off]",
        heading="Clustering",
        type=Share(),
        default="off",
    )
    known: GuideOptions
    keep: str | None = option(
        "Keep numbers, names and edits of an older run.",
        heading="What is known",
        metavar="RUN",
        type=click.Path(exists=True, file_okay=False),
    )
    within: int | None = option(
        "Cluster one cluster of the run SOURCE again.",
        heading="What is known",
        type=click.IntRange(min=0),
        metavar="CLUSTER",
    )
    naming: NameOptions
    machine: MachineOptions
    parts: PartsOptions
    table: ResultOptions
    texts: TextOptions
    dry_run: bool = option("Predict memory and time, and stop.", heading="Output")
    output: OutputOptions

    def check(self) -> None:
        """Fail early: validate outputs before the expensive work."""
        if self.within is not None:
            refuse(("dry_run",), "with --within")
        if self.clusters != "auto":
            refuse(("ks", "scheme", "null", "level"), "with -k")
            if self.start.no_stability:
                refuse(("splits",), "with -k and --no-stability")
        if self.start.method != "kernel-kmeans":
            refuse(("init", "no_polish"), f"with --method {self.start.method}")
        if not self.page:
            refuse(("full_text",), "without --report")
        if self.within is not None:
            refuse((*names_of(SourceOptions, NameOptions), "keep", "embeddings", "no_text"), "with --within")
        self.documents.check(self.source)
        self.terms.check()
        self.others.check()
        self.naming.check()
        inputs = (
            self.source, self.others.embeddings, self.terms.stop_words, self.naming.names, *self.known.files
        )  # fmt: skip
        self.known.read()
        self.table.check(self.output, inputs, out=self.out, report=self.page)
        if self.out:
            from ..persist.folder import is_run

            is_run(Path(self.out))


@command(Options, "cluster", "Cluster documents and describe the clusters.")
def cluster(options: Options) -> None:
    """Cluster the documents of SOURCE: a folder, a CSV, TSV, JSON, JSONL, text, SQLite, Parquet or DuckDB file, or -
    for standard input.

    \b
    Examples:
      grampus cluster news/ --out run --report page.html
      grampus cluster news.csv --text body -k 8 --results clusters.csv
      grampus cluster run --within 2
    """
    options.check()
    texts = options.texts.embedded
    with progress_bars(options.output.silent) as progress:
        run = _run(options, progress)
        if run is None:
            return
        out = options.out if options.within is None else options.out or options.source
        if out:
            progress("saving", 0, 1)
            run.save(out, texts=texts != "none")
            progress("saving", 1, 1)
        if options.page:
            from ..report import write_report

            progress("writing the page", 0, 1)
            write_report(run, options.page, texts=texts)
            progress("writing the page", 1, 1)
        if options.table.results:
            progress("writing the table", 0, 1)
            options.table.write(*document_rows(run.without_texts() if texts == "none" else run))
            progress("writing the table", 1, 1)
    if options.output.as_json:
        print_json(run_json(run, out))
    elif not options.output.quiet:
        screen = console(stderr=options.table.on_stdout)
        show_run(run, screen)
        if options.within is not None:
            show_within(run, options.within, screen)
        places = (("Saved", out), ("Page", options.page), ("Again", run.provenance.command))
        say(screen, *(f"{name}: {place}" for name, place in places if place))


def _run(options: Options, progress: Progress) -> Run | None:
    """Read and cluster; the run records the line that repeats it. None after a dry run."""
    from ..documents import DocumentClusterer, KernelKMeansMethod, cluster_within, keep_answer

    options.machine.apply()
    from ..persist import Run

    start = options.start
    run = None if options.within is None else Run.load(options.source)
    pieces = options.documents.pieces(options.source) if run is None else None
    plan = options.parts.plan(pieces)
    corpus = None if run is not None or plan.in_parts else options.documents.read(options.source, progress)
    count = LARGE if plan.in_parts else _count(corpus, run, options.within)
    model = DocumentClusterer(
        options.clusters,
        kernel=options.terms.kernel,
        method=KernelKMeansMethod(start.init) if start.method == "kernel-kmeans" else start.method,
        terms=options.terms.vectorizer(count),
        vectors=options.others.vectors,
        embed=options.others.embed,
        outliers=options.outliers,
        effort=options.choice.effort(
            stability=not start.no_stability,
            n_init=start.starts,
            polish=not start.no_polish,
            level=options.level,
        ),
        random_state=options.machine.seed,
    )
    if run is not None and options.within is not None:
        return cluster_within(run, options.within, model, progress)
    line = repeat_line(seed=options.machine.seed)
    if plan.in_parts:
        refuse((*names_of(GuideOptions), "keep", "embeddings"), "in parts")
        assert pieces is not None
        made = options.parts.fit(model, pieces, plan, progress, silent=options.output.silent)
        made = options.naming.apply(made, options.out, progress)
        source = replace(made.provenance, columns=options.documents.columns, command=line, source=options.source)
        return replace(made, provenance=source)
    assert corpus is not None
    documents, described = options.others.documents(corpus, options.terms.kernel)
    found = predicted(model, documents, options.output.silent or options.dry_run)
    if options.dry_run:
        _show_prediction(found, options.output)
        return None
    model.fit(documents, corpus=described, guide=options.known.read(), progress=progress)
    made = options.naming.apply(model.run_, options.out, progress)
    made = replace(made, provenance=replace(made.provenance, columns=options.documents.columns, command=line))
    return keep_answer(made, Run.load(options.keep)) if options.keep else made


def _show_prediction(found: PredictedCost | None, output: OutputOptions) -> None:
    """Print what a clustering is predicted to cost, step by step."""
    if found is None:
        raise click.ClickException("Nothing can be predicted: the documents cannot be clustered with these options.")
    if output.as_json:
        steps = [{"step": one.name, "seconds": round(one.seconds, 1)} for one in found.steps]
        print_json({"memory": found.memory, "seconds": round(found.seconds, 1), "k": found.k, "steps": steps})
    elif not output.quiet:
        from ..documents.cost import format_time

        for one in found.steps:
            click.echo(f"{one.name:20}{format_size(one.kept + one.beside):>10}{format_time(one.seconds):>8}")
        click.echo(f"Predicted: {found} of processor time, with {format_size(found.now)} that the process has now.")


def _count(corpus: Corpus | None, run: Run | None, within: int | None) -> int:
    """Return how many documents are clustered, for the defaults that depend on it."""
    if corpus is not None:
        return len(corpus)
    return int((run.evidence.labels == within).sum()) if run is not None else 0


def show_within(run: Run, cluster: int, out: Console) -> None:
    """Print the branches that a cluster was divided into."""
    tree = run.evidence.tree
    top = next(branch for branch in tree if branch.cluster == cluster)
    rows = [[tree[child].size, tree[child].label] for child in top.children]
    out.print(table((">documents", "about"), rows, f"Inside {cluster}, {top.label}; edit --split {cluster} parts it"))


def run_json(run: Run, place: str | None = None) -> dict[str, Any]:
    """Return a run as plain values for programs."""
    documents = replace(run.documents, titles=None, dates=None, excerpts=None)
    header, rows = document_rows(replace(run, documents=documents))
    provenance, evidence = run.provenance, run.evidence
    return {
        "documents": [dict(zip(header, row, strict=True)) for row in rows],
        "clusters": [asdict(cluster) for cluster in evidence.clusters],
        "choice": None if evidence.choice is None else asdict(evidence.choice),
        "levels": {name: list(run.level_names(name)) for name in run.levels},
        **{name: getattr(provenance, name) for name in ("kernel", "seed", "fingerprint", "seconds", "command")},
        **{name: getattr(evidence, name) for name in ("outcome", "warnings")},
        "inputs": provenance.parameters.get("inputs", {}),
        "saved": place,
    }
