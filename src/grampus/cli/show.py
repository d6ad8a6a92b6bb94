"""Terminal output: tables, progress and messages. Nothing a terminal would interpret passes `clean`."""

from __future__ import annotations

import codecs
import errno
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from shlex import quote
from typing import TYPE_CHECKING, Any

from .._names import number_of
from .waiting import LOGGED, TimeLeft, every_while

if TYPE_CHECKING:
    from rich.console import Console

    from .._progress import Progress
    from ..describe import Cluster
    from ..documents import PredictedCost
    from ..persist import Run

# C0, DEL, C1; line separators; marks that change the direction of text; invisible characters.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u200b\u2060-\u2064\ufeff\U000e0000-\U000e007f]+"
)
ASCII = {"█": "#", "◀": "<", "±": "+-", "·": "-", "–": "-", "−": "-", "…": "...", "×": "x",
         "─": "-", "│": "|", "├": "|", "└": "`", "“": '"', "”": '"'}  # fmt: skip
LINE = 2000
MOST = 6  # words of a cluster in a table
FEW = 3  # groups of documents that are too few to tell how many there are
QUOTED = 70  # characters of a typical sentence in a table
# What the library calls by the names of Python's arguments, and the options that stand for them.
PHRASES = (
    ("device='cuda'", "--device cuda"),
    ("device='cpu'", "--device cpu"),
    ("; max_memory allows", "; --max-memory allows"),
    ("; timeout allows", "; --timeout allows"),
    ("with id=, or duplicate_ids='number' or 'skip' in ReadOptions",
     "with --id, or set [reading] duplicate_ids in --settings to 'number' or 'skip'"),
    ("on_error='skip'", "--skip-errors"),
    ("split= to change", "--split to change"),
    ("text=NAME", "--text NAME"),
    ("or label, unless values are given", "or label, or a column of --source FILE"),
    ("id= names", "--id names"),
    ("day_first=False for the month", "[reading] day_first = false in --settings for the month"),
    ("pass encoding=", "set [reading] encoding in --settings"),
    (" (follow_symlinks is off)", ""),
    ("(max_document_bytes)", "([reading.limits] max_document_bytes in --settings)"),
    ("(max_total_bytes)", "([reading.limits] max_total_bytes in --settings)"),
    ("(max_ratio)", "([reading.limits] max_ratio in --settings)"),
    ("add it with corpus.with_input('embedding', rows)", "give it with --embeddings FILE"),
    ("raise max_query_steps", "raise [reading.limits] max_query_steps in --settings"),
)  # fmt: skip
PARAMETERS = {"n_clusters": "-k", "by": "--by", "stop_words": "--stop-words", "embed": "--embed",
              "embeddings": "--embeddings", "memory": "--max-memory", "max_memory": "--max-memory",
              "outliers": "--outliers", "seeds": "--topics", "topics": "--topics", "labels": "[guide] labels",
              "must_link": "[guide] must_link", "cannot_link": "[guide] cannot_link"}  # fmt: skip


def clean(text: str, width: int = 200) -> str:
    r"""Return text on one line without anything that a terminal would interpret.

    Examples
    --------
    >>> from grampus.cli.show import clean
    >>> clean("whale\x1b[2J\u202esong")
    'whale [2J song'
    """
    folded = _UNSAFE.sub(" ", text).strip()
    return folded if len(folded) <= width else folded[: width - 1] + "…"


def plain_options(message: str) -> str:
    """Return a message of the library with the command's options in place of Python's parameters."""
    for phrase, spoken in PHRASES:
        message = message.replace(phrase, spoken)
    return re.sub(r"^(\w+)(?= must\b)", lambda match: PARAMETERS.get(match[1], match[1]), message)


