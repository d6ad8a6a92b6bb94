"""``trends``: shares of clusters over time and by columns."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from .._names import number_of
from .command import argument, command, option, repeat_line
from .options import OutputOptions, ResultOptions
from .show import console, pair, print_json, progress_bars, say, table
from .types import FILE, RUN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ..persist import Run
    from ..persist.trends import Share

SHOWN = 12  # periods in the terminal
LARGEST = 4  # clusters of a value, where all of them are too wide
TIMES = ("year", "quarter", "month", "week", "day")


@dataclass(frozen=True, kw_only=True)
class ShareOptions(ResultOptions):
    """A table of shares as a file."""

    results: str | None = option(
        "Write all shares: .csv, .xlsx, .jsonl, .parquet, or - for standard output.", type=FILE
    )


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``trends``."""

    run: str = argument(type=RUN)
    by: str = option("year, quarter, month, week, day, label, or a column of --source. [year]", default="year")
    source: str | None = option("Documents with the column of --by, matched by id.", metavar="FILE")
    table: ShareOptions
    output: OutputOptions


@command(Options, "trends", "Show shares of clusters over time or by a column.")
def trends(options: Options) -> None:
    """Show which share of the documents each cluster of the run in folder RUN has, by period or by value of a column,
    with Wilson's 95 % interval.

    \b
    Examples:
      grampus trends run --by year
      grampus trends run --by section --source news.csv --results shares.csv
    """
    options.table.check(options.output, (options.source,))
    from ..persist import Run
    from ..persist.trends import trends as shares_of

    run = Run.load(options.run)
    shares = shares_of(run, options.by, _column(run, options) if options.source else None)
    header = ["period", "cluster", "name", "documents", "total", "share", "low", "high"]
    rows = [
        [one.period, one.cluster if one.cluster >= 0 else None, one.name, one.documents, one.total,
         *(round(value, 4) for value in (one.share, one.low, one.high))]
        for one in shares
    ]  # fmt: skip
    options.table.write(header, rows)
    if options.output.as_json:
        print_json({"by": options.by, "shares": [asdict(one) for one in shares], "command": repeat_line()})
    elif not options.output.quiet:
        out = console(stderr=options.table.on_stdout)
        periods = list(dict.fromkeys(one.period for one in shares))
        shown = periods[-SHOWN:] if options.by in TIMES else periods[:SHOWN]
        held = {(one.period, one.cluster): one for one in shares}
        clusters = list(dict.fromkeys((one.cluster, one.name) for one in shares))
        title = f"Share of the documents by {options.by}, with 95 % intervals"
        needed = max(len(name) for _, name in clusters) + sum(max(len(period), 15) + 3 for period in shown) + 9
        if needed <= out.width:
            lines = [
                [_number(cluster), name, *(_cell(held[period, cluster]) for period in shown)]
                for cluster, name in clusters
            ]
            out.print(table((">#", "name", *(f">{period}" for period in shown)), lines, title))
        elif options.by not in TIMES:
            out.print(table((options.by, ">documents", "clusters (share)"), _by_value(shares, shown), title))
        else:
            _by_time(out, options.by, held, shown, clusters)
        if len(periods) > len(shown):
            left = number_of(len(periods) - len(shown), f"earlier {options.by}" if options.by in TIMES else "value")
            out.print(f"{left} left out; --results FILE writes everything.")
        say(out, f"Again: {repeat_line()}")


def _by_time(
    out: Console, by: str, held: dict[tuple[str, int], Share], shown: Sequence[str], clusters: list[tuple[int, str]]
) -> None:
    """Print a row for every period and a column for each of the largest clusters that fit, without intervals."""
    fit = clusters[: max(1, (out.width - max(map(len, (*shown, by))) - 17) // 7)]
    lines = [
        [period, held[period, fit[0][0]].total, *(f"{held[period, cluster].share:.0%}" for cluster, _ in fit)]
        for period in shown
    ]
    columns = (by, ">documents", *(f">{_number(cluster)}" for cluster, _ in fit))
    out.print(table(columns, lines, f"Shares by {by}; columns are clusters"))
    for cluster, name in fit:
        pair(out, f"{_number(cluster):>3}", name, 5)
    if len(fit) < len(clusters):
        out.print(f"{number_of(len(clusters) - len(fit), 'smaller cluster')} left out.")
    out.print("95 % intervals: in a wider terminal, or by --results FILE.")


def _number(cluster: int) -> str:
    return str(cluster) if cluster >= 0 else "–"


def _by_value(shares: Sequence[Share], shown: Sequence[str]) -> list[list[object]]:
    """Return a row for every value: its documents, and the clusters that most of them are in."""
    rows: list[list[object]] = []
    for period in shown:
        of_value = sorted((one for one in shares if one.period == period), key=lambda one: -one.documents)
        largest = tuple(f"{one.name}: {_cell(one)}" for one in of_value[:LARGEST] if one.documents)
        more = sum(one.documents > 0 for one in of_value) - len(largest)
        rows.append([period, of_value[0].total, (*largest, f"{more} more") if more else largest])
    return rows


def _cell(one: Share) -> str:
    return f"{one.share:.0%} ({one.low:.0%}–{one.high:.0%})"


def _column(run: Run, options: Options) -> list[str]:
    """Return the value of a column for every document of the run; "" where the source does not have the document."""
    import warnings

    from ..errors import InputError
    from ..text import CorpusWarning, read_corpus

    named = run.provenance.columns
    with warnings.catch_warnings(), progress_bars(True) as progress:
        warnings.simplefilter("ignore", CorpusWarning)
        corpus = read_corpus(
            str(options.source),
            text=named["text"].split("+") if "text" in named else None,
            id=named.get("id"),
            label=options.by,
            progress=progress,
        )
    held = dict(zip(corpus.ids, corpus.labels or (), strict=True))
    values = [held.get(one, "") for one in run.documents.ids]
    if not any(values):
        raise InputError("--source must hold documents of the run; no id of one is in the other.")
    return values
