"""``choose-k``: the number of clusters, and nothing else."""

from dataclasses import asdict, dataclass

from .command import argument, command, option, repeat_line
from .limits import is_needless, predicted
from .options import MachineOptions, OutputOptions, SourceOptions, TermOptions, VectorOptions
from .settings import merged
from .show import LINE, clean, console, notes, print_json, progress_bars, say
from .types import parse_numbers


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``choose-k``."""

    source: str = argument()
    ks: tuple[int, ...] | None = option("Values of k to choose from. [2 to n/4]", type=parse_numbers, metavar="RANGE")
    documents: SourceOptions
    terms: TermOptions
    others: VectorOptions
    machine: MachineOptions
    output: OutputOptions


@command(Options, "choose-k", "Choose the number of clusters, and say how certain it is.")
def choose_k(options: Options) -> None:
    """Choose the number of clusters of the documents of SOURCE: random halves of them must predict each other.

    \b
    Example:
      grampus choose-k news.jsonl --ks 2-12
    """
    options.documents.check(options.source)
    options.terms.check()
    options.others.check(options.terms.kernel)
    options.machine.apply()
    from ..documents import DocumentClusterer, Effort
    from ..select import score_chart

    with progress_bars(options.output.silent) as progress:
        corpus = options.documents.read(options.source, progress)
        model = DocumentClusterer(
            kernel=options.terms.kernel,
            terms=options.terms.vectorizer(len(corpus)),
            embed=options.others.source,
            effort=Effort(**merged(options.documents.settings.effort, ks=options.ks)),
            random_state=options.machine.seed,
        )
        documents, _ = options.others.documents(corpus, options.terms.kernel)
        if not (options.output.silent and is_needless(documents)):
            predicted(model, documents, options.output.silent)
        choice = model.choose(documents, progress=progress)
    again = repeat_line(seed=options.machine.seed, **options.others.spelled())
    if options.output.as_json:
        print_json({**asdict(choice), "warnings": list(corpus.notes), "command": again})
    elif not options.output.quiet:
        out = console()
        if choice.ks:
            out.print(score_chart(choice))
        out.print(clean(choice.verdict, LINE))
        notes(out, corpus.notes)
        say(out, f"Again: {again}")