def console(*, stderr: bool = False) -> Console:
    """Return a console that prints what it is given: no markup, no emoji, no highlighting."""
    from rich.console import Console

    class Plain(Console):
        """A console that re-raises BrokenPipeError, so that `main` sets the exit status."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    return Plain(file=sys.stderr if stderr else sys.stdout, markup=False, emoji=False, highlight=False)


def say(out: Console, *lines: str) -> None:
    """Print lines of any length without breaking them."""
    for line in lines:
        out.print(clean(line, LINE), soft_wrap=True)


def pair(out: Console, name: str, value: str, wide: int = 12) -> None:
    """Print a name and a value within the width of the terminal, the value continued below itself."""
    from textwrap import wrap

    width = max(out.width - wide, 20)
    first, *others = wrap(clean(value, LINE), width, break_on_hyphens=False) or [""]
    out.print(f"{name:{wide}}{first}", soft_wrap=True)
    for line in others:
        out.print(f"{'':{wide}}{line}", soft_wrap=True)


def notes(out: Console, remarks: Sequence[str]) -> None:
    """Print remarks, wrapped."""
    for remark in remarks:
        out.print(f"Note: {clean(remark, 500)}")


def prepare_streams() -> None:
    """Make standard output and errors writable: replace missing streams, and spell out unknown characters."""
    codecs.register_error("grampus", spell_out)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the parent process
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  (until the end)
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="grampus")


def spell_out(error: UnicodeError) -> tuple[str, int]:
    r"""Replace characters that an encoding lacks: ASCII for our own drawings, escapes for the rest.

    Examples
    --------
    >>> import codecs
    >>> from grampus.cli.show import spell_out
    >>> codecs.register_error("grampus", spell_out)
    >>> "±0.01 ██ ◀ 鯨".encode("ascii", "grampus")
    b'+-0.01 ## < \\u9be8'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(ASCII.get(c) or c.encode("ascii", "backslashreplace").decode() for c in lost), error.end


