"""``cluster``: from documents to clusters."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from .._config import format_size
from .._names import LEVELS, METHODS, number_of
from .._rows import document_rows
from .command import MAIN, argument, choice, command, names_of, option, refuse, repeat_line
from .limits import is_needless, predicted, spoken
from .options import MachineOptions, OutputOptions, ResultOptions, SourceOptions, TermOptions, VectorOptions
from .parts import PartsOptions
from .report import TextOptions
from .settings import Configured, merged
from .show import console, next_steps, one_step, pair, print_json, progress_bars, say, show_run, table
from .types import CLUSTER, FOLDER, PLACE, RUN, parse_count, parse_numbers, parse_share

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from .._progress import Progress
    from ..describe import LanguageModel, NameCommand
    from ..documents import DocumentClusterer, Effort, Guide, Method, PredictedCost
    from ..persist import Run
    from ..report.page import Page
    from ..text import Corpus
    from .show import ShownProgress

KNOWN = "What is known"
CLUSTERS: Any = option(
    "Number of clusters. [chosen]", "-k", "--clusters", type=parse_count, metavar="K|AUTO", default="auto"
)


@dataclass(frozen=True, kw_only=True)
class MethodOptions(Configured):
    """What finds the clusters, and how much work it may be."""

    heading: ClassVar[str] = "Clustering"
    level: str | None = choice("The level to answer with: ", LEVELS, default=None, shown="middle")
    levels: tuple[int, ...] | None = option(
        "Levels of these sizes, such as 5,20,80. [chosen]", type=parse_numbers, metavar="RANGE"
    )
    method: str = choice("What finds the clusters: ", METHODS, default=METHODS[0])
    outliers: float | str = option(
        "Set aside documents unlike any group: auto, off, or at most a share. [off]",
        type=parse_share,
        metavar="SHARE|AUTO|OFF",
        default="off",
    )
    no_stability: bool = option("Do not measure stability: faster.")

    @property
    def chosen(self) -> str | Method:
        """The method, with its settings."""
        return self.settings.methods.get(self.method, self.method)

    def check(self) -> None:
        """Fail early: sizes of levels must rise."""
        from .._later import SPARED, hidden

        with hidden(*SPARED):
            from ..documents.find.levels import check_level
        from ..errors import InputError

        try:
            check_level(self.level or "middle", self.levels or "auto")
        except InputError as error:
            raise click.UsageError(str(error)) from None

    @property
    def effort(self) -> Effort:
        """The effort, as the settings say, then as the command line does."""
        from ..documents import Effort

        stability = False if self.no_stability else None
        return Effort(**merged(self.settings.effort, stability=stability))


@dataclass(frozen=True, kw_only=True)
class NameOptions(Configured):
    """How clusters are named."""

    heading: ClassVar[str] = "Names"
    name_with: str | None = option(
        "Ask a program (JSON in, names out), ollama:MODEL or openai:MODEL. See the guide.", metavar="COMMAND"
    )

    @property
    def file(self) -> str | None:
        """The file of names."""
        return self.settings.naming.get("names")

    @property
    def namer(self) -> NameCommand | LanguageModel | None:
        """What is asked for names."""
        from ..describe import LanguageModel, NameCommand
        from ..describe.language_model import is_model

        timeout = {name: value for name, value in self.settings.naming.items() if name == "timeout"}
        url = self.settings.naming.get("url")
        if self.name_with and is_model(self.name_with):
            return LanguageModel(self.name_with, url, announce=lambda text: click.echo(text, err=True), **timeout)
        if url:
            raise click.UsageError("[naming] url needs --name-with ollama:MODEL or openai:MODEL.")
        return NameCommand(self.name_with, **timeout) if self.name_with else None

    def check(self) -> None:
        """Fail early: the file must be readable, and a language model must have an address and a key."""
        from ..describe import LanguageModel

        namer = self.namer
        if isinstance(namer, LanguageModel):
            namer.key()
        if self.file:
            from ..documents.tell.naming import read_names

            read_names(self.file)

    def apply(self, run: Run, out: str | None, progress: Progress) -> Run:
        """Return the run with the names that were asked for; an older run in the same folder remembers them."""
        from ..documents import with_names, with_names_of
        from ..errors import RunError
        from ..persist import Run

        namer = self.namer
        if namer is not None:
            earlier = None
            with suppress(RunError, OSError):
                earlier = Run.load(out) if out and Path(out).exists() else None
            with one_step(progress, "asking for names"):
                run = with_names(run, namer, earlier)
        return with_names_of(run, self.file) if self.file else run


@dataclass(frozen=True, kw_only=True)
class GuideOptions(Configured):
    """What is known about some documents."""

    heading: ClassVar[str] = KNOWN
    topics: str | None = option(
        "Topics to expect: names, as 'Flags, Courts', or a file with words and examples.", metavar="NAMES|FILE"
    )
    only_topics: bool = option("Only sort into the topics; what fits none is in none, -1.")

    @property
    def known(self) -> dict[str, Any]:
        """The arguments of a guide; a text is a file that holds the value. Empty if nothing is known."""
        values = merged(self.settings.guide, seeds=self.topics, only=self.only_topics or None)
        if self.only_topics and not {"seeds", "labels"} & {*values}:
            raise click.UsageError("--only-topics needs topics to sort into: --topics NAMES|FILE.")
        return values if set(values) - {"fixed", "only"} else {}

    @property
    def files(self) -> tuple[str, ...]:
        """The files to read."""
        return tuple(value for value in self.known.values() if isinstance(value, str) and Path(value).is_file())

    def read(self) -> Guide | None:
        """Fail early: read the files; None if nothing is known."""
        from ..documents import Guide
        from ..documents.given.guide import read_labels, read_pairs
        from ..documents.given.topics import read_topics

        readers = {"seeds": read_topics, "labels": read_labels, "must_link": read_pairs, "cannot_link": read_pairs}
        known: dict[str, Any] = {
            name: readers[name](value) if isinstance(value, str) else value for name, value in self.known.items()
        }
        return Guide(**known) if known else None


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``cluster``."""

    source: str = argument()
    clusters: int | str = CLUSTERS
    documents: SourceOptions
    page: str | None = option("Write an HTML page of the run.", "--report", heading=MAIN, type=PLACE)
    out: str | None = option("Save the run in a folder, over an older run.", heading=MAIN, type=FOLDER)
    terms: TermOptions
    others: VectorOptions
    choice: MethodOptions
    known: GuideOptions
    keep: str | None = option("Keep numbers, names and edits of an older run.", heading=KNOWN, metavar="RUN", type=RUN)
    within: int | None = option(
        "Cluster one cluster of the run SOURCE again.", heading=KNOWN, type=CLUSTER, metavar="K"
    )
    naming: NameOptions
    table: ResultOptions
    texts: TextOptions
    dry_run: bool = option("Predict memory and time, and stop.", heading="Output")
    output: OutputOptions
    machine: MachineOptions
    parts: PartsOptions

    def check(self) -> None:
        """Fail early: validate outputs before the expensive work."""
        if self.clusters != "auto":
            refuse(("level", "levels"), "with -k")
        if not self.page and self.texts.texts == "full":
            raise click.UsageError("--texts full needs --report: only a page holds whole texts.")
        if self.within is not None:
            names = {*names_of(SourceOptions, GuideOptions, NameOptions)} - {"settings"}
            refuse((*names, "dry_run", "keep", "embeddings"), "with --within")
            if self.texts.texts == "none":
                raise click.UsageError("--texts none cannot be combined with --within.")
        self.choice.check()
        self.documents.check(self.source)
        self.terms.check()
        self.others.check(self.terms.kernel)
        self.naming.check()
        self.known.read()
        files = (self.others.embeddings, self.terms.stop_words, self.documents.settings.path, self.naming.file)
        self.table.check(self.output, (self.source, *files, *self.known.files), out=self.out, report=self.page)
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
      grampus cluster news.csv --topics "Flags, Climate, Courts"
      grampus cluster run --within 2
    """
    begun = None
    if options.within is None and options.machine.max_memory is None:
        begun = options.documents.begin(options.source, options.machine.threads)
    options.check()
    texts = options.texts.texts
    with progress_bars(options.output.silent) as progress:
        run, index = _run(options, progress, begun)
        if run is None:
            return
        out = options.out if options.within is None else options.out or options.source
        if out:
            with one_step(progress, "saving"):
                run.save(out, texts=texts != "none")
        if options.page:
            from ..report.build import checked_page, write_page

            with one_step(progress, "writing the page"):
                write_page(checked_page(run, texts, ()), options.page, index)
        if options.table.results:
            with one_step(progress, "writing the table"):
                options.table.write(*document_rows(run.without_texts() if texts == "none" else run))
    if options.output.as_json:
        print_json(run_json(run, out))
    elif not options.output.quiet:
        screen = console(stderr=options.table.on_stdout)
        if options.within is None:
            show_run(run, screen)
        else:
            show_within(run, options.within, out or options.source, screen)
        again = run.provenance.command if options.within is None else repeat_line()
        places = (("Saved", out), ("Page", options.page), ("Again", again))
        say(screen, *(f"{name}: {place}" for name, place in places if place))
        if options.within is None:
            say(screen, "Next:")
            for what, how in next_steps(run, out, options.page):
                pair(screen, f"  {what}", how, 42)


def _run(
    options: Options, progress: ShownProgress, begun: Callable[[], Corpus] | None
) -> tuple[Run | None, Callable[[Page], str] | None]:
    """Read and cluster; return the run, which records the line that repeats it, and what waits for its page's index.

    None after a dry run.
    """
    from ..documents import cluster_within, keep_answer
    from ..documents.given.extras import needed_extras

    options.machine.apply()
    from ..persist import Run
    from ..text import Corpus
    from ..text.spool import Spool

    if options.within is not None:
        run = Run.load(options.source)
        return cluster_within(run, options.within, _model(options, _count(run, options.within)), progress), None
    with ExitStack() as cleanup:
        silent = options.output.silent
        given = options.parts.gather(cleanup, options.documents, options.source, progress, begun, silent=silent)
        options.parts.check(given, "results", "keep", "embeddings")
        model = _model(options, _count(given))
        documents, described = options.others.documents(given, options.terms.kernel)
        needless = isinstance(documents, Spool) or (silent and not options.dry_run and is_needless(documents))
        found = None if needless else predicted(model, documents, silent or options.dry_run)
        if options.dry_run:
            _show_prediction(found, options.output)
            return None, None
        if found is not None:
            progress.expect(found)
        index = None
        if options.page and isinstance(documents, Corpus) and options.texts.texts != "none":
            from .._backend import sooner_for
            from ..report.island import begin_index

            with sooner_for(len(documents)):  # texts need the processor alone
                index = begin_index(documents)
        model.fit(documents, corpus=described, guide=options.known.read(), progress=progress)
        made = options.naming.apply(model.run_, options.out, progress)
        options.parts.write(given, made, progress)
    line = repeat_line(seed=options.machine.seed, **options.others.spelled()) + needed_extras(made.provenance)
    made = replace(made, provenance=replace(made.provenance, columns=options.documents.columns, command=line))
    return keep_answer(made, Run.load(options.keep)) if options.keep else made, index


def _model(options: Options, count: int) -> DocumentClusterer:
    """Return the clusterer that the options ask for, for so many documents."""
    from ..documents import DocumentClusterer

    return DocumentClusterer(
        options.choice.levels or options.clusters,
        kernel=options.terms.kernel,
        method=options.choice.chosen,
        terms=options.terms.vectorizer(count),
        embed=options.others.source,
        outliers=options.choice.outliers,
        level=options.choice.level or "middle",
        effort=options.choice.effort,
        random_state=options.machine.seed,
    )


def _show_prediction(found: PredictedCost | None, output: OutputOptions) -> None:
    """Print what a clustering is predicted to cost, step by step."""
    if found is None:
        raise click.ClickException("Nothing can be predicted: the documents cannot be clustered with these options.")
    if output.as_json:
        steps = [{"step": one.name, "seconds": round(one.seconds, 1)} for one in found.steps]
        times = {"seconds": round(found.seconds, 1), "wall": round(found.wall, 1)}
        print_json({"memory": found.memory, **times, "k": found.k, "steps": steps})
    elif not output.quiet:
        from ..documents.cost import format_time

        for one in found.steps:
            click.echo(f"{one.name:20}{format_size(one.kept + one.beside):>10}{format_time(one.seconds):>8}")
        click.echo(f"Predicted: {spoken(found)}, with {format_size(found.now)} that the process has now.")


def _count(documents: Any, within: int | None = None) -> int:
    """Return how many documents are clustered, for the defaults that depend on it."""
    if within is not None:
        return int((documents.evidence.labels == within).sum())
    return int(getattr(documents, "documents", 0) or len(documents))


def show_within(run: Run, cluster: int, place: str, out: Console) -> None:
    """Print the branches that a cluster was divided into."""
    tree = run.evidence.tree
    top = next(branch for branch in tree if branch.cluster == cluster)
    parts = sorted((tree[child] for child in top.children), key=lambda part: -part.size)
    sizes = f"{number_of(top.size, 'document')} in {number_of(len(parts), 'part')}"
    say(out, f"Inside cluster {cluster}, {top.name}: {sizes}")
    out.print(table((">documents", "name"), [[part.size, part.name] for part in parts]))
    say(out, f"To make clusters of them: grampus edit {place} --split {cluster}")


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