def print_json(value: Any) -> None:
    """Print one JSON document; characters beyond ASCII are escaped."""
    sys.stdout.write(json.dumps(value, indent=1, allow_nan=False) + "\n")


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None) -> Any:
    """Return a rich table; a column whose name starts with ``>`` is aligned to the right."""
    from rich.table import Table

    made = Table(title=None if title is None else clean(title), title_justify="left")
    for name in columns:
        heading, side = clean(name.removeprefix(">"), LINE), "right" if name.startswith(">") else "left"
        made.add_column(heading, justify=side, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        made.add_row(*map(_cell, row))
    return made


def _cell(value: Any) -> str:
    """Return the text of a cell; a tuple has a line for each of its parts."""
    return "\n".join(clean(str(line), LINE) for line in (value if isinstance(value, tuple) else (value,)))


def show_run(run: Run, out: Console) -> None:
    """Print the chart of k, the clusters and the remarks of a run."""
    from ..report.oddities import outliers
    from ..report.verdict import mixtures, pairs_found, said_by_names
    from ..select import score_chart

    choice = run.evidence.choice
    if choice is not None:
        if choice.ks and not choice.given:
            out.print(score_chart(choice))
        if choice.verdict:
            out.print(clean(choice.verdict, LINE))
        out.print()
    stable = any(cluster.stability is not None for cluster in run.evidence.clusters)
    rows = []
    for cluster in sorted(run.evidence.clusters, key=lambda one: (-run.sizes[one.number], one.number)):
        words = _further(cluster)
        quoted = (f"“{clean(cluster.sentence, QUOTED)}”",) if cluster.sentence else ()
        name = (cluster.name, "(weak name)") if cluster.has_weak_name else cluster.name
        row = [cluster.number, run.sizes[cluster.number], name, (words, *quoted)]
        mark = ("left over",) if cluster.mixed else ()
        kept = "–" if cluster.stability is None else f"{cluster.stability:.2f}"
        rows.append([*row, (kept, *mark)] if stable else row)
    columns = [">#", ">documents", "name", "words", *([">stability"] if stable else [])]
    none = f", {run.n_unassigned:,} in no cluster" if run.n_unassigned else ""
    source = f"{number_of(run.n_documents, 'document')} from {run.provenance.source}"
    title = f"{source}, {number_of(run.n_clusters, 'cluster')}{none}"
    out.print(table(columns, rows, title))
    out.print(clean(f"Compared: {run.compared}.", LINE))
    for statement in (*said_by_names(run), *mixtures(run)):
        out.print(clean(statement.text, LINE))
    odd = len(outliers(run))  # as the page lists them
    pairs = pairs_found(run)
    took = f"Took {run.provenance.seconds:.1f} s."
    out.print(f"{pairs[0].upper()}{pairs[1:]} of near-duplicates, {number_of(odd, 'outlier')}. {took}")
    notes(out, run.evidence.warnings)


def _further(cluster: Cluster) -> str:
    """Return the words of a cluster, and terms that bring a word which its name and these do not hold."""
    said = {word for part in (cluster.name, *cluster.words) for word in part.casefold().replace(",", " ").split()}
    more = (term.text for term in cluster.terms if not said.issuperset(term.text.casefold().split()))
    return ", ".join([*cluster.words, *more][:MOST])


def next_steps(run: Run, place: str | None, page: str | None) -> list[tuple[str, str]]:
    """Return what a reader may want to do next, and the command or option for it."""
    from ..text.meaning.encoder import encoder_digest

    choice, levels = run.evidence.choice, {level.name: len(level.branches) for level in run.evidence.levels}
    found = []
    if choice is not None and choice.answer == "no groups" and not choice.given and choice.ranking:
        found.append((f"see the best guess, {choice.ranking[0]} groups", f"-k {choice.ranking[0]}"))
    if choice is not None and choice.answer == "too few" and not choice.given and run.n_documents > FEW:
        found.append((f"group them all the same, into {FEW}", f"-k {FEW}"))
    if choice is not None and not choice.given and run.level in levels:
        names = list(levels)
        at = names.index(run.level)
        found += [
            (f"{levels[name]} {size} groups", f"--level {name}")
            for name, size in (*((name, "smaller") for name in names[at + 1 : at + 2]),
                               *((name, "larger") for name in names[at - 1 : at] if at))
        ]  # fmt: skip
    if run.compared == "words" and run.documents.texts is not None and encoder_digest() is None:
        found.append(("compare meaning, too", "pip install 'grampus[meaning]'"))
    if any(cluster.has_weak_name for cluster in run.evidence.clusters):
        found.append(("better names", "--name-with ollama:MODEL"))
    if place or page:
        found.append(("read, rename and merge in the browser", f"grampus open {quote(str(place or page))}"))
    else:
        found.append(("keep it, as a page", "--out run --report page.html"))
    return found


@contextmanager
def one_step(progress: Progress, name: str) -> Iterator[None]:
    """Report a step that is done in one go."""
    progress(name, 0, 1)
    yield
    progress(name, 1, 1)


class ShownProgress:
    """A progress that is shown, or not; it knows the time left once it knows what to expect."""

    def __init__(self, show: Progress) -> None:
        self._show, self.left = show, TimeLeft()

    def __call__(self, step: str, done: int, total: int | None) -> None:
        """Report a step."""
        self.left.reach(step, done, total)
        self._show(step, done, total)

    def expect(self, predicted: PredictedCost) -> None:
        """Take the steps of a prediction as what is to come."""
        self.left.expect([(one.name, one.wall) for one in predicted.steps[1:]])


@contextmanager
def progress_bars(hidden: bool) -> Iterator[ShownProgress]:
    """Provide ``progress(step, done, total)``, shown as bars with the time left if standard error is a terminal.

    Where it is none, such as a log, there is a line every 30 seconds. A step without a total, or of a single part, is
    shown as a moving bar until it is done.
    """
    if hidden:
        yield ShownProgress(lambda *_: None)
        return
    if not sys.stderr.isatty():
        progress = ShownProgress(lambda *_: None)
        with every_while(LOGGED, lambda: sys.stderr.write(f"{clean(progress.left.line())}\n")):
            yield progress
        return
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars
    from rich.text import Text

    class Remaining(TimeRemainingColumn):
        """The time that a step takes still; with the first, that of everything."""

        def render(self, task: Any) -> Text:
            own = super().render(task)
            return own if task.finished else Text.assemble(own, f"  {progress.left.said()}", style="")

    parts = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[count]}"), Remaining())
    with Bars(*parts, console=console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def show(step: str, done: int, total: int | None) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(clean(step), total=None, count="")
            several = total is not None and total > 1
            known = total if several or done == total else None
            bars.update(tasks[step], completed=done, total=known, count=f"{done}/{total}" if several else "")

        progress = ShownProgress(show)
        yield progress
